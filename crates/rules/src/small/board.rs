//! Pieces on a small board: where they stand, and where they can go.

use std::{fmt::Debug, marker::PhantomData};

use arrayvec::ArrayVec;

use super::{
    bits::{Bits, mix, nth},
    geometry::{DIAGONAL, STRAIGHT, rays, slide, steps},
    square::{Move, Square},
};
use crate::{
    color::{ByColor, Color},
    game::{Moves, Packed},
};

/// The pieces of one game, in the order in which their moves are generated.
pub trait PieceKind: Copy + Eq + Debug + Send + Sync + 'static {
    /// All kinds, the least valuable first; the index of a kind is its place here.
    const ALL: &'static [Self];
    /// Movement of each kind of [`PieceKind::ALL`].
    const MOVEMENTS: &'static [Movement];
    /// White's letters, in the order of [`PieceKind::ALL`].
    const LETTERS: &'static [u8];
    /// The kind of the pawns.
    const PAWN: Self;
    /// The kind of the king.
    const KING: Self;
    /// Rows that a white pawn advances with a step: 1 or -1. White moves up the page in either case.
    const FORWARD: i32;
    /// The longest slide, in squares.
    const RANGE: usize;
    /// Sets the keys of this game's pieces apart from other keys.
    const KEY_SALT: u64;

    /// The place in [`PieceKind::ALL`].
    fn index(self) -> usize;

    /// The letter of a piece: a capital for White.
    fn letter(self, color: Color) -> char {
        let letter = char::from(Self::LETTERS[self.index()]);
        if color == Color::White { letter } else { letter.to_ascii_lowercase() }
    }
}

/// Movement of a kind of piece.
#[derive(Copy, Clone, Debug)]
pub enum Movement {
    /// One step straight ahead, or a diagonal one to capture.
    Pawn,
    /// By these steps of (rows, columns).
    Leaper(&'static [(i32, i32)]),
    /// Along rows and columns.
    Rook,
    /// Along diagonals.
    Bishop,
    /// Along all lines.
    Queen,
}

/// The pieces on a board of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board<K, const KINDS: usize, const COLUMNS: usize, const SQUARES: usize> {
    kinds: [u64; KINDS],
    colors: ByColor<u64>,
    /// Of the pieces on their squares.
    key: u64,
    kind: PhantomData<K>,
}

