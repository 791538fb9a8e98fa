//! What other people's engines say and are told: [`uci`] and [`cecp`], seen from the side that gives the orders.

use super::uci::UciScore;

pub mod cecp;
pub mod uci;

/// What an engine tells of a search that goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// Plies.
    pub depth: u16,
    /// The longest line looked at, in plies.
    pub seldepth: u16,
    /// For the side to move; `None`: not told, or no more than a bound from above.
    pub score: Option<UciScore>,
    /// Looked at so far.
    pub nodes: u64,
    /// How full the table is, in thousandths.
    pub hashfull: u16,
    /// The moves that it expects, as it writes them.
    pub pv: Vec<String>,
}

/// Something that can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// May hold spaces.
    pub name: String,
    /// What it does is done when it is named; it has no value.
    pub is_button: bool,
    /// The values there are, where they are few.
    pub choices: Vec<String>,
}

/// A number as large as the text says, or as fits.
fn number<T: TryFrom<u64>>(text: &str, most: T) -> Option<T> {
    text.parse::<u64>().ok().map(|number| T::try_from(number).unwrap_or(most))
}
