//! The `[[arena.tuc]]` tables of the configuration.

use std::{net::SocketAddr, num::NonZeroU32, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_referee::Prizes;
use zeitnot_rules::tuc::Rules;
use zeitnot_settings::{HumanTime, JsonSchema, schemars, shown};

use crate::duration::seconds;

/// Table for TUC-Chess.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TucConfig {
    /// Address to listen on; the original's port is 9876, and port 0 takes any free port.
    #[schemars(example = &"127.0.0.1:9876")]
    pub address: SocketAddr,
    /// Edition: "2019", "2021" or "2022". "+jumps" lets black pawns jump to the last row, as the original server does;
    /// "-strict" counts points and pieces as the assignment says, not as the original server does.
    #[serde(default = "rules", deserialize_with = "read_rules", serialize_with = "shown")]
    #[schemars(with = "String")]
    pub rules: Rules,
    /// Number of games after which the table closes. Without it, it stays open.
    #[serde(default)]
    #[schemars(example = 50)]
    pub games: Option<NonZeroU32>,
    /// The first move that arrives later than this after the start is the last one. By default the edition's.
    #[serde(default, with = "HumanTime")]
    #[schemars(example = &"14m", extend("x-max" = "7days"))]
    pub time_limit: Option<Duration>,
    /// Probability of a new prize after a move. By default the edition's.
    #[serde(default)]
    #[schemars(example = 0.1)]
    pub prize_chance: Option<Chance>,
    /// Probability that a prize is worth a point. By default the edition's.
    #[serde(default)]
    #[schemars(example = 0.9)]
    pub worth_chance: Option<Chance>,
    /// Pause between the second player's arrival and the first move.
    #[serde(default = "seconds::<3>", with = "HumanTime")]
    #[schemars(extend("x-max" = "7days"))]
    pub countdown: Duration,
    /// Time without a move after which a game is aborted.
    #[serde(default = "seconds::<600>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "7days"))]
    pub move_timeout: Duration,
    /// The same for the first move of each player, who may have left while waiting.
    #[serde(default = "seconds::<60>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "7days"))]
    pub first_move: Duration,
    /// As in the original server: any datagram except a legal move ends the game silently.
    #[serde(default)]
    pub strict: bool,
}

impl TucConfig {
    pub(super) fn prizes(&self) -> Prizes {
        let usual = Prizes::of(self.rules.edition);
        let or = |chance: Option<Chance>, usual| chance.map_or(usual, |chance| chance.0);
        Prizes { new: or(self.prize_chance, usual.new), worth: or(self.worth_chance, usual.worth) }
    }

    pub(super) fn time_limit(&self) -> Duration {
        self.time_limit.unwrap_or(self.rules.edition.settings().time_limit)
    }
}

/// Probability, from 0 to 1.
#[derive(Copy, Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(extend("minimum" = 0, "maximum" = 1))]
pub struct Chance(f64);

/// Number that is not a [`Chance`].
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0} is not a probability: expected a number from 0 to 1")]
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
