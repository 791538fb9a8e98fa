//! A `[[server]]` table with `protocol = "cerveau"`, checked as it is read.

use std::{fmt, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer};
use zeitnot_net::{
    Address,
    secret::{Secret, SecretKey},
};
use zeitnot_rules::Color;
use zeitnot_settings::{JsonSchema, Schema, SchemaGenerator, schemars, shown, words};

use crate::backoff::Reconnect;

/// Maximum length of a name; the server replaces longer ones of players.
pub(super) const MAX_NAME: usize = 80;
/// Maximum length of the settings of a game.
const MAX_SETTINGS: usize = 1000;
const PASSWORD: SecretKey =
    SecretKey { key: "password", variable: "ZEITNOT_CERVEAU_PASSWORD", max_length: 100 };

/// Chess on Cerveau, the game server of Missouri S&T, in place of a Joueur client.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Table")]
#[schemars(with = "Table")]
pub struct Config {
    /// `tcp://host:3000`.
    pub address: Address,
    /// Our name there.
    pub player: Name,
    /// Session in which we play.
    pub session: Name,
    /// Color that we ask for; `None`: the order in which the players come decides.
    pub color: Option<Color>,
    /// Password of the server or of the session.
    pub password: Option<Secret>,
    /// Settings of the game, in the form of a URL's query.
    pub game_settings: Option<String>,
    /// Leave after this many games; `None`: never.
    pub games: Option<NonZeroU32>,
    /// Time-outs. Not read from the file; tests set them.
    pub timeouts: Timeouts,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// tcp://host:port
    #[serde(deserialize_with = "Address::of_tcp")]
    #[schemars(with = "String", example = &"tcp://localhost:3000")]
    address: Address,
    /// The bot's name there.
    #[schemars(example = &"zeitnot")]
    player: Name,
    /// Session to play in: "*" is any that waits for a player, "new" always a new one; players who name the same one meet.
    #[serde(default = "any_session", serialize_with = "shown")]
    #[schemars(with = "String")]
    session: Name,
    /// The bot's color. Without it, the order in which the players come decides.
    #[serde(default)]
    #[schemars(schema_with = "colors", example = &"white")]
    color: Option<Color>,
    /// Password of the server, or of a session that has one. It is sent as plain text. ZEITNOT_CERVEAU_PASSWORD in the
    /// environment takes precedence over both keys, but only servers with one of them get it.
    #[serde(default, deserialize_with = "password")]
    #[schemars(with = "String", example = &"from_your_teacher")]
    password: Option<Secret>,
    /// Private file with the password and nothing else in it (chmod 600).
    #[schemars(example = &"cerveau.password")]
    password_file: Option<PathBuf>,
    /// Settings of the game, as --gameSettings of a Joueur client: of several players, the later ones override the earlier.
    /// Servers may ignore them. Times are in nanoseconds.
    #[schemars(example = &"playerStartingTime=60000000000")]
    game_settings: Option<String>,
    /// Number of games after which to leave. Without it, no limit.
    #[schemars(example = 10)]
    games: Option<NonZeroU32>,
}

impl TryFrom<Table> for Config {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let Table { address, player, session, color, password, password_file, game_settings, games } = table;
        // Other servers must not get it, so the environment alone gives none.
        let password = match (&password, &password_file) {
            (None, None) => None,
            _ => PASSWORD.find(password, password_file.as_deref())?,
        };
        if game_settings.as_ref().is_some_and(|settings| settings.len() > MAX_SETTINGS) {
            return Err(format!("game_settings: expected at most {MAX_SETTINGS} bytes"));
        }
        let timeouts = Timeouts::default();
        Ok(Config { address, player, session, color, password, game_settings, games, timeouts })
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { address, player, session, .. } = self;
        match session.0.as_str() {
            "*" => write!(f, "play in any session")?,
            "new" => write!(f, "play in new sessions")?,
            _ => write!(f, "play in session {session}")?,
        }
        write!(f, " as {player} at {address}")?;
        if let Some(color) = self.color {
            write!(f, " with {color}")?;
        }
        match self.password {
            Some(_) => write!(f, " with a password"),
            None => Ok(()),
        }
    }
}

/// Name of a player or a session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Name(String);

/// Text that is not a [`Name`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {MAX_NAME} characters")]
pub struct BadName;

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        let fits = (1..=MAX_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Name(text)) } else { Err(BadName) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Time-outs of a Cerveau client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// For the answer to a request before the game.
    pub answer: Duration,
    /// In a game, beyond twice the time on both clocks: the server itself ends it 30 s after that.
    pub beyond_clocks: Duration,
    /// For `over` after the last move.
    pub over: Duration,
    /// Pause after a game, in which the server frees the session's name: it takes one second.
    pub between_games: Duration,
    /// Delays between attempts to connect.
    pub reconnect: Reconnect,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            beyond_clocks: Duration::from_secs(60),
            over: Duration::from_secs(2),
            between_games: Duration::from_secs(2),
            reconnect: Reconnect { max_delay: Duration::from_secs(20), ..Reconnect::default() },
        }
    }
}

fn password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    PASSWORD.read(deserializer)
}

fn any_session() -> Name {
    Name("*".to_owned())
}

fn colors(_: &mut SchemaGenerator) -> Schema {
    words(Color::BOTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(more: &str) -> Result<Config, String> {
        let table = format!("address = 'tcp://localhost:3000'\nplayer = 'us'\n{more}");
        toml::from_str(&table).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn tables() {
        let shown = |more| read(more).unwrap().to_string();
        assert_eq!(shown(""), "play in any session as us at tcp://localhost:3000");
        assert_eq!(
            shown("session = 'final 1'\ncolor = 'black'\npassword = 'hush'"),
            "play in session final 1 as us at tcp://localhost:3000 with black with a password"
        );
        for wrong in ["session = ''", "color = 'red'", "games = 0", "password = 'a b'", "odd = 1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&format!("game_settings = '{}'", "x".repeat(1001))).is_err());
    }
}
