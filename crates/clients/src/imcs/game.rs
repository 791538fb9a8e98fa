//! One game: the server's lines become events of the seat, the player's actions become lines.
//!
//! Each request comes with the whole board, so only the last request is remembered. The server does not confirm a
//! move; it only complains of a bad one, at once.

use std::{pin::pin, time::Duration};

use tokio::time::{Instant, sleep_until};
use tracing::{debug, info, warn};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, MoveText, TimeControl};
use zeitnot_seat::{Action, Clocks, Event, GameDetails, GameInfo, Lobby, OpenRequest, Seat, Turn};
use zeitnot_wire::{
    Message,
    imcs::{Answer, FromServer, Verdict, dashed, letter},
};

use super::{
    config::Config,
    connection::{Connection, ConnectionError, ConnectionEvent, find_opponent},
};
use crate::{
    game_clock::GameClock,
    wait::{now, or_never, until},
};

/// Time that White has for its first move, whatever the clocks show.
const FIRST_MOVE: Duration = Duration::from_secs(60);
/// A move without a complaint within this time was accepted.
const COMPLAINT_TIME: Duration = Duration::from_millis(250);
/// Moves of each side after which the game is a draw.
const LAST_MOVE: u32 = 40;
/// Resolution of the server's clocks.
const CLOCK_STEP: Duration = Duration::from_millis(1);
/// Ranks of a board.
const RANKS: usize = 6;
/// Name of an opponent who accepted our offer: the server does not tell it.
const UNKNOWN_OPPONENT: &str = "?";

#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) game: u64,
    pub(super) color: Color,
    pub(super) yours: Duration,
    pub(super) theirs: Duration,
    pub(super) opponent: Option<String>,
    /// It goes on from a board that the server will show.
    pub(super) is_resumed: bool,
}

/// Game whose connection was lost. Our arena lets a player take it up again.
#[derive(Debug)]
pub(super) struct LostGame {
    pub(super) game: u64,
    pub(super) color: Color,
    clock: GameClock,
}

impl LostGame {
    /// Returns our time left, unless the game must be over.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.clock.time_left(now())
    }
}

pub(super) struct Game<'a, 'c> {
    config: &'a Config,
    connection: &'a mut Connection<'c>,
    start: Start,
    /// `None` after we have resigned.
    seat: Option<Seat>,
    /// Reason for having no player.
    no_player: Option<String>,
    /// The last request for a move; our answer, and when it counts as accepted.
    request: OpenRequest<(MoveText, Instant)>,
    board: BoardLines,
    has_begun: bool,
    /// The player's board is the server's. It is not in a resumed game, before the first request.
    knows_board: bool,
    theirs: Duration,
    clock: GameClock,
    deadline: Instant,
}

/// A board as far as its lines have come.
#[derive(Debug, Default)]
struct BoardLines {
    header: Option<(u32, Color)>,
    ranks: Vec<String>,
}

impl BoardLines {
    /// Returns the position, if all lines have come.
    fn position(&self) -> Option<String> {
        let (number, color) = self.header?;
        let is_complete = self.ranks.len() == RANKS;
        is_complete.then(|| format!("{} {} {number}", self.ranks.join("/"), letter(color)))
    }
}

impl<'a, 'c> Game<'a, 'c> {
    pub(super) fn new(config: &'a Config, connection: &'a mut Connection<'c>, start: Start) -> Self {
        let first = if start.is_resumed { start.theirs.max(FIRST_MOVE) } else { FIRST_MOVE };
        Game {
            config,
            connection,
            theirs: start.theirs,
            clock: clock(start.color, start.yours, start.theirs.max(FIRST_MOVE), false),
            has_begun: start.is_resumed,
            knows_board: !start.is_resumed,
            start,
            seat: None,
            no_player: None,
            request: OpenRequest::default(),
            board: BoardLines::default(),
            deadline: Instant::now() + first + config.timeouts.beyond_clock,
        }
    }

    /// Plays to the end; the server closes afterwards.
    pub(super) async fn play(&mut self, lobby: &Lobby) -> Result<(), ConnectionError> {
        let Start { game, color, is_resumed, .. } = self.start;
        let begins = if is_resumed { "goes on" } else { "begins" };
        info!("game {game} against {:?} {begins}; we are {color}", self.opponent());
        match lobby.open(self.info()).await {
            Ok(seat) => self.seat = Some(seat),
            Err(declined) => self.resign_without_player(declined.to_string())?,
        }
        let ended = self.listen().await;
        let (result, outcome) = match &ended {
            Ok(verdict) => {
                (verdict.to_string(), Some(verdict.winner.map_or(GameResult::Draw, GameResult::Won)))
            }
            Err(lost) => (format!("no result: {lost}"), None),
        };
        self.send_event(Event::Ended { result, outcome }).await;
        let verdict = ended?;
        debug!("game {game} is over: {verdict}");
        // Without a player there must be a delay before the next game.
        self.no_player.take().map_or(Ok(()), |why| Err(ConnectionError::NoPlayer(why)))
    }

