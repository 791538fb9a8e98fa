//! State machine of one game: the server's lines become events for the player, the player's actions become lines.
//!
//! Each request comes with the whole board, so only the last request is remembered. The server does not confirm a
//! move; it only complains of a bad one, at once.

use std::time::{Duration, Instant};

use tracing::{debug, info, warn};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};
use zeitnot_seat::{Action, Clocks, Event, GameDetails, GameInfo, OpenRequest, Turn};
use zeitnot_wire::imcs::{Answer, FromServer, Verdict, dashed};

use super::{
    board::BoardLines,
    config::Config,
    connection::ConnectionError,
    start::{LostGame, Start},
    verdict::{counts_last_move, verdict},
};
use crate::{
    drive::{Effect, Effects, Input, Machine},
    game_clock::GameClock,
};

/// Time that White has for its first move, whatever the clocks show.
const FIRST_MOVE: Duration = Duration::from_secs(60);
/// A move without a complaint within this time was accepted.
const COMPLAINT_TIME: Duration = Duration::from_millis(250);
/// Moves of each side after which the game is a draw.
const LAST_MOVE: u32 = 40;
/// Resolution of the server's clocks.
const CLOCK_STEP: Duration = Duration::from_millis(1);
/// Name of an opponent who accepted our offer: the server does not tell it.
const UNKNOWN_OPPONENT: &str = "?";

/// Message to a running game.
#[derive(Clone, Debug)]
pub(super) enum News {
    Server(FromServer),
    /// The opponent's name, or why it is not known.
    Opponent(Result<String, String>),
}

/// Phase of a game.
#[derive(Debug)]
pub(super) enum Phase {
    Playing,
    /// We have resigned, maybe as there is no player for this reason; the server has not ended the game yet.
    Resigned {
        no_player: Option<String>,
    },
}

pub(super) struct Game<'a> {
    config: &'a Config,
    start: Start,
    phase: Phase,
    /// Somebody has moved, so the offer was not dead.
    has_begun: bool,
    effects: Effects<Answer>,
    /// The last request for a move; our answer, and when it counts as accepted.
    request: OpenRequest<(MoveText, Instant)>,
    board: BoardLines,
    /// The player's board is the server's. It is not in a resumed game, before the first request.
    knows_board: bool,
    theirs: Duration,
    clock: GameClock,
    deadline: Instant,
}

impl Machine for Game<'_> {
    type Message = News;
    type Command = Answer;
    /// Reason for having no player, if there was none.
    type End = Option<String>;
    type Lost = ConnectionError;
    type Error = ConnectionError;

    fn on(&mut self, input: Input<News>, now: Instant) -> Result<Option<Self::End>, ConnectionError> {
        match input {
            Input::Start => self.open(),
            Input::Message(News::Server(message), read_at) => return self.message(message, read_at, now),
            Input::Message(News::Opponent(name), _) => self.opponent_found(name),
            Input::Unreadable => {}
            Input::Sent(turn, at) => self.tell(Event::Sent { turn, at }),
            Input::Action(Action::Play { turn, mv, .. }) => self.answer(turn, mv, now),
            Input::Action(Action::Resign { .. }) => self.resign("the player gives up", None),
            Input::Action(Action::Leave { .. }) => self.resign("the player's engine has failed", None),
            Input::NoPlayer(why) => self.resign(&why, Some(why.clone())),
            Input::Time if now >= self.deadline => {
                return Err(ConnectionError::Silent(self.config.timeouts.beyond_clock));
            }
            Input::Time if self.accepted_at().is_some_and(|at| now >= at) => self.move_accepted(),
            Input::Time => {}
        }
        Ok(None)
    }

    fn effects(&mut self) -> &mut Effects<Answer> {
        &mut self.effects
    }

    fn due(&self) -> Option<Instant> {
        Some(self.accepted_at().map_or(self.deadline, |at| at.min(self.deadline)))
    }

    fn lost(&mut self, error: ConnectionError, _: Instant) -> ConnectionError {
        error
    }

    /// A game that runs is finished.
    fn may_stop(&self) -> bool {
        false
    }
}

impl<'a> Game<'a> {
    pub(super) fn new(config: &'a Config, start: Start, now: Instant) -> Self {
        let first = if start.is_resumed { start.theirs.max(FIRST_MOVE) } else { FIRST_MOVE };
        Game {
            config,
            theirs: start.theirs,
            clock: clock(start.color, start.yours, start.theirs.max(FIRST_MOVE), false, now),
            phase: Phase::Playing,
            has_begun: start.is_resumed,
            effects: Effects::new(),
            request: OpenRequest::default(),
            board: BoardLines::default(),
            knows_board: !start.is_resumed,
            deadline: now + first + config.timeouts.beyond_clock,
            start,
        }
    }

    /// Returns the game as it can be taken up, after the connection was lost, unless we have resigned.
    pub(super) fn lost_game(&self) -> Option<LostGame> {
        let Start { game, color, .. } = self.start;
        self.is_played().then_some(LostGame { game, color, clock: self.clock })
    }

    fn is_played(&self) -> bool {
        matches!(self.phase, Phase::Playing)
    }

    fn open(&mut self) {
        let Start { game, color, yours, is_resumed, .. } = self.start;
        let opponent = self.start.opponent.as_deref().unwrap_or(UNKNOWN_OPPONENT);
        let begins = if is_resumed { "goes on" } else { "begins" };
        info!("game {game} against {opponent:?} {begins}; we are {color}");
        let mut names = ByColor::both(self.config.user.to_string());
        names[!color] = opponent.to_owned();
        self.effects.push_back(Effect::Open(Box::new(GameInfo {
            id: game.to_string(),
            server: self.config.address.to_string(),
            game: GameKind::MinichessImcs,
            start: None,
            side: color,
            names,
            time_control: Some(TimeControl { initial: yours, increment: Duration::ZERO }),
            details: GameDetails::default(),
        })));
    }

