//! A `[[server]]` table with `protocol = "imcs"`, checked as it is read.

use std::{fmt, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer};
use zeitnot_net::{
    Address, Contradictions,
    secret::{Secret, SecretKey},
};
use zeitnot_settings::{HumanTime, JsonSchema, Schema, SchemaGenerator, schemars, settings, shown, words};
use zeitnot_wire::imcs::{ColorChoice, Times, is_clock};

use crate::backoff::Reconnect;

/// Maximum length of a name or password. The server has no limit, but a line has one.
const MAX_LENGTH: usize = 100;
const PASSWORD: SecretKey =
    SecretKey { key: "password", variable: "ZEITNOT_IMCS_PASSWORD", max_length: MAX_LENGTH };

/// MiniChess on an IMCS (Internet MiniChess Server).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Table")]
#[schemars(with = "Table")]
pub struct Config {
    /// `tcp://host:3589`.
    pub address: Address,
    /// Our name there.
    pub user: User,
    /// Sent in the clear, as the protocol requires.
    pub password: Secret,
    /// Register if the server does not know us yet.
    pub register: bool,
    /// Games that we offer; `None`: none.
    pub offer: Option<Offer>,
    /// Offers that we accept; `None`: none.
    pub accept: Option<Accept>,
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
    #[schemars(with = "String", example = &"tcp://localhost:3589")]
    address: Address,
    /// The bot's name there.
    #[schemars(example = &"zeitnot")]
    user: User,
    /// Sent as plain text: use it nowhere else. ZEITNOT_IMCS_PASSWORD in the environment takes precedence over both keys.
    #[serde(default, deserialize_with = "password")]
    #[schemars(with = "String", example = &"sesame")]
    password: Option<Secret>,
    /// Private file with the password and nothing else in it (chmod 600).
    #[schemars(example = &"imcs.password")]
    password_file: Option<PathBuf>,
    /// Register if the server does not know the user.
    #[serde(default)]
    register: bool,
    /// Number of games after which to leave. Without it, no limit.
    #[schemars(example = 10)]
    games: Option<NonZeroU32>,
    /// Offers to accept. Without this table none, unless [server.offer] is missing too: then both have their defaults.
    accept: Option<Accept>,
    /// Game to offer if there is none to accept.
    offer: Option<Offer>,
}

impl TryFrom<Table> for Config {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let Table { address, user, password, password_file, register, offer, accept, games } = table;
        let password = PASSWORD.find(password, password_file.as_deref())?;
        let SecretKey { variable, .. } = PASSWORD;
        let password = password.ok_or_else(|| {
            format!("no password: set `password`, `password_file` or the environment's {variable}")
        })?;
        // Without either table both have their defaults.
        let (offer, accept) = match (offer, accept) {
            (None, None) => (Some(Offer::default()), Some(Accept::default())),
            some => some,
        };
        let timeouts = Timeouts::default();
        Ok(Config { address, user, password, register, offer, accept, games, timeouts })
    }
}

impl Config {
    pub(super) fn contradictions(&self, found: &mut Contradictions) {
        let clocks = self
            .offer
            .iter()
            .flat_map(|offer| [("time", offer.time), ("opponent_time", offer.opponent_time)]);
        for (key, _) in clocks.filter(|(_, time)| !is_clock(*time)) {
            found.add(&[&format!("offer.{key}")], "must be whole seconds, from one second to a day");
        }
        let Some(accept) = &self.accept else { return };
        found.within("accept", |found| {
            found.ordered(("min_time", Some(accept.min_time)), ("max_time", Some(accept.max_time)));
            found.ordered(("min_rating", accept.min_rating), ("max_rating", accept.max_rating));
            found.disjoint(("allow_list", &accept.allow_list), ("block_list", &accept.block_list));
        });
    }
}

fn password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    PASSWORD.read(deserializer)
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (&self.accept, &self.offer) {
            (Some(_), Some(_)) => "accept and offer games",
            (Some(_), None) => "accept games",
            (None, _) => "offer games",
        };
        write!(f, "{how} as {} at {}", self.user, self.address)
    }
}

settings! {
    /// Games that we offer.
    #[derive(PartialEq, Eq)]
    pub struct Offer {
        /// The bot's color.
        #[serde(serialize_with = "shown")]
        #[schemars(schema_with = "colors")]
        color: ColorChoice = ColorChoice::Any,
        /// The bot's clock, in whole seconds.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "1s", "x-max" = "1day"))]
        time: Duration = Duration::from_secs(300),
        /// The opponent's clock, in whole seconds.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "1s", "x-max" = "1day"))]
        opponent_time: Duration = Duration::from_secs(300),
        /// Time after which an offer is withdrawn to look for one to accept.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-max" = "7days"))]
        withdraw_after: Duration = Duration::from_secs(60),
    }
}

fn colors(_: &mut SchemaGenerator) -> Schema {
    words(["W", "B", "?"])
}

impl Offer {
    pub(super) fn times(&self) -> Times {
        Times { ours: self.time, theirs: self.opponent_time }
    }
}

