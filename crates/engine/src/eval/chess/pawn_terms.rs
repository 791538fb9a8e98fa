//! Pawns among themselves and before their kings: what only changes when one of those moves, and is
//! remembered from position to position.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;
use shakmaty::{Bitboard, Board, Color, File, Rank, Square, attacks};

use super::{
    bitboards::{ahead, beside, pawn_attacks, rank_of, ranks_ahead, way},
    tapered_score::TaperedScore,
    terms,
    trace::{Sum, Trace},
};

/// What the rest of the evaluation wants to know of the pawns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pawns {
    /// What they are worth, as White sees them.
    pub worth: TaperedScore,
    /// Those of both sides that no pawn can stop.
    pub passed: Bitboard,
}

/// Tells the terms of all pawns, and which of them are passed.
pub fn describe(board: &Board, to: &mut impl Trace) -> Bitboard {
    let mut passed = Bitboard::EMPTY;
    for us in Color::ALL {
        let ours = board.pawns() & board.by_color(us);
        for pawn in ours {
            if structure(board, us, pawn, to) {
                to.add(us, terms::PASSED.at(rank_of(us, pawn)), 1);
                passed.add(pawn);
            }
        }
        if let Some(king) = board.king_of(us) {
            shelter(board, us, king, to);
        }
    }
    passed
}

/// The terms of one pawn. Is it passed?
fn structure(board: &Board, us: Color, pawn: Square, to: &mut impl Trace) -> bool {
    let ours = board.pawns() & board.by_color(us);
    let theirs = board.pawns() & board.by_color(!us);
    let (rank, beside) = (rank_of(us, pawn), beside(pawn.file()));
    let way = way(us, pawn);
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
    } else if (beside & ours & !ranks_ahead(us, pawn.rank())).is_empty() {
        // The neighbours are all ahead: can it follow them?
        let next = ahead(us, Bitboard::from_square(pawn));
        if (next & (theirs | pawn_attacks(!us, theirs))).any() {
            to.add(us, terms::BACKWARD.at(half_open), 1);
        }
    }
    let stoppers = theirs & (way | beside & ranks_ahead(us, pawn.rank()));
    stoppers.is_empty() && !doubled
}

/// The pawns before a king, on its file and on those beside it.
fn shelter(board: &Board, us: Color, king: Square, to: &mut impl Trace) {
    let before = !ranks_ahead(!us, king.rank());
    let ours = board.pawns() & board.by_color(us) & before;
    let theirs = board.pawns() & board.by_color(!us) & before;
    let nearest = |pawns: Bitboard| us.fold_wb(pawns.first(), pawns.last());
    let middle = (king.file() as u32).clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let on_file = Bitboard::from_file(File::new(file));
        let own_file = usize::from(file == king.file() as u32);
        let guard = nearest(ours & on_file);
        let rank = guard.map_or(0, |pawn| rank_of(us, pawn));
        to.add(us, terms::SHELTER.at(8 * own_file + rank), 1);
        if let Some(comes) = nearest(theirs & on_file) {
            let stopped = guard.is_some_and(|pawn| rank_of(us, pawn) + 1 == rank_of(us, comes));
            to.add(us, terms::STORM.at(8 * usize::from(stopped) + rank_of(us, comes)), 1);
        }
    }
}

/// No pawn stands there: the squares that [`Pawns::passed`] leaves free, for the check of an entry.
const EDGES: Bitboard = Bitboard(Bitboard::from_rank(Rank::First).0 | Bitboard::from_rank(Rank::Eighth).0);

/// Three words: the key xor-ed with the other two, so that one torn by two threads fits no key.
#[derive(Debug, Default, Zeroable)]
#[repr(C)]
struct Slot {
    check: AtomicU64,
    worth: AtomicU64,
    passed: AtomicU64,
}

/// What is remembered of pawns, by their key; shared by the threads of a search without locks.
#[derive(Debug)]
pub struct Cache(Box<[Slot]>);

impl Cache {
    /// 48 KiB: a search comes across few structures at a time.
    const SLOTS: usize = 2_048;

    /// An empty one.
    pub fn new() -> Self {
        Cache(bytemuck::allocation::zeroed_slice_box(Self::SLOTS))
    }

    /// The pawns of a board whose pawns and kings have this key.
    pub fn pawns(&self, key: u64, board: &Board) -> Pawns {
        let slot = &self.0[key as usize % Self::SLOTS];
        let (worth, passed) = (slot.worth.load(Relaxed), slot.passed.load(Relaxed));
        // A slot that nobody has written has its edges clear, and no entry has.
        if slot.check.load(Relaxed) ^ worth ^ passed == key && passed & EDGES.0 == EDGES.0 {
            return Pawns {
                worth: TaperedScore::from_bits(worth as u32),
                passed: Bitboard(passed & !EDGES.0),
            };
        }
        let mut sum = Sum::default();
        let passed = describe(board, &mut sum);
        let worth = sum.total();
        let (bits, marked) = (u64::from(worth.to_bits()), passed.0 | EDGES.0);
        slot.check.store(key ^ bits ^ marked, Relaxed);
        slot.worth.store(bits, Relaxed);
        slot.passed.store(marked, Relaxed);
        Pawns { worth, passed }
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
        let cache = Cache::new();
        for (key, fen) in [
            (0, "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            (7, "4k3/2p5/8/3P4/8/8/8/4K3 w - - 0 1"),
            (7 + Cache::SLOTS as u64, "4k3/8/8/3P4/8/p7/8/4K3 w - - 0 1"),
        ] {
            let position = Chess::parse(fen).unwrap();
            let first = cache.pawns(key, position.board());
            assert_eq!(first.passed, describe(position.board(), &mut Sum::default()));
            assert_eq!(cache.pawns(key, &Board::empty()), first, "from the cache, whatever the board");
        }
    }
}
