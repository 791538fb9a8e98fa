//! Counts of the leaves of the move tree, which prove a move generator.

use crate::game::Game;

/// The number of sequences of `depth` legal moves. The last ply is counted, not played.
///
/// ```
/// use zeitnot_rules::{Game, chess::Chess, perft};
/// assert_eq!(perft(&Chess::start(), 3), 8902);
/// ```
pub fn perft<G: Game>(position: &G, depth: u32) -> u64 {
    count(position, depth, &|| false)
}

/// Deepest count of a command: none that is deeper ends, and each ply takes stack.
pub const MAX_PERFT_DEPTH: u32 = 20;

/// Counts the leaves below each root move in turn. Ends early, without the move at hand, once `is_stopped`.
///
/// ```
/// use zeitnot_rules::{Game, chess::Chess, divide};
/// let counts = divide(Chess::start(), 3, || false);
/// assert_eq!(counts.map(|(_, nodes)| nodes).sum::<u64>(), 8902);
/// ```
pub fn divide<G: Game>(
    root: G,
    depth: u32,
    is_stopped: impl Fn() -> bool,
) -> impl Iterator<Item = (G::Move, u64)> {
    root.moves().into_iter().map_while(move |mv| {
        let nodes = count(&root.after(mv), depth.checked_sub(1)?, &is_stopped);
        (!is_stopped()).then_some((mv, nodes))
    })
}

/// Counts leaves; too few once `is_stopped`.
fn count<G: Game>(position: &G, depth: u32, is_stopped: &impl Fn() -> bool) -> u64 {
    match depth {
        0 => 1,
        1 => position.moves().len() as u64,
        _ => {
            let moves = position.moves().into_iter().take_while(|_| !is_stopped());
            moves.map(|mv| count(&position.after(mv), depth - 1, is_stopped)).sum()
        }
    }
}
