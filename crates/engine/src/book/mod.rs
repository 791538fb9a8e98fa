//! Opening books in Polyglot's format: moves that others have played, by position.
//!
//! A book is asked with the [key](zeitnot_rules::Game::book_key) of a position and knows moves as text; whoever
//! asks says which of them are moves there.

use std::{path::PathBuf, sync::Arc};

use serde::Deserialize;

mod polyglot;
#[cfg(test)]
mod tests;

use polyglot::File;
pub use polyglot::{BookError, BookFault};

/// The `[bot.book]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BookConfig {
    /// Polyglot's `.bin` files, used as one book; none: no book.
    pub files: Vec<PathBuf>,
    /// Which of the moves that are known.
    pub select: Selection,
    /// Only while fewer plies than this were played.
    pub max_ply: usize,
    /// Only moves of this weight or more.
    pub min_weight: u32,
}

impl Default for BookConfig {
    fn default() -> Self {
        BookConfig { files: Vec::new(), select: Selection::default(), max_ply: 40, min_weight: 1 }
    }
}

/// How to choose among the moves that a book knows.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The one with the greatest weight.
    Best,
    /// Any of them, those with more weight more often.
    #[default]
    Weighted,
    /// Any of them.
    Uniform,
}

/// Files that are open, and how to use them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Book {
    files: Arc<[File]>,
    config: BookConfig,
}

impl Book {
    /// Reads the files; `None` if there are none.
    ///
    /// # Errors
    /// [`BookError`]: a file that cannot be read, or that is no book.
    pub fn open(config: &BookConfig) -> Result<Option<Book>, BookError> {
        let mut room = polyglot::MOST_BYTES;
        let mut files = Vec::new();
        for path in &config.files {
            let file = File::open(path, room)?;
            room -= file.bytes();
            files.push(file);
        }
        Ok((!files.is_empty()).then(|| Book { files: files.into(), config: config.clone() }))
    }

    /// The same files, used otherwise.
    #[must_use]
    pub fn with_selection(&self, select: Selection, max_ply: usize) -> Book {
        Book { files: self.files.clone(), config: BookConfig { select, max_ply, ..self.config.clone() } }
    }

    /// How many moves it knows, each in one position.
    pub fn entries(&self) -> usize {
        self.files.iter().map(File::entries).sum()
    }

    /// A move for the position of this key, after so many plies. `read` makes a move of a text, unless it is
    /// none in this position. What several files know of one move is added up.
    pub fn pick<M: Copy + Eq>(&self, key: u64, plies: usize, read: impl Fn(&str) -> Option<M>) -> Option<M> {
        if plies >= self.config.max_ply {
            return None;
        }
        let mut known: Vec<(M, u32)> = Vec::new();
        for (text, weight) in self.files.iter().flat_map(|file| file.moves(key)) {
            let Some(mv) = read(text.as_str()) else { continue };
            match known.iter_mut().find(|(other, _)| *other == mv) {
                Some((_, sum)) => *sum = sum.saturating_add(weight.into()),
                None => known.push((mv, weight.into())),
            }
        }
        known.retain(|(_, weight)| *weight >= self.config.min_weight);
        self.config.select.among(&known)
    }
}

impl Selection {
    /// One of these.
    pub fn among<M: Copy>(self, moves: &[(M, u32)]) -> Option<M> {
        let sum: u64 = moves.iter().map(|(_, weight)| u64::from(*weight)).sum();
        match self {
            // The first of those with the greatest.
            Selection::Best => moves.iter().rev().max_by_key(|(_, weight)| *weight).map(|(mv, _)| *mv),
            Selection::Weighted if sum > 0 => {
                let mut left = fastrand::u64(..sum);
                let at = moves.iter().position(|(_, weight)| match left.checked_sub(u64::from(*weight)) {
                    Some(rest) => {
                        left = rest;
                        false
                    }
                    None => true,
                });
                at.and_then(|at| moves.get(at)).map(|(mv, _)| *mv)
            }
            Selection::Weighted | Selection::Uniform => fastrand::choice(moves).map(|(mv, _)| *mv),
        }
    }
}
