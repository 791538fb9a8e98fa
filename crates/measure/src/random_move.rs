//! Random moves of players who only keep a server busy.

use zeitnot_rules::{Game, MoveText, chess::Chess};

/// A legal move, rather one that takes nothing, so that games last.
pub(crate) fn random_move(board: &Chess) -> Option<MoveText> {
    const TRIES: usize = 4;
    let moves = board.moves();
    let draw = || moves.get(fastrand::usize(..moves.len().max(1))).copied();
    let is_quiet = |mv: &_| board.after(*mv).piece_count() == board.piece_count();
    let drawn = (0..TRIES).filter_map(|_| draw()).find(is_quiet).or_else(draw)?;
    Some(board.write(drawn))
}
