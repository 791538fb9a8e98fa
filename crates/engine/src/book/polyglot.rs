//! One file of Polyglot's: entries of sixteen bytes, sorted by the keys of their positions.
//!
//! An entry is key (64 bits), move (16), weight (16) and 32 bits that nobody uses, the highest byte first. A
//! move is three bits each for file and rank of its target and of its origin, and the piece that a pawn becomes.
//! Castling is told as king takes rook.

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use zeitnot_rules::MoveText;

/// All files of a book together are no larger: they are kept in memory.
pub(super) const MOST_BYTES: usize = 512 << 20;
const ENTRY: usize = 16;

/// A file that is of no use.
#[derive(Debug, thiserror::Error)]
#[error("book {}: {fault}", path.display())]
pub struct BookError {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: BookFault,
}

/// What is wrong with a book.
#[derive(Debug, thiserror::Error)]
pub enum BookFault {
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unread(#[from] io::Error),
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// There is too much in it.
    #[error("is too large: all books together may have {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    /// It is cut off, or something else.
    #[error("is no Polyglot book, or is cut off: {0} bytes are no whole number of entries of {ENTRY}")]
    NotWhole(usize),
    /// It is something else.
    #[error("is no Polyglot book: its keys are out of order at entry {0}")]
    Unsorted(usize),
}

/// See the module's comment.
#[derive(Debug)]
pub(super) struct File(Vec<u8>);

impl File {
    /// Reads it, if it has no more bytes than this.
    pub fn open(path: &Path, most: usize) -> Result<File, BookError> {
        let wrong = |fault| BookError { path: path.to_owned(), fault };
        let bytes = read(path, most).map_err(wrong)?;
        File::check(bytes).map_err(wrong)
    }

    fn check(bytes: Vec<u8>) -> Result<File, BookFault> {
        let file = File(bytes);
        if file.0.is_empty() {
            return Err(BookFault::Empty);
        }
        if !file.0.len().is_multiple_of(ENTRY) {
            return Err(BookFault::NotWhole(file.0.len()));
        }
        let all = file.all();
        match all.windows(2).position(|pair| matches!(pair, [a, b] if key(a) > key(b))) {
            Some(before) => Err(BookFault::Unsorted(before + 1)),
            None => Ok(file),
        }
    }

    fn all(&self) -> &[[u8; ENTRY]] {
        self.0.as_chunks().0
    }

    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    pub fn entries(&self) -> usize {
        self.all().len()
    }

    /// Moves and weights of this position.
    pub fn moves(&self, wanted: u64) -> impl Iterator<Item = (MoveText, u16)> {
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
        return Err(BookFault::Unread(io::ErrorKind::IsADirectory.into()));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(BookFault::TooLarge) } else { Ok(bytes) }
}

fn key(&[k0, k1, k2, k3, k4, k5, k6, k7, ..]: &[u8; ENTRY]) -> u64 {
    u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7])
}

/// The move in coordinates; `None` if there is no such piece to become.
fn text(packed: u16) -> Option<MoveText> {
    let bits = |from: u16| (packed >> from & 7) as u8;
    let square = |at: u16| [b'a' + bits(at), b'1' + bits(at + 3)];
    let ([from_file, from_rank], [to_file, to_rank]) = (square(6), square(0));
    let promotion = ["", "n", "b", "r", "q"].get(usize::from(packed >> 12 & 7))?;
    let squares = [from_file, from_rank, to_file, to_rank].map(char::from);
    MoveText::new(&(String::from_iter(squares) + promotion))
}
