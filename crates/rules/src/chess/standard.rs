//! The rules of standard chess and Chess960, where a search spends most of its time.

use shakmaty::{Chess, Move};

use super::{captures, gives_check, rules::ChessRules};
use crate::{
    game::{Moves, Outcome},
    kind::GameKind,
};

impl ChessRules for Chess {
    const KIND: GameKind = GameKind::Chess;
    const KEY_SALT: u64 = 0;
    const KEY_FOLLOWS_PIECES: bool = true;

    #[inline]
    fn end(&self) -> Outcome {
        Outcome::Ongoing
    }

    #[inline]
    fn is_noisy(&self, mv: Move) -> bool {
        captures::is_noisy(mv)
    }

    fn noisy_moves(&self) -> Moves<Move> {
        captures::moves(self)
    }

    fn gives_check(&self, mv: Move) -> bool {
        gives_check::gives_check(self, mv)
    }
}
