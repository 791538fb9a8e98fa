//! The `[engine]` table of the configuration.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, de};

use crate::{
    faulty::Fault,
    limited::MoveLimits,
    net::EvalFile,
    strength::Elo,
    syzygy,
    textbook::{self, Algorithm},
};

/// The `[engine]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Algorithm.
    pub kind: Kind,
    /// Size of the transposition table that all games share, or of the tree of each game, in MiB.
    pub hash_mib: NonZeroUsize,
    /// Search threads.
    pub threads: NonZeroUsize,
    /// Maximum depth of the textbook algorithms.
    pub depth: NonZeroU16,
    /// Strength of [`Kind::Search`]; `None`: all of it.
    pub elo: Option<Elo>,
    /// Endgame tables for [`Kind::Search`].
    pub syzygy: syzygy::SyzygyConfig,
    /// Evaluation of chess for [`Kind::Search`].
    pub eval_file: EvalFile,
    /// Limits of every move.
    pub limits: MoveLimits,
}

impl Default for Config {
    fn default() -> Self {
        const HASH_MIB: NonZeroUsize = NonZeroUsize::new(64).unwrap();
        const DEPTH: NonZeroU16 = NonZeroU16::new(textbook::MAX_DEPTH).unwrap();
        Config {
            kind: Kind::default(),
            hash_mib: HASH_MIB,
            threads: NonZeroUsize::MIN,
            depth: DEPTH,
            elo: None,
            syzygy: syzygy::SyzygyConfig::default(),
            eval_file: EvalFile::default(),
            limits: MoveLimits::default(),
        }
    }
}

/// Algorithm that chooses the moves: one row here and in [`EngineFactory::thinker`].
///
/// [`EngineFactory::thinker`]: crate::EngineFactory::thinker
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Our engine: principal-variation search.
    #[default]
    Search,
    /// Monte-Carlo tree search with static evaluation at the leaves.
    Mcts,
    /// Monte-Carlo tree search with random playouts, as courses teach it.
    Uct,
    /// Random legal moves.
    Random,
    /// A textbook algorithm, to learn from and to measure others by.
    Textbook(Algorithm),
    /// A deliberately broken thinker for tests and measurements.
    Faulty(Fault),
}

impl Kind {
    /// Kinds that a configuration can name.
    pub fn named() -> impl Iterator<Item = Kind> {
        [Kind::Search, Kind::Mcts, Kind::Uct, Kind::Random]
            .into_iter()
            .chain(Algorithm::ALL.map(Kind::Textbook))
    }

    /// Returns who shares a table of the configured size; `None` if there is no such table.
    pub fn table(self) -> Option<TableScope> {
        match self {
            Kind::Search => Some(TableScope::AllGames),
            Kind::Mcts | Kind::Uct => Some(TableScope::EachGame),
            Kind::Random | Kind::Textbook(_) | Kind::Faulty(_) => None,
        }
    }
}

/// Games that share a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TableScope {
    AllGames,
    EachGame,
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(|UnknownKind| {
            let known: Vec<_> = Kind::named().map(|kind| format!("`{kind}`")).collect();
            de::Error::invalid_value(de::Unexpected::Str(&name), &known.join(", ").as_str())
        })
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Kind::named().find(|kind| kind.to_string() == name).ok_or(UnknownKind)
    }
}

/// The name of no [`Kind`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("known: {}", Kind::named().map(|kind| kind.to_string()).collect::<Vec<_>>().join(", "))]
pub struct UnknownKind;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Search => "search",
            Kind::Mcts => "mcts",
            Kind::Uct => "uct",
            Kind::Random => "random",
            Kind::Textbook(algorithm) => algorithm.name(),
            Kind::Faulty(fault) => return fault.fmt(f),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in Kind::named() {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("alphabeta".parse::<Kind>().unwrap_err().to_string().contains("mtd-f, forward-pruning"));
    }
}
