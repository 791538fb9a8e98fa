//! The yearly editions of the server and the oddities of the original, as a table of settings.

use std::{fmt, str::FromStr, time::Duration};

use super::pieces::Move;
use crate::color::Color;

/// The server of one year.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edition {
    /// 2019.
    Y2019,
    /// 2021, "AI21".
    #[default]
    Y2021,
    /// 2022, "AI22".
    Y2022,
}

/// The differences between the editions.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name.
    pub year: &'static str,
    /// The chance that a new prize appears after a move.
    pub prize_chance: f64,
    /// The chance that a prize is worth a point rather than nothing, in percent.
    pub worth_percent: u8,
    /// A move that arrives later than this after the server's start is the last one.
    pub time_limit: Duration,
    /// The side that gets the point for leaving the board when a black pawn captures onto the last row, toward the
    /// lower and toward the higher column.
    extra: [Extra; 2],
}

/// The side that gets a point.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// The side that moved.
    ToTheMover,
    /// The other side: a slip in the original.
    ToTheOther,
}

const MINUTE: u64 = 60;

/// By [`Edition`].
const SETTINGS: [Settings; 3] = [
    Settings {
        year: "2019",
        prize_chance: 0.25,
        worth_percent: 85,
        time_limit: Duration::from_secs(12 * MINUTE),
        extra: [Extra::ToTheOther, Extra::ToTheOther],
    },
    Settings {
        year: "2021",
        prize_chance: 0.10,
        worth_percent: 90,
        time_limit: Duration::from_secs(14 * MINUTE),
        extra: [Extra::ToTheOther, Extra::ToTheOther],
    },
    Settings {
        year: "2022",
        prize_chance: 0.20,
        worth_percent: 95,
        time_limit: Duration::from_secs(14 * MINUTE),
        extra: [Extra::ToTheMover, Extra::ToTheOther],
    },
];

impl Settings {
    /// The chance that a prize is worth a point.
    pub fn worth_chance(&self) -> f64 {
        f64::from(self.worth_percent) / 100.0
    }
}

impl Edition {
    /// Every edition.
    pub const ALL: [Edition; 3] = [Edition::Y2019, Edition::Y2021, Edition::Y2022];

    /// Its settings.
    pub fn settings(self) -> &'static Settings {
        &SETTINGS[self as usize]
    }
}

/// An edition, with or without the oddities of the original.
///
/// As text: `2021` for the original as students play it, `2021+jumps` for all that the original lets pass,
/// `2021-strict` for what the assignment says.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The edition.
    pub edition: Edition,
    /// Whether a black pawn may jump to the last row.
    pub jumps: bool,
    /// Whether points and pieces are counted by the assignment rather than as the original does.
    pub strict: bool,
}

impl Rules {
    /// Whether a pawn that captures onto the last row is still counted as a piece on the board.
    pub(crate) fn miscounts(self) -> bool {
        !self.strict
    }

    /// The side that gets the point for a pawn that captures its way off the board.
    pub fn extra(self, color: Color, mv: Move) -> Extra {
        if self.strict || color == Color::White {
            return Extra::ToTheMover;
        }
        self.edition.settings().extra[usize::from(mv.to.column() > mv.from.column())]
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.edition.settings().year)?;
        f.write_str(if self.strict { "-strict" } else { "" })?;
        f.write_str(if self.jumps { "+jumps" } else { "" })
    }
}

/// Text that does not name [`Rules`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no such rules; known: 2019, 2021, 2022, each also with '-strict' or '+jumps' behind it")]
pub struct UnknownRules;

impl FromStr for Rules {
    type Err = UnknownRules;

    fn from_str(text: &str) -> Result<Self, UnknownRules> {
        let (year, jumps) = text.strip_suffix("+jumps").map_or((text, false), |year| (year, true));
        let (year, strict) = year.strip_suffix("-strict").map_or((year, false), |year| (year, true));
        let edition = Edition::ALL.into_iter().find(|e| e.settings().year == year).ok_or(UnknownRules)?;
        Ok(Rules { edition, jumps, strict })
    }
}
