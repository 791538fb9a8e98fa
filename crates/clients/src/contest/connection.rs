//! State machine of one connection to a contest server, from `JOIN` to its end: pairings and games, one after another.

use std::time::{Duration, Instant};

use tracing::{debug, info, warn};
use zeitnot_net::{Rate, Ration};
use zeitnot_rules::{DynGame, GameKind, GameResult, MoveText};
use zeitnot_seat::{Action, Event, OpenRequest, Turn};
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer, State, result_text},
};

use super::{
    config::Config,
    error::{ConnectionError, ends_tournament, may_refuse},
    first_message::{EMPTY_LINES, FirstMessage, Step},
    game::{self, Game, Pairing, Phase},
};
use crate::{
    drive::{Effect, Effects, Input, Machine},
    game_clock::GameClock,
};

/// `INFO` lines that are shown; there is no limit to how many a server sends.
const INFO_LINES: Rate = Rate { burst: 20, interval: Duration::from_secs(1) };

/// Pairings that are acknowledged. Games that end as they begin would fill the log.
const PAIRINGS: Rate = Rate { burst: 1000, interval: Duration::from_millis(50) };

/// State that outlasts a connection.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Pairings that may come, once one has come.
    pub(super) pairings: Option<Ration>,
    /// The last connection brought a pairing.
    pub(super) was_paired: bool,
    /// Clocks of the game that was lost last with its connection.
    pub(super) lost_game: Option<GameClock>,
    /// Games until we leave.
    pub(super) games_left: Option<u32>,
}

pub(super) struct Connection<'a> {
    config: &'a Config,
    progress: &'a mut Progress,
    phase: Phase,
    effects: Effects<String>,
    /// The last request for a move. Counts through all games, so that no two requests share a number.
    request: OpenRequest,
    /// The server's last `INFO`, if nothing of weight came after it: the reason of what comes next.
    last_info: Option<String>,
    /// Arrival of the last line.
    last_line: Instant,
    /// Messages of the protocol that have come.
    messages: u64,
    first_message: FirstMessage,
    /// `INFO` lines that are shown.
    info_lines: Ration,
}

impl Machine for Connection<'_> {
    type Message = FromServer;
    type Command = String;
    type End = ();
    type Lost = ConnectionError;
    type Error = ConnectionError;

    fn on(&mut self, input: Input<FromServer>, now: Instant) -> Result<Option<()>, ConnectionError> {
        match input {
            Input::Start => self.join(),
            Input::Message(message, read_at) => {
                self.last_line = now;
                self.messages += 1;
                self.first_message.has_come();
                self.message(message, read_at, now)?;
            }
            Input::Unreadable => self.last_line = now,
            Input::Sent(turn, at) => self.tell([Event::Sent { turn, at }]),
            Input::Action(Action::Play { turn, mv, .. }) => self.answer(turn, mv, now),
            Input::Action(Action::Resign { .. }) => self.resign("the player gives up"),
            Input::Action(Action::Leave { .. }) => self.resign("the player's engine has failed"),
            Input::NoPlayer(why) => self.resign(&why),
            Input::Time => self.time(now)?,
        }
        Ok((self.progress.games_left == Some(0)).then_some(()))
    }

    fn effects(&mut self) -> &mut Effects<String> {
        &mut self.effects
    }

    fn due(&self) -> Option<Instant> {
        let silent_at = self.silence().map(|limit| self.last_line + limit);
        [silent_at, self.first_message.due()].into_iter().flatten().min()
    }

    /// Adds the server's last message, which explains best why it closed.
    fn lost(&mut self, error: ConnectionError, now: Instant) -> ConnectionError {
        let ConnectionError::Link(error) = error else { return error };
        let is_first = self.messages == 1 && self.first_message.has_just_begun(now);
        match self.last_info.take() {
            Some(message) if ends_tournament(&message) => ConnectionError::TournamentOver(message),
            Some(message) if is_first && may_refuse(&message) => ConnectionError::JoinRefused(message),
            Some(message) => ConnectionError::Dismissed { error, message },
            None if self.messages == 0 && !self.config.address.is_websocket() => ConnectionError::Unanswered,
            None => ConnectionError::Link(error),
        }
    }

    fn may_stop(&self) -> bool {
        !matches!(self.phase, Phase::Playing(_))
    }
}

