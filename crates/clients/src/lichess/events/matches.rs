//! Challenges of ours, when nobody challenges us: the requests that the [`Matchmaker`] asks for.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use tokio::{
    task::spawn_blocking,
    time::{timeout, timeout_at},
};
use tracing::{debug, info, warn};

use zeitnot_wire::lichess::{Challenge, ChallengeEnd, ChallengeId, Form, GameEvent, Keepalive, User};

use super::{
    super::{
        challenges::Place,
        grudges::Grudges,
        http::{Http, HttpError},
        limits::Kind,
        lines::Lines,
        matchmaking::{Config, Matchmaker, Proposal, Refusal, Step},
    },
    Account, LONG, desk,
    errands::Answered,
};

/// The matchmaker is not asked more often, unless something happens.
const SHORT: Duration = Duration::from_millis(100);
/// Bots that are listed at most: what the server gives.
const MOST_BOTS: usize = 512;
/// The server writes the list slowly; who is not told by then need not be.
const LISTING: Duration = Duration::from_secs(20);

/// The matchmaker, and what is on its way for it.
#[derive(Debug)]
pub(super) struct Matches {
    maker: Matchmaker,
    /// Where grudges are kept, unless what stands there is none of ours.
    file: Option<PathBuf>,
    due: Instant,
    /// The list of bots is being asked for.
    is_looking: bool,
    /// The grudges are being written.
    is_saving: bool,
}

impl Matches {
    /// With what is known of opponents.
    pub async fn open(config: &Config) -> Matches {
        let mut file = config.file.clone();
        let grudges = match file.clone() {
            None => Grudges::default(),
            Some(path) => {
                let read = spawn_blocking(move || Grudges::load(&path)).await;
                read.map_err(io::Error::other).and_then(|read| read).unwrap_or_else(|error| {
                    warn!("cannot read who declined our challenges: {error}; the file is left as it is");
                    file = None;
                    Grudges::default()
                })
            }
        };
        let maker = Matchmaker::new(config.clone(), grudges, fastrand::u64(..), since_1970());
        Matches { maker, file, due: Instant::now(), is_looking: false, is_saving: false }
    }

    /// When to ask the matchmaker again.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// What is to be written, and where.
    fn unsaved(&mut self) -> Option<impl FnOnce() -> io::Result<()> + use<>> {
        let (path, grudges) = (self.file.clone()?, self.maker.unsaved()?);
        Some(move || grudges.save(&path))
    }
}

