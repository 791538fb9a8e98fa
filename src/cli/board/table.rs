//! State of a table as the arena tells it, in the JSON of its web API.

use serde::Deserialize;
use zeitnot_host::live::view::Game;
use zeitnot_rules::Color;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct TableState {
    pub game: Game,
    /// Side of the player.
    pub you: Color,
    /// Moves of the player, if it is their turn.
    pub legal: Vec<LegalMove>,
    pub can: Can,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct LegalMove {
    pub uci: String,
    pub san: String,
}

/// Offers that the player can make now.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Can {
    pub takeback: bool,
    pub draw: bool,
}
