//! A position of a variant of chess that is known at run time only.

use shakmaty::Move;

use super::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck};
use crate::{
    color::Color,
    error::GameError,
    game::{Game, Key, MoveText, Moves, Outcome, Packed},
    kind::GameKind,
    tactics::{PieceTo, Tactics},
};

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
    Crazyhouse(Crazyhouse),
    Atomic(Atomic),
    Antichess(Antichess),
    Horde(Horde),
    KingOfTheHill(KingOfTheHill),
    RacingKings(RacingKings),
    ThreeCheck(ThreeCheck),
}

/// An expression of the position, whatever its variant.
macro_rules! each {
    ($variant:expr, $position:ident => $result:expr) => {
        match $variant {
            VariantPosition::Crazyhouse($position) => $result,
            VariantPosition::Atomic($position) => $result,
            VariantPosition::Antichess($position) => $result,
            VariantPosition::Horde($position) => $result,
            VariantPosition::KingOfTheHill($position) => $result,
            VariantPosition::RacingKings($position) => $result,
            VariantPosition::ThreeCheck($position) => $result,
        }
    };
}

macro_rules! from {
    ($($variant:ident),*) => { $(
        impl From<$variant> for VariantPosition {
            fn from(position: $variant) -> Self {
                VariantPosition::$variant(position)
            }
        }
    )* };
}
from!(Crazyhouse, Atomic, Antichess, Horde, KingOfTheHill, RacingKings, ThreeCheck);

impl Game for VariantPosition {
    type Move = Move;

    fn kind(&self) -> GameKind {
        each!(self, position => position.kind())
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

    fn print(&self) -> String {
        each!(self, position => position.print())
    }

    #[inline]
    fn side_to_move(&self) -> Color {
        each!(self, position => position.side_to_move())
    }

    fn moves(&self) -> Moves<Move> {
        each!(self, position => position.moves())
    }

    fn play(&mut self, mv: Move) {
        each!(self, position => position.play(mv));
    }

    fn outcome(&self) -> Outcome {
        each!(self, position => position.outcome())
    }

    fn is_chess960(&self) -> bool {
        each!(self, position => position.is_chess960())
    }

    #[inline]
    fn piece_count(&self) -> usize {
        each!(self, position => position.piece_count())
    }

    fn can_win(&self, color: Color) -> bool {
        each!(self, position => position.can_win(color))
    }

    #[inline]
    fn key(&self) -> Key {
        each!(self, position => position.key())
    }

    #[inline]
    fn reversible_plies(&self) -> u32 {
        each!(self, position => position.reversible_plies())
    }

    fn read(&self, text: &str) -> Result<Move, GameError> {
        each!(self, position => position.read(text))
    }

    fn write(&self, mv: Move) -> MoveText {
        each!(self, position => position.write(mv))
    }

    fn san(&self, mv: Move) -> String {
        each!(self, position => position.san(mv))
    }

    #[inline]
    fn pack(&self, mv: Move) -> Packed {
        each!(self, position => position.pack(mv))
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        each!(self, position => position.unpack(packed))
    }
}

impl Tactics for VariantPosition {
    #[inline]
    fn piece_to(&self, mv: Move) -> PieceTo {
        each!(self, position => position.piece_to(mv))
    }

    #[inline]
    fn target(&self, mv: Move) -> usize {
        each!(self, position => position.target(mv))
    }

    fn gain(&self, mv: Move) -> i32 {
        each!(self, position => position.gain(mv))
    }

    #[inline]
    fn piece_value(&self, mv: Move) -> i32 {
        each!(self, position => position.piece_value(mv))
    }

    fn is_noisy(&self, mv: Move) -> bool {
        each!(self, position => position.is_noisy(mv))
    }

    fn noisy_moves(&self) -> Moves<Move> {
        each!(self, position => position.noisy_moves())
    }

    fn quick_outcome(&self) -> Outcome {
        each!(self, position => position.quick_outcome())
    }

    fn no_moves_outcome(&self) -> Outcome {
        each!(self, position => position.no_moves_outcome())
    }

    #[inline]
    fn is_check(&self) -> bool {
        each!(self, position => position.is_check())
    }

    fn gives_check(&self, mv: Move) -> bool {
        each!(self, position => position.gives_check(mv))
    }

    fn key_ahead(&self, mv: Move) -> Option<Key> {
        each!(self, position => position.key_ahead(mv))
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        each!(self, position => position.see_ge(mv, threshold))
    }

    fn pass(&self) -> Option<Self> {
        each!(self, position => position.pass().map(Self::from))
    }
}
