//! Files that are written as a whole: a reader finds the old file, the new one or none, even after a kill.

use std::{
    fs::Permissions,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Replaces a file, and waits until it is on the disk. Others may read it, if the process's mask of permissions says so.
///
/// # Errors
/// The file beside it cannot be written, or cannot take its place.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(begin(path, readable())?, path, bytes)
}

/// Does the same for a file that nobody else may read.
///
/// # Errors
/// As [`replace_file`].
pub fn replace_secret_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(begin(path, None)?, path, bytes)
}

fn replace(mut file: NamedTempFile, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// File that appears when it is finished. If it is dropped before, nothing is left behind.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    /// Begins a file that others may read, if the process's mask of permissions says so.
    ///
    /// # Errors
    /// The file beside it cannot be created.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        Ok(NewFile { path: path.to_owned(), file: BufWriter::new(begin(path, readable())?) })
    }

    /// Ends it. An existing file is left as it is, and is an error.
    ///
    /// # Errors
    /// The file cannot be written, or there is one already.
    pub fn finish(self) -> io::Result<()> {
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

/// Begins a file in the folder of `path`. By default only we can read it.
fn begin(path: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    permissions.into_iter().for_each(|permissions| {
        builder.permissions(permissions);
    });
    builder.tempfile_in(folder)
}

/// The process's mask is applied to them.
#[cfg(unix)]
fn readable() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

#[cfg(not(unix))]
fn readable() -> Option<Permissions> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn others_may_read_what_is_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        // As any program makes a file.
        fs::write(folder.path().join("usual"), "").unwrap();
        for text in ["first", "second"] {
            let [file, secret] = ["file", "secret"].map(|name| folder.path().join(name));
            replace_file(&file, text.as_bytes()).unwrap();
            replace_secret_file(&secret, text.as_bytes()).unwrap();
            assert_eq!([fs::read_to_string(file).unwrap(), fs::read_to_string(secret).unwrap()], [text; 2]);
            assert_eq!((mode("file"), mode("secret")), (mode("usual"), 0o600));
        }
        let mut new = NewFile::create(&folder.path().join("new")).unwrap();
        new.write_all(b"text").unwrap();
        new.finish().unwrap();
        assert_eq!(mode("new"), mode("usual"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left behind");
    }
}
