//! The differences between chess and its variants.

use std::fmt::Debug;

use shakmaty::{Bitboard, CastlingMode, FromSetup, Move, Position, PositionError, Role, Setup};

use super::exchange;
use crate::{
    fnv::fnv1a,
    game::{Moves, Outcome, Reason},
    kind::GameKind,
};

/// Plies without a capture or a pawn move that make a draw.
pub const FIFTY_MOVES: u32 = 100;

/// Rows and columns of the board of chess.
pub(super) const FULL_SIZE: usize = 8;

/// A position made of what a FEN says.
pub trait SetUp: Sized {
    /// Checks the position. Invalid rights to castle and to capture en passant are left out.
    ///
    /// # Errors
    /// The reason why the position is invalid.
    fn set_up(setup: Setup, mode: CastlingMode) -> Result<Self, String>;
}

impl<P: FromSetup> SetUp for P {
    fn set_up(setup: Setup, mode: CastlingMode) -> Result<Self, String> {
        P::from_setup(setup, mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|error| error.to_string())
    }
}

/// The rules of chess or of a variant, besides what shakmaty knows of them.
pub trait ChessRules:
    Position + SetUp + Default + Clone + Debug + PartialEq + Eq + Send + Sync + 'static
{
    /// The game.
    const KIND: GameKind;
    /// Rows and columns of the board, which begins at a1.
    const SIZE: usize = FULL_SIZE;
    /// Sets the keys of this game apart: tables hold the positions of all games.
    const KEY_SALT: u64 = fnv1a(Self::KIND.name());
    /// Whether the key follows from the pieces that move, castling rights and en passant.
    const KEY_FOLLOWS_PIECES: bool = false;
    /// Whether a hundred plies without a capture or a pawn move are a draw.
    const FIFTY_MOVES: bool = true;

    /// Where captures explode: the squares that this one empties besides those of the captured piece and of the one
    /// that captures.
    fn explosion(&self, _capture: Move) -> Option<Bitboard> {
        None
    }

    /// Plies since the last move that cannot be taken back.
    fn reversible_plies(&self) -> u32 {
        self.halfmoves()
    }

    /// The outcome if the game has ended in this variant's own way. Generates no moves.
    fn end(&self) -> Outcome {
        match self.variant_outcome() {
            shakmaty::Outcome::Unknown => Outcome::Ongoing,
            shakmaty::Outcome::Known(known) => match known.winner() {
                Some(winner) => Outcome::Win(winner.into(), Reason::VariantEnd(Self::KIND)),
                None => Outcome::Draw(Reason::VariantEnd(Self::KIND)),
            },
        }
    }

    /// The outcome when the side to move has no legal move.
    fn no_moves_outcome(&self) -> Outcome {
        match self.is_check() {
            true => Outcome::Win((!self.turn()).into(), Reason::Checkmate),
            false => Outcome::Draw(Reason::Stalemate),
        }
    }

    /// Whether the side to move must answer a threat, so that its position cannot be evaluated as it stands.
    fn is_pressed(&self) -> bool {
        self.is_check()
    }

    /// Whether this move ends the game in this variant's own way.
    fn wins_at_once(&self, _mv: Move) -> bool {
        false
    }

    /// Material won at once.
    fn gain(&self, mv: Move) -> i32 {
        material_gain(mv) + if self.wins_at_once(mv) { WIN } else { 0 }
    }

    /// The lead in material of the side to move, with the pieces in hand.
    fn material(&self) -> i32 {
        let of = |color| {
            let board = self.board().material_side(color);
            let hand = self.pockets().map(|pockets| pockets[color]).unwrap_or_default();
            let count = |role| i32::from(*board.get(role)) + i32::from(*hand.get(role));
            Role::ALL.iter().map(|&role| count(role) * exchange::value(role)).sum::<i32>()
        };
        of(self.turn()) - of(!self.turn())
    }

    /// Whether this move belongs to [`ChessRules::noisy_moves`].
    fn is_noisy(&self, mv: Move) -> bool {
        self.gain(mv) > 0
    }

    /// The moves worth trying at the leaves of a search.
    fn noisy_moves(&self) -> Moves<Move> {
        let mut moves = self.legal_moves();
        moves.retain(|mv| self.is_noisy(*mv));
        moves
    }

    /// Whether the side that moves presses the other with this move.
    fn gives_check(&self, mv: Move) -> bool {
        let mut after = self.clone();
        after.play_unchecked(mv);
        after.is_pressed()
    }

    /// Whether the exchange on the target square wins at least `threshold`.
    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        self.wins_at_once(mv) || exchange::wins(self.board(), mv, self.turn(), threshold)
    }

    /// Whether letting the other side move twice proves anything, which it does not where zugzwang is near.
    fn may_pass(&self) -> bool {
        // One minor piece runs out of good moves almost as soon as a bare king does.
        has_officers(self, 2) || (self.us() & self.board().rooks_and_queens()).any()
    }
}

/// More than all the pieces on the board, in centipawns: the gain of a move that wins at once.
pub(super) const WIN: i32 = 10_000;

/// Whether the side to move has at least `min` pieces besides king and pawns.
#[inline]
pub(super) fn has_officers<R: Position>(position: &R, min: usize) -> bool {
    let board = position.board();
    (position.us() & !board.pawns() & !board.kings()).count() >= min
}

/// The value of what a move captures and what its pawn becomes.
#[inline]
pub(super) fn material_gain(mv: Move) -> i32 {
    let promoted = mv.promotion().map_or(0, |role| exchange::value(role) - exchange::value(Role::Pawn));
    mv.capture().map_or(0, exchange::value) + promoted
}
