//! The `[online_moves]` tables of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

use zeitnot_net::{Contradictions, http::BaseUrl};
use zeitnot_wire::lichess::Speed;

/// Default of `timeout`: time to wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Default of `min_time`: with less than this on the clock no server is asked.
const MIN_TIME: Duration = Duration::from_secs(20);

/// The `[online_moves]` table: servers that are asked for moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Outcomes of endgames.
    pub tablebase: Tablebase,
    /// Evaluations by the engines of other people.
    pub cloud: Cloud,
    /// Moves that people have played.
    pub explorer: Explorer,
}

/// The `[online_moves.tablebase]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tablebase {
    /// Whether it is asked.
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// Only positions with at most this many pieces.
    pub max_pieces: usize,
    /// Time to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// Not asked with less than this on the clock.
    #[serde(with = "humantime_serde")]
    pub min_time: Duration,
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

impl Default for Tablebase {
    fn default() -> Self {
        Tablebase {
            enabled: false,
            url: BaseUrl::known("https://tablebase.lichess.org"),
            max_pieces: 7,
            timeout: TIMEOUT,
            min_time: MIN_TIME,
        }
    }
}

/// The `[online_moves.cloud]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cloud {
    /// Whether it is asked.
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// Only while fewer plies than this were played.
    pub max_ply: usize,
    /// Only moves that were found at this depth or deeper.
    pub min_depth: u16,
    /// Time to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// Not asked with less than this on the clock.
    #[serde(with = "humantime_serde")]
    pub min_time: Duration,
}

impl Default for Cloud {
    fn default() -> Self {
        Cloud {
            enabled: false,
            url: BaseUrl::default(),
            max_ply: 40,
            min_depth: 20,
            timeout: TIMEOUT,
            min_time: MIN_TIME,
        }
    }
}

/// The `[online_moves.explorer]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Explorer {
    /// Whether it is asked.
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// File with a token and nothing else in it, which only its owner can read.
    pub token_file: PathBuf,
    /// Games that count.
    pub source: Database,
    /// Player whose games count, with [`Database::Player`].
    pub player_name: String,
    /// Only games of these speeds; none: of all. Not for masters.
    pub speeds: Vec<Speed>,
    /// Only games between players of these rating groups, each named by its lowest; none: of all. Only for Lichess.
    pub ratings: Vec<u16>,
    /// Which of the moves is played.
    pub selection: Selection,
    /// Only moves of at least this many games.
    pub min_games: u64,
    /// Only while fewer plies than this were played.
    pub max_ply: usize,
    /// Time to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub timeout: Duration,
    /// Not asked with less than this on the clock.
    #[serde(with = "humantime_serde")]
    pub min_time: Duration,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer {
            enabled: false,
            url: BaseUrl::known("https://explorer.lichess.org"),
            token_file: PathBuf::new(),
            source: Database::default(),
            player_name: String::new(),
            speeds: Vec::new(),
            ratings: Vec::new(),
            selection: Selection::default(),
            min_games: 20,
            max_ply: 20,
            timeout: TIMEOUT,
            min_time: MIN_TIME,
        }
    }
}

/// Database of the explorer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
