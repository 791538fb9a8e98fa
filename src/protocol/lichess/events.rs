//! The account's session: its event stream, the games that run, the challenges that we have accepted.
//!
//! Games are counted by their ids, whatever the stream tells twice; a place is free again when its game's task
//! has ended, in whatever way.

use std::{collections::HashMap, time::Duration};

use tokio::{
    select,
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use tokio_util::task::JoinMap;
use tracing::{Instrument, debug, info, info_span, warn};

use super::{
    config::Config,
    game::{self, Left, Table},
    http::HttpError,
    limits::Kind,
    stream::{Heard, Stream},
};
use crate::{
    protocol::Shutdown,
    wire::lichess::{
        Challenge, ChallengeId, Decline, DeclineReason, Direction, Event, Form, GameEvent, GameId, Playing,
        UserStatus, VariantKey,
    },
};

/// All games that the server lets an account have in its list.
const MOST_GAMES: u32 = 50;
/// An accepted challenge becomes a game in this time, or never.
const BECOMES_GAME: Duration = Duration::from_secs(30);
/// So often something is asked for while games run, so that no move pays for a new connection.
const WARM: Duration = Duration::from_secs(45);
/// Before a look-up that failed is tried again.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// What to say to a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    Decline(DeclineReason),
}

/// Standard chess and Chess960 with a clock are played, while there is room.
fn verdict(challenge: &Challenge, has_room: bool) -> Verdict {
    let is_ours = matches!(challenge.variant.key, VariantKey::Standard | VariantKey::Chess960);
    match (is_ours, challenge.time_control.clock(), has_room) {
        (false, ..) => Verdict::Decline(DeclineReason::Variant),
        (_, None, _) => Verdict::Decline(DeclineReason::TimeControl),
        (.., false) => Verdict::Decline(DeclineReason::Later),
        _ => Verdict::Accept,
    }
}

/// What came of a request of ours.
enum Answered {
    Accepted(ChallengeId, Result<(), HttpError>),
    Playing(Result<Playing, HttpError>),
    /// Nothing that matters to us.
    Done,
}

/// The actor of one account.
pub(super) struct Account<'a> {
    config: &'a Config,
    table: Table,
    shutdown: &'a Shutdown,
    events: Stream<Event>,
    games: JoinMap<GameId, Left>,
    /// To tell a game that the account's events say that it is over.
    finished: HashMap<GameId, mpsc::Sender<String>>,
    /// Accepted, and not a game yet: since when.
    accepted: HashMap<ChallengeId, Instant>,
    requests: JoinSet<Answered>,
    /// Games that may still begin or end, if they are counted.
    left: Option<u32>,
    /// We were told to leave.
    leaving: bool,
}

