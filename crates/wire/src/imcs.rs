//! IMCS, the Internet MiniChess Server of Portland State: commands and numbered replies.
//!
//! Source: github.com/BartMassey/imcs, version 2.5. The transport handles line ends, `\r\n` in general and `\n` on
//! boards, and the empty lines around a board.

use std::{fmt, time::Duration};

use zeitnot_rules::{Color, MoveText};

use super::{Message, WireError, shorten};

mod command;
mod reply;

pub use command::{Answer, Command, Times};
pub use reply::{Entry, FromServer, Verdict};

/// Implemented version of the protocol.
pub const VERSION: &str = "2.5";
/// Longest clock: a day.
pub const MAX_CLOCK: Duration = Duration::from_secs(86_400);

/// Returns whether games can begin with such a clock.
pub fn is_clock(time: Duration) -> bool {
    !time.is_zero() && time <= MAX_CLOCK && time.subsec_nanos() == 0
}

/// Wish for a color: `W`, `B` or `?`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum ColorChoice {
    /// Either color.
    #[default]
    Any,
    /// This color.
    Of(Color),
}

impl ColorChoice {
    fn read(word: &str) -> Option<ColorChoice> {
        match word {
            "?" => Some(ColorChoice::Any),
            "W" | "w" => Some(ColorChoice::Of(Color::White)),
            "B" | "b" => Some(ColorChoice::Of(Color::Black)),
            _ => None,
        }
    }
}

impl TryFrom<String> for ColorChoice {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, &'static str> {
        ColorChoice::read(&word).ok_or("expected \"W\", \"B\" or \"?\"")
    }
}

impl fmt::Display for ColorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ColorChoice::Any => "?",
            ColorChoice::Of(color) => letter(*color),
        })
    }
}

/// `W` or `B`.
pub fn letter(color: Color) -> &'static str {
    match color {
        Color::White => "W",
        Color::Black => "B",
    }
}

fn color(word: &str) -> Option<Color> {
    match word {
        "W" => Some(Color::White),
        "B" => Some(Color::Black),
        _ => None,
    }
}

/// Formats a clock at the start of a game, in whole seconds: `1:30`.
fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Parses `90` and `1:30`, up to a day.
fn whole_seconds(word: &str) -> Option<Duration> {
    let number = |digits: &str| -> Option<u64> {
        let plain = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    let seconds = match word.split_once(':') {
        Some((minutes, seconds)) if seconds.len() == 2 => {
            60 * number(minutes)? + number(seconds).filter(|seconds| *seconds < 60)?
        }
        Some(_) => return None,
        None => number(word)?,
    };
    Some(Duration::from_secs(seconds)).filter(|time| *time <= MAX_CLOCK)
}

/// Formats a clock during a game, truncated to milliseconds: `01:30.000`.
fn millis(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}.{:03}", seconds / 60, seconds % 60, time.subsec_millis())
}

fn whole_millis(word: &str) -> Option<Duration> {
    let (clock, fraction) = word.split_once('.')?;
    let digits = fraction.len() == 3 && fraction.bytes().all(|b| b.is_ascii_digit());
    let fraction = fraction.parse().ok().filter(|_| digits)?;
    Some(whole_seconds(clock.contains(':').then_some(clock)?)? + Duration::from_millis(fraction))
}

/// Formats a move as `a2-a3`. Promotions are implied.
///
/// ```
/// use zeitnot_rules::MoveText;
/// use zeitnot_wire::imcs::dashed;
/// assert_eq!(dashed(&MoveText::new("a2a3").unwrap()), "a2-a3");
/// ```
pub fn dashed(mv: &MoveText) -> String {
    match (mv.as_str().get(..2), mv.as_str().get(2..4)) {
        (Some(from), Some(to)) => format!("{from}-{to}"),
        _ => mv.to_string(),
    }
}

/// Returns whether the word has the form `a2-a3`.
fn is_move(word: &str) -> bool {
    let square = |file: u8, rank: u8| (b'a'..=b'e').contains(&file) && (b'1'..=b'6').contains(&rank);
    match word.as_bytes() {
        [f1, r1, b'-', f2, r2] => square(*f1, *r1) && square(*f2, *r2),
        _ => false,
    }
}

fn field(message: &'static str, expected: &'static str, got: &str) -> WireError {
    WireError::Field { message, expected, got: shorten(got) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of lines. Ends are trimmed, so texts have no white space there.
    pub(super) const PARTS: &[(&str, &str)] = &[
        ("<number>", "[1-9][0-9]{0,17}"),
        ("<word>", "[!-~é]{1,12}"),
        ("<text>", "([!-~é]([ -~é]{0,30}[!-~é])?)?"),
        ("<rating>", "(0|-?[1-9][0-9]{0,3})"),
        ("<minutes>", "(0|[1-9][0-9]{0,2}|1[0-3][0-9]{2}):[0-5][0-9]"),
        ("<clock>", "(0[0-9]|[1-9][0-9]{1,2}):[0-5][0-9]\\.[0-9]{3}"),
        ("<move>", "[a-e][1-6]-[a-e][1-6]"),
    ];

    #[test]
    fn times() {
        for (word, seconds) in [("0", 0), ("90", 90), ("1:30", 90), ("100:00", 6000), ("86400", 86_400)] {
            assert_eq!(whole_seconds(word), Some(Duration::from_secs(seconds)));
        }
        for word in ["", ":", "1:5", "1:60", "1:005", "-1", "+1", "1.5", "86401", "1440:01", "99999999999"] {
            assert_eq!(whole_seconds(word), None, "{word}");
        }
        assert_eq!(whole_millis("01:30.250"), Some(Duration::from_millis(90_250)));
        for word in ["1:30", "90.000", "01:30.25", "01:30.-25", "-"] {
            assert_eq!(whole_millis(word), None, "{word}");
        }
    }
}
