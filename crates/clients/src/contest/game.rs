//! One game: the server's messages become events of the seat, the player's actions become messages.

use std::time::{Duration, Instant};

use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};
use zeitnot_seat::{Action, Clocks, Event, GameDetails, GameInfo, OpenRequest, PlayerGone, Seat, Turn};
use zeitnot_wire::contest::{FromClient, State, long_algebraic};

use crate::{game_clock::GameClock, wait::now};

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
    pub(super) fn info(&self, server: String, start: String) -> GameInfo {
        GameInfo {
            id: self.game.clone(),
            server,
            game: GameKind::Chess,
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
    seat: Seat,
    /// Position of the last request for a move.
    asked: String,
    pub(super) clock: GameClock,
}

impl Game {
    pub(super) fn new(pairing: Pairing, seat: Seat) -> Game {
        let left = ByColor::both(pairing.time_control.initial);
        let clock = GameClock::new(&left, pairing.color, false, now());
        Game { pairing, seat, asked: String::new(), clock }
    }

    pub(super) async fn moved(
        &mut self,
        request: &mut OpenRequest,
        mover: &str,
        mv: &str,
        state: State,
        read_at: Instant,
    ) -> Result<(), PlayerGone> {
        if mover == self.name() {
            request.clear();
        }
        let clocks = self.read_clocks(request, &state, read_at);
        match MoveText::new(mv) {
            Some(mv) => self.seat.send(Event::Moved(mv)).await?,
            // Longer than any move: the board shows what was played.
            None => self.seat.send(Event::Board(state.fen)).await?,
        }
        self.seat.send(Event::ClocksRead(clocks)).await
    }

    /// Passes a request on under a new turn. A repeated request means that our answer was refused.
    pub(super) async fn your_move(
        &mut self,
        request: &mut OpenRequest,
        state: State,
        read_at: Instant,
        last_words: Option<&str>,
    ) -> Result<(), PlayerGone> {
        if let Some((turn, ())) = request.take_sent()
            && self.asked == state.fen
        {
            let why = last_words.unwrap_or("the server asks again").to_owned();
            self.seat.send(Event::Refused { turn, why }).await?;
        }
        let turn = request.open();
        self.asked.clone_from(&state.fen);
        let clocks = Some(self.read_clocks(request, &state, read_at));
        self.seat.send(Event::Board(state.fen)).await?;
        self.seat.send(Event::YourTurn { turn, clocks }).await
    }

    pub(super) async fn clock_update(
        &mut self,
        request: &OpenRequest,
        state: &State,
        read_at: Instant,
    ) -> Result<(), PlayerGone> {
        let clocks = self.read_clocks(request, state, read_at);
        self.seat.send(Event::ClocksRead(clocks)).await
    }

    pub(super) async fn sent(&self, turn: Turn, at: Instant) -> Result<(), PlayerGone> {
        self.seat.send(Event::Sent { turn, at }).await
    }

    /// Tells the player the result and closes its seat.
    pub(super) async fn ended(self, result: String, outcome: Option<GameResult>) {
        let _ = self.seat.send(Event::Ended { result, outcome }).await;
    }

    /// Cancel safe.
    pub(super) async fn action(&mut self) -> Result<Action, PlayerGone> {
        self.seat.actions.recv().await.ok_or(PlayerGone)
    }

    /// Returns the message that answers a request.
    pub(super) fn answer(&mut self, mv: MoveText) -> FromClient {
        self.clock.answered(now());
        FromClient::Move { game: self.pairing.game.clone(), mv: long_algebraic(&mv) }
    }

    fn name(&self) -> &str {
        &self.pairing.names[self.pairing.color]
    }

    fn read_clocks(&mut self, request: &OpenRequest, state: &State, read_at: Instant) -> Clocks {
        self.clock = GameClock::new(&state.left, self.pairing.color, request.is_open(), now());
        Clocks {
            left: state.left,
            increment: self.pairing.time_control.increment,
            moves_to_go: None,
            resolution: CLOCK_STEP,
            read_at,
        }
    }
}

/// Returns the color of the player with this name, or `None` if it is not in the game.
pub(super) fn color_of(player: &str, names: &ByColor<String>) -> Option<Color> {
    Color::BOTH.into_iter().find(|color| names[*color] == player)
}
