//! State machine of one connection: from the game's name to its end. The server plays one game on each.

use std::time::{Duration, Instant};

use tracing::{debug, info, warn};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};
use zeitnot_seat::{Action, Clocks, Event, GameDetails, GameInfo, OpenRequest, Turn};
use zeitnot_wire::{
    cerveau::{CHESS, Delta, FromClient, FromServer, GameState, HOSTNAME, MAKE_MOVE, Play},
    printable,
};

use super::{
    config::{Config, MAX_NAME},
    error::{ConnectionError, advice},
};
use crate::drive::{Effect, Effects, Input, Machine};

/// Step of the server's timers. Its clocks are finer.
const CLOCK_STEP: Duration = Duration::from_millis(1);
/// Characters of a text of the server that are shown.
const MAX_SHOWN: usize = 200;

/// Phase of a connection.
enum Phase {
    /// We have asked for the name of the game, or for a place in a session. The answer is due until then.
    Asking {
        until: Instant,
    },
    /// We have a place, and wait for an opponent without a limit.
    Waiting {
        session: String,
    },
    Playing(Playing),
    /// The result is known; only the address of the gamelog is due until then.
    Over {
        until: Instant,
    },
}

struct Playing {
    color: Color,
    /// Moves that the player knows.
    told: usize,
    /// The last request for a move.
    request: OpenRequest,
    /// Number of its order.
    order: u64,
    /// Last complaint of the server, if it asks again because of it.
    complaint: Option<String>,
    /// When the server has been silent for too long.
    deadline: Instant,
}

pub(super) struct Game<'a> {
    config: &'a Config,
    phase: Phase,
    state: GameState,
    effects: Effects<FromClient>,
    /// The server has sent a message.
    has_spoken: bool,
    /// The game was played to its end.
    pub(super) has_ended: bool,
}

impl Machine for Game<'_> {
    type Message = FromServer;
    type Command = FromClient;
    type End = ();
    type Lost = ConnectionError;
    type Error = ConnectionError;

    fn on(&mut self, input: Input<FromServer>, now: Instant) -> Result<Option<()>, ConnectionError> {
        match input {
            Input::Start => self.send(FromClient::Alias(CHESS.to_owned()), None),
            Input::Message(message, read_at) => return self.message(message, read_at, now),
            Input::Unreadable => self.has_spoken = true,
            Input::Sent(turn, at) => self.tell(Event::Sent { turn, at }),
            Input::Action(Action::Play { turn, mv, .. }) => self.answer(turn, mv),
            Input::Action(Action::Resign { .. }) => return Ok(self.resign(now)),
            Input::Action(Action::Leave { .. }) => {
                return Err(ConnectionError::NoPlayer("the player's engine has failed".to_owned()));
            }
            Input::NoPlayer(why) => return self.no_player(why),
            Input::Time => return self.time(now),
        }
        Ok(None)
    }

    fn effects(&mut self) -> &mut Effects<FromClient> {
        &mut self.effects
    }

    fn due(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Asking { until } | Phase::Over { until } => Some(*until),
            Phase::Waiting { .. } => None,
            Phase::Playing(game) => Some(game.deadline),
        }
    }

    fn lost(&mut self, error: ConnectionError, _: Instant) -> ConnectionError {
        match error {
            ConnectionError::Link(_) if !self.has_spoken => ConnectionError::Unanswered,
            error => error,
        }
    }

    fn may_stop(&self) -> bool {
        !matches!(self.phase, Phase::Playing(_))
    }

    fn needs_free_seat(&self) -> bool {
        matches!(self.phase, Phase::Asking { .. } | Phase::Waiting { .. })
    }
}

