//! State that all players of a bot share.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::{Semaphore, mpsc};

use zeitnot_engine::{EngineFactory, Playable};
use zeitnot_seat::GameInfo;

use crate::{
    activity::Activity,
    cache::Cache,
    choice::EngineChoices,
    config::Config,
    lag::Lags,
    load::Load,
    sources::MoveSources,
    status::{Answer, GameStatus},
};

/// State that all players of a bot share.
#[derive(Clone)]
pub struct BotContext {
    /// The `[bot]` table.
    pub config: Config,
    /// Makes the thinkers.
    pub factory: EngineFactory,
    /// Moves found before.
    pub cache: Cache,
    /// Other sources of moves.
    pub sources: MoveSources,
    /// Receives the status of all games.
    pub status: mpsc::Sender<GameStatus>,
    /// Receives the timing of all answers.
    pub answers: Option<mpsc::Sender<Answer>>,
    pub(crate) lags: Lags,
    pub(crate) load: Load,
    /// Cores for pondering.
    pub(crate) ponder: Arc<Semaphore>,
    engines: EngineChoices,
}

impl BotContext {
    /// Creates a context without a cache, a book or servers to ask, and with no lag measured yet.
    pub fn new(config: Config, factory: EngineFactory, status: mpsc::Sender<GameStatus>) -> Self {
        BotContext {
            factory,
            cache: Cache::default(),
            sources: MoveSources::default(),
            status,
            answers: None,
            lags: Lags::new(config.lag()),
            load: Load::default(),
            ponder: Arc::new(Semaphore::new(config.ponder.min(Semaphore::MAX_PERMITS))),
            engines: EngineChoices::default(),
            config,
        }
    }

    /// Uses a cache, and the lags that earlier runs have stored in it.
    pub fn set_cache(&mut self, cache: Cache) {
        self.lags.restore(cache.lags());
        self.cache = cache;
    }

    /// Sets the engines that the rules of the configuration choose from, by name. Rules whose engine is missing are
    /// skipped.
    pub fn set_engines(&mut self, engines: &BTreeMap<String, EngineFactory>) {
        self.engines = EngineChoices::new(&self.config.choose, engines, &self.load);
    }

    /// Returns what the bot does, as it changes.
    pub fn activity(&self) -> Activity {
        Activity::new(self.load.clone(), self.lags.clone())
    }

    /// Returns the context of one game, with the engine and the book that are chosen for it.
    pub(crate) fn for_game<G: Playable>(&self, info: &GameInfo, start: &G) -> BotContext {
        let mut context = self.clone();
        context.sources = self.sources.for_game(info, start);
        if let Some(choice) = self.engines.choose(info, start) {
            context.factory = choice.factory.clone();
            context.cache = self.cache.with_engine(choice.factory.fingerprint());
            context.load = choice.load.clone();
        }
        context
    }
}