    /// Returns the game as it can be taken up, after the connection was lost, unless we have resigned.
    pub(super) fn lost(&self) -> Option<LostGame> {
        let Start { game, color, .. } = self.start;
        self.seat.as_ref().map(|_| LostGame { game, color, clock: self.clock })
    }

    fn opponent(&self) -> &str {
        self.start.opponent.as_deref().unwrap_or(UNKNOWN_OPPONENT)
    }

    fn info(&self) -> GameInfo {
        let color = self.start.color;
        let mut names = ByColor::both(self.config.user.to_string());
        names[!color] = self.opponent().to_owned();
        GameInfo {
            id: self.start.game.to_string(),
            server: self.config.address.to_string(),
            game: GameKind::MinichessImcs,
            start: None,
            side: color,
            names,
            time_control: Some(TimeControl { initial: self.start.yours, increment: Duration::ZERO }),
            details: GameDetails::default(),
        }
    }

    async fn listen(&mut self) -> Result<Verdict, ConnectionError> {
        let mut opponent = pin!(find_opponent(self.config, self.start.game, self.start.color));
        let mut is_unknown = self.start.opponent.is_none();
        loop {
            tokio::select! {
                biased;
                event = self.connection.next() => match event? {
                    ConnectionEvent::Message { message, read_at } => {
                        if let Some(verdict) = self.message(message, read_at).await? {
                            return Ok(verdict);
                        }
                    }
                    ConnectionEvent::Sent { turn, at } => self.send_event(Event::Sent { turn, at }).await,
                },
                action = or_never(self.seat.as_mut().map(|seat| seat.actions.recv())) => match action {
                    Some(Action::Play { turn, mv, .. }) => self.answer(turn, mv)?,
                    Some(Action::Resign { .. }) => self.resign("the player gives up")?,
                    Some(Action::Leave { .. }) => self.resign("the player's engine has failed")?,
                    None => self.resign_without_player("the player left the game".to_owned())?,
                },
                () = until(self.request.sent().map(|(_, at)| *at)) => self.move_accepted().await,
                name = &mut opponent, if is_unknown => {
                    is_unknown = false;
                    self.opponent_found(name).await;
                }
                () = sleep_until(self.deadline) => {
                    return Err(ConnectionError::Silent(self.config.timeouts.beyond_clock));
                }
            }
        }
    }

    async fn message(
        &mut self,
        message: FromServer,
        read_at: std::time::Instant,
    ) -> Result<Option<Verdict>, ConnectionError> {
        match message {
            FromServer::Moved(mv) => self.moved(&mv).await,
            FromServer::Board { number, color } => {
                self.board = BoardLines { header: Some((number, color)), ranks: Vec::with_capacity(RANKS) };
            }
            FromServer::Rank(rank) if self.board.ranks.len() < RANKS => self.board.ranks.push(rank),
            FromServer::Prompt { yours, theirs } => self.asked(yours, theirs, read_at).await,
            FromServer::Complaint(why) => self.refused(why).await,
            FromServer::Over(verdict) => return Ok(Some(self.over(verdict).await)),
            FromServer::Reply { code, text } => {
                if let Some(verdict) = verdict(code, &text)? {
                    return Ok(Some(self.over(verdict).await));
                }
            }
            FromServer::Fatal(text) => {
                return Err(if self.has_begun {
                    ConnectionError::BrokenOff(text)
                } else {
                    ConnectionError::NoGame(text)
                });
            }
            other => debug!("ignored: {other:?}"),
        }
        Ok(None)
    }

    /// Counts our last move, which the server does not repeat, unless it came too late.
    async fn over(&mut self, verdict: Verdict) -> Verdict {
        if counts_last_move(&verdict, self.start.color) {
            self.move_accepted().await;
        }
        verdict
    }

    async fn opponent_found(&mut self, name: Result<String, String>) {
        match name {
            Ok(name) => {
                info!("game {}: the opponent is {name:?}", self.start.game);
                self.send_event(Event::OpponentNamed(name)).await;
            }
            Err(why) => debug!("game {}: the opponent's name is unknown: {why}", self.start.game),
        }
    }

    async fn moved(&mut self, mv: &str) {
        self.has_begun = true;
        self.move_accepted().await;
        match MoveText::new(mv) {
            Some(_) if !self.knows_board => debug!("{mv} was played on a board that is shown next"),
            Some(mv) => self.send_event(Event::Moved(mv)).await,
            None => warn!("not a move: {mv:?}"),
        }
        // The board and the prompt follow at once.
        self.deadline = Instant::now() + self.config.timeouts.beyond_clock;
    }

