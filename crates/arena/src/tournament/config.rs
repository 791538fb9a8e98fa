//! The `[[arena.tournament]]` tables of the configuration.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use serde::{
    Deserialize, Serialize,
    de::value::{self, MapDeserializer},
};
use serde_json::{Value, json};
use utoipa::{PartialSchema, ToSchema, openapi::Object};
use zeitnot_engine::BuiltIn;
use zeitnot_host::{
    database::{Opening, SettingsText},
    live::view::Person,
    schema::game_kind,
};
use zeitnot_net::secret::Secret;
use zeitnot_pairing::{
    Name, PairingSystem,
    format::{AccelerationKind, Format, MAX_PLAYERS, PairingKind, TieBreak},
};
use zeitnot_rules::{ByColor, GameKind, TimeControl};
use zeitnot_settings::{HumanTime, JsonSchema, Schema, SchemaGenerator, schemars, words};

use crate::{duration::seconds, error::ArenaError, keys::Keys, openings::Openings};

pub(super) mod checks;

/// Games of each pair, at most.
const MAX_GAMES_PER_PAIR: u32 = 1_000_000;
/// Games of one player in a tournament with an end, at most. An absent player forfeits them at once, and little more is
/// kept while the disk fails.
const MAX_GAMES_OF_PLAYER: u32 = 50_000;

/// One `[[arena.tournament]]`. The API and the database have the same settings but for those that are not serialized:
/// an organiser who is not at the machine names no files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TournamentConfig {
    /// Name that players write after `JOIN`.
    #[schema(example = "class")]
    #[schemars(example = &"class")]
    pub name: Name,
    /// Seconds for each player and game, and seconds added after each move: `"3+0.05"`.
    #[serde(rename(serialize = "time_control"))]
    #[schema(rename = "time_control", value_type = String, pattern = "^[0-9.]+(\\+[0-9.]+)?$", example = "3+0.05")]
    #[schemars(with = "String", example = &"3+0.05")]
    pub time: TimeControl,
    /// Game that is played.
    #[serde(default = "chess")]
    #[schema(schema_with = game)]
    #[schemars(schema_with = "games")]
    pub game: GameKind,
    /// Games begin from random positions of Chess960; a game and its return game from the same one. For chess only.
    #[serde(default)]
    pub chess960: bool,
    /// Pairing system.
    #[serde(default)]
    pub pairing: PairingKind,
    /// Rounds of a Swiss tournament, which requires them; fewer than `players`.
    #[serde(default)]
    #[schema(minimum = 1)]
    #[schemars(example = 5, range(min = 1))]
    pub rounds: Option<u32>,
    /// Virtual points in the first rounds of a Swiss tournament.
    #[serde(default)]
    #[schemars(example = &"baku")]
    pub acceleration: Option<AccelerationKind>,
    /// Tie-breaks in the order in which they decide; by default those of the pairing system.
    #[serde(default)]
    pub tie_breaks: Vec<TieBreak>,
    /// Players of a gauntlet who meet all others.
    #[serde(default)]
    pub gauntlet: Vec<Name>,
    /// Games of each pair in a round robin or gauntlet; colours are balanced.
    #[serde(default = "games_per_pair")]
    #[schema(minimum = 1, maximum = 1_000_000)]
    #[schemars(range(min = 1, max = MAX_GAMES_PER_PAIR))]
    pub games_per_pair: u32,
    /// Players that the arena runs itself: "random", "greedy", "minimax-2", "alpha-beta-3", "level-1" to "level-8", or names
    /// of `[engines]`. They count as players, and nobody else gets their names.
    #[serde(default)]
    pub engines: Vec<Name>,
    /// Number of players with which play begins; with `start = "organiser"`, the maximum.
    #[serde(default)]
    #[schema(minimum = 2, maximum = 1024)]
    #[schemars(example = 12, range(min = 2, max = MAX_PLAYERS))]
    pub players: Option<usize>,
    /// When play begins. Default: "full" with `players`, else "at-once"; for a tournament created through the API,
    /// "organiser".
    #[serde(default)]
    #[schema(value_type = StartKind)]
    #[schemars(example = &"organiser")]
    pub start: Option<StartKind>,
    /// Players may join after the beginning.
    #[serde(default)]
    pub late_entries: bool,
    /// Time limit for `ACK`.
    #[serde(default = "seconds::<20>", with = "HumanTime")]
    #[schema(value_type = String, example = "20s")]
    #[schemars(extend("x-max" = "7days"))]
    pub ack_timeout: Duration,
    /// Interval between pairings.
    #[serde(default = "seconds::<3>", with = "HumanTime")]
    #[schema(value_type = String, example = "3s")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "7days"))]
    pub pairing_interval: Duration,
    /// Minimum pause of a player between two games.
    #[serde(default = "seconds::<5>", with = "HumanTime")]
    #[schema(value_type = String, example = "5s")]
    #[schemars(extend("x-max" = "7days"))]
    pub pause: Duration,
    /// Absence after which a player is out: forfeits the remaining games, in a knockout the match, in a Swiss the round.
    /// Unused in a tournament that begins at once.
    #[serde(default = "seconds::<60>", with = "HumanTime")]
    #[schema(value_type = String, example = "1m")]
    #[schemars(extend("x-max" = "7days"))]
    pub absent_after: Duration,
    /// Illegal moves in a row after which a player is disconnected and loses the game.
    #[serde(default = "max_illegal_moves")]
    #[schemars(range(min = 1))]
    pub max_illegal_moves: u32,
    /// Time for which the name of a player who has left is reserved for their address. Keys make it unnecessary.
    #[serde(default = "seconds::<60>", with = "HumanTime", skip_serializing)]
    #[schemars(extend("default" = "1m", "x-max" = "7days"))]
    pub name_held: Duration,
    /// Password that players write after their name in `JOIN`.
    #[serde(default, skip_serializing)]
    #[schemars(with = "String", example = &"sesame")]
    pub password: Option<Secret>,
    /// File of players and keys from `zeitnot arena keys`; others can join only with the password, if there is one.
    #[serde(default, skip_serializing)]
    #[schemars(example = &"class.keys")]
    pub keys: Option<PathBuf>,
    /// Positions in which games begin, in this order, in place of the usual one: a file with a FEN or EPD of the game on
    /// each line. A game and its return game begin from the same one.
    #[serde(default, skip_serializing_if = "is_file")]
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    #[schemars(with = "Option<String>", example = &"openings.epd")]
    pub openings: Option<Openings>,
}