settings! {
    /// Offers that we accept.
    #[derive(PartialEq, Eq)]
    pub struct Accept {
        /// The bot's color.
        #[serde(serialize_with = "shown")]
        #[schemars(schema_with = "colors")]
        color: ColorChoice = ColorChoice::Any,
        /// Minimum time on the bot's clock.
        #[serde(with = "HumanTime")]
        min_time: Duration = Duration::from_secs(1),
        /// Maximum time on the bot's clock.
        #[serde(with = "HumanTime")]
        max_time: Duration = Duration::from_secs(3600),
        /// Only these opponents; empty: all.
        allow_list: Vec<String> = Vec::new(),
        /// None of these opponents.
        block_list: Vec<String> = Vec::new(),
        /// Minimum rating of the opponent.
        #[schemars(example = 900)]
        min_rating: Option<i32> = None,
        /// Maximum rating of the opponent.
        #[schemars(example = 1200)]
        max_rating: Option<i32> = None,
        /// Time between two requests for the list of games, if the bot offers none.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "100ms", "x-max" = "7days"))]
        poll_interval: Duration = Duration::from_secs(5),
    }
}

impl Accept {
    /// `time` is our clock.
    pub(super) fn allows(&self, name: &str, rating: i32, time: Duration) -> bool {
        let listed = |names: &[String]| names.iter().any(|known| known == name);
        (self.min_time..=self.max_time).contains(&time)
            && (self.allow_list.is_empty() || listed(&self.allow_list))
            && !listed(&self.block_list)
            && self.min_rating.is_none_or(|min| rating >= min)
            && self.max_rating.is_none_or(|max| rating <= max)
    }
}

/// Time-outs of an IMCS client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// For the answer to a command.
    pub answer: Duration,
    /// In a game, beyond the clock of the side to move: the server itself waits 10 s for a late line.
    pub beyond_clock: Duration,
    /// For the server's close after a game.
    pub close: Duration,
    /// Delays between attempts to connect.
    pub reconnect: Reconnect,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            beyond_clock: Duration::from_secs(20),
            close: Duration::from_secs(5),
            reconnect: Reconnect::default(),
        }
    }
}

/// Name of a user: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct User(String);

/// Name that the server would refuse.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {MAX_LENGTH} letters, digits and characters of '._-', got {0:?}")]
pub struct BadUser(String);

impl TryFrom<String> for User {
    type Error = BadUser;

    fn try_from(text: String) -> Result<Self, BadUser> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if plain && (1..=MAX_LENGTH).contains(&text.len()) {
            Ok(User(text))
        } else {
            Err(BadUser(text.chars().take(60).collect()))
        }
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TABLE: &str = "address = 'tcp://h:3589'\nuser = 'alice'\n";

    fn read(more: &str) -> Result<Config, String> {
        toml::from_str(&format!("{TABLE}{more}")).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn a_password_is_found_and_never_shown() {
        let config = read("password = 'hush'").unwrap();
        assert_eq!(config.password.expose(), "hush");
        assert!(!format!("{config:?} {config}").contains("hush"));
        // Nobody else can read it.
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, "quiet\n").unwrap();
        let config = read(&format!("password_file = '{}'", file.display())).unwrap();
        assert_eq!(config.password.expose(), "quiet");
        fs::write(&file, "two words").unwrap();
        for (wrong, told) in [
            (format!("password_file = '{}'", file.display()), "expected a password"),
            ("password_file = '/no/such/file'".to_owned(), "cannot use password_file"),
            ("password = 'hush hush'".to_owned(), "expected a password"),
            (String::new(), "no password: set"),
        ] {
            let error = read(&wrong).unwrap_err();
            assert!(error.contains(told) && !error.contains("hush") && !error.contains("words"), "{error}");
        }
    }

    #[test]
    fn offers_and_acceptance() {
        let both = read("password = 'x'").unwrap();
        assert!(both.offer.is_some() && both.accept.is_some());
        let one = read("password = 'x'\n[offer]\ncolor = 'W'\ntime = '90s'").unwrap();
        assert!(one.accept.is_none() && one.offer.unwrap().time == Duration::from_secs(90));
        for wrong in ["[offer]\ncolor = 'red'", "games = 0"] {
            assert!(read(&format!("password = 'x'\n{wrong}")).is_err(), "{wrong}");
        }
        let mut found = Contradictions::default();
        read("password = 'x'\n[offer]\ntime = '1500ms'").unwrap().contradictions(&mut found);
        assert_eq!(found.into_found()[0].keys, ["offer.time"]);
    }

    #[test]
    fn allowed_opponents() {
        let accept = Accept { block_list: vec!["eve".into()], min_rating: Some(900), ..Accept::default() };
        let minute = Duration::from_secs(60);
        assert!(accept.allows("bob", 1000, minute));
        assert!(!accept.allows("eve", 1000, minute) && !accept.allows("bob", 899, minute));
        assert!(!accept.allows("bob", 1000, 120 * minute));
        let choosy = Accept { allow_list: vec!["bob".into()], ..accept };
        assert!(choosy.allows("bob", 1000, minute) && !choosy.allows("carol", 1000, minute));
    }
}
