//! Opening positions for matches: short random lines that are about even.
//!
//! They depend on the recipe and on our engine only, so everybody gets the same.

use std::collections::HashSet;

use zeitnot_engine::{Config, EngineFactory, Limits, OutOfMemory, Playable, Score, think_now};
use zeitnot_rules::{GameHistory, Key};

/// Built-in set for [standard chess](Recipe::default), one FEN on each line.
pub const BALANCED: &str = include_str!("balanced.epd");

/// Part of the nodes for a first search …
const FIRST_LOOK: u64 = 20;
/// … and the factor by which its limit is wider.
const FIRST_MOST: i32 = 3;

/// Parameters of a set of openings.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Random moves from the start.
    pub plies: u32,
    /// Nodes of the search that judges the result.
    pub nodes: u64,
    /// Largest accepted score, in centipawns.
    pub most: i32,
    /// Seed of the random moves.
    pub seed: u64,
}

impl Default for Recipe {
    /// Recipe of [`BALANCED`].
    fn default() -> Self {
        Recipe { plies: 8, nodes: 100_000, most: 40, seed: 1 }
    }
}

/// Generator of distinct openings.
pub struct Openings<F> {
    recipe: Recipe,
    random: fastrand::Rng,
    /// Supplies the initial position.
    start: F,
    seen: HashSet<Key>,
}

impl<F> Openings<F> {
    /// Creates a generator; `start` supplies the initial position of each line.
    pub fn new(recipe: Recipe, start: F) -> Openings<F> {
        Openings { recipe, random: fastrand::Rng::with_seed(recipe.seed), start, seen: HashSet::new() }
    }

    /// Tries the next candidate; `None` if it is rejected. A recipe that asks for too much may reject all.
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for the table of the search.
    pub fn candidate<G: Playable>(&mut self) -> Result<Option<G>, OutOfMemory>
    where
        F: FnMut(&mut fastrand::Rng) -> G,
    {
        let mut line = GameHistory::new((self.start)(&mut self.random));
        for _ in 0..self.recipe.plies {
            let Some(mv) = self.random.choice(line.now().moves()) else { return Ok(None) };
            line.play(mv);
        }
        // A side in check has hardly a choice.
        if line.outcome().is_over() || line.now().is_check() || !self.seen.insert(line.now().key()) {
            return Ok(None);
        }
        let line = GameHistory::new(line.now().clone());
        let Recipe { nodes, most, .. } = self.recipe;
        for (nodes, most) in [(nodes / FIRST_LOOK, most.saturating_mul(FIRST_MOST)), (nodes, most)] {
            if judged(&line, nodes)?.get().abs() > most {
                return Ok(None);
            }
        }
        Ok(Some(line.now().clone()))
    }
}

/// Score of an independent search with this many nodes.
fn judged<G: Playable>(line: &GameHistory<G>, nodes: u64) -> Result<Score, OutOfMemory> {
    const SMALL: std::num::NonZeroUsize = std::num::NonZeroUsize::new(4).unwrap();
    let mut thinker = EngineFactory::new(&Config { hash_mib: SMALL, ..Config::default() })?.thinker::<G>();
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    Ok(think_now(&mut *thinker, line, &limits).0.score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{
        Game,
        chess::{Atomic, Chess, VariantPosition},
    };

    fn some<G: Playable>(start: &G, recipe: Recipe) -> Vec<String> {
        let mut openings = Openings::new(recipe, |_: &mut fastrand::Rng| start.clone());
        let candidates = (0..60).filter_map(|_| openings.candidate().unwrap());
        candidates.map(|position: G| position.print()).collect()
    }

    #[test]
    fn the_same_recipe_makes_the_same_openings_and_another_seed_others() {
        let recipe = Recipe { nodes: 2_000, most: 60, ..Recipe::default() };
        let first = some(&Chess::start(), recipe);
        assert!(first.len() > 2, "{first:?}");
        assert_eq!(some(&Chess::start(), recipe), first);
        assert_ne!(some(&Chess::start(), Recipe { seed: 2, ..recipe }), first);
        let atomic = VariantPosition::from(Atomic::start());
        assert!(!some(&atomic, Recipe { plies: 4, ..recipe }).is_empty());
    }

    #[test]
    fn our_own_set_is_large_and_no_position_comes_twice() {
        let positions: Vec<_> = BALANCED.lines().map(|line| Chess::parse(line).unwrap()).collect();
        let keys: HashSet<_> = positions.iter().map(Game::key).collect();
        assert_eq!(keys.len(), positions.len());
        assert!(positions.len() >= 500);
        for position in positions {
            assert!(!position.outcome().is_over(), "{}", position.print());
            // Eight plies: no more than eight pieces can be gone, and each side has moved four times.
            assert!(position.piece_count() >= 24 && position.print().ends_with(" 5"), "{}", position.print());
        }
    }
}
