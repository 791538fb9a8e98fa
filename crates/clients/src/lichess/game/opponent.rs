//! The opponent: absence, draw offers, takeback requests.

use std::{
    mem,
    time::{Duration, Instant},
};

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{GameState, OpponentGone};

use super::{actions::GameAction, context::MAX_TIME, rules::Claim};
use crate::wait::now;

/// A first move that comes in the last moment still counts.
const ABORT_MARGIN: Duration = Duration::from_millis(500);
/// Time for the first move in a game that cannot be aborted; then it is suspended.
const UNSTARTED_TIMEOUT: Duration = Duration::from_secs(30);
/// Bounds of the delay before a claim that came too early is made again.
const MIN_CLAIM_DELAY: Duration = Duration::from_secs(2);
const MAX_CLAIM_DELAY: Duration = Duration::from_secs(60);

/// State of the opponent beside the moves.
#[derive(Debug)]
pub(crate) struct Opponent {
    color: Color,
    pub(crate) abort_at: Option<Instant>,
    /// Time for the first move that the opponent has asked for.
    granted: Option<Duration>,
    /// The game keeps its slot until then, as it can neither begin nor be aborted.
    pub(crate) given_up_at: Option<Instant>,
    absence: Option<Absence>,
    pub(crate) offers_draw: bool,
    requests_takeback: bool,
    /// Takebacks that are still accepted.
    takebacks_left: u32,
}

#[derive(Copy, Clone, Debug)]
struct Absence {
    /// Time of the next claim; `None` while a claim is under way.
    claim_at: Option<Instant>,
    delay: Duration,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NewRequests {
    pub(crate) draw: bool,
    pub(crate) takeback: Option<GameAction>,
}

impl Opponent {
    pub(crate) fn new(color: Color, max_takebacks: u32) -> Opponent {
        Opponent {
            color,
            abort_at: None,
            granted: None,
            given_up_at: None,
            absence: None,
            offers_draw: false,
            requests_takeback: false,
            takebacks_left: max_takebacks,
        }
    }

    pub(crate) fn claim_at(&self) -> Option<Instant> {
        self.absence.and_then(|absence| absence.claim_at)
    }

    /// Reads the requests from a state. Each request is answered once.
    pub(crate) fn read_requests(&mut self, state: &GameState) -> NewRequests {
        let draw = state.draw_offers()[self.color];
        let takeback = state.takebacks()[self.color];
        let had_draw = mem::replace(&mut self.offers_draw, draw);
        let had_takeback = mem::replace(&mut self.requests_takeback, takeback);
        let answer = (takeback && !had_takeback).then(|| {
            let accepts = self.takebacks_left > 0;
            self.takebacks_left = self.takebacks_left.saturating_sub(1);
            if accepts { GameAction::AcceptTakeback } else { GameAction::DeclineTakeback }
        });
        NewRequests { draw: draw && !had_draw, takeback: answer }
    }

    /// Sets when to abort if the opponent's first move is awaited.
    pub(crate) fn await_first_move(&mut self, is_awaited: bool, limit: Duration, read_at: Instant) {
        if !is_awaited {
            (self.abort_at, self.given_up_at) = (None, None);
        } else if self.abort_at.is_none() {
            let limit = limit.max(self.granted.unwrap_or_default());
            self.abort_at = Some(read_at + limit.min(MAX_TIME) + ABORT_MARGIN);
        }
    }

    /// Gives the opponent this time for the first move, once. Returns whether it does.
    pub(crate) fn grant(&mut self, time: Duration) -> bool {
        let is_granted = self.granted.is_none() && self.given_up_at.is_none();
        if is_granted {
            self.granted = Some(time);
            let abort_at = now() + time.min(MAX_TIME) + ABORT_MARGIN;
            self.abort_at = self.abort_at.map(|at| at.max(abort_at));
        }
        is_granted
    }

    /// Aborts once: where that is refused, it would be again.
    pub(crate) fn abort(&mut self) -> GameAction {
        self.abort_at = Some(now() + MAX_TIME);
        GameAction::Abort
    }

    /// The opponent leaves, is still away, or is back.
    pub(crate) fn gone(&mut self, gone: OpponentGone, claim_delay: Duration, read_at: Instant) {
        let wait = gone.claim_win_in.filter(|_| gone.gone);
        self.absence = wait.map(|wait| Absence {
            claim_at: Some(read_at + wait.min(MAX_TIME) + claim_delay),
            delay: MIN_CLAIM_DELAY,
        });
    }

    /// A new stream will tell whether the opponent is away.
    pub(crate) fn forget_absence(&mut self) {
        self.absence = None;
    }

    pub(crate) fn claim(&mut self, claim: Claim) -> Option<GameAction> {
        if let Some(absence) = &mut self.absence {
            absence.claim_at = None;
        }
        match claim {
            Claim::Victory => Some(GameAction::ClaimVictory),
            Claim::Draw => Some(GameAction::ClaimDraw),
            Claim::Nothing => None,
        }
    }

    /// An action has failed: a game that cannot be aborted is given up later, a claim is made again later, and a
    /// takeback request that still stands is answered again.
    pub(crate) fn failed(&mut self, action: GameAction) {
        if action == GameAction::Abort && self.abort_at.is_some() {
            self.given_up_at = Some(now() + UNSTARTED_TIMEOUT);
        }
        if matches!(action, GameAction::AcceptTakeback | GameAction::DeclineTakeback) {
            self.requests_takeback = false;
        }
        if let Some(absence) = self.absence.as_mut().filter(|_| action.is_claim()) {
            absence.claim_at = Some(now() + absence.delay);
            absence.delay = (2 * absence.delay).min(MAX_CLAIM_DELAY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_for_the_first_move_is_granted_once_and_postpones_an_abort() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let began = now();
        let mut waiting = Opponent::new(Color::Black, 0);
        waiting.await_first_move(true, second, began);
        assert!(waiting.abort_at.is_some_and(|at| at < began + minute));
        assert!(waiting.grant(minute));
        let granted = waiting.abort_at;
        assert!(granted.is_some_and(|at| at >= began + minute));
        assert!(!waiting.grant(minute) && waiting.abort_at == granted);
        // Before the wait begins; and never less than the server's limit.
        let mut early = Opponent::new(Color::Black, 0);
        assert!(early.grant(minute) && early.abort_at.is_none());
        early.await_first_move(true, second, began);
        assert_eq!(early.abort_at, Some(began + minute + ABORT_MARGIN));
        let mut short = Opponent::new(Color::Black, 0);
        short.await_first_move(true, minute, began);
        assert!(short.grant(second) && short.abort_at == Some(began + minute + ABORT_MARGIN));
    }
}
