//! Opening books in the Polyglot format.
//!
//! A book is probed with the [key](zeitnot_rules::Game::book_key) of a position and yields moves as text, which the
//! caller parses and checks.

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};
use zeitnot_settings::{JsonSchema, schemars, settings};

mod polyglot;
#[cfg(test)]
mod tests;

use polyglot::PolyglotFile;
pub use polyglot::{BookError, BookFault};

settings! {
    /// Opening books.
    #[derive(PartialEq, Eq)]
    pub struct BookConfig {
        /// Opening books in Polyglot format (.bin), merged into one; empty: no book.
        files: Vec<PathBuf> = Vec::new(),
        /// "best": the move with the greatest weight; "weighted": at random by weight; "uniform": at random.
        selection: Selection = Selection::default(),
        /// Only while fewer plies than this have been played.
        max_ply: usize = 40,
        /// Minimum weight of a move.
        min_weight: u32 = 1,
    }
}

/// Choice among the moves of a book.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The move with the highest weight.
    Best,
    /// A random move in proportion to the weights.
    #[default]
    Weighted,
    /// A random move with equal probabilities.
    Uniform,
}

/// Opened book files with their configuration. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Book {
    files: Arc<[PolyglotFile]>,
    config: BookConfig,
}

impl Book {
    /// Reads the files; returns `None` if none are configured.
    ///
    /// # Errors
    /// [`BookError`] for a file that cannot be read or is not a book.
    pub fn open(config: &BookConfig) -> Result<Option<Book>, BookError> {
        let mut room = polyglot::MAX_BYTES;
        let mut files = Vec::new();
        for path in &config.files {
            let file = PolyglotFile::open(path, room)?;
            room -= file.bytes();
            files.push(file);
        }
        Ok((!files.is_empty()).then(|| Book { files: files.into(), config: config.clone() }))
    }

    /// The same files with another selection.
    #[must_use]
    pub(crate) fn with_selection(&self, selection: Selection, max_ply: usize) -> Book {
        Book { files: self.files.clone(), config: BookConfig { selection, max_ply, ..self.config.clone() } }
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.files.iter().map(PolyglotFile::entries).sum()
    }

    /// Picks a move for a position. `read` parses a move and returns `None` for illegal ones. Weights of several files
    /// are added up.
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
        self.config.selection.choose(&known)
    }
}

impl Selection {
    /// Chooses one of these moves.
    pub fn choose<M: Copy>(self, moves: &[(M, u32)]) -> Option<M> {
        let sum: u64 = moves.iter().map(|(_, weight)| u64::from(*weight)).sum();
        match self {
            // The first of those with the highest weight.
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
