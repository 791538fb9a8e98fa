//! The `[[arena.tournament]]` tables of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;
use zeitnot_rules::TimeControl;

use crate::{
    duration::{MAX_WAIT, seconds},
    error::ArenaError,
    keys::Keys,
    name::Name,
    secret::Secret,
};

/// Players in one tournament, at most.
const MAX_PLAYERS: usize = 1024;

/// One `[[arena.tournament]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentConfig {
    /// Name that players write after `JOIN`.
    pub name: Name,
    /// Seconds for each player and game, and seconds added after each move: `"3+0.05"`.
    pub time: TimeControl,
    /// Games of each pair; colours are balanced.
    #[serde(default = "games_per_pair")]
    pub games_per_pair: u32,
    /// Number of players with which play begins; the tournament ends when all have met. Without it, whoever is there
    /// is paired, until the arena is stopped.
    #[serde(default)]
    pub players: Option<usize>,
    /// Time limit for `ACK`.
    #[serde(default = "seconds::<20>", with = "humantime_serde")]
    pub ack_timeout: Duration,
    /// Interval between pairings.
    #[serde(default = "seconds::<3>", with = "humantime_serde")]
    pub pairing_interval: Duration,
    /// Rest of a player after a game.
    #[serde(default = "seconds::<5>", with = "humantime_serde")]
    pub pause: Duration,
    /// Absence after which a player forfeits the remaining games; only with `players`.
    #[serde(default = "seconds::<60>", with = "humantime_serde")]
    pub absent_after: Duration,
    /// Time for which the name of a player who has left belongs to their address. Keys make it needless.
    #[serde(default = "seconds::<60>", with = "humantime_serde")]
    pub name_held: Duration,
    /// Word that players write after their name in `JOIN`.
    #[serde(default)]
    pub password: Option<Secret>,
    /// File of players and keys, as `zeitnot arena keys` makes it; nobody else can join, or those with the password.
    #[serde(default)]
    pub keys: Option<PathBuf>,
    /// File of FEN or EPD lines; a game and its return game begin from the same one.
    #[serde(default)]
    pub openings: Option<PathBuf>,
}

impl TournamentConfig {
    /// Creates a tournament with the default settings.
    pub fn new(name: Name, time: TimeControl) -> Self {
        TournamentConfig {
            name,
            time,
            games_per_pair: games_per_pair(),
            players: None,
            ack_timeout: seconds::<20>(),
            pairing_interval: seconds::<3>(),
            pause: seconds::<5>(),
            absent_after: seconds::<60>(),
            name_held: seconds::<60>(),
            password: None,
            keys: None,
            openings: None,
        }
    }

    /// Reads the file of players and keys, if there is to be one.
    pub(crate) fn open_keys(&self) -> Result<Option<Keys>, ArenaError> {
        let open = |path: &PathBuf| {
            Keys::open(path).map_err(|source| ArenaError::Keys { path: path.clone(), source })
        };
        self.keys.as_ref().map(open).transpose()
    }

    pub(super) fn max_players(&self) -> usize {
        self.players.unwrap_or(MAX_PLAYERS)
    }

    /// Checks what the types alone do not say.
    pub(crate) fn check(&self) -> Result<(), String> {
        let waits = [
            ("ack_timeout", self.ack_timeout),
            ("pairing_interval", self.pairing_interval),
            ("pause", self.pause),
            ("absent_after", self.absent_after),
            ("name_held", self.name_held),
        ];
        if let Some((key, _)) = waits.iter().find(|(_, wait)| *wait > MAX_WAIT) {
            return Err(format!("{key} is longer than a week"));
        }
        if self.pairing_interval.is_zero() {
            return Err("pairing_interval must be above zero".into());
        }
        if self.games_per_pair == 0 {
            return Err("games_per_pair must be at least 1".into());
        }
        match self.players {
            Some(n @ (0 | 1)) => Err(format!("players = {n}: a tournament needs two")),
            Some(n) if n > MAX_PLAYERS => Err(format!("players: at most {}", MAX_PLAYERS)),
            _ => Ok(()),
        }
    }
}

fn games_per_pair() -> u32 {
    2
}
