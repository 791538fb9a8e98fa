//! Makes thinkers by one configuration, and lists the games that they can play.

use std::{num::NonZeroU16, num::NonZeroUsize, sync::Arc};

use zeitnot_rules::{
    Game, GameHistory, GameKind, Packed, Tactics,
    chess::{Chess, VariantPosition},
    fnv1a, for_each_game,
    minichess::MiniChess,
    tuc::Tuc,
};

use crate::{
    config::{Config, Kind, TableScope},
    eval::{EngineGame, Evaluator, Part},
    external_engine::{ExternalEngine, ThinkerFor},
    fallback,
    faulty::Faulty,
    limited::{Limited, MoveLimits},
    mcts,
    memory::{self, OutOfMemory},
    net::EvalFile,
    priority::{self, Granted},
    random::RandomMover,
    scheduler::SearchScheduler,
    search,
    spawner::ThreadSpawner,
    strength::{Elo, Weakened},
    syzygy::{self, LimitedProbe, Tablebases},
    textbook::{self, Evaluation},
    thinker::Thinker,
    transposition_table::TranspositionTable,
};

/// Table size of our own engine where an external one plays.
const SUBSTITUTE_MIB: usize = 4;

/// Source of a factory's thinkers.
#[derive(Clone)]
enum Source {
    Own(Kind),
    External(Arc<dyn ExternalEngine>),
}

/// Makes thinkers by one configuration; those of all games share one table.
#[derive(Clone)]
pub struct EngineFactory {
    source: Source,
    threads: NonZeroUsize,
    depth: NonZeroU16,
    evaluation: Evaluation,
    hash_mib: NonZeroUsize,
    limits: MoveLimits,
    eval_file: EvalFile,
    elo: Option<Elo>,
    table: Arc<TranspositionTable>,
    low_priority: bool,
    spawner: ThreadSpawner,
    scheduler: Arc<SearchScheduler>,
    history_pool: Arc<search::HistoryPool>,
    /// Endgame tables, and when to probe them.
    endgames: Option<(Tablebases, syzygy::SyzygyConfig)>,
}

impl EngineFactory {
    /// Allocates what the thinkers share.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table is larger than the available memory.
    pub fn new(config: &Config) -> Result<Self, OutOfMemory> {
        memory::check(config.hash_mib.get())?;
        let is_shared = config.kind.table() == Some(TableScope::AllGames);
        let table = TranspositionTable::new(if is_shared { config.hash_mib.get() } else { 1 })?;
        Ok(EngineFactory::with(Source::Own(config.kind), config, table))
    }

    /// Makes thinkers that ask an external engine, within these limits. Our own one supplies the fallback moves, and
    /// plays on where the external one cannot, if its configuration says so.
    ///
    /// # Errors
    /// As [`EngineFactory::new`].
    pub fn external(engine: Arc<dyn ExternalEngine>, limits: MoveLimits) -> Result<Self, OutOfMemory> {
        let table = TranspositionTable::new(SUBSTITUTE_MIB)?;
        let config = Config { limits, ..Config::default() };
        Ok(EngineFactory::with(Source::External(engine), &config, table))
    }

    fn with(source: Source, config: &Config, table: TranspositionTable) -> Self {
        EngineFactory {
            source,
            // More would take turns with the main thread, which then reaches less depth.
            threads: config.threads.min(cores()),
            depth: config.depth,
            evaluation: config.evaluation,
            hash_mib: config.hash_mib,
            limits: config.limits,
            // The levels are measured with this one, and no net changes them.
            eval_file: config.elo.map_or_else(|| config.eval_file.clone(), |_| EvalFile::HandMade),
            elo: config.elo,
            table: Arc::new(table),
            low_priority: false,
            spawner: ThreadSpawner::new(),
            scheduler: Arc::new(SearchScheduler::new(cores())),
            history_pool: Arc::default(),
            endgames: None,
        }
    }

    /// Lets our own engine probe these endgame tables, as the configuration says.
    #[must_use]
    pub fn with_endgames(self, endgames: Option<Tablebases>, config: &syzygy::SyzygyConfig) -> Self {
        EngineFactory { endgames: endgames.map(|endgames| (endgames, config.clone())), ..self }
    }

    /// Name of the thinkers: the kind of our own, the introduction of an external one.
    pub fn name(&self) -> String {
        match &self.source {
            Source::Own(kind) => kind.to_string(),
            Source::External(engine) => engine.title().to_owned(),
        }
    }

    /// Returns whether the thinkers can play this game. Our own ones play all games.
    pub fn plays<G: Game>(&self, start: &G) -> bool {
        self.plays_kind(start.kind(), start.is_chess960())
    }

    /// Returns whether the thinkers can play games of this kind.
    pub fn plays_kind(&self, kind: GameKind, chess960: bool) -> bool {
        match &self.source {
            Source::Own(_) => true,
            Source::External(engine) => engine.plays(kind, chess960),
        }
    }

    /// Kills the processes of an external engine, for good.
    pub fn close(&self) {
        if let Source::External(engine) = &self.source {
            engine.close();
        }
    }

