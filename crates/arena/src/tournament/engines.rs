//! Engines that can play in tournaments without a connection: built-in players, and those of the configuration.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use zeitnot_engine::{BuiltIn, Clocks, EngineFactory};
use zeitnot_pairing::Name;
use zeitnot_rules::{CHESS960, DynGame, GameKind};
use zeitnot_web::play::Finding;

use super::config::TournamentConfig;
use crate::searches::{BuiltInEngines, MAX_TIME, SearchEngine, Searches};

/// Longest search of an engine of the configuration: others wait for its place.
const MAX_TIME_CONFIGURED: Duration = Duration::from_secs(10);

/// Players at once in all tournaments that are engines of the configuration, each with a process while it plays.
const MAX_CONFIGURED: usize = 32;

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
        let configured = self.configured.keys().filter(|name| !self.is_ambiguous(name));
        built_in.chain(configured.map(|name| (name.clone(), None)))
    }

    /// Returns the names of the games that an engine plays, and of Chess960, which is chess from other starts.
    pub(crate) fn games(&self, name: &str) -> Vec<&'static str> {
        let factory = self.configured.get(name);
        let plays = |kind, chess960| factory.is_none_or(|factory| factory.plays_kind(kind, chess960));
        let games = GameKind::ALL.iter().filter(|kind| plays(**kind, false)).map(|kind| kind.name());
        games.chain(plays(GameKind::Chess, true).then_some(CHESS960)).collect()
    }

    /// Returns whether an engine of the configuration has the name of a built-in player, whose rating it would get.
    fn is_ambiguous(&self, name: &str) -> bool {
        self.configured.contains_key(name) && name.parse::<BuiltIn>().is_ok()
    }

    /// Returns the reason why an engine of a tournament cannot play in it.
    pub(super) fn obstacle(&self, config: &TournamentConfig) -> Option<String> {
        config.engines.iter().find_map(|name| match self.configured.get(name.as_str()) {
            _ if self.is_ambiguous(name.as_str()) => Some(format!(
                "engines: {name} is a built-in player and also an engine of the configuration: rename [engines.{name}]"
            )),
            Some(factory) if factory.plays_kind(config.game, config.chess960) => None,
            Some(_) => {
                let game = config.game.variant_name(config.chess960);
                Some(format!("engines: {name} does not play {game}"))
            }
            None if name.as_str().parse::<BuiltIn>().is_ok() => None,
            None => {
                let known = self.available().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
                Some(format!("engines: no engine is called {name}; known: {known}"))
            }
        })
    }

    /// Returns why an organiser cannot have all engines of a tournament while those of the `running` ones play. It may run
    /// itself, with earlier settings.
    pub(super) fn excess<'c>(
        &self,
        config: &TournamentConfig,
        running: impl Iterator<Item = &'c TournamentConfig>,
    ) -> Option<String> {
        let is_configured = |name: &&Name| self.configured.contains_key(name.as_str());
        let count = |config: &TournamentConfig| config.engines.iter().filter(is_configured).count();
        let (same, others): (Vec<_>, Vec<_>) = running.partition(|other| other.name == config.name);
        let total = |configs: &[&TournamentConfig]| configs.iter().map(|config| count(config)).sum::<usize>();
        let (wanted, others) = (count(config), total(&others));
        // The configuration may exceed the limit already; settings that add no engine are allowed then.
        (wanted > total(&same) && wanted + others > MAX_CONFIGURED).then(|| {
            format!(
                "engines: {wanted} of [engines] beside {others} in other tournaments are more than {MAX_CONFIGURED} at \
                 once: leave some out, or wait until a tournament is over"
            )
        })
    }

    /// Returns the engine of that name; `None` if there is an obstacle.
    pub(super) fn find(&self, name: &Name) -> Option<TournamentEngine> {
        if self.is_ambiguous(name.as_str()) {
            return None;
        }
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

    pub(super) fn find(&self, game: &DynGame, clocks: Clocks) -> Finding {
        self.searches.find((&self.engine, self.time), game, Some(clocks), CancellationToken::new())
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

    /// All engines, with one of the configuration.
    fn engines(name: &str) -> Engines {
        let factory = EngineFactory::new(&BuiltIn::Random.config()).unwrap();
        Engines::new([(name.to_owned(), factory)].into(), Arc::default(), Searches::default())
    }

    fn obstacle(engines: &Engines, name: &str) -> Option<String> {
        let config = TournamentConfig::new("class", "60").unwrap();
        engines.obstacle(&TournamentConfig { engines: vec![Name::try_from(name).unwrap()], ..config })
    }

    #[test]
    fn an_unknown_engine_is_told_with_those_that_there_are() {
        let engines = engines("mine");
        assert_eq!(["level-3", "mine"].map(|name| obstacle(&engines, name)), [None, None]);
        let why = obstacle(&engines, "stockfish").unwrap();
        assert!(why.starts_with("engines: no engine is called stockfish; known: random, greedy, "), "{why}");
        assert!(why.ends_with("level-8, mine"), "{why}");
        assert!(engines.find(&Name::try_from("level-8").unwrap()).is_some());
    }

    #[test]
    fn an_engine_does_not_pass_for_a_built_in_player() {
        let engines = engines("level-3");
        let why = obstacle(&engines, "level-3").unwrap();
        assert!(why.ends_with("also an engine of the configuration: rename [engines.level-3]"), "{why}");
        assert!(engines.find(&Name::try_from("level-3").unwrap()).is_none());
        assert!(engines.available().all(|(name, rating)| name != "level-3" && rating.is_some()));
        assert_eq!(obstacle(&engines, "level-4"), None);
    }

    #[test]
    fn a_built_in_player_has_a_rating_in_chess_only() {
        let name = Name::try_from("level-3").unwrap();
        let chess = TournamentConfig::new("class", "60").unwrap();
        let chess = TournamentConfig { engines: vec![name.clone()], ..chess };
        let chess960 = TournamentConfig { chess960: true, ..chess.clone() };
        let tuc = TournamentConfig { game: GameKind::Tuc, ..chess.clone() };
        let persons = [chess, chess960, tuc].map(|config| config.person(&name));
        assert_eq!(persons.each_ref().map(|person| person.rating.is_some()), [true, false, false]);
        assert!(persons.iter().all(|person| person.bot == Some(true)));
    }
}
