//! Text and messages, both ways, and nothing else: no sockets, no tokio. Fuzzed and round-tripped.

pub mod contest;
pub mod engines;
pub mod imcs;
pub mod lichess;
pub mod nthu;
pub mod pgn;
pub mod tuc;
pub mod uci;

/// A message of some protocol as it stands on the wire.
///
/// Law, held by property tests: what is printed is parsed back to the same message.
pub trait Message: Sized {
    /// Reads one line without its end.
    ///
    /// # Errors
    /// [`WireError`] with what was expected.
    fn parse(line: &str) -> Result<Self, WireError>;

    /// Writes the message as one line without its end.
    fn print(&self, out: &mut String);

    /// The message as a line of its own, without its end.
    fn to_line(&self) -> String {
        let mut line = String::new();
        self.print(&mut line);
        line
    }
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireError {
    /// A message that this protocol does not have, shortened.
    #[error("unknown message '{0}'")]
    Unknown(String),
    /// A known message with a field that cannot be read.
    #[error("{message}: expected {expected}, got '{got}'")]
    Field {
        /// The message's name.
        message: &'static str,
        /// What should have stood there.
        expected: &'static str,
        /// What stood there, shortened.
        got: String,
    },
    /// JSON or a form that cannot be read as this message.
    #[error("{message}: {why} in '{got}'")]
    Body {
        /// The message's name.
        message: &'static str,
        /// What the reader says, shortened.
        why: String,
        /// What stood there, shortened.
        got: String,
    },
}

impl WireError {
    fn body(message: &'static str, why: impl std::fmt::Display, got: &str) -> WireError {
        WireError::Body { message, why: shorten(&why.to_string()), got: shorten(got) }
    }
}

/// Text from outside as an error line can bear it: short, and with nothing in it that moves a cursor.
fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
