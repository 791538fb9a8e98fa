//! Game of each variant.

use zeitnot_rules::{DynGame, GameError, GameKind, chess::Chess};

use super::VariantKey;

/// Error of starting a game.
#[derive(Debug, thiserror::Error)]
pub enum NoGame {
    /// Unsupported variant.
    #[error("{0} is not played here")]
    Variant(VariantKey),
    /// Invalid initial position.
    #[error(transparent)]
    Position(#[from] GameError),
}

impl VariantKey {
    /// Returns the variant in which a game is played from its usual start; `None` if it has none.
    pub fn of(kind: GameKind) -> Option<VariantKey> {
        VariantKey::KNOWN.iter().find(|key| key.game() == Some(kind)).cloned()
    }

    /// Returns the game, or `None` if it is not supported.
    pub fn game(&self) -> Option<GameKind> {
        match self {
            VariantKey::Standard | VariantKey::Chess960 | VariantKey::FromPosition => Some(GameKind::Chess),
            VariantKey::Crazyhouse => Some(GameKind::Crazyhouse),
            VariantKey::Antichess => Some(GameKind::Antichess),
            VariantKey::Atomic => Some(GameKind::Atomic),
            VariantKey::Horde => Some(GameKind::Horde),
            VariantKey::KingOfTheHill => Some(GameKind::KingOfTheHill),
            VariantKey::RacingKings => Some(GameKind::RacingKings),
            VariantKey::ThreeCheck => Some(GameKind::ThreeCheck),
            VariantKey::Other(_) => None,
        }
    }

    /// Starts a game from a position; `None`: from the standard one.
    ///
    /// # Errors
    /// [`NoGame`] if the variant is not supported or the position is invalid.
    pub fn begin(&self, position: Option<&str>) -> Result<DynGame, NoGame> {
        let game = self.game().ok_or_else(|| NoGame::Variant(self.clone()))?;
        Ok(match (self, position) {
            // In Chess960 castling is always written as king takes rook.
            (VariantKey::Chess960, Some(fen)) => Chess::parse_chess960(fen)?.into(),
            _ => DynGame::begin(game, position)?,
        })
    }

    /// Returns the value of the PGN tag `FEN`, or `None` for the standard position of chess.
    pub fn set_up(&self, position: Option<&str>) -> Option<String> {
        let own = || match self {
            VariantKey::Horde | VariantKey::RacingKings => self.begin(None).ok().map(|line| line.root()),
            _ => None,
        };
        position.map(str::to_owned).or_else(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_that_has_a_name_has_rules() {
        for variant in VariantKey::KNOWN {
            let line = variant.begin(None).unwrap();
            assert_eq!(variant.begin(Some(&line.root())).unwrap().root(), line.root());
            let is_chess_like = line.root().starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
            assert_eq!(variant.set_up(None).is_none(), is_chess_like, "{variant}");
        }
        assert!(matches!(VariantKey::from("brandNew").begin(None), Err(NoGame::Variant(_))));
        assert!(matches!(VariantKey::Atomic.begin(Some("x")), Err(NoGame::Position(_))));
    }
}
