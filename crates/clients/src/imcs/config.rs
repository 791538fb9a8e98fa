//! A `[[server]]` table with `protocol = "imcs"`, checked as it is read.

use std::{env, fmt, fs, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_net::Address;
use zeitnot_wire::imcs::{Colour, Times};

use crate::secret::{self, Secret};

/// Holds the password, so that it need not stand in a file.
const PASSWORD_VARIABLE: &str = "ZEITNOT_IMCS_PASSWORD";
/// The longest name or password; the server knows no bound, a line has one.
const LONGEST: usize = 100;
/// The longest clock that can be offered: a day.
const LONGEST_CLOCK: Duration = Duration::from_secs(86_400);
/// The longest wait that can be asked for, safe to add to an instant.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 86_400);

/// Where, as whom and how to play.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Table")]
pub struct Config {
    /// `tcp://host:3589`.
    pub address: Address,
    /// Our name there.
    pub user: User,
    /// Shown to the server in the clear: the protocol knows no other way.
    pub password: Secret,
    /// Register where the server does not know us yet.
    pub register: bool,
    /// What we offer when there is nothing to accept; `None`: nothing.
    pub offer: Option<Offer>,
    /// Whose offers we accept; `None`: nobody's.
    pub accept: Option<Accept>,
    /// Leave after so many games; `None`: play on and on.
    pub games: Option<NonZeroU32>,
    /// How long to wait for what. Not in the file: who needs other limits is a test.
    pub patience: Patience,
}

/// The table as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    address: Address,
    user: User,
    #[serde(default, deserialize_with = "written")]
    password: Option<Secret>,
    password_file: Option<PathBuf>,
    #[serde(default)]
    register: bool,
    offer: Option<Offer>,
    accept: Option<Accept>,
    games: Option<NonZeroU32>,
}

impl TryFrom<Table> for Config {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let Table { address, user, password, password_file, register, offer, accept, games } = table;
        let password = find_password(password, password_file)?;
        // Who says nothing about either wants to play.
        let (offer, accept) = match (offer, accept) {
            (None, None) => (Some(Offer::default()), Some(Accept::default())),
            some => some,
        };
        offer.iter().try_for_each(Offer::check)?;
        accept.iter().try_for_each(Accept::check)?;
        let patience = Patience::default();
        Ok(Config { address, user, password, register, offer, accept, games, patience })
    }
}

/// The environment goes before the file, which goes before the table.
fn find_password(written: Option<Secret>, file: Option<PathBuf>) -> Result<Secret, String> {
    if let Ok(text) = env::var(PASSWORD_VARIABLE) {
        return password(text).ok_or_else(|| format!("{PASSWORD_VARIABLE} is no password: {EXPECTED}"));
    }
    let Some(file) = file else {
        let where_to = format!("set `password`, `password_file` or the environment's {PASSWORD_VARIABLE}");
        return written.ok_or_else(|| format!("no password: {where_to}"));
    };
    let shown = file.display();
    let text =
        fs::read_to_string(&file).map_err(|error| format!("cannot read password_file {shown}: {error}"))?;
    password(text.trim().to_owned()).ok_or_else(|| format!("in password_file {shown}: {EXPECTED}"))
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

/// What we offer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Offer {
    /// The side that we want.
    pub colour: Colour,
    /// Our clock.
    #[serde(with = "humantime_serde")]
    pub time: Duration,
    /// The other side's.
    #[serde(with = "humantime_serde")]
    pub opponent_time: Duration,
    /// After this we look again whether there is something to accept.
    #[serde(with = "humantime_serde")]
    pub patience: Duration,
}

impl Default for Offer {
    fn default() -> Self {
        let five_minutes = Duration::from_secs(300);
        Offer {
            colour: Colour::Any,
            time: five_minutes,
            opponent_time: five_minutes,
            patience: Duration::from_secs(60),
        }
    }
}

impl Offer {
    fn check(&self) -> Result<(), String> {
        for (key, time) in [("time", self.time), ("opponent_time", self.opponent_time)] {
            if time.is_zero() || time > LONGEST_CLOCK || time.subsec_nanos() != 0 {
                return Err(format!("offer.{key} is to be whole seconds, from one second to a day"));
            }
        }
        bounded("offer.patience", self.patience)
    }

    pub(super) fn times(&self) -> Times {
        Times { ours: self.time, theirs: self.opponent_time }
    }
}

/// Whose offers we accept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Accept {
    /// The side that we want.
    pub colour: Colour,
    /// Our clock, at least,
    #[serde(with = "humantime_serde")]
    pub shortest: Duration,
    /// and at most.
    #[serde(with = "humantime_serde")]
    pub longest: Duration,
    /// Whom we play; empty: anybody.
    pub only: Vec<String>,
    /// Whom we do not play.
    pub never: Vec<String>,
    /// The opponent's rating, at least,
    pub lowest_rating: Option<i32>,
    /// and at most.
    pub highest_rating: Option<i32>,
    /// How often we look, where we offer nothing.
    #[serde(with = "humantime_serde")]
    pub look_every: Duration,
}

