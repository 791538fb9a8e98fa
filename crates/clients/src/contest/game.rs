//! One game: what the server says of it becomes events for the player, and a move becomes a message.

use std::time::{Duration, Instant};

use zeitnot_rules::{ByColor, Color, GameKind, MoveText, TimeControl};
use zeitnot_seat::{Clocks, Event, GameDetails, GameInfo, OpenRequest};
use zeitnot_wire::contest::{FromClient, State, long_algebraic};

use crate::game_clock::GameClock;

/// Clocks come with two decimals of a second.
const CLOCK_STEP: Duration = Duration::from_millis(10);

/// A game that the server paired us for.
#[derive(Clone, Debug)]
pub(super) struct Pairing {
    pub(super) game: String,
    pub(super) names: ByColor<String>,
    pub(super) color: Color,
    pub(super) time_control: TimeControl,
}

impl Pairing {
    pub(super) fn info(&self, game: GameKind, server: String, start: String) -> GameInfo {
        GameInfo {
            id: self.game.clone(),
            server,
            game,
            start: Some(start),
            side: self.color,
            names: self.names.clone(),
            time_control: Some(self.time_control),
            details: GameDetails::default(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Game {
    pub(super) pairing: Pairing,
    /// Position of the last request for a move.
    asked: String,
    pub(super) clock: GameClock,
}

impl Game {
    pub(super) fn new(pairing: Pairing, now: Instant) -> Game {
        let left = ByColor::both(pairing.time_control.initial);
        let clock = GameClock::new(&left, pairing.color, false, now);
        Game { pairing, asked: String::new(), clock }
    }

    /// Takes a move in. Where chance has a part in it, the board shows what it was.
    pub(super) fn moved(
        &mut self,
        request: &mut OpenRequest,
        (mover, mv): (&str, &str),
        state: State,
        read_at: Instant,
        now: Instant,
        has_chance: bool,
    ) -> impl Iterator<Item = Event> + use<> {
        if mover == self.pairing.names[self.pairing.color] {
            request.clear();
        }
        let clocks = self.read_clocks(request, &state, read_at, now);
        let moved = MoveText::new(mv).map(Event::Moved);
        // Longer than any move: the board shows what was played.
        let board = (moved.is_none() || has_chance).then_some(Event::Board(state.fen));
        moved.into_iter().chain(board).chain([Event::ClocksRead(clocks)])
    }

    /// Passes a request on under a new turn. A repeated request means that our answer was refused.
    pub(super) fn your_move(
        &mut self,
        request: &mut OpenRequest,
        state: State,
        read_at: Instant,
        now: Instant,
        last_words: Option<&str>,
    ) -> impl Iterator<Item = Event> + use<> {
        let answered = request.take_sent().filter(|_| self.asked == state.fen);
        let why = last_words.unwrap_or("the server asks again").to_owned();
        let refused = answered.map(|(turn, ())| Event::Refused { turn, why });
        let turn = request.open();
        self.asked.clone_from(&state.fen);
        let clocks = Some(self.read_clocks(request, &state, read_at, now));
        refused.into_iter().chain([Event::Board(state.fen), Event::YourTurn { turn, clocks }])
    }

    /// Returns the message that answers a request.
    pub(super) fn answer(&mut self, mv: MoveText, now: Instant) -> FromClient {
        self.clock.answered(now);
        FromClient::Move { game: self.pairing.game.clone(), mv: long_algebraic(&mv) }
    }

    pub(super) fn read_clocks(
        &mut self,
        request: &OpenRequest,
        state: &State,
        read_at: Instant,
        now: Instant,
    ) -> Clocks {
        self.clock = GameClock::new(&state.left, self.pairing.color, request.is_open(), now);
        Clocks {
            left: state.left,
            increment: self.pairing.time_control.increment,
            moves_to_go: None,
            resolution: CLOCK_STEP,
            read_at,
        }
    }
}

/// Phase of a connection.
#[derive(Debug)]
pub(super) enum Phase {
    Waiting,
    /// We have acknowledged the pairing.
    Acked(Pairing),
    Playing(Game),
    /// We have resigned; the server has not ended the game yet.
    Resigned(Pairing),
}

impl Phase {
    pub(super) fn pairing(&self) -> Option<&Pairing> {
        match self {
            Phase::Waiting => None,
            Phase::Acked(pairing) | Phase::Resigned(pairing) => Some(pairing),
            Phase::Playing(game) => Some(&game.pairing),
        }
    }
}

/// Returns the color of the player with this name, or `None` if it is not in the game.
pub(super) fn color_of(player: &str, names: &ByColor<String>) -> Option<Color> {
    Color::BOTH.into_iter().find(|color| names[*color] == player)
}
