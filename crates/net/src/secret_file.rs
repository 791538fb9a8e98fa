//! Files that hold a secret and that nobody else may read.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Maximum length of a secret in bytes.
const MAX_LENGTH: u64 = 4096;

/// Error of reading a secret from a file.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// There is no such file, or we may not read it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Other users of this machine may read it.
    #[error("others can read it: chmod 600 {}", .0.display())]
    NotPrivate(PathBuf),
}

/// Variable of systemd that names the folder of a service's credentials, which no other user can enter.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Returns the place of a credential that systemd passes to a service (`LoadCredential`); `None` without one of that name.
pub fn credential(name: &str) -> Option<PathBuf> {
    let path = Path::new(&env::var_os(CREDENTIALS)?).join(name);
    path.is_file().then_some(path)
}

/// Returns the text of the file without surrounding white space.
///
/// # Errors
/// [`SecretFileError`]
pub fn read(path: &Path) -> Result<String, SecretFileError> {
    read_up_to(path, MAX_LENGTH)
}

/// Does the same for a file of many secrets, of at most so many bytes.
///
/// # Errors
/// [`SecretFileError`]
pub fn read_up_to(path: &Path, max_length: u64) -> Result<String, SecretFileError> {
    let file = File::open(path)?;
    // systemd gives its credentials to a service by an access list, which shows as a right of the group.
    let is_credential = env::var_os(CREDENTIALS).is_some_and(|folder| path.starts_with(folder));
    if !is_credential && others_can_read(&file.metadata()?) {
        return Err(SecretFileError::NotPrivate(path.to_owned()));
    }
    Ok(read_text(file, max_length)?)
}

/// Returns the text of a source that is no file, such as standard input, without surrounding white space.
///
/// # Errors
/// It cannot be read, or is not text.
pub fn read_from(source: impl Read) -> io::Result<String> {
    read_text(source, MAX_LENGTH)
}

fn read_text(source: impl Read, max_length: u64) -> io::Result<String> {
    let mut text = String::new();
    source.take(max_length).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// Returns options to open a file; where it is a new one, only its owner can read it. Elsewhere than on Unix, the user's own
/// folder is private by default.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn others_can_read(file: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &std::fs::Metadata) -> bool {
    false
}