impl<'a> Connection<'a> {
    pub(super) fn new(config: &'a Config, progress: &'a mut Progress, now: Instant) -> Self {
        Connection {
            config,
            progress,
            phase: Phase::Waiting,
            effects: Effects::new(),
            request: OpenRequest::default(),
            last_info: None,
            last_line: now,
            messages: 0,
            first_message: FirstMessage::new(&config.address, &config.timeouts, now),
            info_lines: Ration::new(INFO_LINES),
        }
    }

    /// Returns the clocks of the game that runs.
    pub(super) fn running(&self) -> Option<GameClock> {
        match &self.phase {
            Phase::Playing(game) => Some(game.clock),
            _ => None,
        }
    }

    fn join(&mut self) {
        let Config { tournament, player, key, .. } = self.config;
        let (tournament, player) = (tournament.to_string(), player.to_string());
        self.say(&FromClient::Join { tournament, player, key: key.clone(), extensions: Vec::new() }, None);
    }

    /// Returns the limit for the server's silence; none while it waits for players.
    fn silence(&self) -> Option<Duration> {
        let timeouts = &self.config.timeouts;
        match self.phase {
            Phase::Waiting => None,
            Phase::Acked(_) => Some(timeouts.ack),
            Phase::Playing(_) | Phase::Resigned(_) => Some(timeouts.silence),
        }
    }

    fn time(&mut self, now: Instant) -> Result<(), ConnectionError> {
        if let Some(limit) = self.silence().filter(|limit| now >= self.last_line + *limit) {
            return Err(ConnectionError::Silent(limit));
        }
        match self.first_message.next(now) {
            Some(Step::Probe) => {
                debug!("no answer to JOIN yet; sending empty lines, which a server for HTTP answers");
                self.effects.push_back(Effect::Send(EMPTY_LINES.to_owned(), None));
            }
            Some(Step::Warn) => warn!(
                "no answer to JOIN within {} s; some servers are silent until another player comes, otherwise check \
                 the port in `address`, and its scheme: tcp:// for a TCP port, ws:// for a WebSocket port",
                self.config.timeouts.join.as_secs()
            ),
            None => {}
        }
        Ok(())
    }

    fn message(
        &mut self,
        message: FromServer,
        read_at: Instant,
        now: Instant,
    ) -> Result<(), ConnectionError> {
        let has_chance = self.config.game == GameKind::Tuc;
        let info = match &message {
            // Neither has to do with what the server says next.
            FromServer::ClockUpdate(_) | FromServer::Said { .. } => self.last_info.clone(),
            _ => self.last_info.take(),
        };
        match message {
            FromServer::Info { text } => self.info(text),
            FromServer::Said { sender, text } => debug!("{sender:?} says: {text:?}"),
            FromServer::GamePaired { game, names, time_control } => {
                match game::color_of(self.config.player.as_str(), &names) {
                    Some(color) => self.paired(Pairing { game, names, color, time_control })?,
                    None => not_ours(&game),
                }
            }
            FromServer::GameStarted(state) => self.started(state, now),
            FromServer::YourMove(state) => {
                let Some((game, request)) = self.playing(&state.game) else { return Ok(()) };
                let events = game.your_move(request, state, read_at, now, info.as_deref());
                self.tell(events);
            }
            FromServer::ClockUpdate(state) => {
                let Some((game, request)) = self.playing(&state.game) else { return Ok(()) };
                let clocks = game.read_clocks(request, &state, read_at, now);
                self.tell([Event::ClocksRead(clocks)]);
            }
            FromServer::PlayerMoved { mover, mv, state } => {
                let Some((game, request)) = self.playing(&state.game) else { return Ok(()) };
                let events = game.moved(request, (&mover, &mv), state, read_at, now, has_chance);
                self.tell(events);
            }
            FromServer::GameOver { game, result, reason } if self.is_ours(&game) => {
                self.progress.games_left = self.progress.games_left.map(|games| games.saturating_sub(1));
                self.over(format!("{} {reason}", result_text(result)), Some(result));
            }
            FromServer::GameOver { game, .. } => not_ours(&game),
            FromServer::GameAborted { reason } => self.over(format!("aborted: {reason}"), None),
            FromServer::GameState(state) => not_ours(&state.game),
            // We know the rules, and have not asked for these.
            FromServer::Variant { .. } | FromServer::LegalMoves { .. } => {}
        }
        Ok(())
    }

