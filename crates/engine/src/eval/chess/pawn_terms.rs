//! Pawn structure and king shelter, cached in a pawn hash table.
//!
//! Sources: Chess Programming Wiki, "Pawn Structure", "King Safety" and "Pawn Hash Table".

use shakmaty::{Bitboard, Board, Color, File, Square, attacks};

use super::{
    bitboards::{adjacent_files, ahead, forward_file, forward_ranks, pawn_attacks, relative_rank},
    tapered_score::TaperedScore,
    terms,
    trace::{Sum, Trace},
};

/// Evaluation of a pawn structure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PawnEntry {
    /// Score from White's point of view.
    pub(crate) worth: TaperedScore,
    /// Passed pawns of both sides.
    pub(crate) passed: Bitboard,
}

/// Traces the pawn terms and returns the passed pawns.
pub(crate) fn describe(board: &Board, to: &mut impl Trace) -> Bitboard {
    let mut passed = Bitboard::EMPTY;
    for us in Color::ALL {
        let ours = board.pawns() & board.by_color(us);
        for pawn in ours {
            if structure_terms(board, us, pawn, to) {
                to.add(us, terms::PASSED.at(relative_rank(us, pawn)), 1);
                passed.add(pawn);
            }
        }
        if let Some(king) = board.king_of(us) {
            king_shelter(board, us, king, to);
        }
    }
    passed
}

/// Traces the terms of one pawn and returns whether it is passed.
fn structure_terms(board: &Board, us: Color, pawn: Square, to: &mut impl Trace) -> bool {
    let ours = board.pawns() & board.by_color(us);
    let theirs = board.pawns() & board.by_color(!us);
    let (rank, beside) = (relative_rank(us, pawn), adjacent_files(pawn.file()));
    let way = forward_file(us, pawn);
    let half_open = usize::from((theirs & way).is_empty());
    let doubled = (ours & way).any();
    let supported = (attacks::pawn_attacks(!us, pawn) & ours).any();
    let phalanx = (beside & Bitboard::from_rank(pawn.rank()) & ours).any();

    if doubled {
        to.add(us, terms::DOUBLED.at(0), 1);
    }
    if supported {
        to.add(us, terms::SUPPORTED.at(rank), 1);
    }
    if phalanx {
        to.add(us, terms::PHALANX.at(rank), 1);
    }
    if (beside & ours).is_empty() {
        to.add(us, terms::ISOLATED.at(half_open), 1);
    } else if (beside & ours & !forward_ranks(us, pawn.rank())).is_empty() {
        // All neighbours are ahead: it is backward if it cannot advance safely.
        let next = ahead(us, Bitboard::from_square(pawn));
        if (next & (theirs | pawn_attacks(!us, theirs))).any() {
            to.add(us, terms::BACKWARD.at(half_open), 1);
        }
    }
    let stoppers = theirs & (way | beside & forward_ranks(us, pawn.rank()));
    stoppers.is_empty() && !doubled
}

/// Traces shelter and storm on the king's file and the adjacent ones.
fn king_shelter(board: &Board, us: Color, king: Square, to: &mut impl Trace) {
    let before = !forward_ranks(!us, king.rank());
    let ours = board.pawns() & board.by_color(us) & before;
    let theirs = board.pawns() & board.by_color(!us) & before;
    let nearest = |pawns: Bitboard| us.fold_wb(pawns.first(), pawns.last());
    let middle = (king.file() as u32).clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let on_file = Bitboard::from_file(File::new(file));
        let own_file = usize::from(file == king.file() as u32);
        let guard = nearest(ours & on_file);
        let rank = guard.map_or(0, |pawn| relative_rank(us, pawn));
        to.add(us, terms::SHELTER.at(8 * own_file + rank), 1);
        if let Some(comes) = nearest(theirs & on_file) {
            let stopped = guard.is_some_and(|pawn| relative_rank(us, pawn) + 1 == relative_rank(us, comes));
            to.add(us, terms::STORM.at(8 * usize::from(stopped) + relative_rank(us, comes)), 1);
        }
    }
}

/// Pawn hash table: for each slot a key of pawns and kings, and the evaluation of that structure.
#[derive(Debug)]
pub(crate) struct PawnTable(Box<[(u64, PawnEntry)]>);

impl PawnTable {
    /// Entries: 48 KiB in all, as a search meets few pawn structures.
    const SLOTS: usize = 2_048;

    pub(crate) fn new() -> Self {
        let nothing = PawnEntry { worth: TaperedScore::ZERO, passed: Bitboard::EMPTY };
        // An empty slot has a key that belongs to another.
        PawnTable((0..Self::SLOTS).map(|slot| (u64::from(slot == 0), nothing)).collect())
    }

    /// Returns the evaluation of the pawns of a board, cached by the key of its pawns and kings.
    pub(crate) fn probe(&mut self, key: u64, board: &Board) -> PawnEntry {
        let slot = &mut self.0[key as usize % Self::SLOTS];
        if slot.0 != key {
            let mut sum = Sum::default();
            let passed = describe(board, &mut sum);
            *slot = (key, PawnEntry { worth: sum.total(), passed });
        }
        slot.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess::Chess};

    fn passed(fen: &str) -> Bitboard {
        describe(Chess::parse(fen).unwrap().board(), &mut Sum::default())
    }

    #[test]
    fn passed_pawns() {
        let squares = |list: &[Square]| Bitboard::from_iter(list.iter().copied());
        assert_eq!(passed(&Chess::start().print()), Bitboard::EMPTY);
        assert_eq!(passed("4k3/8/8/3P4/8/p7/8/4K3 w - - 0 1"), squares(&[Square::D5, Square::A3]));
        assert_eq!(passed("4k3/2p5/8/3P4/8/8/8/4K3 w - - 0 1"), Bitboard::EMPTY, "stopped from beside");
        assert_eq!(passed("4k3/8/8/2pP4/8/8/8/4K3 w - - 0 1"), squares(&[Square::D5, Square::C5]));
        assert_eq!(
            passed("4k3/8/3P4/3P4/8/8/8/4K3 w - - 0 1"),
            squares(&[Square::D6]),
            "only the first of two"
        );
    }

    #[test]
    fn what_is_remembered_is_what_is_seen() {
        let mut cache = PawnTable::new();
        for (key, fen) in [
            (0, "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            (7, "4k3/2p5/8/3P4/8/8/8/4K3 w - - 0 1"),
            (7 + PawnTable::SLOTS as u64, "4k3/8/8/3P4/8/p7/8/4K3 w - - 0 1"),
        ] {
            let position = Chess::parse(fen).unwrap();
            let first = cache.probe(key, position.board());
            assert_eq!(first.passed, describe(position.board(), &mut Sum::default()));
            assert_eq!(cache.probe(key, &Board::empty()), first, "from the cache, whatever the board");
        }
    }
}
