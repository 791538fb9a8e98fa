//! A `[[server]]` table with `protocol = "contest"`, checked as it is read.

use std::{env, fmt, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};
use zeitnot_net::{
    Address,
    secret::{self, Secret, SecretKey},
};
use zeitnot_rules::GameKind;
use zeitnot_settings::{JsonSchema, Schema, SchemaGenerator, schemars, words};

use crate::backoff::Reconnect;

/// Environment variable with the token, so that it need not be in a file.
const TOKEN_VARIABLE: &str = "ZEITNOT_TOKEN";
/// Maximum length of a token; servers refuse longer headers.
const MAX_TOKEN: usize = 4096;
/// Our key in a tournament; it is a part of a line.
const KEY: SecretKey = SecretKey { key: "key", variable: "ZEITNOT_JOIN_KEY", max_length: 100 };
/// Maximum length of a player's name on the server.
const MAX_PLAYER: usize = 49;
/// Maximum length of a tournament's name. The server has no limit, but a line has one.
const MAX_TOURNAMENT: usize = 200;

/// A class tournament, by the line protocol of its server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Table")]
#[schemars(with = "Table")]
pub struct Config {
    /// `tcp://host:port` or `ws://host:port/path`.
    pub address: Address,
    /// A tournament on that server.
    pub tournament: Tournament,
    /// Our name in it.
    pub player: Player,
    /// The tournament's game, which the server does not tell.
    pub game: GameKind,
    /// Our key in a tournament that asks for one, or its password.
    pub key: Option<Secret>,
    /// Bearer token for servers behind a proxy.
    pub token: Option<Secret>,
    /// Leave after this many games, or when the tournament is over; `None`: neither. Not read from the file.
    pub games: Option<NonZeroU32>,
    /// Time-outs. Not read from the file; tests set them.
    pub timeouts: Timeouts,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// tcp://host:port, or ws://host:port/path for WebSocket.
    #[schemars(with = "String", example = &"tcp://localhost:8000")]
    address: Address,
    /// Name of a tournament on the server.
    #[schemars(example = &"class")]
    tournament: Tournament,
    /// The bot's name in it, which must be unique: 1 to 49 characters without a space.
    #[schemars(example = &"zeitnot")]
    player: Player,
    /// Game of the tournament. The server must be an arena of ours for another one than chess.
    #[serde(default = "chess")]
    #[schemars(schema_with = "games")]
    game: GameKind,
    /// The bot's key, if the tournament asks for one, or its password. It is sent as plain text. ZEITNOT_JOIN_KEY in the
    /// environment takes precedence over both keys, but only servers with one of them get it.
    #[serde(default, deserialize_with = "key")]
    #[schemars(with = "String", example = &"from_your_teacher")]
    key: Option<Secret>,
    /// Private file with the key and nothing else in it (chmod 600).
    #[schemars(example = &"join.key")]
    key_file: Option<PathBuf>,
    /// Sent as "Authorization: Bearer …" when a WebSocket opens, for servers behind a proxy that requires it. ZEITNOT_TOKEN
    /// in the environment takes precedence, but only servers with this key get a token. ws:// is not encrypted: use it in
    /// your own network.
    #[serde(default, deserialize_with = "token")]
    #[schemars(with = "String", example = &"change_me")]
    token: Option<Secret>,
}

impl TryFrom<Table> for Config {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let Table { address, tournament, player, game, key, key_file, token } = table;
        if token.is_some() && !address.takes_token() {
            let told = "a token can only be sent to a ws:// address: change the address, or remove the token";
            return Err(told.to_owned());
        }
        // Other tournaments refuse a key, so the environment alone gives none.
        let key = match (&key, &key_file) {
            (None, None) => None,
            _ => KEY.find(key, key_file.as_deref())?,
        };
        Ok(Config { game, key, token, ..Config::new(address, tournament, player) })
    }
}

