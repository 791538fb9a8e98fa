//! State machine of one game.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, GameError, GameResult, MoveText};

use crate::{
    adjudication::{Adjudication, Adjudicator, Opinion},
    board::{Board, Rewind},
    clock::{Allowance, Clock},
    ending::{Cause, Ending},
    offer::{OfferChange, Offers},
};

/// Usual time for a move that was read in time to reach the referee.
pub const TRANSIT: Duration = Duration::from_millis(100);

/// Rules that differ between fronts. The default is lenient and leaves everything optional out.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RefereeRules {
    /// An illegal move loses. Otherwise the player may try again while the clock runs on.
    pub illegal_move_loses: bool,
    /// Lateness at which a move still counts.
    pub margin: Duration,
    /// Time that a move read in time may take to reach the referee.
    pub transit: Duration,
    /// A flag fall is a draw if the opponent could not win by any play.
    pub flag_needs_winner: bool,
    /// Moves without a clock.
    pub untimed: Option<Untimed>,
    /// Plies before which a game can be aborted.
    pub abort_before: usize,
    /// Plies from which on a draw can be offered; `None`: never.
    pub draw_offers_from: Option<usize>,
    /// When a game ends before its rules end it.
    pub adjudication: Adjudication,
}

/// Moves at the beginning that are not on the clock, but must come in time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Untimed {
    /// Number of moves of both sides.
    pub plies: usize,
    /// Time for each.
    pub limit: Duration,
    /// Consequence if it passes.
    pub expiry: Expiry,
}

/// Consequence of a move that does not come.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expiry {
    Abort,
    Loss,
}

/// Move of a game as it was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// Move, as the game writes it.
    pub mv: MoveText,
    /// Notation of game records.
    pub san: String,
    /// Position after it.
    pub fen: String,
    /// Time left on the mover's clock after the move, increment included.
    pub left: Option<Duration>,
    /// Time from the request for the move to its arrival.
    pub spent: Option<Duration>,
    /// Evaluation that the mover reported.
    pub opinion: Option<Opinion>,
}

/// Reason why a move was not played.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Over,
    NotYourTurn,
    /// The move came too late, which has ended the game.
    TooLate,
    /// The move is unreadable or illegal.
    Illegal,
}

/// Referee of one game.
#[derive(Debug)]
pub struct Referee<B> {
    /// The game.
    pub board: B,
    rules: RefereeRules,
    /// Both clocks.
    pub clock: Clock,
    /// Moves so far, which the views and the record of the game share.
    pub plies: Vec<Arc<PlayedMove>>,
    /// When the next move was asked for.
    pub asked: Instant,
    draws: Offers,
    takebacks: Offers,
    adjudicator: Adjudicator,
    /// `None` while the game goes on.
    pub ending: Option<Ending>,
}

impl<B: Board> Referee<B> {
    /// Begins a game; no clock runs before [`Referee::await_move`].
    pub fn new(board: B, allowances: ByColor<Allowance>, rules: RefereeRules, now: Instant) -> Self {
        Referee {
            board,
            clock: Clock::new(allowances, rules.margin),
            adjudicator: Adjudicator::new(rules.adjudication),
            rules,
            plies: Vec::new(),
            asked: now,
            draws: Offers::default(),
            takebacks: Offers::default(),
            ending: None,
        }
    }

    /// Returns the side to move.
    pub fn turn(&self) -> Color {
        self.board.turn()
    }

    /// Asks for the next move: from now on its clock runs, unless the move is untimed.
    pub fn await_move(&mut self, now: Instant) {
        self.asked = now;
        if self.ending.is_none() && self.untimed().is_none() {
            self.clock.start(self.turn(), now);
        }
    }

    /// Limits of the next move, if it is untimed.
    fn untimed(&self) -> Option<Untimed> {
        self.rules.untimed.filter(|untimed| self.board.ply_count() < untimed.plies)
    }

    /// Last instant at which the next move is in time; `None`: any, or the game is over.
    pub fn deadline(&self) -> Option<Instant> {
        match self.untimed() {
            _ if self.ending.is_some() => None,
            Some(untimed) => self.asked.checked_add(untimed.limit),
            None => self.clock.flag(),
        }
    }

    /// Returns when to call [`Referee::time_out`] if no move has come; `None`: never.
    pub fn timeout(&self) -> Option<Instant> {
        let transit = if self.untimed().is_some() { Duration::ZERO } else { self.rules.transit };
        self.deadline()?.checked_add(transit)
    }

    /// Ends the game if the next move is already too late; returns whether it is over.
    pub fn check_time(&mut self, now: Instant) -> bool {
        if self.deadline().is_some_and(|deadline| now > deadline) {
            self.time_out(now);
        }
        self.ending.is_some()
    }

    /// Ends the game: the side to move has not moved in time.
    pub fn time_out(&mut self, now: Instant) {
        let (loser, winner) = (self.turn(), !self.turn());
        match self.untimed() {
            Some(Untimed { expiry: Expiry::Abort, .. }) => self.end(None, Cause::NoMove, now),
            Some(Untimed { expiry: Expiry::Loss, .. }) => self.lose(loser, Cause::NoMove, now),
            None if self.rules.flag_needs_winner && !self.board.can_win(winner) => {
                self.end(Some(GameResult::Draw), Cause::OutOfTime, now);
            }
            None => self.lose(loser, Cause::OutOfTime, now),
        }
    }

