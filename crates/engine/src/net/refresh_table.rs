//! Hidden layers by side and half of the board, from which others are built after a king has changed halves.
//!
//! Source: Chess Programming Wiki, "NNUE", accumulator refresh tables ("Finny tables").

use arrayvec::ArrayVec;
use shakmaty::{Board, Color, Role, Square};

use super::{
    block::{self, Block},
    evaluation::Net,
    features::{View, is_mirrored},
};

/// The last hidden layer that was asked for, with its board, for each side and half of the board.
#[derive(Clone, Debug)]
pub(super) struct RefreshTable([[Entry; 2]; 2]);

#[derive(Clone, Debug)]
struct Entry {
    board: Board,
    layer: Vec<Block>,
}

impl RefreshTable {
    pub(super) fn new(net: &Net) -> RefreshTable {
        let entry = || Entry { board: Board::empty(), layer: net.bias().to_vec() };
        RefreshTable([[entry(), entry()], [entry(), entry()]])
    }

    /// Computes the hidden layer of a side with its king on this square.
    pub(super) fn refresh(&mut self, net: &Net, board: &Board, color: Color, king: Square) -> &[Block] {
        let entry = &mut self.0[color as usize][usize::from(is_mirrored(king))];
        let view = View::new(color, king);
        let (mut added, mut taken) = (ArrayVec::<_, 64>::new(), ArrayVec::<_, 64>::new());
        for color in Color::ALL {
            for role in Role::ALL {
                let piece = role.of(color);
                let (now, then) = (board.by_piece(piece), entry.board.by_piece(piece));
                added.extend((now & !then).into_iter().map(|square| net.column(view.index(piece, square))));
                taken.extend((then & !now).into_iter().map(|square| net.column(view.index(piece, square))));
            }
        }
        block::change(&mut entry.layer, &added, &taken);
        entry.board = board.clone();
        &entry.layer
    }
}
