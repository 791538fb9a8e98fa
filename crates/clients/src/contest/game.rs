//! One game from the protocol's side of the seat: the server's words become events, the player's
//! actions become lines. It keeps which request is open, so that a late answer is never sent.

use std::time::{Duration, Instant};

use zeitnot_rules::{Color, GameKind, MoveText};
use zeitnot_seat::{Action, Clocks, Event, GameInfo, Occasion, Seat, Turn};
use zeitnot_wire::contest::{FromClient, State, long_algebraic};

use super::Paired;

/// Clocks are told with two decimals of a second.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// A player that takes no event for this long has hung.
const PLAYER_HANGS: Duration = Duration::from_secs(5);

/// A game being played.
#[derive(Debug)]
pub(super) struct Game {
    pub(super) paired: Paired,
    seat: Seat,
    request: Request,
}

/// The server's last request for a move.
#[derive(Debug)]
enum Request {
    /// None, or our answer was played.
    None,
    /// The player has not answered yet.
    Open { turn: Turn, fen: String },
    /// Answered; the server has said neither yes nor no.
    Answered { turn: Turn, fen: String },
}

/// The player left its seat, or hangs.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the player left the game")]
pub(super) struct PlayerGone;

/// What the lobby is told of a game.
pub(super) fn info(paired: &Paired, server: String, start: String) -> GameInfo {
    GameInfo {
        id: paired.game.clone(),
        server,
        game: GameKind::Chess,
        start: Some(start),
        side: paired.side,
        names: paired.names.clone(),
        time_control: Some(paired.time_control),
        occasion: Occasion::default(),
    }
}

impl Game {
    pub(super) fn new(paired: Paired, seat: Seat) -> Game {
        Game { paired, seat, request: Request::None }
    }

    pub(super) async fn moved(
        &mut self,
        mover: &str,
        mv: &str,
        state: State,
        read_at: Instant,
    ) -> Result<(), PlayerGone> {
        if mover == self.name() {
            self.request = Request::None;
        }
        let clocks = self.clocks(&state, read_at);
        match MoveText::new(mv) {
            Some(mv) => self.tell(Event::Moved(mv)).await?,
            // No move is that long, but a move it was: the board tells which.
            None => self.tell(Event::Board(state.fen)).await?,
        }
        self.tell(Event::ClocksRead(clocks)).await
    }

    /// A request under a fresh turn. The same request again means that our answer was refused.
    pub(super) async fn your_move(
        &mut self,
        turn: Turn,
        state: State,
        read_at: Instant,
        last_words: Option<&str>,
    ) -> Result<(), PlayerGone> {
        let clocks = Some(self.clocks(&state, read_at));
        if let Request::Answered { turn, fen } = &self.request
            && *fen == state.fen
        {
            let why = last_words.unwrap_or("the server asks again").to_owned();
            self.tell(Event::Refused { turn: *turn, why }).await?;
        }
        self.request = Request::Open { turn, fen: state.fen.clone() };
        self.tell(Event::Board(state.fen)).await?;
        self.tell(Event::YourTurn { turn, clocks }).await
    }

    pub(super) async fn clock_update(&self, state: &State, read_at: Instant) -> Result<(), PlayerGone> {
        self.tell(Event::ClocksRead(self.clocks(state, read_at))).await
    }

    pub(super) async fn sent(&self, turn: Turn, at: Instant) -> Result<(), PlayerGone> {
        self.tell(Event::Sent { turn, at }).await
    }

    /// The player is told, and its seat is gone: what it still says, nobody hears.
    pub(super) async fn ended(self, result: String) {
        let _ = self.tell(Event::Ended { result }).await;
    }

    /// What the player wants next. Cancel safe.
    pub(super) async fn action(&mut self) -> Result<Action, PlayerGone> {
        self.seat.actions.recv().await.ok_or(PlayerGone)
    }

    /// The line that answers the open request; `None` if the answer came too late for it.
    pub(super) fn answer(&mut self, turn: Turn, mv: MoveText) -> Option<FromClient> {
        match std::mem::replace(&mut self.request, Request::None) {
            Request::Open { turn: open, fen } if open == turn => {
                self.request = Request::Answered { turn, fen };
                Some(FromClient::Move { game: self.paired.game.clone(), mv: long_algebraic(&mv) })
            }
            other => {
                self.request = other;
                None
            }
        }
    }

    fn name(&self) -> &str {
        &self.paired.names[self.paired.side]
    }

    fn clocks(&self, state: &State, read_at: Instant) -> Clocks {
        Clocks {
            left: state.left,
            increment: self.paired.time_control.increment,
            moves_to_go: None,
            resolution: CLOCK_STEP,
            read_at,
        }
    }

    async fn tell(&self, event: Event) -> Result<(), PlayerGone> {
        self.seat.events.send_timeout(event, PLAYER_HANGS).await.map_err(|_| PlayerGone)
    }
}

/// Which side a player of this name has in a game; `None`: it is not in it.
pub(super) fn side_of(player: &str, names: &zeitnot_rules::ByColor<String>) -> Option<Color> {
    Color::BOTH.into_iter().find(|side| names[*side] == player)
}