    /// Runs the thinkers at low priority, unless the network threads were granted real-time priority: then
    /// they come first anyway, and the search need not give way to other programs as well.
    pub fn behind(self, network: Granted) -> Self {
        EngineFactory { low_priority: network != Granted::RealTime, ..self }
    }

    /// Identifies engines whose results cannot be compared: an FNV-1a hash of kind, version and net, or
    /// of everything known of an external engine.
    pub fn fingerprint(&self) -> u64 {
        let mut name = match &self.source {
            Source::Own(kind) => format!("{kind} {}", env!("CARGO_PKG_VERSION")),
            Source::External(engine) => engine.identity(),
        };
        if !self.limits.is_none() {
            name.push_str(&format!(" {}", self.limits));
        }
        let is_search = matches!(self.source, Source::Own(Kind::Search));
        if let Some(net) = self.eval_file.net().filter(|_| is_search) {
            name.push_str(&format!(" {:x}", net.checksum()));
        }
        if let (Source::Own(Kind::Textbook(_)), Evaluation::Material) = (&self.source, self.evaluation) {
            name.push_str(" material");
        }
        if let Some(elo) = self.elo {
            name.push_str(&format!(" {elo} Elo"));
        }
        fnv1a(&name)
    }

    pub(crate) fn spawner(&self) -> ThreadSpawner {
        self.spawner.clone()
    }

    /// Sets the priority of a thread on which a thinker works.
    pub(crate) fn enter_thread(&self) {
        priority::usual();
        if self.low_priority {
            priority::lower();
        }
    }

    /// Makes a thinker for one game.
    pub fn thinker<G: Playable>(&self) -> Box<dyn Thinker<G>> {
        let thinker = G::thinker(self);
        match &self.source {
            // It may use more time than its limits allow for a move where it must be started again.
            Source::External(_) => thinker,
            Source::Own(_) => limited(thinker, self.limits),
        }
    }

    /// Returns a legal move without a search: that of an earlier search, or else the one that leads to the best static
    /// evaluation among those that lose least material by exchanges. [`Packed::NONE`] if there is no legal move.
    pub fn fallback_move<G: Playable>(&self, position: &G) -> Packed {
        G::fallback_move(self, position)
    }

    /// Splits the static evaluation of a position by our own search into its parts.
    pub fn evaluation_parts<G: Playable>(&self, position: &G) -> Vec<Part> {
        G::evaluation_parts(self, position)
    }

    /// The table that all thinkers share.
    pub fn table(&self) -> &TranspositionTable {
        &self.table
    }

    fn make<G: EngineGame>(&self) -> Box<dyn Thinker<G>>
    where
        dyn ExternalEngine: ThinkerFor<G>,
    {
        let (mib, threads, scheduler) = (self.hash_mib.get(), self.threads.get(), self.scheduler.clone());
        match &self.source {
            Source::Own(Kind::Search) => {
                let search = Box::new(self.search::<G>()());
                match self.elo {
                    Some(elo) => Box::new(Weakened::new(search, elo)),
                    None => search,
                }
            }
            Source::Own(Kind::Mcts) => Box::new(mcts::Puct::<G>::new(mib, threads).with_scheduler(scheduler)),
            Source::Own(Kind::Uct) => Box::new(mcts::Uct::<G>::new(mib, threads).with_scheduler(scheduler)),
            Source::Own(Kind::Random) => Box::new(RandomMover),
            Source::Own(Kind::Textbook(algorithm)) => Box::new(
                textbook::TextbookThinker::<G>::new(*algorithm, self.depth)
                    .with_evaluation(self.evaluation)
                    .with_scheduler(scheduler),
            ),
            Source::Own(Kind::Faulty(fault)) => Box::new(Faulty(*fault)),
            Source::External(engine) => {
                let (search, limits) = (self.search::<G>(), self.limits);
                let own = move || limited(Box::new(search()), limits);
                ThinkerFor::thinker(engine.clone(), Box::new(own))
            }
        }
    }

    /// Returns what makes our own search.
    fn search<G: EngineGame>(&self) -> impl Fn() -> search::Search<G> + Send + 'static {
        let (table, threads) = (self.table.clone(), self.threads.get());
        let (scheduler, history_pool) = (self.scheduler.clone(), self.history_pool.clone());
        // A weakened player has to find what the tables know.
        let endgames = self.endgames.as_ref().filter(|_| self.elo.is_none());
        let eval_file = self.eval_file.clone();
        let tables =
            endgames.and_then(|(all, config)| Some(LimitedProbe::new(G::tablebase_probe(all)?, config)));
        move || {
            let search = search::Search::<G>::with_shared(
                table.clone(),
                threads,
                &eval_file,
                Some(scheduler.clone()),
                &history_pool,
            );
            search.with_tablebases(tables.clone())
        }
    }

    fn parts<G: EngineGame>(&self, position: &G) -> Vec<Part> {
        let mut evaluator = G::evaluator(&self.eval_file);
        let state = evaluator.refresh(position);
        evaluator.parts(&state, position)
    }

    fn known_or_static<G: EngineGame>(&self, position: &G) -> Packed {
        // A move of quiescence is the best capture, not the best move.
        let known = self.table.probe(position.table_key()).filter(|entry| entry.depth > 0);
        let known = known.and_then(|entry| position.unpack(entry.mv));
        known.or_else(|| fallback::best_static(position)).map_or(Packed::NONE, |mv| position.pack(mv))
    }
}

