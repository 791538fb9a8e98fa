//! The interface of everything that chooses moves.

use std::{ops::ControlFlow, time::Duration};

use zeitnot_rules::{Game, GameHistory, Packed};

use crate::{
    decision::{Best, Decision},
    limits::{Limits, StopFlag},
    score::Score,
};

/// One search, seen from inside.
pub struct Task<'t, G: Game> {
    /// The game so far.
    pub game: &'t GameHistory<G>,
    /// When to stop.
    pub limits: &'t Limits,
    /// Receives each better move; holds a legal move from the start. A thinker that fails and has no substitute
    /// publishes [`Packed::NONE`].
    pub best: &'t Decision,
    /// Stops the search from outside.
    pub stop: &'t StopFlag,
    /// Called after each iteration, once per variation. Its answer for the first variation decides whether
    /// another iteration starts: this is the soft limit.
    pub watch: &'t (dyn Fn(&Progress<G>) -> ControlFlow<()> + Sync),
}

/// Results of an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<G: Game> {
    /// Index of the variation, from 1; the first one is the best.
    pub multipv: u16,
    /// Plies of the iteration.
    pub depth: u16,
    /// Longest variation searched, in plies.
    pub seldepth: u16,
    /// Share of the iteration's nodes spent on the best move, in thousandths.
    pub best_move_share: u16,
    /// Score for the side to move.
    pub score: Score,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Positions found in endgame tables.
    pub tb_hits: u64,
    /// Time since the search started.
    pub time: Duration,
    /// Fill level of the transposition table, in thousandths.
    pub hashfull: u16,
    /// Principal variation.
    pub pv: Vec<G::Move>,
}

/// Cost of a finished search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nodes of all threads.
    pub nodes: u64,
    /// Last finished iteration.
    pub depth: u16,
    /// Time taken.
    pub time: Duration,
}

/// Anything that can play: our searches, the textbook algorithms, an external engine.
pub trait Thinker<G: Game>: Send {
    /// Publishes better and better moves; returns when done or told to stop.
    ///
    /// A thinker that hangs or panics costs strength, never the game.
    fn think(&mut self, task: &Task<'_, G>) -> Report;

    /// Forgets what only the last game made useful.
    fn new_game(&mut self) {}
}

/// Searches on this thread, unobserved; returns the best move and the cost. [`Packed::NONE`] if there is no legal
/// move.
pub fn think_now<G: Game>(
    thinker: &mut dyn Thinker<G>,
    game: &GameHistory<G>,
    limits: &Limits,
) -> (Best, Report) {
    think_watched(thinker, game, limits, &StopFlag::default(), &|_| ControlFlow::Continue(()))
}

/// Like [`think_now`], with a stop flag and the watcher of a [`Task`].
pub fn think_watched<G: Game>(
    thinker: &mut dyn Thinker<G>,
    game: &GameHistory<G>,
    limits: &Limits,
    stop: &StopFlag,
    watch: &(dyn Fn(&Progress<G>) -> ControlFlow<()> + Sync),
) -> (Best, Report) {
    let now = game.now();
    let best = Decision::new(now.moves().first().map_or(Packed::NONE, |&mv| now.pack(mv)));
    let report = thinker.think(&Task { game, limits, best: &best, stop, watch });
    (best.read(), report)
}
