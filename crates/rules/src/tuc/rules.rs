//! The yearly editions of the server and the oddities of the original, as a table of settings.

use std::{fmt, str::FromStr, time::Duration};

use super::{Color, Move};

/// Which year's server.
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

/// What differs between the editions.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Settings {
    /// How it is called.
    pub year: &'static str,
    /// That a new prize appears after a move.
    pub prize_chance: f64,
    /// So many prizes of a hundred are worth a point, the others nothing.
    pub worth_percent: u8,
    /// A move that arrives later than this after the server's start is the last one.
    pub time_limit: Duration,
    /// Who gets the point for leaving the board when a black pawn captures onto the last row, toward the
    /// lower and toward the higher column.
    extra: [Extra; 2],
}

/// Who gets a point.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Who moved.
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
    /// That a prize is worth a point.
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

/// An edition, and how faithful one is to the oddities of the original.
///
/// As text: `2021` for the original as students play it, `2021+jumps` for all that the original lets pass,
/// `2021-strict` for what the assignment says.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Which year's.
    pub edition: Edition,
    /// Are a black pawn's jumps to the last row legal moves?
    pub jumps: bool,
    /// Are points given and men counted as the assignment says, rather than as the original does?
    pub strict: bool,
}

impl Rules {
    /// A pawn that captures onto the last row is still counted as a man on the board.
    pub fn miscounts(self) -> bool {
        !self.strict
    }

    /// Who gets the point for a pawn that captures its way off the board.
    pub fn extra(self, side: Color, mv: Move) -> Extra {
        if self.strict || side == Color::White {
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

/// Text that names no [`Rules`].
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
