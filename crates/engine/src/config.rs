//! The `[engine]` table of the configuration.

use std::{
    borrow::Cow,
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeitnot_settings::{JsonSchema, Schema, SchemaGenerator, settings, shown, words};

use crate::{
    faulty::Fault,
    limited::MoveLimits,
    net::EvalFile,
    strength::Elo,
    syzygy,
    textbook::{self, Algorithm, Evaluation},
};

const HASH_MIB: NonZeroUsize = NonZeroUsize::new(64).unwrap();
const DEPTH: NonZeroU16 = NonZeroU16::new(textbook::MAX_DEPTH).unwrap();

settings! {
    /// Zeitnot's own engine.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// Algorithm: "search" is the strongest, "mcts" is Monte Carlo tree search with evaluations, "random" is for tests;
        /// the others are textbook algorithms, "uct" with random playouts.
        kind: Kind = Kind::default(),
        /// Size of the transposition table in MiB, shared by all games. "mcts" and "uct" need up to this for each game.
        hash_mib: NonZeroUsize = HASH_MIB,
        /// Search threads. More than one per core slow the search down. With short time controls, leave a core to the network.
        threads: NonZeroUsize = NonZeroUsize::MIN,
        /// Maximum depth of the textbook algorithms in plies; "forward-pruning-by-ply" ends at 13.
        #[schemars(range(min = 1, max = textbook::MAX_DEPTH))]
        depth: NonZeroU16 = DEPTH,
        /// Evaluation of the textbook algorithms: "engine" is that of the engine, "material" adds the values of the pieces and
        /// a random term of at most half a pawn, the same whenever the position is searched again.
        evaluation: Evaluation = Evaluation::default(),
        /// Elo of "search", for games against people; see docs/playing.md. Without it: full strength.
        #[schemars(example = 1500)]
        elo: Option<Elo> = None,
        /// Syzygy endgame tables of chess, atomic and antichess, for "search"; see docs/sources.md.
        syzygy: syzygy::SyzygyConfig = syzygy::SyzygyConfig::default(),
        /// Evaluation of chess and Chess960 for "search": "net", "hand-made", or the path of a net; see docs/net.md.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        eval_file: EvalFile = EvalFile::default(),
        /// Limits of every move, even if the clock allows more.
        limits: MoveLimits = MoveLimits::default(),
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

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        shown(self, to)
    }
}

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        words(Kind::named())
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
        assert!(
            "alphabeta"
                .parse::<Kind>()
                .unwrap_err()
                .to_string()
                .contains("mtd-f, forward-pruning, forward-pruning-by-ply")
        );
    }
}
