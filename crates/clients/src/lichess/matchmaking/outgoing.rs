//! Outgoing challenges: the requests of the [`Matchmaker`], and the file of its history.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use tokio::{
    task::spawn_blocking,
    time::{timeout, timeout_at},
};
use tracing::{debug, info, warn};
use zeitnot_seat::{ChallengeState, Lobby, OwnChallenge};
use zeitnot_wire::lichess::{
    Challenge, ChallengeEnd, ChallengeId, Form, GameEvent, Keepalive, NewChallenge, User, UserId,
};

use super::{
    config::Config,
    decline_history::DeclineHistory,
    matchmaker::{Matchmaker, NotNow, Step, time},
    proposal::Proposal,
    steady_clock::SteadyClock,
};
use crate::{
    lichess::{
        Background, BotLimit, Http, HttpError, Lines, RequestKind, Tasks,
        challenges::{
            capacity::RunningGames,
            incoming::{cancel, cancel_path},
            players::PlayerLists,
        },
        terms::terms,
    },
    wait::now,
};

/// Bounds of the time between two questions to the matchmaker while nothing happens.
const MIN_PERIOD: Duration = Duration::from_millis(100);
const MAX_PERIOD: Duration = Duration::from_secs(86_400);
/// Bots that are listed; the server's own maximum.
const MAX_BOTS: usize = 512;
/// Longest reason of a decline that is shown, in bytes.
const MAX_REASON: usize = 200;
/// The server writes the list slowly.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) enum Reply {
    /// Our account with its ratings, and the bots online.
    Online(Result<(User, Vec<User>), HttpError>),
    /// A challenge of ours to a player, and the stream that keeps it alive.
    Created(UserId, Result<(ChallengeId, Lines), HttpError>),
    /// The end of a challenge, if the server told it.
    Ended(ChallengeId, Option<ChallengeEnd>),
    Saved(io::Result<()>),
}

/// Use of the account's slots.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Load {
    pub(crate) running: RunningGames,
    /// Another game against a bot could begin.
    pub(crate) has_room: bool,
    /// Another correspondence game could begin.
    pub(crate) has_correspondence_room: bool,
}

#[derive(Debug)]
pub(crate) struct OutgoingChallenges {
    http: Http,
    /// Clock of the matchmaker.
    clock: SteadyClock,
    matchmaker: Matchmaker,
    players: PlayerLists,
    lobby: Lobby,
    /// The open challenge, as it was reported.
    reported: Option<OwnChallenge>,
    /// File of the history, unless it could not be read.
    file: Option<PathBuf>,
    /// [`OutgoingChallenges::update`] is due then, unless something happens before.
    pub(crate) due: Instant,
    is_looking_up: bool,
    is_saving: bool,
    pub(crate) requests: Tasks<Reply>,
}

impl OutgoingChallenges {
    /// Without a configuration, only those are challenged whom the owner chooses.
    pub(crate) async fn new(
        config: Option<&Config>,
        http: Http,
        players: PlayerLists,
        lobby: Lobby,
    ) -> OutgoingChallenges {
        let is_automatic = config.is_some();
        let config = config.cloned().unwrap_or_default();
        let mut file = config.history_file.clone();
        let mut history = DeclineHistory::default();
        if let Some(path) = file.clone() {
            let shown = path.display().to_string();
            let read = spawn_blocking(move || DeclineHistory::load(&path)).await;
            match read.map_err(io::Error::other).and_then(|read| read) {
                Ok(read) => history = read,
                Err(error) => {
                    warn!(
                        "cannot read the history of declined challenges, {shown}: {error}; playing without it, the file stays as it is"
                    );
                    file = None;
                }
            }
        }
        let clock = SteadyClock::start();
        let matchmaker = Matchmaker::new(config, history, fastrand::u64(..), clock.now());
        OutgoingChallenges {
            http,
            clock,
            matchmaker: if is_automatic { matchmaker } else { matchmaker.by_order_only() },
            players,
            lobby,
            reported: None,
            file,
            due: now(),
            is_looking_up: false,
            is_saving: false,
            requests: Tasks::default(),
        }
    }

    /// Goes on by another configuration. The history stays in its file.
    pub(crate) fn reconfigure(&mut self, config: Option<Config>) {
        self.matchmaker.reconfigure(config);
        self.due = now();
    }

    pub(crate) fn update(&mut self, load: Load, background: &mut Background) {
        if let Some(id) = self.step(load) {
            background.post(RequestKind::Challenge, cancel_path(id), None);
        }
        if !self.is_saving
            && let Some(save) = self.take_save()
        {
            self.is_saving = true;
            self.requests.spawn(async move {
                let saved = spawn_blocking(save).await;
                Reply::Saved(saved.map_err(io::Error::other).and_then(|saved| saved))
            });
        }
    }

    /// Returns our challenge if there is no slot left for its game; the caller cancels it.
    pub(crate) fn withdraw(&mut self, load: Load) -> Option<ChallengeId> {
        if load.has_room { None } else { self.step(load) }
    }

