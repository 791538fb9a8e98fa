//! Files with a secret in them, which nobody else may read.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// No secret is longer.
const LONGEST: u64 = 4096;

/// A file that is not to be trusted with a secret, or that is not there.
#[derive(Debug, thiserror::Error)]
pub enum NotPrivate {
    /// There is no such file, or it is not ours.
    #[error(transparent)]
    Unread(#[from] io::Error),
    /// Everybody on this machine can read it.
    #[error("others can read it: chmod 600")]
    Open,
}

/// The text of the file, without space around it.
///
/// # Errors
/// [`NotPrivate`]
pub fn read(path: &Path) -> Result<String, NotPrivate> {
    let file = File::open(path)?;
    if is_open(&file.metadata()?) {
        return Err(NotPrivate::Open);
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// Can others read it?
#[cfg(unix)]
fn is_open(file: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

/// Elsewhere a file in one's own folder is one's own.
#[cfg(not(unix))]
fn is_open(_: &std::fs::Metadata) -> bool {
    false
}