    /// Plays a move that arrived `at` this instant: time first, then the rules. It may end the game.
    ///
    /// # Errors
    /// [`Refusal`] if the move was not played, which may have ended the game, too.
    pub fn play(
        &mut self,
        color: Color,
        text: &str,
        at: Instant,
        opinion: Option<Opinion>,
    ) -> Result<MoveText, Refusal> {
        if self.ending.is_some() {
            return Err(Refusal::Over);
        } else if color != self.turn() {
            return Err(Refusal::NotYourTurn);
        } else if self.check_time(at) {
            return Err(Refusal::TooLate);
        }
        let Ok((mv, san)) = self.board.play(text) else {
            if self.rules.illegal_move_loses {
                self.lose(color, Cause::IllegalMove, at);
            }
            return Err(Refusal::Illegal);
        };
        self.clock.press(at);
        let spent = Some(at.saturating_duration_since(self.asked));
        self.record(mv, san, self.clock.left(color, at), spent, opinion);
        self.draws.drop(!color);
        self.takebacks = Offers::default();
        if let Some((result, reason)) = self.board.outcome().result() {
            self.end(Some(result), Cause::Rules(reason), at);
        } else {
            let (nth, so_far) = (self.board.ply_count(), self.board.result_so_far());
            if let Some(ending) = self.adjudicator.record(color, opinion, nth, so_far) {
                self.end(ending.result, ending.cause, at);
            }
        }
        Ok(mv)
    }

    /// Adds a move that another referee has accepted, or that was played before a restart.
    ///
    /// # Errors
    /// [`GameError`] if the move is not legal.
    pub fn replay(
        &mut self,
        text: &str,
        left: Option<Duration>,
        spent: Option<Duration>,
    ) -> Result<MoveText, GameError> {
        let (mv, san) = self.board.play(text)?;
        self.record(mv, san, left, spent, None);
        Ok(mv)
    }

    fn record(
        &mut self,
        mv: MoveText,
        san: String,
        left: Option<Duration>,
        spent: Option<Duration>,
        opinion: Option<Opinion>,
    ) {
        let fen = self.board.fen();
        self.plies.push(Arc::new(PlayedMove { mv, san, fen, left, spent, opinion }));
    }

    /// Ends the game, unless it is over already, and stops the clocks.
    pub fn end(&mut self, result: Option<GameResult>, cause: Cause, now: Instant) {
        self.clock.stop(now);
        (self.draws, self.takebacks) = (Offers::default(), Offers::default());
        self.ending.get_or_insert(Ending { result, cause });
    }

    /// Ends the game with a loss, as [`Referee::end`] does.
    pub fn lose(&mut self, color: Color, cause: Cause, now: Instant) {
        self.end(Some(GameResult::Won(!color)), cause, now);
    }

    /// Returns whether the game can be aborted.
    pub fn can_abort(&self) -> bool {
        self.ending.is_none() && self.board.ply_count() < self.rules.abort_before
    }

    /// Returns whether a side has offered a draw.
    pub fn offers_draw(&self, color: Color) -> bool {
        self.draws.is_open(color)
    }

    /// Offers, accepts, declines or withdraws a draw; returns what has changed, if anything.
    pub fn draw(&mut self, color: Color, yes: bool, now: Instant) -> Option<OfferChange> {
        let may_offer = self.rules.draw_offers_from.is_some_and(|from| self.board.ply_count() >= from);
        let change = self.draws.say(color, yes, may_offer && self.ending.is_none());
        if change == Some(OfferChange::Accepted) {
            self.end(Some(GameResult::Draw), Cause::Agreement, now);
        }
        change
    }

    /// Returns whether a side has asked for a takeback.
    pub fn asks_takeback(&self, color: Color) -> bool {
        self.takebacks.is_open(color)
    }
}

impl<B: Rewind> Referee<B> {
    /// Asks for, grants, refuses or withdraws a takeback; returns what has changed, if anything. A granted one stops
    /// the clock: [`Referee::await_move`] starts it again.
    pub fn takeback(&mut self, color: Color, yes: bool, now: Instant) -> Option<OfferChange> {
        let may_ask = self.ending.is_none() && self.before_last_move_of(color).is_some();
        let change = self.takebacks.say(color, yes, may_ask);
        if change == Some(OfferChange::Accepted)
            && let Some(kept) = self.before_last_move_of(!color)
        {
            self.board.rewind(kept);
            self.plies.truncate(kept);
            self.clock.stop(now);
            self.adjudicator = Adjudicator::new(self.rules.adjudication);
            (self.draws, self.takebacks) = (Offers::default(), Offers::default());
        }
        change
    }

    /// Returns how many plies come before the last move of a side.
    fn before_last_move_of(&self, color: Color) -> Option<usize> {
        let back = if self.turn() == color { 2 } else { 1 };
        self.board.ply_count().checked_sub(back)
    }
}