fn limited<G: Game>(thinker: Box<dyn Thinker<G>>, limits: MoveLimits) -> Box<dyn Thinker<G>> {
    if limits.is_none() { thinker } else { Box::new(Limited { thinker, limits }) }
}

/// Number of cores of this machine.
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A game that our engine plays.
///
/// Other crates are generic over this trait, not over [`EngineGame`], so that the search of each game is
/// compiled once, in this crate.
pub trait Playable: Tactics {
    #[doc(hidden)]
    fn thinker(factory: &EngineFactory) -> Box<dyn Thinker<Self>>;
    #[doc(hidden)]
    fn fallback_move(factory: &EngineFactory, position: &Self) -> Packed;
    #[doc(hidden)]
    fn evaluation_parts(factory: &EngineFactory, position: &Self) -> Vec<Part>;

    /// Probes tablebases for the moves that keep the result of the last position. Reads files; `None` if the position is
    /// not in them, or on a stop.
    fn root_probe(
        tables: &Tablebases,
        line: &GameHistory<Self>,
        kept: syzygy::Kept,
        stop: &dyn Fn() -> bool,
    ) -> Option<syzygy::RootProbe>;
}

/// A [`Visitor`](zeitnot_rules::Visitor) that also needs the engine.
pub trait PlayVisitor {
    /// Result of the visit.
    type Out;
    /// Runs with the usual start of the game.
    fn visit<G: Playable>(self, start: G) -> Self::Out;
}

macro_rules! playable {
    ($($game:ty),*) => { $(
        impl Playable for $game {
            // Not generic, so that other crates link to it instead of compiling it again.
            fn thinker(factory: &EngineFactory) -> Box<dyn Thinker<Self>> {
                factory.make()
            }

            fn fallback_move(factory: &EngineFactory, position: &Self) -> Packed {
                factory.known_or_static(position)
            }

            fn evaluation_parts(factory: &EngineFactory, position: &Self) -> Vec<Part> {
                factory.parts(position)
            }

            fn root_probe(
                tables: &Tablebases,
                line: &GameHistory<Self>,
                kept: syzygy::Kept,
                stop: &dyn Fn() -> bool,
            ) -> Option<syzygy::RootProbe> {
                let probe = <$game as EngineGame>::tablebase_probe(tables)?;
                syzygy::RootProbe::of(&*probe, line, &[], kept, stop)
            }
        }
    )* };
}
playable!(Chess, VariantPosition, MiniChess, Tuc);

macro_rules! with_game {
    ($($kind:ident => $start:expr),* $(,)?) => {
        /// Runs a visitor with the usual start of this game.
        pub fn with_game<V: PlayVisitor>(game: GameKind, visitor: V) -> V::Out {
            match game { $(GameKind::$kind => visitor.visit($start)),* }
        }
    };
}
for_each_game!(with_game);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::net::Weights;

    #[test]
    fn no_more_threads_search_than_there_are_cores() {
        let threads = |threads: usize| {
            let threads = NonZeroUsize::new(threads).unwrap();
            EngineFactory::new(&Config { threads, ..Config::default() }).unwrap().threads
        };
        assert_eq!(
            (threads(1), threads(256)),
            (NonZeroUsize::MIN, cores().min(NonZeroUsize::new(256).unwrap()))
        );
    }

    #[test]
    fn results_of_other_nets_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let by_hand = Config { eval_file: EvalFile::HandMade, ..Config::default() };
        let by_net = |name: &str, seed| {
            let path = folder.path().join(name);
            let weights = Weights::random(Weights::material().shape, seed);
            fs::write(&path, weights.to_bytes()).unwrap();
            Config { eval_file: path.to_str().unwrap().parse().unwrap(), ..by_hand.clone() }
        };
        let fingerprint = |config: &Config| EngineFactory::new(config).unwrap().fingerprint();
        let (one, other, copy) = (by_net("one", 1), by_net("other", 2), by_net("copy", 1));
        assert_ne!(fingerprint(&one), fingerprint(&by_hand));
        assert_ne!(fingerprint(&one), fingerprint(&other));
        assert_eq!(fingerprint(&one), fingerprint(&copy));
        // Others do not use it.
        let mcts = |config: &Config| fingerprint(&Config { kind: Kind::Mcts, ..config.clone() });
        assert_eq!(mcts(&one), mcts(&by_hand));
        let kind = Kind::Textbook(textbook::Algorithm::AlphaBeta);
        let by = |evaluation| fingerprint(&Config { kind, evaluation, ..Config::default() });
        assert_ne!(by(Evaluation::Engine), by(Evaluation::Material));
    }
}
