//! Engines that can play in tournaments without a connection: built-in players, and those of the configuration.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use zeitnot_engine::{BuiltIn, Clocks, EngineFactory};
use zeitnot_pairing::Name;
use zeitnot_rules::{DynGame, GameKind};
use zeitnot_web::play::Finding;

use super::config::TournamentConfig;
use crate::searches::{BuiltInEngines, MAX_TIME, SearchEngine, Searches};

/// Longest search of an engine of the configuration: others wait for its place.
const MAX_TIME_CONFIGURED: Duration = Duration::from_secs(10);

/// All engines that can play.
#[derive(Clone, Default)]
pub(crate) struct Engines {
    /// Those of the configuration, by name.
    configured: Arc<BTreeMap<String, EngineFactory>>,
    built_in: Arc<BuiltInEngines>,
    /// Short searches, which are never behind long ones.
    short: Searches,
    long: Searches,
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.available().map(|(name, _)| name)).finish()
    }
}

impl Engines {
    /// Combines the engines of the configuration with the built-in players, which share searches at once with others.
    pub(crate) fn new(
        configured: BTreeMap<String, EngineFactory>,
        built_in: Arc<BuiltInEngines>,
        short: Searches,
    ) -> Engines {
        Engines { configured: Arc::new(configured), built_in, short, long: Searches::default() }
    }

    /// Returns the names of all engines, those of built-in players first, each with its measured rating.
    pub(crate) fn available(&self) -> impl Iterator<Item = (String, Option<i32>)> {
        let built_in = BuiltIn::all().filter(|player| !self.configured.contains_key(&player.to_string()));
        let built_in = built_in.map(|player| (player.to_string(), Some(player.rating().elo.into())));
        built_in.chain(self.configured.keys().map(|name| (name.clone(), None)))
    }

    /// Returns the reason why an engine of a tournament cannot play in it.
    pub(super) fn obstacle(&self, config: &TournamentConfig) -> Option<String> {
        config.engines.iter().find_map(|name| match self.configured.get(name.as_str()) {
            Some(factory) if factory.plays_kind(config.game, config.chess960) => None,
            Some(_) => {
                let game = if config.chess960 { "chess960" } else { config.game.name() };
                Some(format!("engines: {name} does not play {game}"))
            }
            None if name.as_str().parse::<BuiltIn>().is_ok() => None,
            None => {
                let known = self.available().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
                Some(format!("engines: no engine is called {name}; known: {known}"))
            }
        })
    }

    /// Returns the engine of that name.
    pub(super) fn find(&self, name: &Name) -> Option<TournamentEngine> {
        if let Some(factory) = self.configured.get(name.as_str()) {
            let (engine, searches) = (SearchEngine::new(factory.clone()), self.long.clone());
            return Some(TournamentEngine { engine, time: MAX_TIME_CONFIGURED, searches, is_shared: false });
        }
        let told = |error: &_| tracing::error!("{name} cannot play: {error}");
        let engine = self.built_in.get(name.as_str().parse().ok()?).inspect_err(told).ok()?;
        Some(TournamentEngine { engine, time: MAX_TIME, searches: self.short.clone(), is_shared: true })
    }
}

/// Engine of one player of a tournament.
#[derive(Debug)]
pub(super) struct TournamentEngine {
    engine: Arc<SearchEngine>,
    /// Longest search.
    time: Duration,
    searches: Searches,
    /// Others play with its threads, too.
    is_shared: bool,
}

impl TournamentEngine {
    /// Starts the engine before its first move is asked for.
    pub(super) fn prepare(&self, kind: GameKind) {
        if !self.is_shared {
            self.engine.prepare(kind);
        }
    }

    pub(super) fn find(&self, game: &DynGame, clocks: Clocks, stop: CancellationToken) -> Finding {
        self.searches.find((&self.engine, self.time), game, Some(clocks), stop)
    }

    /// Ends the process of an external engine, until the next game.
    pub(super) fn rest(&self) {
        if !self.is_shared {
            self.engine.rest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_engine_is_told_with_those_that_there_are() {
        let engines = Engines::new(
            [("mine".to_owned(), EngineFactory::new(&BuiltIn::Random.config()).unwrap())].into(),
            Arc::default(),
            Searches::default(),
        );
        let obstacle = |name: &str| {
            let engines_of = vec![Name::try_from(name).unwrap()];
            let config = TournamentConfig::new("class", "60").unwrap();
            engines.obstacle(&TournamentConfig { engines: engines_of, ..config })
        };
        assert_eq!(["level-3", "mine"].map(obstacle), [None, None]);
        let why = obstacle("stockfish").unwrap();
        assert!(why.starts_with("engines: no engine is called stockfish; known: random, greedy, "), "{why}");
        assert!(why.ends_with("level-8, mine"), "{why}");
        assert!(engines.find(&Name::try_from("level-8").unwrap()).is_some());
    }
}
