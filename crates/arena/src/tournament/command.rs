//! Orders of the organiser, and the reasons why one is refused.

#![allow(dead_code, reason = "the API's routes, which give them, follow")]

use std::fmt;

use tokio::sync::oneshot;

use crate::name::{Name, printable};

/// Characters of a note, at most.
const MAX_NOTE: usize = 200;

/// Order for one tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Begins with whoever is here.
    Start,
    /// Running games end; nobody is paired, and nobody counts as absent.
    Pause,
    Resume,
    /// Lets late ones in, or no longer.
    LateEntries(bool),
}

/// Reason why an order is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("there is no tournament {0}")]
    UnknownTournament(String),
    #[error("tournament {0} is over: nothing about it can be changed any more")]
    Over(String),
    #[error("tournament {0} has begun already")]
    HasBegun(Name),
    #[error("tournament {name} needs two players to begin, and has {here}: let them join first")]
    TooFew { name: Name, here: usize },
    #[error(
        "tournament {0} cannot begin without a player of its gauntlet, and another one: let them join first"
    )]
    NoGauntlet(Name),
    #[error("tournament {0} is paused: resume it first")]
    IsPaused(Name),
    #[error("tournament {0} is not paused")]
    NotPaused(Name),
    #[error("tournament {0} is a knockout, which takes nobody in once it has begun")]
    NoLateEntries(Name),
    #[error("tournament {0} is open to everybody at any time")]
    IsOpen(Name),
}

impl CommandError {
    /// Returns whether the order names something that does not exist.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, CommandError::UnknownTournament(_))
    }
}

/// Way to answer the organiser.
pub(super) type Answer = oneshot::Sender<Result<(), CommandError>>;

/// Order that is carried out, to be told once it is on the disk.
#[derive(Debug)]
pub(super) struct CarriedOut {
    /// Line for the players and the log.
    pub(super) told: String,
    pub(super) answer: Answer,
}

/// Note of the organiser: one line that can be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note(String);

/// Note that is empty, too long, or has characters that cannot be shown.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a note has 1 to {MAX_NOTE} printable characters, in one line")]
pub(crate) struct BadNote;

impl Note {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Note {
    type Error = BadNote;

    fn try_from(text: &str) -> Result<Note, BadNote> {
        let text = text.trim();
        let fits = !text.is_empty() && printable(text, MAX_NOTE) == text;
        if fits { Ok(Note(text.to_owned())) } else { Err(BadNote) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_one_line_that_can_be_shown() {
        assert_eq!(
            Note::try_from(" the cable was out ").map(|note| note.to_string()).unwrap(),
            "the cable was out"
        );
        for text in ["", "  ", "two\nlines", "\u{1b}[31mred", "\u{202e}back", &"n".repeat(MAX_NOTE + 1)] {
            assert_eq!(Note::try_from(text), Err(BadNote), "{text:?}");
        }
    }
}