    async fn asked(&mut self, yours: Duration, theirs: Duration, read_at: std::time::Instant) {
        self.move_accepted().await;
        self.has_begun |= self.start.color == Color::Black;
        let board = std::mem::take(&mut self.board);
        let number = board.header.map_or(1, |(number, _)| number);
        match board.position() {
            Some(position) => {
                self.knows_board = true;
                self.send_event(Event::Board(position)).await;
            }
            None => warn!("asked for a move without a board"),
        }
        let turn = self.request.open();
        self.theirs = theirs;
        let first = if number == 1 { FIRST_MOVE } else { Duration::ZERO };
        self.deadline = Instant::now() + yours.max(first) + self.config.timeouts.beyond_clock;
        self.clock = clock(self.start.color, yours.max(first), theirs, true);
        let mut left = ByColor::both(yours);
        left[!self.start.color] = theirs;
        let clocks = Clocks {
            left,
            increment: Duration::ZERO,
            moves_to_go: Some((LAST_MOVE + 1).saturating_sub(number).max(1)),
            resolution: CLOCK_STEP,
            read_at,
        };
        self.send_event(Event::YourTurn { turn, clocks: Some(clocks) }).await;
    }

    /// Handles a complaint about our move; the board and the prompt follow again.
    async fn refused(&mut self, why: String) {
        match self.request.take_sent() {
            Some((turn, _)) => self.send_event(Event::Refused { turn, why }).await,
            None => warn!("the server complains: {why:?}"),
        }
    }

    /// Treats our move as played, because there was no complaint.
    async fn move_accepted(&mut self) {
        if let Some((_, (mv, _))) = self.request.take_sent() {
            self.send_event(Event::Moved(mv)).await;
        }
    }

    fn answer(&mut self, turn: Turn, mv: MoveText) -> Result<(), ConnectionError> {
        if !self.request.answer(turn, (mv, Instant::now() + COMPLAINT_TIME)) {
            debug!("{mv} came too late for turn {}", turn.0);
            return Ok(());
        }
        self.deadline = Instant::now() + self.theirs + self.config.timeouts.beyond_clock;
        self.clock.answered(now());
        self.connection.send_answer(&Answer::Move(dashed(&mv)), Some(turn))
    }

    fn resign_without_player(&mut self, why: String) -> Result<(), ConnectionError> {
        self.resign(&why)?;
        self.no_player = Some(why);
        Ok(())
    }

    fn resign(&mut self, why: &str) -> Result<(), ConnectionError> {
        warn!("game {}: resigning: {why}", self.start.game);
        self.seat = None;
        self.request.clear();
        self.connection.send_answer(&Answer::Resign, None)
    }

    /// Sends an event to the player. A player that is gone is noticed when its next action is awaited.
    async fn send_event(&mut self, event: Event) {
        if let Some(seat) = &self.seat
            && seat.send(event).await.is_err()
        {
            warn!("game {}: the player does not answer", self.start.game);
        }
    }
}

fn clock(color: Color, yours: Duration, theirs: Duration, is_our_turn: bool) -> GameClock {
    let mut left = ByColor::both(theirs);
    left[color] = yours;
    GameClock::new(&left, color, is_our_turn, now())
}

/// Returns whether a move of this side that the server has not answered was played. One that came too late was not, and
/// then the opponent has won for a reason beside the board.
fn counts_last_move(verdict: &Verdict, color: Color) -> bool {
    verdict.how.is_empty() || verdict.winner == Some(color)
}

/// Returns the result from a numbered reply, in case the line before it was lost.
fn verdict(code: u16, text: &str) -> Result<Option<Verdict>, ConnectionError> {
    let winner = match code {
        230 => None,
        231 => Some(Color::White),
        232 => Some(Color::Black),
        400.. => return Err(ConnectionError::BrokenOff(format!("{code} {text}"))),
        _ => return Ok(None),
    };
    match FromServer::parse(&format!("= {text}")) {
        Ok(FromServer::Over(verdict)) => Ok(Some(verdict)),
        _ => Ok(Some(Verdict { winner, how: text.to_owned() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_came_too_late_does_not_count() {
        for (code, text, counts) in [
            (231, "W wins", true),
            (230, "draw", true),
            (231, "W wins on opponent time", true),
            (231, "W wins on opponent resignation", true),
            (232, "B wins on opponent time", false),
            (232, "odd words", false),
        ] {
            let verdict = verdict(code, text).unwrap().unwrap();
            assert_eq!(counts_last_move(&verdict, Color::White), counts, "{text}");
        }
    }
}
