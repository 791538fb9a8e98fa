//! Built-in players: engines of ours with a name and a measured rating. They play every game, and alike on every machine:
//! nodes, depth and errors define them, and a clock can only cut a search short.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    ops::ControlFlow,
    str::FromStr,
    sync::{Mutex, PoisonError},
};

use zeitnot_rules::{Game as _, GameHistory, chess::Chess, fnv1a};

use crate::{
    bench::POSITIONS,
    config::{Config, Kind},
    factory::EngineFactory,
    limits::{Limits, StopFlag},
    memory::OutOfMemory,
    ratings::{RATINGS, Rating},
    strength::{Handicap, Level},
    textbook::{Algorithm, Evaluation},
    thinker::{Progress, think_watched},
};

/// Size of a player's transposition table.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// Nodes of each position in a signature, at most.
const SIGNATURE_NODES: u64 = 20_000;

/// Built-in player.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuiltIn {
    /// Plays random legal moves.
    Random,
    /// Takes the most valuable piece that it can, or mates.
    Greedy,
    /// Minimax of two plies.
    Minimax2,
    /// Alpha-beta search of three plies.
    AlphaBeta3,
    /// The engine at a level.
    Level(Level),
}

impl BuiltIn {
    /// All players, the levels last.
    pub fn all() -> impl Iterator<Item = BuiltIn> {
        use BuiltIn::{AlphaBeta3, Greedy, Minimax2, Random};
        [Random, Greedy, Minimax2, AlphaBeta3].into_iter().chain(Level::all().map(BuiltIn::Level))
    }

    /// Returns the settings of its engine.
    pub fn config(self) -> Config {
        let config = Config { hash_mib: HASH_MIB, ..Config::default() };
        let textbook = |algorithm, depth: u16, evaluation| Config {
            kind: Kind::Textbook(algorithm),
            depth: NonZeroU16::MIN.saturating_add(depth - 1),
            evaluation,
            ..config.clone()
        };
        match self {
            BuiltIn::Random => Config { kind: Kind::Random, ..config },
            BuiltIn::Greedy => textbook(Algorithm::Minimax, 1, Evaluation::Material),
            BuiltIn::Minimax2 => textbook(Algorithm::Minimax, 2, Evaluation::Engine),
            BuiltIn::AlphaBeta3 => textbook(Algorithm::AlphaBeta, 3, Evaluation::Engine),
            BuiltIn::Level(level) => Config { elo: Some(level.elo()), ..config },
        }
    }

    /// Returns the measured rating.
    pub fn rating(self) -> Rating {
        match self {
            BuiltIn::Random => RATINGS[0],
            BuiltIn::Greedy => RATINGS[1],
            BuiltIn::Minimax2 => RATINGS[2],
            BuiltIn::AlphaBeta3 => RATINGS[3],
            BuiltIn::Level(level) => level.rating(),
        }
    }

    /// Returns the signature of its behaviour: a hash of its definition, and of what it finds in fixed positions.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn signature(self) -> Result<u32, OutOfMemory> {
        let config = self.config();
        let definition =
            (config.kind.to_string(), config.depth, config.evaluation, config.elo.map(Handicap::from));
        let text = Mutex::new(format!("{definition:?}"));
        // Random moves have no other behaviour.
        let positions = if self == BuiltIn::Random { &[] } else { &POSITIONS[..] };
        let factory = EngineFactory::new(&config)?;
        for position in positions.iter().filter_map(|fen| Chess::parse(fen).ok()) {
            // The search's findings are the same each time; the choice among them is random.
            let watch = |progress: &Progress<Chess>| {
                let mv = progress.pv.first().map(|&mv| position.write(mv).to_string());
                let found = format!("{mv:?} {} {}", progress.score.get(), progress.nodes);
                text.lock().unwrap_or_else(PoisonError::into_inner).push_str(&found);
                ControlFlow::Continue(())
            };
            let game = GameHistory::new(position.clone());
            let limits = Limits { nodes: Some(SIGNATURE_NODES), ..Limits::default() };
            factory.table().clear();
            think_watched(&mut *factory.thinker(), &game, &limits, &StopFlag::default(), &watch);
        }
        let hash = fnv1a(&text.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok((hash ^ (hash >> 32)) as u32)
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rating().player)
    }
}

/// Unknown name of a built-in player.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("known: {}", BuiltIn::all().map(|player| player.rating().player).collect::<Vec<_>>().join(", "))]
pub struct UnknownBuiltIn;

impl FromStr for BuiltIn {
    type Err = UnknownBuiltIn;

    fn from_str(name: &str) -> Result<Self, UnknownBuiltIn> {
        BuiltIn::all().find(|player| player.rating().player == name).ok_or(UnknownBuiltIn)
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{GameKind, Outcome};

    use super::*;
    use crate::{PlayVisitor, Playable, think_now, with_game};

    #[test]
    fn names_are_read_as_they_are_written() {
        for player in BuiltIn::all() {
            assert_eq!(player.to_string().parse(), Ok(player));
        }
        assert_eq!("level-3".parse(), Ok(BuiltIn::Level(Level::new(3).unwrap())));
        assert!("level-9".parse::<BuiltIn>().unwrap_err().to_string().ends_with("level-7, level-8"));
    }

    struct PlaysOn(BuiltIn);

    impl PlayVisitor for PlaysOn {
        type Out = ();

        fn visit<G: Playable>(self, start: G) {
            let factory = EngineFactory::new(&self.0.config()).unwrap();
            let (mut thinker, mut game) = (factory.thinker::<G>(), GameHistory::new(start));
            while game.outcome() == Outcome::Ongoing && game.moves().len() < 4 {
                let limits = Limits { nodes: Some(SIGNATURE_NODES), ..Limits::default() };
                let (best, _) = think_now(&mut *thinker, &game, &limits);
                game.play(game.now().unpack(best.mv).unwrap());
            }
        }
    }

    #[test]
    fn every_player_plays_every_game() {
        for player in BuiltIn::all() {
            GameKind::ALL.iter().for_each(|&kind| with_game(kind, PlaysOn(player)));
        }
    }

    #[test]
    fn the_ratings_are_those_of_this_engine() {
        let changed = BuiltIn::all().filter_map(|player| {
            let (now, Rating { signature, .. }) = (player.signature().unwrap(), player.rating());
            (now != signature).then(|| format!("{player} ({now:#010x}, measured {signature:#010x})"))
        });
        let changed = changed.collect::<Vec<_>>().join(", ");
        assert!(
            changed.is_empty(),
            "these built-in players do not play as they did when they were measured: {changed}. Build a release with \
             zeitnot-measure and run: scripts/measure-ratings target/release/zeitnot FOLDER BEFORE, where BEFORE is \
             the engine without the change (CONTRIBUTING.md); the table that it prints belongs in crates/engine/src/ratings.rs, and its \
             ratings in docs/playing.md"
        );
    }

    #[test]
    fn the_greedy_take_what_is_worth_most() {
        let game = GameHistory::new(Chess::parse("k7/8/8/2q1p3/3P4/8/8/K7 w - - 0 1").unwrap());
        let factory = EngineFactory::new(&BuiltIn::Greedy.config()).unwrap();
        let (best, _) = think_now(&mut *factory.thinker(), &game, &Limits::default());
        let mv = game.now().unpack(best.mv).unwrap();
        assert_eq!(game.now().write(mv).to_string(), "d4c5");
    }
}