    fn info(&mut self, text: String) {
        match !ends_tournament(&text) && self.info_lines.take() {
            true => info!("the server says: {text:?}"),
            // An end is reported with its connection's, not each time that we ask.
            false => debug!("the server says: {text:?}"),
        }
        self.last_info = Some(text);
    }

    /// Acknowledges a pairing. If one comes during a game, that game's end was lost.
    fn paired(&mut self, pairing: Pairing) -> Result<(), ConnectionError> {
        if self.is_ours(&pairing.game) {
            debug!("paired again for game {:?}", pairing.game);
            return Ok(());
        }
        if !self.progress.pairings.get_or_insert_with(|| Ration::new(PAIRINGS)).take() {
            return Err(ConnectionError::Flood);
        }
        self.over("unknown: the server began another game".to_owned(), None);
        let [white, black] = &pairing.names.0;
        info!("game {:?}: {white:?} against {black:?}, {}", pairing.game, pairing.time_control);
        self.say(&FromClient::Ack { game: pairing.game.clone() }, None);
        self.phase = Phase::Acked(pairing);
        (self.progress.was_paired, self.progress.lost_game) = (true, None);
        Ok(())
    }

    fn started(&mut self, state: State, now: Instant) {
        match &self.phase {
            Phase::Acked(pairing) if pairing.game == state.game => {
                let (pairing, game) = (pairing.clone(), self.config.game);
                self.phase = Phase::Playing(Game::new(pairing.clone(), now));
                self.request.clear();
                if let Err(error) = DynGame::begin(game, Some(&state.fen)) {
                    let name = game.name();
                    return self.resign(&format!(
                        "it is not {name} ({error}): set `game` in its [[server]] table to the tournament's game"
                    ));
                }
                let info = pairing.info(game, self.config.address.to_string(), state.fen);
                self.effects.push_back(Effect::Open(Box::new(info)));
            }
            _ => not_ours(&state.game),
        }
    }

    fn resign(&mut self, why: &str) {
        let Phase::Playing(Game { pairing, .. }) = &self.phase else { return };
        let pairing = pairing.clone();
        warn!("game {:?}: resigning: {why}", pairing.game);
        self.say(&FromClient::Resign { game: pairing.game.clone() }, None);
        self.phase = Phase::Resigned(pairing);
    }

    fn over(&mut self, result: String, outcome: Option<GameResult>) {
        if let Some(pairing) = self.phase.pairing() {
            debug!("game {:?} is over: {result:?}", pairing.game);
            self.tell([Event::Ended { result, outcome }]);
        }
        self.phase = Phase::Waiting;
    }

    fn answer(&mut self, turn: Turn, mv: MoveText, now: Instant) {
        let Phase::Playing(game) = &mut self.phase else { return };
        if !self.request.answer(turn, ()) {
            return debug!("game {:?}: {mv} came too late for turn {}", game.pairing.game, turn.0);
        }
        let answer = game.answer(mv, now);
        self.say(&answer, Some(turn));
    }

    /// Returns the game in progress, if it has this name, and the last request for a move.
    fn playing(&mut self, game: &str) -> Option<(&mut Game, &mut OpenRequest)> {
        match &mut self.phase {
            Phase::Playing(playing) if playing.pairing.game == game => Some((playing, &mut self.request)),
            _ => {
                not_ours(game);
                None
            }
        }
    }

    fn is_ours(&self, game: &str) -> bool {
        self.phase.pairing().is_some_and(|pairing| pairing.game == game)
    }

    fn say(&mut self, message: &FromClient, answers: Option<Turn>) {
        match message {
            FromClient::Join { tournament, player, key: Some(_), .. } => {
                debug!("> JOIN {tournament} {player} …")
            }
            message => debug!("> {}", message.to_line()),
        }
        self.effects.push_back(Effect::Send(message.to_line(), answers));
    }

    fn tell(&mut self, events: impl IntoIterator<Item = Event>) {
        self.effects.extend(events.into_iter().map(Effect::Tell));
    }
}

/// Ignores games that we watch or have left; the server closes on an answer to them.
fn not_ours(game: &str) {
    debug!("nothing to do for game {game:?}");
}