impl fmt::Display for TournamentConfig {
    /// Says who meets whom and who may join, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: ", self.name, self.time)?;
        if self.chess960 || self.game != GameKind::Chess {
            write!(f, "{}, ", self.game.variant_name(self.chess960))?;
        }
        f.write_str(self.pairing.name())?;
        match (self.pairing, self.rounds) {
            (PairingKind::RoundRobin | PairingKind::Gauntlet, _) => {
                write!(f, ", games per pair: {}", self.games_per_pair)?;
            }
            (_, Some(rounds)) => write!(f, ", rounds: {rounds}")?,
            (_, None) => {}
        }
        if let Some(players) = self.players {
            write!(f, ", players: {players}")?;
        }
        if !self.engines.is_empty() {
            let engines: Vec<_> = self.engines.iter().map(Name::as_str).collect();
            write!(f, ", engines ({})", engines.join(", "))?;
        }
        match &self.openings {
            Some(Openings::File(path)) => write!(f, ", openings of {}", path.display())?,
            Some(Openings::Positions(_)) if self.has_openings() => f.write_str(", with openings")?,
            _ => {}
        }
        match (&self.keys, &self.password) {
            (Some(keys), None) => write!(f, ", keys of {}", keys.display()),
            (Some(keys), Some(_)) => write!(f, ", keys of {} or a password", keys.display()),
            (None, Some(_)) => f.write_str(", with a password"),
            (None, None) => f.write_str(", open to all"),
        }
    }
}

/// Beginning of play.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartKind {
    /// Begins when all seats are taken.
    Full,
    /// Begins when the organiser starts it.
    Organiser,
    /// Begins at once: the players present are paired, until the arena is stopped.
    AtOnce,
}

impl StartKind {
    /// Returns the name that the configuration has for it.
    pub fn name(self) -> &'static str {
        match self {
            StartKind::Full => "full",
            StartKind::Organiser => "organiser",
            StartKind::AtOnce => "at-once",
        }
    }
}

impl TournamentConfig {
    /// Creates a tournament with the default settings.
    ///
    /// # Errors
    /// The name or the time control is invalid.
    pub fn new(name: &str, time: &str) -> Result<Self, value::Error> {
        Self::deserialize(MapDeserializer::new([("name", name), ("time", time)].into_iter()))
    }

    /// Returns the JSON schema of the settings that the API takes, with the schemas that it refers to.
    pub fn api_schema() -> Value {
        let mut named = Vec::new();
        <Self as ToSchema>::schemas(&mut named);
        let mut schema = json!(Self::schema());
        schema["components"] = json!({ "schemas": BTreeMap::from_iter(named) });
        schema
    }

    /// Returns the players for whom a seat is kept.
    pub(super) fn expected(&self) -> impl Iterator<Item = &Name> {
        let others = self.engines.iter().filter(|name| !self.gauntlet.contains(name));
        self.gauntlet.iter().chain(others)
    }