impl Default for Accept {
    fn default() -> Self {
        Accept {
            colour: Colour::Any,
            shortest: Duration::from_secs(1),
            longest: Duration::from_secs(3600),
            only: Vec::new(),
            never: Vec::new(),
            lowest_rating: None,
            highest_rating: None,
            look_every: Duration::from_secs(5),
        }
    }
}

impl Accept {
    fn check(&self) -> Result<(), String> {
        if self.shortest > self.longest {
            return Err("accept.shortest is above accept.longest: swap or change them".to_owned());
        }
        if self.look_every < Duration::from_millis(100) {
            return Err("accept.look_every is below 100ms: servers are to be asked more gently".to_owned());
        }
        bounded("accept.look_every", self.look_every)
    }

    /// Do we play whoever this is, for these clocks?
    pub(super) fn likes(&self, name: &str, rating: i32, ours: Duration) -> bool {
        let listed = |names: &[String]| names.iter().any(|known| known == name);
        (self.shortest..=self.longest).contains(&ours)
            && (self.only.is_empty() || listed(&self.only))
            && !listed(&self.never)
            && self.lowest_rating.is_none_or(|lowest| rating >= lowest)
            && self.highest_rating.is_none_or(|highest| rating <= highest)
    }
}

fn bounded(key: &str, wait: Duration) -> Result<(), String> {
    if wait > LONGEST_WAIT { Err(format!("{key} is longer than a week")) } else { Ok(()) }
}

/// How long to wait for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// To connect.
    pub connect: Duration,
    /// For the answer to a command.
    pub answer: Duration,
    /// In a game, beyond the clock of whoever is to move: the server itself waits 10 s for a late line.
    pub beyond_clock: Duration,
    /// For the server's close behind the end of a game.
    pub close: Duration,
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
            answer: Duration::from_secs(10),
            beyond_clock: Duration::from_secs(20),
            close: Duration::from_secs(5),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            steady: Duration::from_secs(30),
        }
    }
}

/// A user's name: letters, digits, and `.`, `_`, `-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct User(String);

/// A name that the server would refuse.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {LONGEST} letters, digits and signs of '._-', got {0:?}")]
pub struct BadUser(String);

impl TryFrom<String> for User {
    type Error = BadUser;

    fn try_from(text: String) -> Result<Self, BadUser> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if plain && (1..=LONGEST).contains(&text.len()) {
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

/// What a password is.
const EXPECTED: &str = "expected a password of letters, digits and signs, without a space";

/// A password, if a line can hold it as one word.
fn password(text: String) -> Option<Secret> {
    Secret::new(text, LONGEST)
}

/// The table's own.
fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let text = secret::text(deserializer)?;
    password(text).map(Some).ok_or_else(|| D::Error::custom(EXPECTED))
}

#[cfg(test)]
mod tests {
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
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        fs::write(&file, "quiet\n").unwrap();
        let config = read(&format!("password_file = '{}'", file.display())).unwrap();
        assert_eq!(config.password.expose(), "quiet");
        fs::write(&file, "two words").unwrap();
        for (wrong, told) in [
            (format!("password_file = '{}'", file.display()), EXPECTED),
            ("password_file = '/no/such/file'".to_owned(), "cannot read password_file"),
            ("password = 'hush hush'".to_owned(), EXPECTED),
            (String::new(), "no password: set"),
        ] {
            let error = read(&wrong).unwrap_err();
            assert!(error.contains(told) && !error.contains("hush") && !error.contains("words"), "{error}");
        }
    }

    #[test]
    fn what_to_do() {
        let both = read("password = 'x'").unwrap();
        assert!(both.offer.is_some() && both.accept.is_some());
        let one = read("password = 'x'\n[offer]\ncolour = 'W'\ntime = '90s'").unwrap();
        assert!(one.accept.is_none() && one.offer.unwrap().time == Duration::from_secs(90));
        for wrong in [
            "[offer]\ntime = '1500ms'",
            "[offer]\nopponent_time = '0s'",
            "[offer]\ncolour = 'red'",
            "[accept]\nshortest = '2h'",
            "[accept]\nlook_every = '1ms'",
            "games = 0",
        ] {
            assert!(read(&format!("password = 'x'\n{wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn whom_we_like() {
        let accept = Accept { never: vec!["eve".into()], lowest_rating: Some(900), ..Accept::default() };
        let minute = Duration::from_secs(60);
        assert!(accept.likes("bob", 1000, minute));
        assert!(!accept.likes("eve", 1000, minute) && !accept.likes("bob", 899, minute));
        assert!(!accept.likes("bob", 1000, 120 * minute));
        let choosy = Accept { only: vec!["bob".into()], ..accept };
        assert!(choosy.likes("bob", 1000, minute) && !choosy.likes("carol", 1000, minute));
    }
}
