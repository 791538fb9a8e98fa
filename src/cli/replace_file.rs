//! Replaces a file as a whole: whoever reads it, also after a kill, finds the old text or the new one.

use std::{
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

pub(super) fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
