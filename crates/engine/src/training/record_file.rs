//! File of records. A record torn by a killed writer is cut off when the file is opened.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::Record;

/// File that games are appended to.
#[derive(Debug)]
pub struct RecordFile {
    file: File,
    positions: u64,
}

/// Reads at most `most` whole records of a file.
///
/// # Errors
/// [`RecordFileError`].
pub fn read_records(path: &Path, most: usize) -> Result<Vec<Record>, RecordFileError> {
    let io = |source| RecordFileError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let most = most.saturating_mul(Record::SIZE) as u64;
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(io)?;
    Ok(bytes.as_chunks().0.iter().map(|&bytes| Record(bytes)).collect())
}

/// Reason why a record file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// Another process writes to the file.
    #[error("{}: another program writes there; choose another file", .0.display())]
    InUse(PathBuf),
    /// I/O error.
    #[error("cannot use {}: {source}; is its folder there, and is it yours?", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

impl RecordFile {
    /// Opens or creates a file for appending, cutting off a torn record.
    ///
    /// # Errors
    /// [`RecordFileError`].
    pub fn open(path: &Path) -> Result<RecordFile, RecordFileError> {
        let io = |source| RecordFileError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RecordFileError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let length = file.metadata().map_err(io)?.len();
        let positions = length / Record::SIZE as u64;
        if length % Record::SIZE as u64 != 0 {
            file.set_len(positions * Record::SIZE as u64).map_err(io)?;
        }
        Ok(RecordFile { file, positions })
    }

    /// Number of positions.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Appends a game, in one write.
    ///
    /// # Errors
    /// I/O errors, such as a full disk.
    pub fn append(&mut self, game: &[Record]) -> io::Result<()> {
        let bytes: Vec<u8> = game.iter().flat_map(|record| record.0).collect();
        self.file.write_all(&bytes)?;
        self.positions += game.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::training::Label;
    use zeitnot_rules::chess::Chess;

    #[test]
    fn a_torn_record_is_cut_off_and_the_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let record = |score| Record::pack(&Chess::start(), Label { score, result: 1 });
        RecordFile::open(&path).unwrap().append(&[record(1), record(2)]).unwrap();
        for torn in [1, 17, 31] {
            let mut bytes = fs::read(&path).unwrap();
            bytes.extend_from_slice(&record(9).0[..torn]);
            fs::write(&path, bytes).unwrap();
            assert_eq!(RecordFile::open(&path).unwrap().positions(), 2);
        }
        let mut store = RecordFile::open(&path).unwrap();
        store.append(&[record(3)]).unwrap();
        assert_eq!(store.positions(), 3);
        let whole: Vec<u8> = [1, 2, 3].into_iter().flat_map(|score| record(score).0).collect();
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(read_records(&path, 2).unwrap(), [record(1), record(2)]);
        assert_eq!(read_records(&path, usize::MAX).unwrap().len(), 3);
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = RecordFile::open(&path).unwrap();
        assert!(matches!(RecordFile::open(&path), Err(RecordFileError::InUse(_))));
        drop(first);
        assert!(RecordFile::open(&path).is_ok());
    }
}
