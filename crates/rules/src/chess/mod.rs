//! Standard chess, Chess960, the variants that Lichess has, and Gardner's minichess, on shakmaty.
//!
//! One type of position for all, [`ChessPosition`]; the differences between the games are in [`ChessRules`].
//! [`VariantPosition`] is a position of a variant that is known at run time.

mod captures;
mod chess960;
mod compact;
mod exchange;
mod fen;
mod gardner;
mod gives_check;
mod notation;
mod packing;
mod position;
mod rules;
mod standard;
#[cfg(test)]
mod tests;
mod variant_position;
mod variant_rules;
#[cfg(test)]
mod variant_tests;

use shakmaty::variant;

pub use chess960::chess960_start;
pub use compact::NotAPosition;
pub use gardner::GardnerRules;
pub use position::{Change, ChessPosition};
pub use rules::{ChessRules, FIFTY_MOVES};
pub use variant_position::VariantPosition;

/// A legal position of standard chess or of Chess960.
///
/// ```
/// use zeitnot_rules::{Game, chess::Chess};
///
/// let mut position = Chess::start();
/// position.play(position.read("e2-e4").unwrap());
/// assert_eq!(position.print(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
/// ```
pub type Chess = ChessPosition<shakmaty::Chess>;
/// Captured pieces change sides and are dropped onto the board.
pub type Crazyhouse = ChessPosition<variant::Crazyhouse>;
/// A capture explodes, and takes all around it but pawns.
pub type Atomic = ChessPosition<variant::Atomic>;
/// The side without a piece or a move wins, and captures are compulsory.
pub type Antichess = ChessPosition<variant::Antichess>;
/// White has pawns and no king.
pub type Horde = ChessPosition<variant::Horde>;
/// A king in the middle wins.
pub type KingOfTheHill = ChessPosition<variant::KingOfTheHill>;
/// The king that is first on the last rank wins, and checks are forbidden.
pub type RacingKings = ChessPosition<variant::RacingKings>;
/// The third check wins.
pub type ThreeCheck = ChessPosition<variant::ThreeCheck>;
/// Chess on 5×5 squares.
pub type Gardner = ChessPosition<GardnerRules>;