impl Account<'_> {
    /// Does what the matchmaker wants done now.
    pub(super) fn arrange(&mut self) {
        if let Some(stale) = self.step() {
            let http = self.table.http.clone();
            self.notes.spawn(async move { desk::cancel(&http, stale).await });
        }
        if let Some(matches) = &mut self.matches
            && !matches.is_saving
            && let Some(save) = matches.unsaved()
        {
            matches.is_saving = true;
            self.errands.spawn(async move {
                Answered::Saved(
                    spawn_blocking(save).await.unwrap_or_else(|error| Err(io::Error::other(error))),
                )
            });
        }
    }

    /// A challenge of ours for which there is no place any more.
    pub(super) fn stale(&mut self) -> Option<ChallengeId> {
        let has_room = self.has_room_for_bot();
        if has_room { None } else { self.step() }
    }

    fn has_room_for_bot(&self) -> bool {
        !self.leaving && self.desk.has_room(self.running(), Place::Bot)
    }

    /// The matchmaker's next step; a challenge that it wants to be taken back is returned.
    fn step(&mut self) -> Option<ChallengeId> {
        let (games, has_room) = (self.running().clocked(), self.has_room_for_bot());
        let matches = self.matches.as_mut()?;
        let now = since_1970();
        matches.due = Instant::now() + LONG;
        match matches.maker.step(games, has_room, now) {
            Step::Wait { until } => {
                matches.due = Instant::now() + until.saturating_sub(now).clamp(SHORT, LONG)
            }
            Step::Cancel(id) => {
                matches.due = Instant::now();
                return Some(id);
            }
            Step::Look if matches.is_looking => {}
            Step::Look => {
                matches.is_looking = true;
                let http = self.table.http.clone();
                self.errands.spawn(async move { Answered::Around(look_around(&http).await) });
            }
        }
        None
    }

    /// Who is there: one of them is challenged, if it is still time for that.
    pub(super) fn around(&mut self, result: Result<(User, Vec<User>), HttpError>) {
        let (games, has_room) = (self.running().clocked(), self.has_room_for_bot());
        let Some(matches) = &mut self.matches else { return };
        matches.is_looking = false;
        let now = since_1970();
        let (me, online) = match result {
            Ok(around) => around,
            Err(error) => {
                matches.maker.nobody(now);
                return warn!("cannot look for opponents: {error}");
            }
        };
        if matches.maker.step(games, has_room, now) != Step::Look {
            return;
        }
        match matches.maker.choose(&me, &online, &self.people, now) {
            Some(proposal) => self.propose(proposal),
            None => debug!("none of {} bots is one to challenge", online.len()),
        }
    }

    fn propose(&mut self, Proposal { opponent, mut challenge }: Proposal) {
        info!("challenging {opponent}: {}", challenge.time);
        challenge.keep_alive_stream = true;
        let http = self.table.http.clone();
        self.errands.spawn(async move {
            let path = format!("api/challenge/{opponent}");
            Answered::Made(send(&http, &path, challenge.to_form()).await)
        });
    }

    /// Our challenge stands, or the server did not take it.
    pub(super) fn made(&mut self, result: Result<(ChallengeId, Lines), HttpError>) {
        let Some(matches) = &mut self.matches else { return };
        let now = since_1970();
        match result {
            Ok((id, mut lines)) => {
                matches.maker.made(id, now);
                self.errands.spawn(async move { Answered::Concluded(id, conclusion(&mut lines).await) });
            }
            Err(error) => {
                matches.maker.refused(Refusal::of(&error), now);
                match error.bots_rest() {
                    Some((wait, true)) => self.rest_from_bots(wait),
                    Some((_, false)) => info!("the opponent has played enough bots for today"),
                    None => warn!("our challenge was not taken: {error}"),
                }
            }
        }
    }

    /// What became of our challenge, by the answer to it.
    pub(super) fn concluded(&mut self, id: ChallengeId, end: Option<&ChallengeEnd>) {
        let Some(matches) = &mut self.matches else { return };
        match end {
            Some(ChallengeEnd::Accepted) => matches.maker.accepted(id, since_1970()),
            Some(_) => matches.maker.gone(id, since_1970()),
            // The server keeps none alive, or its answer broke off: it is taken back in its time.
            None => {}
        }
    }

    /// A challenge of ours was declined, perhaps one of an earlier run.
    pub(super) fn declined(&mut self, challenge: &Challenge) {
        let Some(matches) = &mut self.matches else { return };
        let who = challenge.dest_user.as_ref().map_or("nobody", |user| user.id.as_str());
        let reason = challenge.decline_reason_key.as_ref().map_or("generic", |reason| reason.as_str());
        info!("{who} does not want to play: {reason}");
        matches.maker.declined(challenge, since_1970());
    }

    /// A challenge of ours is no more.
    pub(super) fn withdrawn(&mut self, id: ChallengeId) {
        if let Some(matches) = &mut self.matches {
            matches.maker.gone(id, since_1970());
        }
    }

    /// Did we challenge for this game? Then it is one against a bot.
    pub(super) fn met(&mut self, event: &GameEvent) -> bool {
        let Some(matches) = &mut self.matches else { return false };
        let id = event.game_id.into();
        let is_ours = matches.maker.has_asked(id, event.opponent.id.as_ref());
        matches.maker.accepted(id, since_1970());
        is_ours
    }

    /// The server lets us play no bots for a while.
    pub(super) fn rest_from_bots(&mut self, wait: Duration) {
        let wait = wait.min(LONG);
        warn!("played enough bots for today: the next one in {}", humantime::format_duration(wait));
        self.desk.rest_from_bots(Instant::now() + wait);
        if let Some(matches) = &mut self.matches {
            matches.maker.rests(wait, since_1970());
        }
    }

    pub(super) fn saved(&mut self, result: io::Result<()>) {
        let Some(matches) = &mut self.matches else { return };
        matches.is_saving = false;
        if let Err(error) = result {
            warn!("cannot write who declined our challenges: {error}");
        }
    }

    /// Writes what is not written yet, and waits for it.
    pub(super) async fn save_for_good(&mut self) {
        if let Some(save) = self.matches.as_mut().and_then(Matches::unsaved) {
            let saved = spawn_blocking(save).await.unwrap_or_else(|error| Err(io::Error::other(error)));
            self.saved(saved);
        }
    }
}

/// Who we are, with our ratings, and which bots are there.
async fn look_around(http: &Http) -> Result<(User, Vec<User>), HttpError> {
    let me = http.get(Kind::Lookup, "api/account").await?;
    let until = tokio::time::Instant::now() + LISTING;
    let path = format!("api/bot/online?nb={MOST_BOTS}");
    let mut lines = Lines::new(http.clone(), http.open(Kind::Lookup, &path).await?);
    let mut bots = Vec::new();
    while bots.len() < MOST_BOTS {
        match timeout_at(until, lines.next()).await {
            Ok(Ok(Some(bot))) => bots.push(bot),
            Ok(Err(error)) if bots.is_empty() => return Err(error),
            _ => break,
        }
    }
    Ok((me, bots))
}

/// Sends a challenge; the rest of the answer keeps it alive.
async fn send(http: &Http, path: &str, form: String) -> Result<(ChallengeId, Lines), HttpError> {
    let mut lines = Lines::new(http.clone(), http.follow(Kind::Propose, path, form).await?);
    let first = timeout(http.patience().answer, lines.next()).await;
    match first.unwrap_or_else(|_| Err(nothing()))? {
        Some(Keepalive::Created(challenge) | Keepalive::Wrapped { challenge }) => Ok((challenge.id, lines)),
        Some(Keepalive::Done { .. }) | None => Err(nothing()),
    }
}

fn nothing() -> HttpError {
    HttpError::Network("no challenge in the answer".to_owned())
}

/// Waits for the end of a challenge that is kept alive by that.
async fn conclusion(lines: &mut Lines) -> Option<ChallengeEnd> {
    loop {
        match lines.next().await {
            Ok(Some(Keepalive::Done { done })) => return Some(done),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// The clock of what outlives the program.
fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