    /// Takes the matchmaker's next step. Returns a challenge to be cancelled.
    fn step(&mut self, load: Load) -> Option<ChallengeId> {
        let time = self.clock.now();
        self.due = now() + MAX_PERIOD;
        let step = self.matchmaker.step(load.running.with_clock(), load.has_room, time);
        self.settle(|| match load.has_room {
            true => "no answer in time".to_owned(),
            false => "withdrawn: another game took the slot".to_owned(),
        });
        match step {
            Step::Wait { until } => {
                self.due = now() + until.saturating_sub(time).clamp(MIN_PERIOD, MAX_PERIOD);
            }
            Step::Cancel(id) => {
                self.due = now();
                return Some(id);
            }
            Step::LookUp if self.is_looking_up => {}
            Step::LookUp => {
                self.is_looking_up = true;
                let http = self.http.clone();
                self.requests.spawn(async move { Reply::Online(look_up(&http).await) });
            }
        }
        None
    }

    /// Returns our challenge that a reply tells as accepted, unless its game has begun already.
    pub(crate) fn newly_accepted(&self, reply: &Reply) -> Option<ChallengeId> {
        let Reply::Ended(id, Some(ChallengeEnd::Accepted)) = reply else { return None };
        self.matchmaker.is_open(*id).then_some(*id)
    }

    /// Handles a reply. Returns the limit of games against bots if we have reached it.
    pub(crate) fn handle(&mut self, reply: Reply, load: Load) -> Option<BotLimit> {
        let time = self.clock.now();
        match reply {
            Reply::Online(Ok((me, online))) => {
                self.is_looking_up = false;
                if self.matchmaker.step(load.running.with_clock(), load.has_room, time) == Step::LookUp {
                    let room = load.has_correspondence_room;
                    match self.matchmaker.choose(&me, &online, &self.players, room, time) {
                        Some(proposal) => self.propose(proposal),
                        None => debug!("none of {} bots is suitable", online.len()),
                    }
                }
            }
            Reply::Online(Err(error)) => {
                self.is_looking_up = false;
                self.matchmaker.lookup_failed(time);
                warn!("cannot look up opponents: {error}");
            }
            Reply::Created(opponent, created) if self.matchmaker.challenged() != Some(&opponent) => {
                // It was withdrawn before the server knew it.
                if let Ok((id, _)) = created {
                    let http = self.http.clone();
                    self.requests.spawn(async move {
                        cancel(&http, id).await;
                        Reply::Ended(id, None)
                    });
                }
            }
            Reply::Created(_, Ok((id, mut lines))) => {
                self.matchmaker.created(id, time);
                if let Some(reported) = &mut self.reported {
                    reported.id = Some(id.to_string());
                    self.lobby.challenging(reported);
                }
                self.requests.spawn(async move { Reply::Ended(id, wait_for_end(&mut lines).await) });
            }
            Reply::Created(_, Err(error)) => {
                self.matchmaker.refused(&error, time);
                self.settle(|| match error {
                    HttpError::NotFound => "the server knows no such player".to_owned(),
                    _ => error.to_string(),
                });
                match error.bot_limit() {
                    Some(BotLimit::Theirs(_)) => {
                        info!("the opponent has reached its limit of games against bots")
                    }
                    None => warn!("our challenge was not created: {error}{}", pause(&error)),
                    ours => return ours,
                }
            }
            Reply::Ended(id, Some(ChallengeEnd::Accepted)) => self.accepted(id),
            Reply::Ended(id, Some(end)) => {
                self.matchmaker.gone(id, time);
                // The events tell the reason, now or before.
                self.settle(|| end.to_string());
            }
            // The server keeps none alive, or the connection broke: it is cancelled in time.
            Reply::Ended(_, None) => {}
            Reply::Saved(result) => self.saved(result),
        }
        None
    }