impl<'a> Game<'a> {
    pub(super) fn new(config: &'a Config, now: Instant) -> Game<'a> {
        Game {
            config,
            phase: Phase::Asking { until: now + config.timeouts.answer },
            state: GameState::default(),
            effects: Effects::new(),
            has_spoken: false,
            has_ended: false,
        }
    }

    fn message(
        &mut self,
        message: FromServer,
        read_at: Instant,
        now: Instant,
    ) -> Result<Option<()>, ConnectionError> {
        self.has_spoken = true;
        match message {
            FromServer::Named(game) => self.named(game, now),
            FromServer::Lobbied { session } => self.lobbied(session),
            FromServer::Start { player } => self.start(player.as_deref(), read_at, now)?,
            FromServer::Delta(delta) => self.changed(delta, read_at, now),
            FromServer::Order { name, index } => self.ordered(&name, index, read_at)?,
            FromServer::Invalid(message) => self.invalid(&message),
            FromServer::Fatal { message, timed_out } => return self.fatal(&message, timed_out, now),
            FromServer::Over { gamelog } => return self.over(gamelog, now),
        }
        Ok(None)
    }

    fn named(&mut self, game: String, now: Instant) {
        let Phase::Asking { until } = &mut self.phase else { return };
        *until = now + self.config.timeouts.answer;
        let Config { player, session, color, password, game_settings, .. } = self.config;
        let play = Play {
            game,
            session: session.to_string(),
            client: "Rust".to_owned(),
            player: player.to_string(),
            index: color.map(|color| color as u8),
            password: password.clone(),
            settings: game_settings.clone(),
        };
        self.send(FromClient::Play(play), None);
    }

    fn lobbied(&mut self, session: String) {
        if let Phase::Asking { .. } = self.phase {
            info!("in session {:?}; waiting for an opponent", shown(&session));
            self.phase = Phase::Waiting { session };
        }
    }

    fn start(&mut self, player: Option<&str>, read_at: Instant, now: Instant) -> Result<(), ConnectionError> {
        let Phase::Waiting { session } = &self.phase else { return Ok(()) };
        let color = player.and_then(|id| self.state.color_of(id));
        let (Some(color), Some(fen)) = (color, self.state.fen()) else {
            return Err(unsupported("the game has no position, or our player no color".to_owned()));
        };
        let names = ByColor(self.state.names().0.map(|name| printable(&name, MAX_NAME)));
        info!("the game in session {:?} against {:?} begins; we are {color}", shown(session), names[!color]);
        let time_control =
            self.state.left().map(|left| TimeControl { initial: left[color], increment: Duration::ZERO });
        // A game that begins with moves has them from a PGN.
        let start = self.state.history().is_empty().then(|| fen.to_owned());
        self.effects.push_back(Effect::Open(Box::new(GameInfo {
            // Numbers of sessions count from 1 with each start of the server.
            id: format!("cerveau-{:08x}", fastrand::u32(..)),
            server: self.config.address.to_string(),
            game: GameKind::Chess,
            start,
            side: color,
            names,
            time_control,
            details: GameDetails::default(),
        })));
        let request = OpenRequest::default();
        self.phase =
            Phase::Playing(Playing { color, told: 0, request, order: 0, complaint: None, deadline: now });
        self.changed(Delta::default(), read_at, now);
        Ok(())
    }

    /// Follows a change of the game.
    fn changed(&mut self, delta: Delta, read_at: Instant, now: Instant) {
        self.state.merge(delta);
        let silence = self.silence();
        let clocks = self.clocks(read_at);
        let Phase::Playing(game) = &mut self.phase else { return };
        game.deadline = now + silence;
        let new = self.state.history().get(game.told..).unwrap_or_default();
        if !new.is_empty() {
            game.request.clear();
            // The clock was stopped before the move was told, and is that of the move.
            self.effects.extend(clocks.map(Event::ClocksRead).map(Effect::Tell));
        }
        let moved = |mv: &String| MoveText::new(mv).filter(|_| !mv.is_empty()).map(Event::Moved);
        // The board shows what moves without a readable text were.
        let board = || vec![Event::Board(self.state.fen().unwrap_or_default().to_owned())];
        let events = new.iter().map(moved).collect::<Option<Vec<_>>>().unwrap_or_else(board);
        self.effects.extend(events.into_iter().map(Effect::Tell));
        game.told = self.state.history().len();
        if let Some(outcome) = self.state.result() {
            let reason = self.state.reason(game.color).unwrap_or_default();
            self.end(&result_text(outcome, reason), outcome, now);
        }
    }

    /// Returns how long the server may be silent in a game: it breaks off a game after twice the time of both players.
    fn silence(&self) -> Duration {
        let clocks = self.state.left().map_or(Duration::ZERO, |left| left[Color::White] + left[Color::Black]);
        2 * clocks + self.config.timeouts.beyond_clocks
    }

    fn ordered(&mut self, name: &str, index: u64, read_at: Instant) -> Result<(), ConnectionError> {
        let Phase::Playing(game) = &mut self.phase else { return Ok(()) };
        if name != MAKE_MOVE {
            return Err(unsupported(format!("the server orders {:?}, not {MAKE_MOVE:?}", shown(name))));
        }
        let complaint = game.complaint.take();
        if let Some((turn, ())) = game.request.take_sent() {
            let why = complaint.unwrap_or_else(|| "the server asks again".to_owned());
            self.effects.push_back(Effect::Tell(Event::Refused { turn, why }));
        }
        game.order = index;
        let turn = game.request.open();
        let clocks = self.clocks(read_at);
        let board = self.state.fen().unwrap_or_default().to_owned();
        self.tell(Event::Board(board));
        self.tell(Event::YourTurn { turn, clocks });
        Ok(())
    }

    fn clocks(&self, read_at: Instant) -> Option<Clocks> {
        let (increment, moves_to_go, resolution) = (Duration::ZERO, None, CLOCK_STEP);
        self.state.left().map(|left| Clocks { left, increment, moves_to_go, resolution, read_at })
    }

    fn answer(&mut self, turn: Turn, mv: MoveText) {
        let Phase::Playing(game) = &mut self.phase else { return };
        if !game.request.answer(turn, ()) {
            return debug!("{mv} came too late for turn {}", turn.0);
        }
        let finished = FromClient::Finished { order: game.order, returned: mv.to_string() };
        self.send(finished, Some(turn));
    }

    fn invalid(&mut self, message: &str) {
        let message = self.without_password(message);
        warn!("the server complains: {message:?}");
        if let Phase::Playing(game) = &mut self.phase {
            game.complaint = Some(message);
        }
    }

    fn fatal(&mut self, message: &str, timed_out: bool, now: Instant) -> Result<Option<()>, ConnectionError> {
        let what = self.without_password(message);
        match &self.phase {
            Phase::Over { .. } => Ok(Some(())),
            Phase::Playing(game) if timed_out => {
                let outcome = GameResult::Won(!game.color);
                self.end(&result_text(outcome, &what), outcome, now);
                Ok(Some(()))
            }
            Phase::Playing(_) => Err(ConnectionError::Fatal(what)),
            Phase::Asking { .. } | Phase::Waiting { .. } => Err(match advice(message) {
                Some(advice) => ConnectionError::Refused { what: open_ended(&what), advice },
                None if message.contains("Player index") && message.contains("already taken") => {
                    ConnectionError::ColorTaken(what)
                }
                None => ConnectionError::Fatal(what),
            }),
        }
    }

    fn over(&mut self, gamelog: Option<String>, now: Instant) -> Result<Option<()>, ConnectionError> {
        match &self.phase {
            Phase::Playing(_) => {
                // Without a winner or a loser it was broken off.
                self.tell(Event::Ended {
                    result: "no result: the server ended the game".to_owned(),
                    outcome: None,
                });
                self.ended(now);
            }
            Phase::Over { .. } => {}
            Phase::Asking { .. } | Phase::Waiting { .. } => return Ok(None),
        }
        if let Some(gamelog) = gamelog {
            info!("gamelog: {}", shown(&gamelog.replace(HOSTNAME, self.config.address.host())));
        }
        Ok(Some(()))
    }

    /// Resigns by leaving, as the protocol has no other way.
    fn resign(&mut self, now: Instant) -> Option<()> {
        let Phase::Playing(game) = &self.phase else { return None };
        let outcome = GameResult::Won(!game.color);
        info!("resigning by leaving the game");
        self.end(&result_text(outcome, "resigned by leaving the game"), outcome, now);
        Some(())
    }

    /// Leaves a session whose game would be lost, or gives up the game.
    fn no_player(&self, why: String) -> Result<Option<()>, ConnectionError> {
        if self.needs_free_seat() {
            info!("leaving the session: max_games games are running; joining again when one ends");
            return Ok(Some(()));
        }
        Err(ConnectionError::NoPlayer(why))
    }

    fn end(&mut self, result: &str, outcome: GameResult, now: Instant) {
        self.tell(Event::Ended { result: result.to_owned(), outcome: Some(outcome) });
        self.ended(now);
    }

    fn ended(&mut self, now: Instant) {
        self.has_ended = true;
        self.phase = Phase::Over { until: now + self.config.timeouts.over };
    }

    fn time(&mut self, now: Instant) -> Result<Option<()>, ConnectionError> {
        match &self.phase {
            Phase::Asking { until } if now >= *until => {
                Err(ConnectionError::Silent(self.config.timeouts.answer))
            }
            Phase::Playing(game) if now >= game.deadline => Err(ConnectionError::Silent(self.silence())),
            Phase::Over { until } if now >= *until => Ok(Some(())),
            _ => Ok(None),
        }
    }

    /// Returns the first line of a text of the server, which may repeat our password.
    fn without_password(&self, text: &str) -> String {
        let text = match &self.config.password {
            Some(password) => text.replace(password.expose(), "…"),
            None => text.to_owned(),
        };
        shown(text.lines().next().unwrap_or_default())
    }

    fn send(&mut self, message: FromClient, answers: Option<Turn>) {
        self.effects.push_back(Effect::Send(message, answers));
    }

    fn tell(&mut self, event: Event) {
        self.effects.push_back(Effect::Tell(event));
    }
}

fn unsupported(what: String) -> ConnectionError {
    let advice = "only the chess of Cerveau 2.4 can be played (github.com/siggame/Cerveau, since 2020)";
    ConnectionError::Refused { what, advice }
}

fn shown(text: &str) -> String {
    printable(text, MAX_SHOWN)
}

/// Prepares a sentence of the server for advice after it: without its full stop, and without the opening quotation mark
/// whose closing one is on a later line.
fn open_ended(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    match sentence.rsplit_once(" '") {
        Some((before, quoted)) if !quoted.contains('\'') => format!("{before} {quoted}"),
        _ => sentence.to_owned(),
    }
}

fn result_text(outcome: GameResult, reason: &str) -> String {
    let what = match outcome {
        GameResult::Won(Color::White) => "White wins",
        GameResult::Won(Color::Black) => "Black wins",
        GameResult::Draw => "draw",
    };
    // A reason may list all legal moves, from its second line on.
    let reason = shown(reason.lines().next().unwrap_or_default());
    match reason.strip_prefix("Draw - ").unwrap_or(&reason) {
        "" => what.to_owned(),
        reason => format!("{what}: {reason}"),
    }
}
