//! The log's copy in a file. It is rotated by size, so that it never fills a disk.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// File of the log with its older ones, `FILE.1` the latest. A line that cannot be written is lost; the first of several
/// in a row is reported.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    old_files: u32,
    /// The file and its length; opened with the first line, and again after a failure.
    open: Option<(File, u64)>,
    has_failed: bool,
}

impl LogFile {
    pub(super) fn new(path: &Path, max_bytes: u64, old_files: u32) -> LogFile {
        LogFile { path: path.to_owned(), max_bytes, old_files, open: None, has_failed: false }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let length = line.len() as u64;
        if self.open.as_ref().is_some_and(|(_, before)| *before > 0 && before + length > self.max_bytes) {
            self.open = None;
            self.rotate()?;
        }
        let (file, size) = match &mut self.open {
            Some(open) => open,
            none => {
                let file = OpenOptions::new().append(true).create(true).open(&self.path)?;
                let size = file.metadata()?.len();
                none.insert((file, size))
            }
        };
        file.write_all(line)?;
        *size += length;
        Ok(())
    }

    /// Renames the files, the oldest first, which is replaced.
    fn rotate(&self) -> io::Result<()> {
        if self.old_files == 0 {
            return fs::remove_file(&self.path);
        }
        for number in (1..self.old_files).rev() {
            match fs::rename(self.old(number), self.old(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&self.path, self.old(1))
    }

    fn old(&self, number: u32) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        name.into()
    }
}

impl Write for LogFile {
    /// Never fails: nobody could do anything about it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.append(line) {
            Ok(()) => self.has_failed = false,
            Err(error) => {
                self.open = None;
                if !std::mem::replace(&mut self.has_failed, true) {
                    let file = self.path.display();
                    tracing::warn!(
                        "cannot write the log to {file}: {error}; lines are missing there until it works again"
                    );
                }
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_rotated_by_size_and_the_oldest_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.log");
        let mut log = LogFile::new(&path, 20, 2);
        for number in 0..9 {
            log.write_all(format!("line {number}..\n").as_bytes()).unwrap();
        }
        assert_eq!(names(folder.path()), ["bot.log", "bot.log.1", "bot.log.2"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 8..\n");
        assert_eq!(fs::read_to_string(folder.path().join("bot.log.2")).unwrap(), "line 4..\nline 5..\n");
        // A restart keeps the existing lines.
        let mut again = LogFile::new(&path, 20, 2);
        again.write_all(b"more\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 8..\nmore\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_loses_lines_and_is_written_again_later() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("later");
        let path = missing.join("bot.log");
        let mut log = LogFile::new(&path, 1000, 1);
        log.write_all(b"lost\n").unwrap();
        assert!(log.has_failed);
        fs::create_dir(&missing).unwrap();
        log.write_all(b"kept\n").unwrap();
        assert!(!log.has_failed);
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept\n");
    }
}
