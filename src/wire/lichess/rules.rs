//! Which game of ours a variant is: the one place that knows.

use shakmaty::CastlingMode;

use super::VariantKey;
use crate::game::{AnyLine, GameError, GameId, chess::Chess};

/// A game that cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum NoGame {
    /// Its rules are not ours.
    #[error("{0} is not played here")]
    Variant(VariantKey),
    /// Its beginning is none.
    #[error(transparent)]
    Position(#[from] GameError),
}

impl VariantKey {
    /// The game by whose rules it is played; `None`: not by us.
    pub fn game(&self) -> Option<GameId> {
        match self {
            VariantKey::Standard | VariantKey::Chess960 | VariantKey::FromPosition => Some(GameId::Chess),
            _ => None,
        }
    }

    /// A game that begins here; `None`: at its usual start.
    ///
    /// # Errors
    /// [`NoGame`] if we do not play it, or if this is no position of it.
    pub fn begin(&self, position: Option<&str>) -> Result<AnyLine, NoGame> {
        let game = self.game().ok_or_else(|| NoGame::Variant(self.clone()))?;
        Ok(match (self, position) {
            // Here castling is always told as king takes rook, also where the king stands on its usual square.
            (VariantKey::Chess960, Some(fen)) => Chess::parse_as(fen, CastlingMode::Chess960)?.into(),
            _ => AnyLine::begin(game, position)?,
        })
    }
}
