//! Facts about moves that a searcher needs.

use crate::game::{Game, Key, Moves, Outcome};

/// Facts about the moves of any game for one searcher: rules, not opinions.
///
/// Most have defaults, so that a new game can be searched (plainly) at once.
///
/// ```
/// use zeitnot_rules::{Game, Tactics, chess::Chess};
///
/// let position = Chess::parse("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1").unwrap();
/// let capture = position.read("e1e5").unwrap();
/// assert_eq!(position.gain(capture), 100);
/// assert!(position.see_ge(capture, 100) && !position.see_ge(capture, 101));
/// ```
pub trait Tactics: Game {
    /// Whether White's pawns advance to squares with higher indices.
    const WHITE_ASCENDS: bool = true;

    /// Rows of the board.
    fn rows(&self) -> usize {
        8
    }

    /// Columns of the board.
    fn columns(&self) -> usize {
        8
    }

    /// The kind of the piece that moves, and its target.
    fn piece_to(&self, mv: Self::Move) -> PieceTo;

    /// The target square, counted row by row.
    fn target(&self, mv: Self::Move) -> usize;

    /// Material won at once by the plain values of the pieces, in centipawns; 0 for a quiet move.
    fn gain(&self, mv: Self::Move) -> i32;

    /// The material value of the piece that moves, in centipawns.
    fn piece_value(&self, mv: Self::Move) -> i32;

    /// The lead in material of the side to move by the plain values of the pieces, in centipawns; where points decide,
    /// the lead in points.
    fn material(&self) -> i32;

    /// One of the legal moves, if there are any: `choose` maps their number to an index. For random games, where a list
    /// of all moves is more than is needed.
    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<Self::Move> {
        let moves = self.moves();
        if moves.is_empty() { None } else { moves.get(choose(moves.len())).copied() }
    }

    /// Whether this is one of the [`Tactics::noisy_moves`].
    fn is_noisy(&self, mv: Self::Move) -> bool {
        self.gain(mv) > 0
    }

    /// The legal moves worth trying at the leaves: those that are [noisy](Tactics::is_noisy).
    fn noisy_moves(&self) -> Moves<Self::Move> {
        let mut moves = self.moves();
        moves.retain(|mv| self.is_noisy(*mv));
        moves
    }

    /// The outcome as far as it is known without generating moves; [`Tactics::no_moves_outcome`] is the rest.
    fn quick_outcome(&self) -> Outcome {
        self.outcome()
    }

    /// The outcome when the side to move has no legal move.
    fn no_moves_outcome(&self) -> Outcome {
        self.outcome()
    }

    /// Returns whether the side to move is in check.
    fn is_check(&self) -> bool {
        false
    }

    /// Squares of the pieces that give check, for people.
    fn checkers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a move gives check.
    fn gives_check(&self, mv: Self::Move) -> bool {
        self.after(mv).is_check()
    }

    /// Plies until the game ends because all its moves are played; `None` in a game without such an end. Each move
    /// brings it one ply closer, unlike a rule that counts the moves since the last capture.
    fn plies_left(&self) -> Option<u32> {
        None
    }

    /// Identifies the position for tables of search results: as [`Game::key`], and where the end by
    /// [`Tactics::plies_left`] is near, with the plies left, which then decide the value.
    fn table_key(&self) -> Key {
        self.key()
    }

    /// An estimate of the key after a move, without playing it: right for most moves, which is enough to prefetch
    /// memory. `None` where there is no quick one.
    fn key_ahead(&self, _: Self::Move) -> Option<Key> {
        None
    }

    /// Static exchange evaluation: whether the exchange that `mv` begins on its target square wins at least `threshold`
    /// centipawns.
    fn see_ge(&self, mv: Self::Move, threshold: i32) -> bool {
        self.gain(mv) >= threshold
    }

    /// The position with the other side to move. `None` where passing would prove nothing (in check, or with so little
    /// material that zugzwang is likely), which switches null-move pruning off.
    fn pass(&self) -> Option<Self> {
        None
    }
}

/// Upper bound of the kinds of pieces: move-ordering tables have fixed sizes.
pub const KINDS: usize = 6;
/// Upper bound of the squares of a board.
pub const SQUARES: usize = 64;

/// A kind of piece, of either color, and the square it goes to: an index of move-ordering tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PieceTo(u16);

impl PieceTo {
    /// The number of values.
    pub const COUNT: usize = KINDS * SQUARES;

    /// A kind below [`KINDS`], a square below [`SQUARES`].
    #[inline]
    pub const fn new(kind: usize, square: usize) -> PieceTo {
        debug_assert!(kind < KINDS && square < SQUARES);
        PieceTo((kind * SQUARES + square) as u16)
    }

    /// The index, below [`PieceTo::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