    /// Reads the file of players and keys, if there is to be one. These accounts play without a key.
    pub(crate) fn open_keys(&self, accounts: &BTreeSet<Name>) -> Result<Option<Keys>, ArenaError> {
        let Some(path) = &self.keys else { return Ok(None) };
        let keys = Keys::open(path).map_err(|source| ArenaError::Keys { path: path.clone(), source })?;
        let looks = BTreeSet::from_iter(keys.names().chain(accounts).map(Name::look));
        let (file, players, names) = (path.display(), self.players.unwrap_or_default(), looks.len());
        let why = match self.gauntlet.iter().find(|name| keys.of(name).is_none() && !accounts.contains(*name))
        {
            _ if self.password.is_some() => return Ok(Some(keys)),
            Some(name) => format!("{name} of its gauntlet has no key in {file}"),
            None if self.start() == StartKind::Full && players > names => {
                format!("players is {players}, but {file} has {names}")
            }
            None => return Ok(Some(keys)),
        };
        let tournament = &self.name;
        Err(ArenaError::Config(format!(
            "tournament '{tournament}': {why}: add keys with `zeitnot arena keys`"
        )))
    }

    /// Returns what a database needs to take it up, with the settings that the organiser has given a new one.
    pub(super) fn opening(&self, created: Option<SettingsText>) -> Opening {
        let (name, kind, time_control) = (self.name.clone(), self.game, self.time);
        Opening { name, kind, time_control, format: self.format(), created }
    }

    /// Returns what decides the standings.
    pub(crate) fn format(&self) -> Format {
        let TournamentConfig { pairing, rounds, acceleration, tie_breaks, .. } = self;
        let tie_breaks = match tie_breaks.is_empty() {
            true => pairing.tie_breaks().to_vec(),
            false => tie_breaks.clone(),
        };
        Format { pairing: *pairing, rounds: *rounds, acceleration: *acceleration, tie_breaks }
    }

    pub(super) fn pairing_system(&self) -> Box<dyn PairingSystem> {
        zeitnot_pairing::system(&self.format(), self.games_per_pair, &self.gauntlet)
    }

    /// Returns whether games begin from chosen positions.
    pub(super) fn has_openings(&self) -> bool {
        self.openings.as_ref().is_some_and(|openings| !openings.are_none())
    }

    /// Returns the players of a game as records show them.
    pub(super) fn persons(&self, names: &ByColor<Name>) -> ByColor<Person> {
        ByColor(names.0.each_ref().map(|name| self.person(name)))
    }

    /// Returns a player as records show it: one that the arena runs is a bot, in chess with its measured rating.
    pub(super) fn person(&self, name: &Name) -> Person {
        if !self.engines.contains(name) {
            return Person::named(name);
        }
        // Other games and Chess960 were not measured.
        let is_measured = self.game == GameKind::Chess && !self.chess960;
        let built_in = name.as_str().parse::<BuiltIn>().ok().filter(|_| is_measured);
        let rating = built_in.map(|player| player.rating().elo.into());
        Person { rating, bot: Some(true), ..Person::named(name) }
    }

    /// Returns when play begins.
    pub fn start(&self) -> StartKind {
        let default = if self.players.is_some() { StartKind::Full } else { StartKind::AtOnce };
        self.start.unwrap_or(default)
    }

    /// Returns the number of players who may join before the beginning.
    pub(super) fn max_players(&self) -> usize {
        self.players.unwrap_or(MAX_PLAYERS).min(self.most_players())
    }

    /// Returns the number of players for whom there are not too many games, also if some join late.
    pub(super) fn most_players(&self) -> usize {
        match self.pairing.has_rounds() || self.start() == StartKind::AtOnce {
            true => MAX_PLAYERS,
            false => MAX_PLAYERS.min(1 + (MAX_GAMES_OF_PLAYER / self.games_per_pair.max(1)) as usize),
        }
    }
}

fn chess() -> GameKind {
    GameKind::Chess
}

fn game() -> Object {
    let (description, default) = (Some("Game that is played.".to_owned()), Some(json!(chess())));
    let mut schema = game_kind();
    (schema.description, schema.default) = (description, default);
    schema
}

fn games(_: &mut SchemaGenerator) -> Schema {
    let mut schema = words(GameKind::ALL);
    schema.insert("x-hints".to_owned(), json!({ "chess960": "chess960 = true" }));
    schema
}

/// An organiser who is not at the machine names no files, and is shown none.
#[allow(clippy::ref_option)] // As serde passes it.
fn is_file(openings: &Option<Openings>) -> bool {
    openings.as_ref().is_some_and(Openings::is_file)
}

fn games_per_pair() -> u32 {
    2
}

fn max_illegal_moves() -> u32 {
    100
}
