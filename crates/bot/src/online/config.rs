//! The tables `[bot.tablebase]`, `[bot.cloud]` and `[bot.explorer]` of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

use zeitnot_net::http::BaseUrl;
use zeitnot_wire::lichess::Speed;

/// How endgames end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tablebase {
    /// Is it asked?
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// Only with so many men or fewer.
    pub max_pieces: usize,
    /// How long to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub limit: Duration,
    /// With less than this on the clock it is not asked.
    #[serde(with = "humantime_serde")]
    pub min_clock: Duration,
}

impl Default for Tablebase {
    fn default() -> Self {
        Tablebase {
            enabled: false,
            url: BaseUrl::known("https://tablebase.lichess.org"),
            max_pieces: 7,
            limit: Duration::from_secs(1),
            min_clock: Duration::from_secs(20),
        }
    }
}

/// What other people's engines found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cloud {
    /// Is it asked?
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// Only while fewer plies than this were played.
    pub max_ply: usize,
    /// Only what was found at this depth or deeper.
    pub min_depth: u16,
    /// How long to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub limit: Duration,
    /// With less than this on the clock it is not asked.
    #[serde(with = "humantime_serde")]
    pub min_clock: Duration,
}

impl Default for Cloud {
    fn default() -> Self {
        Cloud {
            enabled: false,
            url: BaseUrl::default(),
            max_ply: 40,
            min_depth: 20,
            limit: Duration::from_secs(1),
            min_clock: Duration::from_secs(20),
        }
    }
}

/// What people have played.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Explorer {
    /// Is it asked?
    pub enabled: bool,
    /// The server.
    pub url: BaseUrl,
    /// A file with a token and nothing else in it, which nobody else can read.
    pub token_file: PathBuf,
    /// Whose games.
    pub database: Database,
    /// Whose games, in the database of one player.
    pub player: String,
    /// Only games of these speeds; none: of all. Masters play at one.
    pub speeds: Vec<Speed>,
    /// Only games between players of these groups of ratings, each named by its lowest; none: of all.
    pub ratings: Vec<u16>,
    /// Which move.
    pub select: Popularity,
    /// Only moves of so many games or more.
    pub min_games: u64,
    /// Only while fewer plies than this were played.
    pub max_ply: usize,
    /// How long to wait for the answer.
    #[serde(with = "humantime_serde")]
    pub limit: Duration,
    /// With less than this on the clock it is not asked.
    #[serde(with = "humantime_serde")]
    pub min_clock: Duration,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer {
            enabled: false,
            url: BaseUrl::known("https://explorer.lichess.org"),
            token_file: PathBuf::new(),
            database: Database::default(),
            player: String::new(),
            speeds: Vec::new(),
            ratings: Vec::new(),
            select: Popularity::default(),
            min_games: 20,
            max_ply: 20,
            limit: Duration::from_secs(1),
            min_clock: Duration::from_secs(20),
        }
    }
}

/// Whose games the explorer looks at.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Games between masters over the board.
    #[default]
    Masters,
    /// Rated games on Lichess.
    Lichess,
    /// One player's games there.
    Player,
}

/// Which of the moves that were played.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Popularity {
    /// Any, those with more games more often.
    #[default]
    Weighted,
    /// The one with the most games.
    Games,
    /// The one that scored best.
    Score,
}
