//! Counts of the leaves of the move tree, which prove a move generator.

use crate::game::Game;

/// The number of sequences of `depth` legal moves. The last ply is counted, not played.
///
/// ```
/// use zeitnot_rules::{Game, chess::Chess, perft};
/// assert_eq!(perft(&Chess::start(), 3), 8902);
/// ```
pub fn perft<G: Game>(position: &G, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.moves().len() as u64,
        _ => position.moves().into_iter().map(|mv| perft(&position.after(mv), depth - 1)).sum(),
    }
}
