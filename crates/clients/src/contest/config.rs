//! A `[[server]]` table with `protocol = "contest"`, checked as it is read.

use std::{env, fmt, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_net::Address;

use crate::secret::{self, Secret};

/// Holds the token, so that it need not stand in a file.
const TOKEN_VARIABLE: &str = "ZEITNOT_TOKEN";
/// A longer one is refused by what reads headers.
const LONGEST_TOKEN: usize = 4096;
/// The longest player's name that the server takes.
const LONGEST_PLAYER: usize = 49;
/// The server knows no bound for these; a line has one.
const LONGEST_TOURNAMENT: usize = 200;

/// Where and as whom to play.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Table")]
pub struct Config {
    /// `tcp://host:port` or `ws://host:port/path`.
    pub address: Address,
    /// One that the server has.
    pub tournament: Tournament,
    /// Our name in it.
    pub player: Player,
    /// For the proxy that some servers stand behind.
    pub token: Option<Secret>,
    /// How long to wait for what. Not in the file: who needs other limits is a test.
    pub patience: Patience,
}

/// The table as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    address: Address,
    tournament: Tournament,
    player: Player,
    #[serde(default, deserialize_with = "token")]
    token: Option<Secret>,
}

impl TryFrom<Table> for Config {
    type Error = &'static str;

    fn try_from(table: Table) -> Result<Self, &'static str> {
        let Table { address, tournament, player, token } = table;
        if token.is_some() && !address.takes_token() {
            return Err("a token can only be shown to a ws:// address: \
                        change the address, or remove the token");
        }
        Ok(Config { address, tournament, player, token, patience: Patience::default() })
    }
}

impl Config {
    /// With the usual patience and without a token.
    pub fn new(address: Address, tournament: Tournament, player: Player) -> Self {
        Config { address, tournament, player, token: None, patience: Patience::default() }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = if self.token.is_some() { " with a token" } else { "" };
        write!(f, "play in tournament {} as {} at {}{with}", self.tournament, self.player, self.address)
    }
}

/// How long to wait for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// To connect.
    pub connect: Duration,
    /// For anything at all after our `ACK`: the server gives our opponent 20 s.
    pub ack: Duration,
    /// For anything at all during a game: three of the clock updates that come every 5 s.
    pub silence: Duration,
    /// Before the second visit, at least.
    pub first_pause: Duration,
    /// Before any later one, at most.
    pub longest_pause: Duration,
    /// A visit that lasted this long was a good one: the pauses begin small again.
    pub steady: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(10),
            ack: Duration::from_secs(30),
            silence: Duration::from_secs(15),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            steady: Duration::from_secs(30),
        }
    }
}

/// A player's name: 1 to 49 characters, none of them a space.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Player(String);

/// A tournament's name: one word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Tournament(String);

/// A name that the wire cannot carry.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {longest} characters without a space, got {got:?}")]
pub struct BadName {
    longest: usize,
    /// Shortened.
    got: String,
}

/// On the wire a space ends a name; control characters would end the line.
fn name(text: String, longest: usize) -> Result<String, BadName> {
    let fits = (1..=longest).contains(&text.chars().count());
    if fits && !text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        Ok(text)
    } else {
        Err(BadName { longest, got: text.chars().take(60).collect() })
    }
}

macro_rules! name {
    ($name:ident, $longest:expr) => {
        impl $name {
            /// The name itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                name(text, $longest).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
name!(Player, LONGEST_PLAYER);
name!(Tournament, LONGEST_TOURNAMENT);

/// What is shown as `Authorization: Bearer …`. `ZEITNOT_TOKEN` goes before what the file says; but a
/// server whose table has no `token` never sees either.
fn token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let written = secret::text(deserializer)?;
    let token = Secret::new(env::var(TOKEN_VARIABLE).unwrap_or(written), LONGEST_TOKEN);
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
    fn names_are_what_the_wire_can_carry() {
        for good in ["a", "alice", "Zoë_42", &"x".repeat(49)] {
            assert!(Player::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", " ", "a b", "a\tb", "a\nb", "a\u{a0}b", "\u{1b}[2J", &"x".repeat(50)] {
            assert!(Player::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let config: Config =
            toml::from_str("address = 'ws://h:1/p'\ntournament = 't'\nplayer = 'p'\ntoken = 'hush'").unwrap();
        assert_eq!(config.token.as_ref().unwrap().expose(), "hush");
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
