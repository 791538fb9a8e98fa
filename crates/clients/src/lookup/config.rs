//! The `[online_moves]` tables of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use zeitnot_net::{Contradictions, http::BaseUrl};
use zeitnot_seat::{LookupSource, MoveQuality};
use zeitnot_settings::{
    HumanTime, JsonSchema, Schema, SchemaGenerator, list_of, schemars, settings, shown, words,
};
use zeitnot_wire::lichess::Speed;

/// Default of `timeout`: time to wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Default of `min_time`: with less than this on the clock no server is asked.
const MIN_TIME: Duration = Duration::from_secs(20);

settings! {
    /// Servers that are asked for moves during the search. Each is waited for no longer than its `timeout`, and not asked
    /// where a move may not take that long, or with less than `min_time` on the clock.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// The tablebase of Lichess: endgames with few pieces.
        tablebase: Tablebase = Tablebase::default(),
        /// ChessDB (chessdb.cn): positions analysed by engines.
        chessdb: ChessDb = ChessDb::default(),
        /// Cloud evaluations of Lichess, by the engines of other people: openings.
        cloud: Cloud = Cloud::default(),
        /// The opening explorer of Lichess: moves that people have played.
        explorer: Explorer = Explorer::default(),
    }
}

/// Keys that all servers have.
#[derive(Clone, Debug)]
pub struct ServerKeys {
    /// Whether it is asked.
    pub enabled: bool,
    pub(super) url: BaseUrl,
    /// It is asked only while fewer plies have been played.
    pub(super) max_ply: usize,
    pub(super) timeout: Duration,
    pub(super) min_time: Duration,
}

impl Config {
    /// Returns each server with the keys that all of them have.
    pub fn servers(&self) -> [(LookupSource, ServerKeys); 4] {
        let Config { tablebase, chessdb, cloud, explorer } = self;
        [
            (LookupSource::Tablebase, tablebase.keys()),
            (LookupSource::ChessDb, chessdb.keys()),
            (LookupSource::Cloud, cloud.keys()),
            (LookupSource::Explorer, explorer.keys()),
        ]
    }

    /// Finds keys that contradict each other.
    pub fn contradictions(&self, found: &mut Contradictions) {
        for (source, keys) in self.servers() {
            found.within(source.name(), |found| {
                found.above_zero(&[("timeout", keys.timeout)]);
                found.at_most(("timeout", keys.timeout), ("min_time", keys.min_time));
                if keys.enabled && keys.max_ply == 0 {
                    found.add(&["max_ply"], "0 asks for no move: raise it, or set enabled = false");
                }
            });
        }
    }
}

/// Declares the table of a server: the keys that all servers have, `max_ply` where it knows openings, and its own.
macro_rules! server {
    (
        $(#[$meta:meta])*
        pub struct $name:ident at $url:literal $(, $max_ply:ident = $plies:literal)? {
            $($own:tt)*
        }
    ) => {
        settings! {
            $(#[$meta])*
            #[derive(PartialEq, Eq)]
            pub struct $name {
                /// Whether to ask it.
                enabled: bool = false,
                /// The server.
                #[serde(serialize_with = "shown")]
                #[schemars(with = "String")]
                url: BaseUrl = BaseUrl::known($url),
                $($own)*
                $(
                    /// Only while fewer plies than this have been played.
                    $max_ply: usize = $plies,
                )?
                /// Time to wait for the answer.
                #[serde(with = "HumanTime")]
                timeout: Duration = TIMEOUT,
                /// Not asked with less than this on the clock.
                #[serde(with = "HumanTime")]
                min_time: Duration = MIN_TIME,
            }
        }

        impl $name {
            fn keys(&self) -> ServerKeys {
                let max_ply: &[usize] = &[$(self.$max_ply)?];
                ServerKeys {
                    enabled: self.enabled,
                    url: self.url.clone(),
                    max_ply: max_ply.first().copied().unwrap_or(usize::MAX),
                    timeout: self.timeout,
                    min_time: self.min_time,
                }
            }
        }
    };
}

server! {
    /// The tablebase.
    pub struct Tablebase at "https://tablebase.lichess.org" {
        /// Maximum number of pieces; of eight, only what the op1 tables have.
        #[schemars(range(min = 1, max = 8))]
        max_pieces: usize = 8,
        /// "best": the best move is played at once; "suggest": the engine chooses among the moves that keep the result.
        #[schemars(schema_with = "qualities")]
        move_quality: MoveQuality = MoveQuality::default(),
    }
}

server! {
    /// ChessDB.
    pub struct ChessDb at "https://www.chessdb.cn", max_ply = 40 {
        /// "best": the first move of the best line; "good": one of the best moves, at random; "all": any move that is known,
        /// at random.
        move_quality: BookQuality = BookQuality::default(),
        /// Minimum depth of the best line in plies; only for "best".
        min_depth: u16 = 20,
    }
}

server! {
    /// Cloud evaluations.
    pub struct Cloud at "https://lichess.org", max_ply = 40 {
        /// Minimum depth of an evaluation in plies.
        min_depth: u16 = 20,
    }
}

server! {
    /// The opening explorer.
    pub struct Explorer at "https://explorer.lichess.org", max_ply = 20 {
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
    }
}

fn qualities(_: &mut SchemaGenerator) -> Schema {
    words([MoveQuality::Best, MoveQuality::Suggest])
}

fn speeds(_: &mut SchemaGenerator) -> Schema {
    list_of(words(Speed::KNOWN.iter().map(Speed::as_str)))
}

/// Choice among the moves of ChessDB.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BookQuality {
    /// The first move of the best line.
    Best,
    /// One of the best moves, at random.
    #[default]
    Good,
    /// Any move that is known, at random.
    All,
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
