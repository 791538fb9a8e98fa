//! Place of a database: a file, or a PostgreSQL server by its URL, whose password is never printed.

use std::{
    fmt::{self, Write},
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use serde::Deserialize;
use sqlx::any::AnyConnectOptions;

/// Longest time for one change on a server, and for a connection to it.
const MAX_ANSWER: Duration = Duration::from_secs(5);
/// Longest time for many rows.
const MAX_HISTORY: Duration = Duration::from_secs(20);
/// Parameters that a URL may have.
const PARAMETERS: [&str; 11] = [
    "application_name",
    "dbname",
    "host",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Place of an arena's database.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum DatabaseLocation {
    /// SQLite file.
    File(PathBuf),
    /// Database of a PostgreSQL server.
    Server(ServerUrl),
}

/// URL of a database on a PostgreSQL server. There may be a password in it, which is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    url: Box<str>,
    shown: Box<str>,
}

/// Use of a database.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

/// Origin of the tables in a database.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Ours,
    /// It is empty.
    Missing,
}

/// Text that is no place of a database. It does not repeat the text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum BadLocation {
    #[error(
        "expected the path of a file or postgres://USER@HOST/DATABASE; signs in a password are written %XX"
    )]
    Url,
    #[error("expected postgres:// before a server: there are only SQLite files and PostgreSQL servers")]
    Scheme,
    #[error("the URL has an unknown parameter; known are {}", PARAMETERS.join(", "))]
    Parameter,
    #[error(
        "this program was built without PostgreSQL: install it with `cargo install --path . --locked --features \
         postgres`, or name a file"
    )]
    NotBuilt,
}

impl DatabaseLocation {
    /// Returns whether it is an empty path, which stands for no database.
    pub fn is_none(&self) -> bool {
        matches!(self, DatabaseLocation::File(path) if path.as_os_str().is_empty())
    }

    /// Returns the options of a connection, which do not log statements.
    pub(super) fn options(&self, mode: Mode) -> sqlx::Result<AnyConnectOptions> {
        match self {
            DatabaseLocation::File(path) => file_url(path, mode).parse(),
            DatabaseLocation::Server(ServerUrl { url, .. }) => url.parse(),
        }
    }

    /// Returns the statement that begins a transaction that writes.
    pub(super) fn begin(&self) -> &'static str {
        match self {
            DatabaseLocation::File(_) => "BEGIN IMMEDIATE",
            DatabaseLocation::Server(_) => "BEGIN",
        }
    }

    /// Returns the longest time for one change, and for a connection. A file has none: opening it again would not help a
    /// disk that hangs.
    pub(super) fn max_answer(&self) -> Option<Duration> {
        match self {
            DatabaseLocation::File(_) => None,
            DatabaseLocation::Server(_) => Some(MAX_ANSWER),
        }
    }

    /// Returns the longest time for a tournament with all that has happened in it.
    pub(super) fn max_history(&self) -> Option<Duration> {
        self.max_answer().map(|_| MAX_HISTORY)
    }
}

impl FromStr for DatabaseLocation {
    type Err = BadLocation;

    fn from_str(text: &str) -> Result<DatabaseLocation, BadLocation> {
        match text.split_once("://") {
            Some((scheme, _)) if is_postgres(scheme) && !cfg!(feature = "postgres") => {
                Err(BadLocation::NotBuilt)
            }
            Some((scheme, _)) if is_postgres(scheme) => text.parse().map(DatabaseLocation::Server),
            Some(_) => Err(BadLocation::Scheme),
            None => Ok(DatabaseLocation::File(text.into())),
        }
    }
}

/// Returns the URL of a file. Every sign of the path is escaped, so that it is read as it stands.
fn file_url(path: &Path, mode: Mode) -> String {
    let mut url = "sqlite:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        // Writing to a string does not fail.
        let _ = write!(url, "%{byte:02X}");
    }
    url + match mode {
        Mode::Read => "?mode=ro",
        Mode::Write => "?mode=rw",
    }
}

