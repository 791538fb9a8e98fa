//! A position of a variant of chess that is known at run time only.

use shakmaty::{Board, Move, Piece, Square};

use super::{Antichess, Atomic, Change, Crazyhouse, Gardner, Horde, KingOfTheHill, RacingKings, ThreeCheck};
use crate::{
    color::Color,
    error::GameError,
    game::{Game, Key, MoveText, Moves, Outcome, Packed},
    kind::GameKind,
    tactics::{PieceTo, Tactics},
};

/// All that lists the variants. The first argument is the dollar sign of the macro that is defined.
macro_rules! variants {
    ($d:tt $($variant:ident),*) => {
        /// A position of any variant, so that what is generic over the game is compiled once for all of them.
        ///
        /// ```
        /// use zeitnot_rules::{Game, GameKind, chess::{Atomic, VariantPosition}};
        ///
        /// let mut position = VariantPosition::from(Atomic::start());
        /// position.play(position.read("e4").unwrap());
        /// assert_eq!((position.kind(), position.moves().len()), (GameKind::Atomic, 20));
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each holds the position of its name")]
        pub enum VariantPosition {
            $($variant($variant)),*
        }

        $(impl From<$variant> for VariantPosition {
            fn from(position: $variant) -> Self {
                VariantPosition::$variant(position)
            }
        })*

        /// An expression of the position, whatever its variant.
        macro_rules! each {
            ($d variant:expr, $d position:ident => $d result:expr) => {
                match $d variant {
                    $(VariantPosition::$variant($d position) => $d result),*
                }
            };
        }
    };
}
variants!($ Crazyhouse, Atomic, Antichess, Horde, KingOfTheHill, RacingKings, ThreeCheck, Gardner);

/// Methods that call the one of the same name on the position.
macro_rules! delegate {
    ($($(#[$inline:meta])? fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => { $(
        $(#[$inline])?
        fn $name(&self $(, $argument: $type)*) -> $result {
            each!(self, position => position.$name($($argument),*))
        }
    )* };
}

impl VariantPosition {
    /// The pieces on the board.
    #[inline]
    pub fn board(&self) -> &Board {
        each!(self, position => position.board())
    }

    /// Reports what a move changes on the board: see [`ChessPosition::changes`](super::ChessPosition::changes).
    #[inline]
    pub fn changes(&self, mv: Move, report: impl FnMut(Change, Square, Piece)) {
        each!(self, position => position.changes(mv, report));
    }
}

impl Game for VariantPosition {
    type Move = Move;

    delegate! {
        fn kind(&self) -> GameKind;
        fn print(&self) -> String;
        #[inline]
        fn side_to_move(&self) -> Color;
        fn moves(&self) -> Moves<Move>;
        fn outcome(&self) -> Outcome;
        fn is_chess960(&self) -> bool;
        #[inline]
        fn piece_count(&self) -> usize;
        fn can_win(&self, color: Color) -> bool;
        #[inline]
        fn key(&self) -> Key;
        fn book_key(&self) -> Option<u64>;
        #[inline]
        fn reversible_plies(&self) -> u32;
        fn read(&self, text: &str) -> Result<Move, GameError>;
        fn write(&self, mv: Move) -> MoveText;
        fn san(&self, mv: Move) -> String;
        #[inline]
        fn pack(&self, mv: Move) -> Packed;
        fn unpack(&self, packed: Packed) -> Option<Move>;
    }

    fn play(&mut self, mv: Move) {
        each!(self, position => position.play(mv));
    }

    fn start_position(&self) -> Self {
        each!(self, position => position.start_position().into())
    }

    fn parse_position(&self, text: &str) -> Result<Self, GameError> {
        each!(self, position => position.parse_position(text).map(Self::from))
    }

    fn parse_chess960_position(&self, text: &str) -> Result<Self, GameError> {
        each!(self, position => position.parse_chess960_position(text).map(Self::from))
    }
}

impl Tactics for VariantPosition {
    delegate! {
        fn rows(&self) -> usize;
        fn columns(&self) -> usize;
        #[inline]
        fn piece_to(&self, mv: Move) -> PieceTo;
        #[inline]
        fn target(&self, mv: Move) -> usize;
        fn gain(&self, mv: Move) -> i32;
        #[inline]
        fn piece_value(&self, mv: Move) -> i32;
        fn material(&self) -> i32;
        fn is_noisy(&self, mv: Move) -> bool;
        fn noisy_moves(&self) -> Moves<Move>;
        fn quick_outcome(&self) -> Outcome;
        fn no_moves_outcome(&self) -> Outcome;
        #[inline]
        fn is_check(&self) -> bool;
        fn checkers(&self) -> Vec<String>;
        fn gives_check(&self, mv: Move) -> bool;
        fn key_ahead(&self, mv: Move) -> Option<Key>;
        fn see_ge(&self, mv: Move, threshold: i32) -> bool;
    }

    fn pass(&self) -> Option<Self> {
        each!(self, position => position.pass().map(Self::from))
    }
}