impl Config {
    /// Creates a configuration for chess with the default time-outs and without a token.
    pub fn new(address: Address, tournament: Tournament, player: Player) -> Self {
        let (game, timeouts) = (chess(), Timeouts::default());
        Config { address, tournament, player, game, key: None, token: None, games: None, timeouts }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = match (&self.key, &self.token) {
            (Some(_), Some(_)) => " with a key and a token",
            (Some(_), None) => " with a key",
            (None, Some(_)) => " with a token",
            (None, None) => "",
        };
        f.write_str("play ")?;
        if self.game != chess() {
            write!(f, "{} ", self.game.name())?;
        }
        write!(f, "in tournament {} as {} at {}{with}", self.tournament, self.player, self.address)
    }
}

/// Time-outs of a contest client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// For the first message after our `JOIN`, before an empty line is sent over TCP.
    pub probe: Duration,
    /// For the first message after our `JOIN`, before a warning.
    pub join: Duration,
    /// For any line after our `ACK`; the server gives our opponent 20 s.
    pub ack: Duration,
    /// For any line during a game: three of the clock updates that come every 5 s.
    pub silence: Duration,
    /// Delays between attempts to connect.
    pub reconnect: Reconnect,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            probe: Duration::from_secs(2),
            join: Duration::from_secs(5),
            ack: Duration::from_secs(30),
            silence: Duration::from_secs(15),
            // Between games, too, nobody waits long for us: after a minute the arena counts a player as absent.
            reconnect: Reconnect { max_delay: Duration::from_secs(20), ..Reconnect::default() },
        }
    }
}

/// Name of 1 to `MAX` characters without white space or control characters: on the wire a space ends a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = MAX))]
pub struct Name<const MAX: usize>(String);

/// Name of a player.
pub type Player = Name<MAX_PLAYER>;
/// Name of a tournament.
pub type Tournament = Name<MAX_TOURNAMENT>;

/// Text that is not a [`Name`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {max} characters without a space, got {got:?}")]
pub struct BadName {
    max: usize,
    /// Shortened.
    got: String,
}

impl<const MAX: usize> Name<MAX> {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Name<MAX> {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        let fits = (1..=MAX).contains(&text.chars().count());
        if fits && !text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            Ok(Name(text))
        } else {
            Err(BadName { max: MAX, got: text.chars().take(60).collect() })
        }
    }
}

impl<const MAX: usize> fmt::Display for Name<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn chess() -> GameKind {
    GameKind::Chess
}

fn games(_: &mut SchemaGenerator) -> Schema {
    words(GameKind::ALL)
}

fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    KEY.read(deserializer)
}

/// Reads the bearer token. `ZEITNOT_TOKEN` takes precedence, but a server whose table has no `token` gets neither.
fn token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let written = secret::text(deserializer)?;
    let token = Secret::new(env::var(TOKEN_VARIABLE).unwrap_or(written), MAX_TOKEN);
    token.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "expected a token of letters, digits and signs, here or in the environment as {TOKEN_VARIABLE}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_words() {
        for good in ["a", "alice", "Zoë_42", &"x".repeat(49)] {
            assert!(Player::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", " ", "a b", "a\tb", "a\nb", "a\u{a0}b", "\u{1b}[2J", &"x".repeat(50)] {
            assert!(Player::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let table = "address = 'ws://h:1/p'\ntournament = 't'\nplayer = 'p'\ntoken = 'hush'\nkey = 'hush2'";
        let config: Config = toml::from_str(table).unwrap();
        assert_eq!(config.token.as_ref().unwrap().expose(), "hush");
        assert_eq!(config.key.as_ref().unwrap().expose(), "hush2");
        assert!(!format!("{config:?} {config}").contains("hush"));
    }

    #[test]
    fn a_token_needs_a_place() {
        let table = "address = 'tcp://h:1'\ntournament = 't'\nplayer = 'p'\ntoken = 'hush'";
        let error = toml::from_str::<Config>(table).unwrap_err();
        assert!(error.message().contains("ws://"), "{error}");
        let error = toml::from_str::<Config>(&table.replace("'hush'", "4711")).unwrap_err();
        assert!(!error.message().contains("4711"), "{error}");
    }
}
