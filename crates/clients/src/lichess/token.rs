//! Sources of an account's token.

use std::{
    io,
    path::{Path, PathBuf},
};

use zeitnot_net::secret_file::{self, SecretFileError};
use zeitnot_wire::lichess::Token;

/// Holds the token, unless a table has a file or variable of its own.
const DEFAULT_VARIABLE: &str = "LICHESS_BOT_TOKEN";
/// Credential of a service with the token, where there is no such variable.
const CREDENTIAL: &str = "lichess-token";

/// Error of finding a token.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TokenError {
    #[error("no token: set {DEFAULT_VARIABLE}, or `token_file` in its [[server]] table")]
    Missing,
    #[error("no token: {name}, which `token_env` names, is not set in the environment")]
    Unset { name: String },
    #[error("{source_name}: expected a token of letters, digits, hyphens and underscores")]
    Malformed { source_name: String },
    #[error("cannot read token_file {file}: {source}; it names a file with the token in it")]
    Unreadable { file: String, source: io::Error },
    #[error("others can read token_file {file}: chmod 600 {file}")]
    NotPrivate { file: String },
}

/// Finds a token: in the table's own file or variable; else in the default variable or the credential of the service,
/// which go before the text in the table. So each of several accounts has its own.
pub(crate) fn find(
    own_variable: Option<&str>,
    own_file: Option<&Path>,
    text: Option<&Token>,
    env: impl Fn(&str) -> Option<String>,
    credential: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Token, TokenError> {
    if let Some(name) = own_variable {
        let unset = || TokenError::Unset { name: name.to_owned() };
        return parse(name, &env(name).ok_or_else(unset)?);
    }
    if let Some(path) = own_file {
        return read(path);
    }
    if let Some(text) = env(DEFAULT_VARIABLE) {
        return parse(DEFAULT_VARIABLE, &text);
    }
    if let Some(path) = credential(CREDENTIAL) {
        return read(&path);
    }
    text.cloned().ok_or(TokenError::Missing)
}

/// Reads a token from a file that nobody else may read.
pub(crate) fn read(path: &Path) -> Result<Token, TokenError> {
    let file = path.display().to_string();
    match secret_file::read(path) {
        Ok(text) => parse(&file, &text),
        Err(SecretFileError::NotPrivate(_)) => Err(TokenError::NotPrivate { file }),
        Err(SecretFileError::Io(source)) => Err(TokenError::Unreadable { file, source }),
    }
}

/// Reads a token from a text of this source.
pub(crate) fn parse(source_name: &str, text: &str) -> Result<Token, TokenError> {
    text.trim().parse().map_err(|_| TokenError::Malformed { source_name: source_name.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn none(_: &str) -> Option<PathBuf> {
        None
    }

    #[test]
    fn each_account_has_its_own_token() {
        let usual = |name: &str| (name == DEFAULT_VARIABLE).then(|| "lip_usual".to_owned());
        let text = "lip_table".parse().ok();
        assert_eq!(find(None, None, None, usual, none).unwrap().expose(), "lip_usual");
        assert_eq!(find(None, None, text.as_ref(), usual, none).unwrap().expose(), "lip_usual");
        assert!(matches!(find(Some("OTHER"), None, None, usual, none), Err(TokenError::Unset { .. })));
        let other = |name: &str| (name == "OTHER").then(|| "lip_other\n".to_owned());
        assert_eq!(find(Some("OTHER"), None, None, other, none).unwrap().expose(), "lip_other");
        let nowhere = find(None, Some(Path::new("/nowhere")), None, usual, none);
        assert!(matches!(nowhere, Err(TokenError::Unreadable { .. })));
        assert_eq!(find(None, None, text.as_ref(), |_| None, none).unwrap().expose(), "lip_table");
    }

    #[cfg(unix)]
    #[test]
    fn a_token_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "lip_hush\n").unwrap();
        let found = || find(None, Some(file.path()), None, |_| None, none);
        assert_eq!(found().unwrap().expose(), "lip_hush");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(found(), Err(TokenError::NotPrivate { .. })));
    }
}