fn is_postgres(scheme: &str) -> bool {
    ["postgres", "postgresql"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

impl FromStr for ServerUrl {
    type Err = BadLocation;

    fn from_str(text: &str) -> Result<ServerUrl, BadLocation> {
        let options: AnyConnectOptions = text.parse().map_err(|_| BadLocation::Url)?;
        let mut url = options.database_url;
        if url.fragment().is_some() {
            return Err(BadLocation::Url);
        }
        let parameters: Vec<_> = url.query_pairs().into_owned().collect();
        let name = |key: &str| key.split('[').next().unwrap_or(key).to_owned();
        if parameters.iter().any(|(key, _)| !PARAMETERS.contains(&name(key).as_str())) {
            return Err(BadLocation::Parameter);
        }
        if !parameters.iter().any(|(key, _)| key == "application_name") {
            url.query_pairs_mut().append_pair("application_name", "zeitnot");
        }
        let full = url.as_str().into();
        // Only a URL without a host has no place for a password.
        let _ = url.set_password(None);
        url.set_query(None);
        let shown: Vec<_> = parameters.iter().filter(|(key, _)| key != "password").collect();
        if !shown.is_empty() {
            url.query_pairs_mut().extend_pairs(shown);
        }
        Ok(ServerUrl { url: full, shown: url.as_str().into() })
    }
}

impl TryFrom<String> for DatabaseLocation {
    type Error = BadLocation;

    fn try_from(text: String) -> Result<DatabaseLocation, BadLocation> {
        text.parse()
    }
}

impl From<PathBuf> for DatabaseLocation {
    fn from(path: PathBuf) -> DatabaseLocation {
        DatabaseLocation::File(path)
    }
}

impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseLocation::File(path) => path.display().fmt(f),
            DatabaseLocation::Server(url) => url.fmt(f),
        }
    }
}

impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_server_and_all_else_a_file() {
        for file in ["zeitnot.db", "/var/lib/zeitnot/zeitnot.db", "", "postgres", "C:\\zeitnot.db"] {
            let location: DatabaseLocation = file.parse().unwrap();
            assert_eq!((location.to_string().as_str(), location.is_none()), (file, file.is_empty()));
            assert!(matches!(location, DatabaseLocation::File(_)));
        }
        for (mistake, error) in MISTAKES {
            assert_eq!(mistake.parse::<DatabaseLocation>(), Err(error), "{mistake}");
            assert!(!error.to_string().contains("sesame"));
        }
    }

    #[cfg(not(feature = "postgres"))]
    const MISTAKES: [(&str, BadLocation); 2] = [
        ("mysql://teacher:sesame@school/class", BadLocation::Scheme),
        ("postgresql://teacher:sesame@school/class", BadLocation::NotBuilt),
    ];
    #[cfg(feature = "postgres")]
    const MISTAKES: [(&str, BadLocation); 5] = [
        ("mysql://teacher:sesame@school/class", BadLocation::Scheme),
        ("sqlite://zeitnot.db", BadLocation::Scheme),
        ("postgres://teacher:ses#ame@school/class", BadLocation::Url),
        ("postgres://teacher:ses/ame@school/class", BadLocation::Url),
        ("postgres://teacher@school/class?pasword=sesame", BadLocation::Parameter),
    ];

    #[cfg(feature = "postgres")]
    #[test]
    fn a_password_is_not_printed() {
        for (url, shown) in [
            ("postgres://teacher:sesame@school/class", "postgres://teacher@school/class"),
            (
                "postgresql://teacher:sesame@school:5433/class?sslmode=verify-full",
                "postgresql://teacher@school:5433/class?sslmode=verify-full",
            ),
            ("postgres://school/class?user=teacher&password=sesame", "postgres://school/class?user=teacher"),
            ("postgres:///class?host=/run/postgresql", "postgres:///class?host=%2Frun%2Fpostgresql"),
        ] {
            let location: DatabaseLocation = url.parse().unwrap();
            assert_eq!([location.to_string(), format!("{location:?}")], [shown, shown]);
            let options = location.options(Mode::Read).unwrap();
            assert_eq!(options.database_url.as_str().contains("sesame"), url.contains("sesame"));
        }
    }
}
