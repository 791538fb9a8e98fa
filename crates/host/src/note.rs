//! Note of the organiser about a game or a player.

use std::fmt;

use zeitnot_wire::printable;

/// Characters of a note, at most.
const MAX_LENGTH: usize = 200;

/// Note of the organiser: one line that can be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note(String);

/// Note that is empty, too long, or has characters that cannot be shown.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a note has 1 to {MAX_LENGTH} printable characters, in one line")]
pub struct BadNote;

impl Note {
    /// Returns the line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Note {
    type Error = BadNote;

    fn try_from(text: &str) -> Result<Note, BadNote> {
        let text = text.trim();
        let fits = !text.is_empty() && printable(text, MAX_LENGTH) == text;
        if fits { Ok(Note(text.to_owned())) } else { Err(BadNote) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows a note behind what it is about.
pub fn with_note(text: String, note: Option<&Note>) -> String {
    match note {
        Some(note) => format!("{text}: {note}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_one_line_that_can_be_shown() {
        let told = Note::try_from(" the cable was out ").map(|note| note.to_string());
        assert_eq!(told.unwrap(), "the cable was out");
        let long = "n".repeat(MAX_LENGTH + 1);
        for text in ["", "  ", "two\nlines", "\u{1b}[31mred", "\u{202e}back", long.as_str()] {
            assert_eq!(Note::try_from(text), Err(BadNote), "{text:?}");
        }
    }
}
