//! A `[[server]]` table with `protocol = "lichess"`, checked as it is read; and where its token comes from.

use std::{env, fmt, io, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    net::{
        http::Base,
        private::{self, NotPrivate},
    },
    protocol::{backoff::Backoff, secret},
    wire::lichess::Token,
};

/// Holds the token, so that it need not stand in a file.
const TOKEN_VARIABLE: &str = "LICHESS_BOT_TOKEN";

/// Where to play, with whose token, and how much.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The server.
    #[serde(default)]
    pub url: Base,
    /// A file with the token and nothing else in it, which nobody else can read.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// The token itself.
    #[serde(default, deserialize_with = "token")]
    pub token: Option<Token>,
    /// Games at once here; `[bot]` has the bound for all servers together.
    #[serde(default = "max_games")]
    pub max_games: NonZeroU32,
    /// Leave after so many games; without it, play on and on.
    #[serde(default)]
    pub games: Option<NonZeroU32>,
    /// What to claim when the opponent has left.
    #[serde(default)]
    pub claim: Claim,
    /// How long to wait for what.
    #[serde(default)]
    pub patience: Patience,
}

impl Config {
    /// With the usual settings, for a token from elsewhere.
    pub fn new(url: Base, token: Option<Token>) -> Config {
        Config {
            url,
            token_file: None,
            token,
            max_games: max_games(),
            games: None,
            claim: Claim::default(),
            patience: Patience::default(),
        }
    }

    /// The token: the environment goes before the file, which goes before the table.
    ///
    /// # Errors
    /// [`NoToken`] with why there is none.
    pub fn find_token(&self) -> Result<Token, NoToken> {
        if let Ok(text) = env::var(TOKEN_VARIABLE) {
            return text.trim().parse().map_err(|_| NoToken::Odd { whence: TOKEN_VARIABLE.to_owned() });
        }
        let Some(file) = &self.token_file else {
            if self.token.is_some() {
                tracing::warn!("the token stands in the configuration: do not share it, or use `token_file`");
            }
            return self.token.clone().ok_or(NoToken::Nowhere);
        };
        let whence = file.display().to_string();
        match private::read(file) {
            Ok(text) => text.parse().map_err(|_| NoToken::Odd { whence }),
            Err(NotPrivate::Open) => Err(NoToken::Open { file: whence }),
            Err(NotPrivate::Unread(source)) => Err(NoToken::Unread { file: whence, source }),
        }
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each field is what its name says
pub enum NoToken {
    /// Nobody gave one.
    #[error("no token: set {TOKEN_VARIABLE}, or `token_file` in its [[server]] table")]
    Nowhere,
    /// What was given is none.
    #[error("{whence}: expected a token of letters, digits and underscores")]
    Odd { whence: String },
    /// There is no such file, or it is not ours.
    #[error("cannot read token_file {file}: {source}")]
    Unread { file: String, source: io::Error },
    /// Everybody on this machine can read it.
    #[error("others can read token_file {file}: chmod 600 {file}")]
    Open { file: String },
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "accept challenges at {}, at most {} games at once", self.url, self.max_games)?;
        self.games.map_or(Ok(()), |games| write!(f, ", and leave after {games}"))
    }
}

/// What to claim when the opponent has left, and the server allows it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// The game.
    #[default]
    Victory,
    /// Half of it.
    Draw,
    /// Nothing: wait for the opponent.
    Nothing,
}

/// How long to wait for what.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// To connect.
    #[serde(with = "humantime_serde")]
    pub connect: Duration,
    /// For the answer to a request.
    #[serde(with = "humantime_serde")]
    pub answer: Duration,
    /// For anything at all on a stream: some more than two of the empty lines that come every 7 s.
    #[serde(with = "humantime_serde")]
    pub silence: Duration,
    /// Before a stream that ended is opened again, at least.
    #[serde(with = "humantime_serde")]
    pub first_pause: Duration,
    /// And at most.
    #[serde(with = "humantime_serde")]
    pub longest_pause: Duration,
    /// A stream that lasted this long was a good one: the pauses begin small again.
    #[serde(with = "humantime_serde")]
    pub steady: Duration,
    /// After a 429, unless the server says how long.
    #[serde(with = "humantime_serde")]
    pub limited: Duration,
    /// For the opponent's first move, where the server does not say how long.
    #[serde(with = "humantime_serde")]
    pub first_move: Duration,
    /// For an opponent who has left, beyond what the server asks for.
    #[serde(with = "humantime_serde")]
    pub gone: Duration,
}

impl Patience {
    /// For attempts to reach the server.
    pub(super) fn backoff(&self) -> Backoff {
        Backoff::new(self.first_pause, self.longest_pause, self.steady)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            silence: Duration::from_secs(17),
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(30),
            steady: Duration::from_secs(10),
            limited: Duration::from_secs(60),
            first_move: Duration::from_secs(30),
            gone: Duration::ZERO,
        }
    }
}

fn token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Token>, D::Error> {
    let text = secret::text(deserializer)?;
    let odd = |_| D::Error::custom("expected a token of letters, digits and underscores");
    text.parse().map(Some).map_err(odd)
}

fn max_games() -> NonZeroU32 {
    const { NonZeroU32::new(4).unwrap() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let config: Config = toml::from_str("token = 'lip_hush'").unwrap();
        assert!(!format!("{config:?} {config}").contains("hush"));
        for odd in ["token = 4711", "token = '4711 4711'"] {
            let error = toml::from_str::<Config>(odd).unwrap_err();
            assert!(!error.message().contains("4711"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_token_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "lip_hush\n").unwrap();
        let config =
            Config { token_file: Some(file.path().to_owned()), ..Config::new(Base::default(), None) };
        assert_eq!(config.find_token().unwrap().expose(), "lip_hush");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(config.find_token(), Err(NoToken::Open { .. })));
    }
}
