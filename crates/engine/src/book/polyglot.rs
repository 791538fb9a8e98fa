//! Polyglot book file: entries of sixteen bytes, sorted by key.
//!
//! An entry holds key (64 bits), move (16), weight (16) and 32 unused bits, big-endian. A move holds three bits
//! each for the file and rank of its target and of its origin, and for the promotion. Castling is king takes rook.
//!
//! Source: Chess Programming Wiki, "PolyGlot".

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use zeitnot_rules::MoveText;

/// Maximum size of all files of a book together, as they are kept in memory.
pub(super) const MAX_BYTES: usize = 512 << 20;
const ENTRY_BYTES: usize = 16;

/// Invalid book file.
#[derive(Debug, thiserror::Error)]
#[error("book {}: {fault}", path.display())]
pub struct BookError {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub fault: BookFault,
}

/// Reason why a book is invalid.
#[derive(Debug, thiserror::Error)]
pub enum BookFault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The file is too large.
    #[error("is too large: all files of a book together may have {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// The length is not a multiple of the entry size.
    #[error("is not a Polyglot book, or is truncated: {0} bytes are not a multiple of {ENTRY_BYTES}")]
    Truncated(usize),
    /// The keys are not sorted.
    #[error("is not a Polyglot book: its keys are not sorted at entry {0}")]
    Unsorted(usize),
}

#[derive(Debug)]
pub(super) struct PolyglotFile(Vec<u8>);

impl PolyglotFile {
    /// Reads a file of at most this many bytes.
    pub(super) fn open(path: &Path, most: usize) -> Result<PolyglotFile, BookError> {
        let wrong = |fault| BookError { path: path.to_owned(), fault };
        let bytes = read(path, most).map_err(wrong)?;
        PolyglotFile::check(bytes).map_err(wrong)
    }

    fn check(bytes: Vec<u8>) -> Result<PolyglotFile, BookFault> {
        let file = PolyglotFile(bytes);
        if file.0.is_empty() {
            return Err(BookFault::Empty);
        }
        if !file.0.len().is_multiple_of(ENTRY_BYTES) {
            return Err(BookFault::Truncated(file.0.len()));
        }
        let all = file.all();
        match all.windows(2).position(|pair| matches!(pair, [a, b] if key(a) > key(b))) {
            Some(before) => Err(BookFault::Unsorted(before + 1)),
            None => Ok(file),
        }
    }

    fn all(&self) -> &[[u8; ENTRY_BYTES]] {
        self.0.as_chunks().0
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    pub(super) fn entries(&self) -> usize {
        self.all().len()
    }

    /// Moves and weights of a position.
    pub(super) fn moves(&self, wanted: u64) -> impl Iterator<Item = (MoveText, u16)> {
        let all = self.all();
        let first = all.partition_point(|entry| key(entry) < wanted);
        let here = all.iter().skip(first).take_while(move |entry| key(entry) == wanted);
        here.filter_map(|&[_, _, _, _, _, _, _, _, m0, m1, w0, w1, ..]| {
            Some((text(u16::from_be_bytes([m0, m1]))?, u16::from_be_bytes([w0, w1])))
        })
    }
}

fn read(path: &Path, most: usize) -> Result<Vec<u8>, BookFault> {
    let file = fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(BookFault::Unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(BookFault::TooLarge) } else { Ok(bytes) }
}

fn key(&[k0, k1, k2, k3, k4, k5, k6, k7, ..]: &[u8; ENTRY_BYTES]) -> u64 {
    u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7])
}

/// Move in coordinate notation; `None` for an invalid promotion.
fn text(packed: u16) -> Option<MoveText> {
    let bits = |from: u16| (packed >> from & 7) as u8;
    let square = |at: u16| [b'a' + bits(at), b'1' + bits(at + 3)];
    let ([from_file, from_rank], [to_file, to_rank]) = (square(6), square(0));
    let promotion = ["", "n", "b", "r", "q"].get(usize::from(packed >> 12 & 7))?;
    let squares = [from_file, from_rank, to_file, to_rank].map(char::from);
    MoveText::new(&(String::from_iter(squares) + promotion))
}
