//! The `[[arena.tuc]]` tables of the configuration.

use std::{net::SocketAddr, num::NonZeroU32, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_referee::Prizes;
use zeitnot_rules::tuc::Rules;

use crate::duration::{MAX_WAIT, seconds};

/// Table for TUC-Chess.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TucConfig {
    /// Address to listen on; the original's port is 9876, and port 0 takes any free port.
    pub address: SocketAddr,
    /// Edition, and how faithful to the oddities of the original.
    #[serde(default = "rules", deserialize_with = "read_rules")]
    pub rules: Rules,
    /// Games after which the table is closed; without it, the arena's stop closes it.
    #[serde(default)]
    pub games: Option<NonZeroU32>,
    /// A move that arrives later than this after the start of the game is the last one [default: the edition's].
    #[serde(default, with = "humantime_serde")]
    pub time_limit: Option<Duration>,
    /// Chance of a new prize after a move [default: the edition's].
    #[serde(default)]
    pub prize_chance: Option<Chance>,
    /// Chance that a prize is worth a point [default: the edition's].
    #[serde(default)]
    pub worth_chance: Option<Chance>,
    /// Pause between the second player's arrival and the first move.
    #[serde(default = "seconds::<3>", with = "humantime_serde")]
    pub countdown: Duration,
    /// Time without a move after which a game is aborted.
    #[serde(default = "seconds::<600>", with = "humantime_serde")]
    pub move_timeout: Duration,
    /// The same for the first move of each player, who may have left before the game began.
    #[serde(default = "seconds::<60>", with = "humantime_serde")]
    pub first_move: Duration,
    /// Any datagram but a legal move ends the game without a message, as in the original. Otherwise such a datagram is
    /// logged and ignored.
    #[serde(default)]
    pub strict: bool,
}

impl TucConfig {
    pub(super) fn prizes(&self) -> Prizes {
        let usual = Prizes::of(self.rules.edition);
        let or = |chance: Option<Chance>, usual| chance.map_or(usual, |chance| chance.0);
        Prizes { new: or(self.prize_chance, usual.new), worth: or(self.worth_chance, usual.worth) }
    }

    /// Checks what the types alone do not say.
    pub(crate) fn check(&self) -> Result<(), String> {
        let times = [
            ("time_limit", self.time_limit()),
            ("countdown", self.countdown),
            ("move_timeout", self.move_timeout),
            ("first_move", self.first_move),
        ];
        match times.iter().find(|(_, time)| *time > MAX_WAIT) {
            Some((key, _)) => Err(format!("tuc: {key} is longer than a week")),
            None => Ok(()),
        }
    }

    pub(super) fn time_limit(&self) -> Duration {
        self.time_limit.unwrap_or(self.rules.edition.settings().time_limit)
    }
}

/// Probability, from 0 to 1.
#[derive(Copy, Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Chance(f64);

/// Number that is not a [`Chance`].
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0} is no chance: expected a number from 0 to 1")]
pub struct BadChance(f64);

impl TryFrom<f64> for Chance {
    type Error = BadChance;
    fn try_from(chance: f64) -> Result<Self, BadChance> {
        if (0.0..=1.0).contains(&chance) { Ok(Chance(chance)) } else { Err(BadChance(chance)) }
    }
}

fn read_rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn rules() -> Rules {
    Rules { jumps: true, ..Rules::default() }
}
