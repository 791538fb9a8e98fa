//! The `[online_moves]` tables of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use zeitnot_net::{Contradictions, http::BaseUrl};
use zeitnot_settings::{
    HumanTime, JsonSchema, Schema, SchemaGenerator, list_of, schemars, settings, shown, words,
};
use zeitnot_wire::lichess::Speed;

/// Default of `timeout`: time to wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Default of `min_time`: with less than this on the clock no server is asked.
const MIN_TIME: Duration = Duration::from_secs(20);

settings! {
    /// Servers that are asked for moves while we search. Each is waited for no longer than its `timeout`, and not asked
    /// where a move may not take that long, or with less than `min_time` on the clock.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// The tablebase of Lichess: endgames with few pieces.
        tablebase: Tablebase = Tablebase::default(),
        /// Cloud evaluations of Lichess, by the engines of other people: openings.
        cloud: Cloud = Cloud::default(),
        /// The opening explorer of Lichess: moves that people have played.
        explorer: Explorer = Explorer::default(),
    }
}

impl Config {
    /// Finds keys that contradict each other.
    pub fn contradictions(&self, found: &mut Contradictions) {
        let Config { tablebase, cloud, explorer } = self;
        for (name, is_enabled, timeout, min_time, max_ply) in [
            ("tablebase", tablebase.enabled, tablebase.timeout, tablebase.min_time, None),
            ("cloud", cloud.enabled, cloud.timeout, cloud.min_time, Some(cloud.max_ply)),
            ("explorer", explorer.enabled, explorer.timeout, explorer.min_time, Some(explorer.max_ply)),
        ] {
            found.within(name, |found| {
                found.above_zero(&[("timeout", timeout)]);
                found.at_most(("timeout", timeout), ("min_time", min_time));
                if is_enabled && max_ply == Some(0) {
                    found.add(&["max_ply"], "0 asks for no move: raise it, or set enabled = false");
                }
            });
        }
    }
}

settings! {
    /// The tablebase.
    #[derive(PartialEq, Eq)]
    pub struct Tablebase {
        /// Whether to ask it.
        enabled: bool = false,
        /// The server.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        url: BaseUrl = BaseUrl::known("https://tablebase.lichess.org"),
        /// Only positions with at most this many pieces.
        #[schemars(range(min = 1, max = 8))]
        max_pieces: usize = 7,
        /// Time to wait for the answer.
        #[serde(with = "HumanTime")]
        timeout: Duration = TIMEOUT,
        /// Not asked with less than this on the clock.
        #[serde(with = "HumanTime")]
        min_time: Duration = MIN_TIME,
    }
}

settings! {
    /// Cloud evaluations.
    #[derive(PartialEq, Eq)]
    pub struct Cloud {
        /// Whether to ask it.
        enabled: bool = false,
        /// The server.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        url: BaseUrl = BaseUrl::default(),
        /// Only while fewer plies than this have been played.
        max_ply: usize = 40,
        /// Minimum depth of an evaluation in plies.
        min_depth: u16 = 20,
        /// Time to wait for the answer.
        #[serde(with = "HumanTime")]
        timeout: Duration = TIMEOUT,
        /// Not asked with less than this on the clock.
        #[serde(with = "HumanTime")]
        min_time: Duration = MIN_TIME,
    }
}

settings! {
    /// The opening explorer.
    #[derive(PartialEq, Eq)]
    pub struct Explorer {
        /// Whether to ask it.
        enabled: bool = false,
        /// The server.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        url: BaseUrl = BaseUrl::known("https://explorer.lichess.org"),
        /// Private file with another token than that of the Lichess account, and nothing else in it (chmod 600). Any token of
        /// Lichess will do, without any scope. LICHESS_EXPLORER_TOKEN in the environment overrides it.
        token_file: PathBuf = PathBuf::new(),
        /// "masters", "lichess" (rated games there) or "player" (games of one player: set `player_name`).
        source: Database = Database::default(),
        /// Player whose games count.
        player_name: String = String::new(),
        /// Only games of these speeds; empty: all. Not for masters.
        #[schemars(schema_with = "speeds")]
        speeds: Vec<Speed> = Vec::new(),
        /// Only games between players of these rating groups; empty: all. Only for "lichess".
        ratings: Vec<u16> = Vec::new(),
        /// "weighted": at random, by number of games; "games_played": the most frequent; "winrate": the highest score.
        selection: Selection = Selection::default(),
        /// Only moves of at least this many games.
        min_games: u64 = 20,
        /// Only while fewer plies than this have been played.
        max_ply: usize = 20,
        /// Time to wait for the answer.
        #[serde(with = "HumanTime")]
        timeout: Duration = TIMEOUT,
        /// Not asked with less than this on the clock.
        #[serde(with = "HumanTime")]
        min_time: Duration = MIN_TIME,
    }
}

fn speeds(_: &mut SchemaGenerator) -> Schema {
    list_of(words(Speed::KNOWN.iter().map(Speed::as_str)))
}

/// Database of the explorer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Games between masters over the board.
    #[default]
    Masters,
    /// Rated games on Lichess.
    Lichess,
    /// Games of one player on Lichess.
    Player,
}

/// Choice among the moves that were played.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// At random, weighted by the number of games.
    #[default]
    Weighted,
    /// The move with the most games.
    GamesPlayed,
    /// The move with the highest score.
    #[serde(rename = "winrate")]
    WinRate,
}