    fn message(
        &mut self,
        message: FromServer,
        read_at: Instant,
        now: Instant,
    ) -> Result<Option<Option<String>>, ConnectionError> {
        match message {
            FromServer::Moved(mv) => self.moved(&mv, now),
            FromServer::Board { number, color } => self.board = BoardLines::new(number, color),
            FromServer::Rank(rank) => self.board.add(rank),
            FromServer::Prompt { yours, theirs } => self.asked(yours, theirs, read_at, now),
            FromServer::Complaint(why) => self.refused(why),
            FromServer::Over(verdict) => return Ok(Some(self.over(&verdict))),
            FromServer::Reply { code, text } => {
                return Ok(verdict(code, &text)?.map(|verdict| self.over(&verdict)));
            }
            FromServer::Fatal(text) if !self.has_begun => return Err(ConnectionError::NoGame(text)),
            FromServer::Fatal(text) => return Err(ConnectionError::BrokenOff(text)),
            other => debug!("ignored: {other:?}"),
        }
        Ok(None)
    }

    /// Ends the game. Counts our last move, which the server does not repeat, unless it came too late.
    fn over(&mut self, verdict: &Verdict) -> Option<String> {
        debug!("game {} is over: {verdict}", self.start.game);
        if counts_last_move(verdict, self.start.color) {
            self.move_accepted();
        }
        let outcome = Some(verdict.winner.map_or(GameResult::Draw, GameResult::Won));
        self.effects.push_back(Effect::Tell(Event::Ended { result: verdict.to_string(), outcome }));
        match &mut self.phase {
            Phase::Resigned { no_player } => no_player.take(),
            Phase::Playing => None,
        }
    }

    fn opponent_found(&mut self, name: Result<String, String>) {
        match name {
            Ok(name) => {
                info!("game {}: the opponent is {name:?}", self.start.game);
                self.tell(Event::OpponentNamed(name));
            }
            Err(why) => debug!("game {}: the opponent's name is unknown: {why}", self.start.game),
        }
    }

    fn moved(&mut self, mv: &str, now: Instant) {
        self.has_begun = true;
        self.move_accepted();
        match MoveText::new(mv) {
            Some(_) if !self.knows_board => debug!("{mv} was played on a board that is shown next"),
            Some(mv) => self.tell(Event::Moved(mv)),
            None => warn!("not a move: {mv:?}"),
        }
        // The board and the prompt follow at once.
        self.deadline = now + self.config.timeouts.beyond_clock;
    }

    fn asked(&mut self, yours: Duration, theirs: Duration, read_at: Instant, now: Instant) {
        self.move_accepted();
        self.has_begun |= self.start.color == Color::Black;
        let board = std::mem::take(&mut self.board);
        let number = board.number();
        match board.position() {
            Some(position) => {
                self.knows_board = true;
                self.tell(Event::Board(position));
            }
            None => warn!("asked for a move without a board"),
        }
        let turn = self.request.open();
        self.theirs = theirs;
        let first = if number == 1 { FIRST_MOVE } else { Duration::ZERO };
        self.deadline = now + yours.max(first) + self.config.timeouts.beyond_clock;
        self.clock = clock(self.start.color, yours.max(first), theirs, true, now);
        let mut left = ByColor::both(yours);
        left[!self.start.color] = theirs;
        let clocks = Clocks {
            left,
            increment: Duration::ZERO,
            moves_to_go: Some((LAST_MOVE + 1).saturating_sub(number).max(1)),
            resolution: CLOCK_STEP,
            read_at,
        };
        self.tell(Event::YourTurn { turn, clocks: Some(clocks) });
    }

    /// Handles a complaint about our move; the board and the prompt follow again.
    fn refused(&mut self, why: String) {
        match self.request.take_sent() {
            Some((turn, _)) => self.tell(Event::Refused { turn, why }),
            None => warn!("the server complains: {why:?}"),
        }
    }

    /// Returns when our move counts as accepted.
    fn accepted_at(&self) -> Option<Instant> {
        self.request.sent().map(|(_, at)| *at)
    }

    /// Treats our move as played, because there was no complaint.
    fn move_accepted(&mut self) {
        if let Some((_, (mv, _))) = self.request.take_sent() {
            self.tell(Event::Moved(mv));
        }
    }

    fn answer(&mut self, turn: Turn, mv: MoveText, now: Instant) {
        if !self.is_played() || !self.request.answer(turn, (mv, now + COMPLAINT_TIME)) {
            return debug!("{mv} came too late for turn {}", turn.0);
        }
        self.deadline = now + self.theirs + self.config.timeouts.beyond_clock;
        self.clock.answered(now);
        self.effects.push_back(Effect::Send(Answer::Move(dashed(&mv)), Some(turn)));
    }

    fn resign(&mut self, why: &str, no_player: Option<String>) {
        if !self.is_played() {
            return;
        }
        warn!("game {}: resigning: {why}", self.start.game);
        self.phase = Phase::Resigned { no_player };
        self.request.clear();
        self.effects.push_back(Effect::Send(Answer::Resign, None));
    }

    /// Sends an event to the player, unless we have resigned.
    fn tell(&mut self, event: Event) {
        if self.is_played() {
            self.effects.push_back(Effect::Tell(event));
        }
    }
}

fn clock(color: Color, yours: Duration, theirs: Duration, is_our_turn: bool, now: Instant) -> GameClock {
    let mut left = ByColor::both(theirs);
    left[color] = yours;
    GameClock::new(&left, color, is_our_turn, now)
}
