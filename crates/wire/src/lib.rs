//! Messages of each protocol, parsed and printed. No I/O.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

pub mod cerveau;
pub mod chessdb;
pub mod contest;
pub mod engines;
pub mod imcs;
pub mod lichess;
pub mod nthu;
pub mod pgn;
pub mod secret;
pub mod tuc;
pub mod uci;

pub use secret::Secret;

/// Message of a protocol.
///
/// Property tests check that every printed message is parsed back to the same message.
pub trait Message: Sized {
    /// Parses one line without its end.
    ///
    /// # Errors
    /// [`WireError`] with what was expected.
    fn parse(line: &str) -> Result<Self, WireError>;

    /// Returns the message as one line without its end.
    fn to_line(&self) -> String;
}

/// Error of parsing a message.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireError {
    /// Unknown message, shortened.
    #[error("unknown message '{0}'")]
    Unknown(String),
    /// Known message with an invalid field.
    #[error("{message}: expected {expected}, got '{got}'")]
    Field {
        /// Name of the message.
        message: &'static str,
        /// Expected value.
        expected: &'static str,
        /// Actual value, shortened.
        got: String,
    },
    /// Invalid JSON or form.
    #[error("{message}: {why} in '{got}'")]
    Body {
        /// Name of the message.
        message: &'static str,
        /// The parser's error, shortened.
        why: String,
        /// Actual value, shortened.
        got: String,
    },
}

impl WireError {
    fn body(message: &'static str, why: impl std::fmt::Display, got: &str) -> WireError {
        WireError::Body { message, why: shorten(&why.to_string()), got: shorten(got) }
    }
}

/// Shortens text for an error message and removes control characters.
fn shorten(text: &str) -> String {
    printable(text, 60)
}

/// Makes text from outside safe to show: at most `max` characters, none that controls a terminal, is invisible or
/// changes the direction of the text.
pub fn printable(text: &str, max: usize) -> String {
    text.chars().filter(|c| !c.is_control() && !is_invisible(*c)).take(max).collect()
}

/// Returns whether the character is one of those that Unicode lets programs ignore, or ends a line.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_text_has_nothing_hidden() {
        assert_eq!(printable("a\u{202e}b\u{1b}[2J\u{200b}c\u{2028}d é", 8), "ab[2Jcd ");
    }
}

#[cfg(test)]
mod testing {
    use proptest::{prelude::*, sample::Index, string::string_regex};

    use crate::Message;

    /// Lines of a pattern: a regular expression with named parts in angle brackets.
    pub(crate) fn lines(pattern: &str, parts: &[(&str, &str)]) -> impl Strategy<Value = String> + use<> {
        let pattern =
            parts.iter().fold(pattern.to_owned(), |pattern, (name, part)| pattern.replace(name, part));
        string_regex(&pattern).unwrap()
    }

    /// Checks that the message of a line is printed as that line.
    pub(crate) fn same_line<M: Message>(line: &str) -> Result<(), TestCaseError> {
        let printed = M::parse(line).map(|message| message.to_line());
        prop_assert_eq!(printed.as_deref(), Ok(line));
        Ok(())
    }

    /// Any text, and lines with garbage inserted.
    pub(crate) fn garbled(lines: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
        let garbage =
            prop_oneof!["[ \t\0\u{a0}]{0,2}", "-?[0-9.]{1,20}", "(nan|-inf|1e308|1e19|1-0)", ".{0,8}"];
        let inserted = (lines, any::<Index>(), garbage).prop_map(|(line, at, garbage)| {
            let at = at.index(line.chars().count() + 1);
            line.chars().take(at).chain(garbage.chars()).chain(line.chars().skip(at)).collect()
        });
        prop_oneof![1 => ".*", 3 => inserted]
    }

    /// Checks that the message of a line, if it has one, is printed in the same way after it is parsed again.
    pub(crate) fn same_message<M: Message>(line: &str) -> Result<(), TestCaseError> {
        if let Ok(message) = M::parse(line) {
            same_line::<M>(&message.to_line())?;
        }
        Ok(())
    }
}