    /// Challenges a player by order of the owner.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(crate) fn order(&mut self, opponent: UserId, challenge: NewChallenge) -> Result<(), NotNow> {
        self.matchmaker.order(&opponent, self.clock.now())?;
        self.propose(Proposal { opponent, challenge });
        Ok(())
    }

    /// Withdraws an open challenge to a player. Returns it if it has to be cancelled.
    pub(crate) fn withdraw_from(&mut self, player: &UserId) -> Option<ChallengeId> {
        let open = self.matchmaker.withdraw_from(player, self.clock.now());
        self.settle(|| "withdrawn: the player is blocked".to_owned());
        open
    }

    /// Reports the end of our challenge, if it is not open any more.
    fn settle(&mut self, reason: impl FnOnce() -> String) {
        if self.matchmaker.challenged().is_none() {
            self.end(|| ChallengeState::Ended(reason()));
        }
    }

    fn end(&mut self, state: impl FnOnce() -> ChallengeState) {
        if let Some(reported) = self.reported.take() {
            self.lobby.challenging(&OwnChallenge { state: state(), ..reported });
        }
    }

    fn accepted(&mut self, id: ChallengeId) {
        self.matchmaker.accepted(id, self.clock.now());
        if self.matchmaker.challenged().is_none() {
            self.end(|| ChallengeState::Accepted);
        }
    }

    fn report(
        &self,
        id: Option<ChallengeId>,
        to: &UserId,
        terms: String,
        state: ChallengeState,
    ) -> OwnChallenge {
        let server = self.http.base().to_string();
        let own = OwnChallenge { server, id: id.map(|id| id.to_string()), to: to.to_string(), terms, state };
        self.lobby.challenging(&own);
        own
    }

    fn propose(&mut self, Proposal { opponent, mut challenge }: Proposal) {
        let terms = terms(&challenge.variant, &challenge.time, challenge.rated);
        info!("challenging {opponent}: {terms}");
        self.reported = Some(self.report(None, &opponent, terms, ChallengeState::Open));
        challenge.keep_alive_stream = true;
        let http = self.http.clone();
        self.requests.spawn(async move {
            let path = format!("api/challenge/{opponent}");
            let created = send(&http, &path, challenge.to_form()).await;
            Reply::Created(opponent, created)
        });
    }

    /// A challenge of ours, perhaps of an earlier run, was declined.
    pub(crate) fn declined(&mut self, challenge: &Challenge) {
        let reason = challenge.decline_reason_key.as_ref().map_or("generic", |reason| reason.as_str());
        self.matchmaker.declined(challenge, self.clock.now());
        let Some(opponent) = &challenge.dest_user else { return };
        info!("{} declines our challenge: {reason}", opponent.id);
        if self.matchmaker.challenged().is_none() {
            self.reported = None;
        }
        let terms = terms(&challenge.variant.key, &challenge.time_control, challenge.rated);
        // The server's words are for people; the key is short.
        let words = challenge.decline_reason.as_deref().filter(|words| words.len() <= MAX_REASON);
        let state = ChallengeState::Ended(format!("declined: {}", words.unwrap_or(reason)));
        self.report(Some(challenge.id), &opponent.id, terms, state);
    }

    pub(crate) fn cancelled(&mut self, id: ChallengeId) {
        self.matchmaker.gone(id, self.clock.now());
        self.settle(|| ChallengeEnd::Canceled.to_string());
    }

    /// Notes that a game begins. Returns whether it is that of the matchmaker's challenge, and so against a bot.
    pub(crate) fn game_started(&mut self, event: &GameEvent) -> bool {
        let id = event.game_id.into();
        let is_against_bot = self.matchmaker.has_proposed(id, event.opponent.id.as_ref());
        self.accepted(id);
        is_against_bot
    }

    pub(crate) fn pause(&mut self, wait: Duration) {
        self.matchmaker.pause(wait, self.clock.now());
    }

    fn saved(&mut self, result: io::Result<()>) {
        self.is_saving = false;
        if let Err(error) = result {
            warn!("cannot write the history of declined challenges: {error}");
        }
    }

    fn take_save(&mut self) -> Option<impl FnOnce() -> io::Result<()> + use<>> {
        let path = self.file.clone()?;
        let history = self.matchmaker.take_unsaved()?;
        Some(move || history.save(&path))
    }

    /// Writes what is not written yet, and waits for it.
    pub(crate) async fn finish(&mut self) {
        if let Some(save) = self.take_save() {
            let saved = spawn_blocking(save).await;
            self.saved(saved.map_err(io::Error::other).and_then(|saved| saved));
        }
    }
}

/// Says how long no challenge is sent after this failure, if the server limits them.
fn pause(error: &HttpError) -> String {
    let HttpError::Limited { wait, .. } = error else { return String::new() };
    format!("; the next one in {}", time(wait))
}

async fn look_up(http: &Http) -> Result<(User, Vec<User>), HttpError> {
    let me = http.get(RequestKind::Lookup, "api/account").await?;
    let until = tokio::time::Instant::now() + LIST_TIMEOUT;
    let path = format!("api/bot/online?nb={MAX_BOTS}");
    let mut lines = Lines::open(http, RequestKind::Lookup, &path, None).await?;
    let mut bots = Vec::new();
    while bots.len() < MAX_BOTS {
        match timeout_at(until, lines.next()).await {
            Ok(Ok(Some((bot, _)))) => bots.push(bot),
            Ok(Err(error)) if bots.is_empty() => return Err(error),
            _ => break,
        }
    }
    Ok((me, bots))
}

/// Sends a challenge. The rest of the reply keeps it alive.
async fn send(http: &Http, path: &str, form: String) -> Result<(ChallengeId, Lines), HttpError> {
    let mut lines = Lines::open(http, RequestKind::Propose, path, Some(form)).await?;
    let missing = || HttpError::Network("no challenge in the reply".to_owned());
    let first = timeout(http.timeouts().reply, lines.next()).await.map_err(|_| missing())??;
    match first.map(|(message, _)| message) {
        Some(Keepalive::Created(challenge) | Keepalive::Wrapped { challenge }) => Ok((challenge.id, lines)),
        Some(Keepalive::Done { .. }) | None => Err(missing()),
    }
}

async fn wait_for_end(lines: &mut Lines) -> Option<ChallengeEnd> {
    loop {
        match lines.next().await {
            Ok(Some((Keepalive::Done { done }, _))) => return Some(done),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}