impl<K: PieceKind, const KINDS: usize, const COLUMNS: usize, const SQUARES: usize>
    Board<K, KINDS, COLUMNS, SQUARES>
{
    pub(crate) const ALL: u64 = (1 << SQUARES) - 1;
    const FIRST_ROW: u64 = (1 << COLUMNS) - 1;

    const RAYS: &'static [[u64; SQUARES]; 8] = &rays::<COLUMNS, SQUARES>(K::RANGE);
    /// Squares that each leaper reaches.
    const LEAPS: &'static [[u64; SQUARES]; KINDS] = &{
        let mut leaps = [[0; SQUARES]; KINDS];
        let mut kind = 0;
        while kind < KINDS {
            if let Movement::Leaper(list) = K::MOVEMENTS[kind] {
                leaps[kind] = steps::<COLUMNS, SQUARES>(list);
            }
            kind += 1;
        }
        leaps
    };
    /// Squares that a pawn of either color advances to.
    const PUSHES: &'static [[u64; SQUARES]; 2] =
        &[steps::<COLUMNS, SQUARES>(&[(K::FORWARD, 0)]), steps::<COLUMNS, SQUARES>(&[(-K::FORWARD, 0)])];
    /// Squares on which a pawn of either color captures.
    const CAPTURES: &'static [[u64; SQUARES]; 2] = &[
        steps::<COLUMNS, SQUARES>(&[(K::FORWARD, -1), (K::FORWARD, 1)]),
        steps::<COLUMNS, SQUARES>(&[(-K::FORWARD, -1), (-K::FORWARD, 1)]),
    ];

    pub(crate) fn empty() -> Self {
        Board { kinds: [0; KINDS], colors: ByColor([0; 2]), key: 0, kind: PhantomData }
    }

    pub(crate) const fn row(row: usize) -> u64 {
        Self::FIRST_ROW << (row * COLUMNS)
    }

    /// The row on which the pawns of this color end.
    pub(crate) const fn last_row(color: Color) -> usize {
        let upward = matches!(color, Color::White) == (K::FORWARD > 0);
        if upward { SQUARES / COLUMNS - 1 } else { 0 }
    }

    const fn piece_key(color: Color, kind: usize, square: usize) -> u64 {
        mix(K::KEY_SALT | (((color as u64) << 3 | kind as u64) << 6) | square as u64)
    }

    #[inline]
    pub(crate) fn put(&mut self, square: Square<COLUMNS, SQUARES>, color: Color, kind: K) {
        self.kinds[kind.index()] |= square.bit();
        self.colors[color] |= square.bit();
        self.key ^= Self::piece_key(color, kind.index(), square.index());
    }

    /// Takes this piece, which stands there, off the board.
    #[inline]
    pub(crate) fn take(&mut self, square: Square<COLUMNS, SQUARES>, color: Color, kind: K) {
        self.kinds[kind.index()] &= !square.bit();
        self.colors[color] &= !square.bit();
        self.key ^= Self::piece_key(color, kind.index(), square.index());
    }

    /// The key of the pieces on their squares.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The squares of one kind of both colors, as a bitboard.
    pub fn of(&self, kind: K) -> u64 {
        self.kinds[kind.index()]
    }

    /// The squares of one color, as a bitboard.
    pub fn color(&self, color: Color) -> u64 {
        self.colors[color]
    }

    /// The squares of one kind and color, as a bitboard.
    pub(crate) fn of_color(&self, kind: K, color: Color) -> u64 {
        self.of(kind) & self.color(color)
    }

    /// The squares of all pieces, as a bitboard.
    pub fn occupied(&self) -> u64 {
        self.colors[Color::White] | self.colors[Color::Black]
    }

    /// The kind of the piece on a square.
    #[inline]
    pub(crate) fn kind_at(&self, square: Square<COLUMNS, SQUARES>) -> Option<K> {
        if self.occupied() & square.bit() == 0 {
            return None;
        }
        K::ALL.iter().copied().find(|&kind| self.of(kind) & square.bit() != 0)
    }

    /// The piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square<COLUMNS, SQUARES>) -> Option<(Color, K)> {
        let kind = self.kind_at(square)?;
        let is_white = self.color(Color::White) & square.bit() != 0;
        Some((if is_white { Color::White } else { Color::Black }, kind))
    }

    /// The square of a king, if it is still there.
    pub(crate) fn king(&self, color: Color) -> Option<Square<COLUMNS, SQUARES>> {
        Bits(self.of_color(K::KING, color)).next().map(Square::new)
    }

    pub(crate) fn has_both_kings(&self) -> bool {
        Color::BOTH.into_iter().all(|color| self.of_color(K::KING, color) != 0)
    }

    /// The pieces of one color.
    pub fn pieces_of(&self, color: Color) -> impl Iterator<Item = (Square<COLUMNS, SQUARES>, K)> + '_ {
        K::ALL.iter().flat_map(move |&kind| {
            Bits(self.of_color(kind, color)).map(move |square| (Square::new(square), kind))
        })
    }

    /// All pieces.
    pub fn pieces(&self) -> impl Iterator<Item = (Square<COLUMNS, SQUARES>, Color, K)> + '_ {
        Color::BOTH
            .into_iter()
            .flat_map(|color| self.pieces_of(color).map(move |(square, kind)| (square, color, kind)))
    }

    /// The squares that a piece can go to, those of its own color included; `obstacles` block lines as pieces do.
    #[inline]
    pub fn reach(&self, from: Square<COLUMNS, SQUARES>, kind: K, color: Color, obstacles: u64) -> u64 {
        let at = from.index();
        let blockers = self.occupied() | obstacles;
        match K::MOVEMENTS[kind.index()] {
            Movement::Pawn => {
                Self::PUSHES[color as usize][at] & !self.occupied()
                    | Self::CAPTURES[color as usize][at] & self.color(!color)
            }
            Movement::Leaper(_) => Self::LEAPS[kind.index()][at],
            Movement::Rook => slide(Self::RAYS, at, blockers, STRAIGHT),
            Movement::Bishop => slide(Self::RAYS, at, blockers, DIAGONAL),
            Movement::Queen => {
                slide(Self::RAYS, at, blockers, STRAIGHT) | slide(Self::RAYS, at, blockers, DIAGONAL)
            }
        }
    }

    /// The pieces of a color that attack a square, where `blockers` end the lines of sliders.
    #[inline]
    pub(crate) fn attackers(&self, square: Square<COLUMNS, SQUARES>, by: Color, blockers: u64) -> u64 {
        let at = square.index();
        let own = self.color(by);
        let mut attackers = 0;
        let mut straight = 0;
        let mut diagonal = 0;
        for (kind, movement) in K::MOVEMENTS.iter().enumerate() {
            let pieces = self.kinds[kind] & own;
            match movement {
                // A pawn attacks those squares from which a pawn of the other color would attack it.
                Movement::Pawn => attackers |= Self::CAPTURES[!by as usize][at] & pieces,
                Movement::Leaper(_) => attackers |= Self::LEAPS[kind][at] & pieces,
                Movement::Rook => straight |= pieces,
                Movement::Bishop => diagonal |= pieces,
                Movement::Queen => {
                    straight |= pieces;
                    diagonal |= pieces;
                }
            }
        }
        if straight != 0 {
            attackers |= slide(Self::RAYS, at, blockers, STRAIGHT) & straight;
        }
        if diagonal != 0 {
            attackers |= slide(Self::RAYS, at, blockers, DIAGONAL) & diagonal;
        }
        attackers
    }

    /// The moves of a color to what `targets` names for each of its pieces; none once a king is gone.
    #[inline]
    pub(crate) fn moves(
        &self,
        color: Color,
        targets: impl Fn(Square<COLUMNS, SQUARES>, K) -> u64,
    ) -> Moves<Move<COLUMNS, SQUARES>> {
        let mut moves = Moves::new();
        if !self.has_both_kings() {
            return moves;
        }
        for (from, kind) in self.pieces_of(color) {
            for to in Bits(targets(from, kind)) {
                moves.push(Move { from, to: Square::new(to) });
            }
        }
        moves
    }

    /// Unpacks a move of [`Board::moves`].
    pub(crate) fn unpack(
        &self,
        packed: Packed,
        color: Color,
        targets: impl Fn(Square<COLUMNS, SQUARES>, K) -> u64,
    ) -> Option<Move<COLUMNS, SQUARES>> {
        let mv = Move::unpack(packed)?;
        let (_, kind) = self.piece_at(mv.from).filter(|&(owner, _)| owner == color)?;
        let reaches = targets(mv.from, kind) & mv.to.bit() != 0;
        (reaches && self.has_both_kings()).then_some(mv)
    }

    /// The move of [`Board::moves`] with the index that `choose` returns for their number, without a list of them.
    pub(crate) fn pick(
        &self,
        color: Color,
        targets: impl Fn(Square<COLUMNS, SQUARES>, K) -> u64,
        choose: impl FnOnce(usize) -> usize,
    ) -> Option<Move<COLUMNS, SQUARES>> {
        let reach: ArrayVec<_, SQUARES> =
            self.pieces_of(color).map(|(from, kind)| (from, targets(from, kind))).collect();
        let count = reach.iter().map(|(_, targets)| targets.count_ones() as usize).sum();
        if count == 0 || !self.has_both_kings() {
            return None;
        }
        let mut left = choose(count);
        for (from, targets) in reach {
            let here = targets.count_ones() as usize;
            if left < here {
                return Some(Move { from, to: Square::new(nth(targets, left)) });
            }
            left -= here;
        }
        None
    }
}
