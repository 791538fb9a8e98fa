//! Files that are there as a whole: whoever reads one, also after a kill, finds the old or the new one, or none.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

pub(super) fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(folder(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// File that is there when it is finished. Dropped before, it leaves nothing behind.
pub(super) struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    /// Begins a file that others may read, if the process's mask of permissions says so.
    pub(super) fn create(path: &Path) -> io::Result<NewFile> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder(path))?;
        Ok(NewFile { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Ends it. An existing file is left as it is, and is an error.
    pub(super) fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner()?;
        file.as_file().sync_all()?;
        file.persist_noclobber(self.path)?;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
