//! Searches for tables and analysis, provided by the program that serves the page.

use std::{fmt, pin::Pin, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zeitnot_rules::DynGame;
use zeitnot_wire::uci::UciScore;

use super::level::Level;

/// Strength of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Full strength for this time.
    Full(Duration),
    /// That of the bot at a level.
    Level(Level),
}

/// Clock of the side to move.
#[derive(Copy, Clone, Debug)]
pub struct RunningClock {
    /// Time left.
    pub left: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moment at which `left` was read.
    pub at: Instant,
}

/// Move that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The move, as the game writes it.
    pub text: String,
    /// Score for the side to move.
    pub score: UciScore,
    /// Iteration that the score is from; 0 if nothing was searched.
    pub depth: u16,
    /// Nodes searched.
    pub nodes: u64,
    /// Time from the beginning of the search.
    pub time: Duration,
    /// Principal variation, with each move as the game and as game records write it.
    pub pv: Vec<(String, String)>,
    /// End of the search.
    pub at: Instant,
}

/// Search that runs or waits. It ends with `None` if there is nothing to find.
pub type Finding = Pin<Box<dyn Future<Output = Option<Found>> + Send>>;

/// Finds moves for people: at tables, and to analyse positions.
pub trait Searcher: fmt::Debug + Send + Sync + 'static {
    /// Finds a move, unless `stop` is cancelled before.
    fn find(
        &self,
        game: &DynGame,
        strength: Strength,
        clock: Option<RunningClock>,
        stop: CancellationToken,
    ) -> Finding;
}

/// Finds a move that mates, or the first legal one.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Scripted;

#[cfg(test)]
impl Searcher for Scripted {
    fn find(&self, game: &DynGame, _: Strength, _: Option<RunningClock>, _: CancellationToken) -> Finding {
        let legal = game.legal_moves();
        let mate = legal.iter().find(|(_, san)| san.ends_with('#'));
        let score = if mate.is_some() { UciScore::Mate(1) } else { UciScore::Cp(0) };
        let chosen = mate.or(legal.first()).map(|(mv, san)| (mv.to_string(), san.clone()));
        Box::pin(async move {
            let (text, san) = chosen?;
            let (pv, time, at) = (vec![(text.clone(), san)], Duration::ZERO, Instant::now());
            Some(Found { text, score, depth: 1, nodes: 1, time, pv, at })
        })
    }
}