impl<'a> Account<'a> {
    pub fn new(config: &'a Config, table: Table, shutdown: &'a Shutdown) -> Account<'a> {
        Account {
            config,
            events: Stream::follow(table.http.clone(), Kind::Events, "api/stream/event".to_owned()),
            table,
            shutdown,
            games: JoinMap::new(),
            finished: HashMap::new(),
            accepted: HashMap::new(),
            requests: JoinSet::new(),
            left: config.games.map(u32::from),
            leaving: false,
        }
    }

    /// Plays until told to stop, or until there were enough games.
    pub async fn run(mut self) -> Result<(), HttpError> {
        let mut warm = interval(WARM);
        warm.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_done() {
            select! {
                biased;
                () = self.shutdown.soon.cancelled(), if !self.leaving => self.leave(),
                Some((id, left)) = self.games.join_next() => self.ended(id, left.ok())?,
                Some(answered) = self.requests.join_next() => self.answered(answered.ok())?,
                heard = self.events.next() => match heard {
                    Heard::Opened => self.look(Duration::ZERO),
                    Heard::Message(event, _) => self.hear(event),
                    Heard::Over(error) => return Err(error),
                },
                _ = warm.tick(), if !self.games.is_empty() => self.warm(),
                () = sleep(BECOMES_GAME), if !self.accepted.is_empty() => self.forget(),
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let enough = self.leaving || self.left == Some(0);
        enough && self.games.is_empty() && self.accepted.is_empty()
    }

    fn leave(&mut self) {
        info!("taking no new games; {} running", self.games.len());
        self.leaving = true;
    }

    /// Is there a place for one more game?
    fn has_room(&mut self) -> bool {
        self.forget();
        let taken = self.games.len() + self.accepted.len();
        let most = self.left.unwrap_or(u32::MAX).min(self.config.max_games.get());
        !self.leaving && taken < most as usize
    }

    /// Places of accepted challenges that have not become games.
    fn forget(&mut self) {
        self.accepted.retain(|_, since| since.elapsed() < BECOMES_GAME);
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::GameStart { game } => self.start(&game),
            Event::GameFinish { game } => {
                if let Some(finished) = self.finished.get(&game.game_id) {
                    // It need not be told twice.
                    let _ = finished.try_send(game::ending(&game.status, game.winner));
                }
            }
            Event::Challenge { challenge, .. } => self.challenged(&challenge),
            Event::ChallengeCanceled { challenge } | Event::ChallengeDeclined { challenge } => {
                self.accepted.remove(&challenge.id);
            }
            Event::Other(unknown) => debug!("passed over: {:?}", unknown.kind),
        }
    }

    /// A game that runs, told by an event or by the list of running games, and perhaps by both.
    fn start(&mut self, event: &GameEvent) {
        let id = event.game_id;
        let was_accepted = self.accepted.remove(&id.into()).is_some();
        let is_playable = event.compat.is_none_or(|compat| compat.bot);
        if self.games.contains_key(&id) || event.status.is_over() || !is_playable {
            debug!("nothing to do for game {id}");
            return;
        }
        if self.leaving && !was_accepted && !event.has_moved {
            info!("leaving: game {id} is not begun");
            return self.request(format!("api/bot/game/{id}/abort"), Kind::Game, None);
        }
        let (tell, finished) = mpsc::channel(1);
        self.finished.insert(id, tell);
        let span = info_span!("game", id = %id);
        self.games.spawn(id, game::play(self.table.clone(), id, finished).instrument(span));
    }

    fn ended(&mut self, id: GameId, left: Option<Left>) -> Result<(), HttpError> {
        self.finished.remove(&id);
        match left {
            Some(Left::Over) => {
                self.left = self.left.map(|left| left.saturating_sub(1));
                Ok(())
            }
            Some(Left::Unplayed) => Ok(()),
            Some(Left::Unauthorized) => Err(HttpError::Unauthorized),
            None => {
                tracing::error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games still has it.
                self.look(LOOK_AGAIN);
                Ok(())
            }
        }
    }

    fn challenged(&mut self, challenge: &Challenge) {
        let is_ours = challenge.challenger.as_ref().is_some_and(|user| user.id == self.table.me);
        if is_ours || challenge.direction == Some(Direction::Out) || self.accepted.contains_key(&challenge.id)
        {
            return;
        }
        let (id, has_room) = (challenge.id, self.has_room());
        let who = challenge.challenger.as_ref().map_or("anonymous", |user| user.id.as_str());
        match verdict(challenge, has_room) {
            Verdict::Accept => {
                info!("accepting {who}'s challenge {id}: {}", challenge.time_control);
                self.accepted.insert(id, Instant::now());
                let (http, path) = (self.table.http.clone(), format!("api/challenge/{id}/accept"));
                self.requests.spawn(async move {
                    Answered::Accepted(id, http.post(Kind::Challenge, &path, None).await)
                });
            }
            Verdict::Decline(reason) => {
                info!("declining {who}'s challenge {id}: {reason}");
                let form = Decline { reason }.to_form();
                self.request(format!("api/challenge/{id}/decline"), Kind::Challenge, Some(form));
            }
        }
    }

    /// Has something done of which nothing depends.
    fn request(&mut self, path: String, kind: Kind, form: Option<String>) {
        let http = self.table.http.clone();
        self.requests.spawn(async move {
            if let Err(error) = http.post(kind, &path, form).await {
                warn!("{path}: {error}");
            }
            Answered::Done
        });
    }

    /// Which games run? The events alone may have missed some.
    fn look(&mut self, pause: Duration) {
        let http = self.table.http.clone();
        self.requests.spawn(async move {
            sleep(pause).await;
            let path = format!("api/account/playing?nb={MOST_GAMES}");
            Answered::Playing(http.get(Kind::Lookup, &path).await)
        });
    }

    /// Uses the connection that moves will need.
    fn warm(&mut self) {
        let (http, path) = (self.table.http.clone(), format!("api/users/status?ids={}", self.table.me));
        self.requests.spawn(async move {
            if let Err(error) = http.get::<Vec<UserStatus>>(Kind::Lookup, &path).await {
                debug!("{path}: {error}");
            }
            Answered::Done
        });
    }

    fn answered(&mut self, answered: Option<Answered>) -> Result<(), HttpError> {
        match answered {
            Some(Answered::Accepted(id, Err(error))) => {
                warn!("cannot accept challenge {id}: {error}");
                self.accepted.remove(&id);
                unless_unauthorized(error)
            }
            Some(Answered::Playing(Ok(playing))) => {
                playing.now_playing.iter().for_each(|game| self.start(game));
                Ok(())
            }
            Some(Answered::Playing(Err(error))) => {
                warn!("cannot look for running games: {error}");
                self.look(LOOK_AGAIN);
                unless_unauthorized(error)
            }
            Some(Answered::Accepted(_, Ok(())) | Answered::Done) | None => Ok(()),
        }
    }
}

/// Of all errors this one ends the session.
fn unless_unauthorized(error: HttpError) -> Result<(), HttpError> {
    match error {
        HttpError::Unauthorized => Err(error),
        _ => Ok(()),
    }
}
