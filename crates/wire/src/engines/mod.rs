//! Protocols of external engines on the side of the GUI: [`uci`] with UBGI, [`cecp`] and [`lines`].

use super::uci::UciScore;

pub mod cecp;
pub mod lines;
pub mod uci;
pub mod variants;

/// Progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// Depth in plies.
    pub depth: u16,
    /// Maximum depth in plies.
    pub seldepth: u16,
    /// Score for the side to move; `None`: not given, or only an upper bound.
    pub score: Option<UciScore>,
    /// Number of nodes.
    pub nodes: u64,
    /// Use of the hash table in per mille.
    pub hashfull: u16,
    /// Principal variation in the engine's notation.
    pub pv: Vec<String>,
}

/// Option of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// May contain spaces.
    pub name: String,
    /// Buttons have no value.
    pub is_button: bool,
    /// Possible values of a combo box.
    pub choices: Vec<String>,
    /// Values of a UCI engine's number.
    pub spin: Option<Spin>,
}

/// Default and range of a number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Spin {
    pub default: i64,
    pub min: i64,
    pub max: i64,
}

/// Parses a number, limited to the maximum.
fn number<T: TryFrom<u64>>(text: &str, most: T) -> Option<T> {
    text.parse::<u64>().ok().map(|number| T::try_from(number).unwrap_or(most))
}
