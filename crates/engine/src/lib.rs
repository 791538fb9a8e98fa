//! Thinking: from a line of a game and limits to ever better decisions. Sync; no tokio, no sockets.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    ops::ControlFlow,
    str::FromStr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Deserializer, de};

use zeitnot_rules::{ByColor, Game, GameHistory, GameKind, Packed, for_each_game};

use crate::priority::Granted;

pub mod book;
pub mod decision;
pub mod eval;
pub mod external;
pub mod faulty;
mod huge_pages;
pub mod mcts;
pub mod mind;
pub mod priority;
pub mod process;
pub mod random;
pub mod score;
pub mod search;
mod staff;
pub mod syzygy;
pub mod textbook;
pub mod time;
pub mod training;
pub mod transposition_table;
mod turns;
pub mod wdl;

pub use faulty::Fault;
use staff::Staff;
use syzygy::{LimitedProbe, Tablebases};
use turns::Turns;

pub use decision::{Best, Decision};
pub use eval::{Evaluator, Playable};
pub use score::Score;
use textbook::Algorithm;
pub use transposition_table::{OutOfMemory, TranspositionTable};

/// When to stop. All limits hold at once; the first one reached wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Finish this iteration, and begin no other.
    pub depth: Option<u16>,
    /// Give up when this many nodes are searched.
    pub nodes: Option<u64>,
    /// Stop when a mate in this many moves is found.
    pub mate: Option<u16>,
    /// Give up at this. The player sends the decision then, stopped or not.
    pub hard: Option<Instant>,
    /// For those who share out their time by themselves, as engines of others do. Ours go by their watcher.
    pub clocks: Option<Clocks>,
    /// Just so long, for those who count it by themselves. Nobody stops them then, unless there is a hard limit too.
    pub move_time: Option<Duration>,
    /// At most so many threads, of those that the thinker has.
    pub threads: Option<NonZeroUsize>,
    /// Only these moves at the root; empty: all that are legal.
    pub root_moves: Vec<Packed>,
    /// Look at this move first, where nothing better is known.
    pub hint: Option<Packed>,
    /// Tell of so many best moves, each with its line; `None`: of one. Only our [search] can tell of more.
    pub lines: Option<NonZeroU16>,
}

/// Clocks as they stood at a moment, less what the way to the server takes of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The time left on each clock.
    pub left: ByColor<Duration>,
    /// What is added after each move.
    pub increment: Duration,
    /// Moves until more time is added; `None`: there is no such rule.
    pub moves_to_go: Option<u32>,
    /// When they stood so: from here on the clock of the side to move runs.
    pub read_at: Instant,
}

/// Told to stop; carried up by `?`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Raised once, seen by every thread of a search.
#[derive(Debug, Default)]
pub struct StopFlag {
    raised: AtomicBool,
    at: OnceLock<Instant>,
}

impl StopFlag {
    /// Raises the flag.
    pub fn stop(&self) {
        self.at.get_or_init(Instant::now);
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Is it raised?
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// When it was raised, if it was.
    pub fn raised_at(&self) -> Option<Instant> {
        self.at.get().copied()
    }
}

/// Raises a flag even if its holder panics.
struct RaiseOnDrop<'f>(Option<&'f StopFlag>);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.stop();
        }
    }
}

/// One order to think.
pub struct Task<'t, G: Game> {
    /// The game so far.
    pub line: &'t GameHistory<G>,
    /// When to stop.
    pub limits: &'t Limits,
    /// Where ever better moves are published; holds a legal move already.
    pub best: &'t Decision,
    /// Stops the search from outside.
    pub stop: &'t StopFlag,
    /// Hears of each finished iteration, line by line, and says of the first whether to begin another: the
    /// soft limit is there.
    pub watch: &'t (dyn Fn(&Progress<G>) -> ControlFlow<()> + Sync),
}

/// What a search has found out so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<G: Game> {
    /// The first is the best one; the others follow it, where more were asked for.
    pub line: u16,
    /// Plies of the iteration.
    pub depth: u16,
    /// The longest line looked at, in plies.
    pub seldepth: u16,
    /// The part of this iteration's nodes that was spent on the best move, in thousandths.
    pub share: u16,
    /// For the side to move.
    pub score: Score,
    /// Of all threads.
    pub nodes: u64,
    /// How often endgame tables knew a position.
    pub table_hits: u64,
    /// Since the search began.
    pub time: Duration,
    /// How full the table is, in thousandths.
    pub hashfull: u16,
    /// The principal variation.
    pub pv: Vec<G::Move>,
}

/// What a search has cost, once it is over.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Of all threads.
    pub nodes: u64,
    /// The last iteration that was finished.
    pub depth: u16,
    /// How long it took.
    pub time: Duration,
}

/// Anything that can play: our searches, the course algorithms, an external engine.
pub trait Thinker<G: Game>: Send {
    /// Publishes ever better moves and returns when done or told to stop.
    ///
    /// A thinker that hangs or panics costs strength, never the game.
    fn think(&mut self, task: &Task<'_, G>) -> Report;

    /// What was learned from the last game is of no more use.
    fn new_game(&mut self) {}
}

/// The `[engine]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which thinker.
    pub kind: Kind,
    /// The size of the transposition table that all games share, or of the tree that each game has, in MiB.
    pub hash_mib: NonZeroUsize,
    /// Search threads.
    pub threads: NonZeroUsize,
    /// The textbook players search no deeper than this.
    pub depth: NonZeroU16,
    /// Endgame tables for [`Kind::Search`]: opened by [`Tablebases::open`], handed over by [`Workshop::asking`].
    pub syzygy: syzygy::SyzygyConfig,
}

/// Who thinks: one row a thinker, here and in [`Workshop::thinker`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Our own engine: principal-variation search.
    #[default]
    Search,
    /// Monte-Carlo tree search, the strong form: static evaluations at the leaves.
    Mcts,
    /// Monte-Carlo tree search, the course form: random playouts.
    Uct,
    /// Any legal move: a sparring partner for the very first bot.
    Random,
    /// An algorithm as courses teach it: to learn from, and to measure others by.
    Textbook(Algorithm),
    /// Something is wrong with it: for tests and measurements.
    Faulty(Fault),
}

impl Kind {
    /// Those that a configuration can name.
    pub fn named() -> impl Iterator<Item = Kind> {
        [Kind::Search, Kind::Mcts, Kind::Uct, Kind::Random]
            .into_iter()
            .chain(Algorithm::ALL.map(Kind::Textbook))
    }
}

impl<'de> Deserialize<'de> for Kind {
    /// By the name that it shows.
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

/// No thinker of ours.
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

impl Default for Config {
    fn default() -> Self {
        const HASH_MIB: NonZeroUsize = NonZeroUsize::new(64).unwrap();
        const DEPTH: NonZeroU16 = NonZeroU16::new(textbook::MAX_DEPTH).unwrap();
        Config {
            kind: Kind::default(),
            hash_mib: HASH_MIB,
            threads: NonZeroUsize::MIN,
            depth: DEPTH,
            syzygy: syzygy::SyzygyConfig::default(),
        }
    }
}

/// The table of our own engine while a program plays.
const SUBSTITUTE_MIB: usize = 4;

/// Who works in a workshop.
#[derive(Clone)]
enum Staffed {
    Ours(Kind),
    Theirs(Arc<external::Program>),
}

/// Makes thinkers by one configuration; those of all games share one table.
#[derive(Clone)]
pub struct Workshop {
    who: Staffed,
    threads: NonZeroUsize,
    depth: NonZeroU16,
    hash_mib: NonZeroUsize,
    table: Arc<TranspositionTable>,
    background: bool,
    staff: Staff,
    turns: Arc<Turns>,
    history_pool: Arc<search::HistoryPool>,
    /// Endgame tables, and when they are asked.
    endgames: Option<(Tablebases, syzygy::SyzygyConfig)>,
}

impl Workshop {
    /// Allocates what the thinkers share.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table is larger than the memory there is.
    pub fn new(config: &Config) -> Result<Self, OutOfMemory> {
        let table = match config.kind {
            Kind::Search => TranspositionTable::new(config.hash_mib.get())?,
            Kind::Mcts | Kind::Uct | Kind::Random | Kind::Textbook(_) | Kind::Faulty(_) => {
                TranspositionTable::new(1)?
            }
        };
        Ok(Workshop::with(Staffed::Ours(config.kind), config, table))
    }

    /// Thinkers that ask a program. What of it is ours is small: it knows a move at once, and plays games on
    /// that the program cannot.
    ///
    /// # Errors
    /// As [`Workshop::new`].
    pub fn external(program: Arc<external::Program>) -> Result<Self, OutOfMemory> {
        let table = TranspositionTable::new(SUBSTITUTE_MIB)?;
        Ok(Workshop::with(Staffed::Theirs(program), &Config::default(), table))
    }

    fn with(who: Staffed, config: &Config, table: TranspositionTable) -> Self {
        Workshop {
            who,
            threads: config.threads,
            depth: config.depth,
            hash_mib: config.hash_mib,
            table: Arc::new(table),
            background: false,
            staff: Staff::new(),
            turns: Arc::new(Turns::new(cores())),
            history_pool: Arc::default(),
            endgames: None,
        }
    }

    /// Its own engine asks these endgame tables, as the configuration says.
    #[must_use]
    pub fn asking(self, endgames: Option<Tablebases>, config: &syzygy::SyzygyConfig) -> Self {
        Workshop { endgames: endgames.map(|endgames| (endgames, config.clone())), ..self }
    }

    /// What its thinkers are called: ours by their kind, programs as they call themselves.
    pub fn name(&self) -> String {
        match &self.who {
            Staffed::Ours(kind) => kind.to_string(),
            Staffed::Theirs(program) => program.title().to_owned(),
        }
    }

    /// Can its thinkers play this game? Ours play them all.
    pub fn plays<G: Game>(&self, start: &G) -> bool {
        match &self.who {
            Staffed::Ours(_) => true,
            Staffed::Theirs(program) => program.plays::<G>(start.is_chess960()),
        }
    }

    /// Ends the programs that play for it, for ever: we are leaving.
    pub fn close(&self) {
        if let Staffed::Theirs(program) = &self.who {
            program.close();
        }
    }

    /// Its thinkers go behind a network side to which the system has granted this. Before a real-time
    /// thread all others stand back by themselves, and need not give way to other programs as well.
    pub fn behind(self, network: Granted) -> Self {
        Workshop { background: network != Granted::RealTime, ..self }
    }

    /// Tells engines apart whose findings cannot be compared: an FNV-1a hash of kind and version, or of all
    /// that is known of a program.
    pub fn fingerprint(&self) -> u64 {
        let name = match &self.who {
            Staffed::Ours(kind) => format!("{kind} {}", env!("CARGO_PKG_VERSION")),
            Staffed::Theirs(program) => program.identity(),
        };
        name.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// Where the threads of its thinkers come from.
    fn staff(&self) -> Staff {
        self.staff.clone()
    }

    /// What a thread on which a thinker works does first.
    pub(crate) fn enter_thread(&self) {
        priority::usual();
        if self.background {
            priority::lower();
        }
    }

    /// A thinker for one game.
    pub fn thinker<G: Playable>(&self) -> Box<dyn Thinker<G>> {
        let (mib, threads, turns) = (self.hash_mib.get(), self.threads.get(), self.turns.clone());
        let search = {
            let (table, turns, history_pool) = (self.table.clone(), turns.clone(), self.history_pool.clone());
            let endgames = self.endgames.as_ref();
            let tables =
                endgames.and_then(|(all, config)| Some(LimitedProbe::new(G::tablebase_probe(all)?, config)));
            move || {
                let search = search::Search::<G>::with_shared(
                    table.clone(),
                    threads,
                    Some(turns.clone()),
                    &history_pool,
                );
                search.with_tablebases(tables.clone())
            }
        };
        let kind = match &self.who {
            Staffed::Ours(kind) => *kind,
            Staffed::Theirs(program) => {
                let ours = move || -> Box<dyn Thinker<G>> { Box::new(search()) };
                return Box::new(external::External::new(program.clone(), Box::new(ours)));
            }
        };
        match kind {
            Kind::Search => Box::new(search()),
            Kind::Mcts => Box::new(mcts::Puct::<G>::new(mib, threads).with_scheduler(turns)),
            Kind::Uct => Box::new(mcts::Uct::<G>::new(mib, threads).with_scheduler(turns)),
            Kind::Random => Box::new(random::RandomMover),
            Kind::Textbook(algorithm) => {
                Box::new(textbook::TextbookThinker::<G>::new(algorithm, self.depth).with_scheduler(turns))
            }
            Kind::Faulty(fault) => Box::new(faulty::Faulty(fault)),
        }
    }

    /// A move without a search, good enough to stand in a slot that nobody may get to improve: the
    /// table's, or else the one that leads to the best static evaluation and loses no material at once.
    /// [`Packed::NONE`] where there is no legal move.
    pub fn glance<G: Playable>(&self, position: &G) -> Packed {
        let known = self.table.probe(position.key()).map(|entry| entry.mv);
        if let Some(mv) = known.filter(|&mv| position.unpack(mv).is_some()) {
            return mv;
        }
        let judge = G::Evaluator::default();
        let state = judge.root(position);
        let moves = position.moves();
        let worth = |mv: &&G::Move| {
            let mut child = position.clone();
            child.play(**mv);
            let score = -judge.score(&judge.step(&state, position, **mv), &child);
            (position.exchange(**mv, 0), score)
        };
        moves.iter().max_by_key(worth).map_or(Packed::NONE, |&mv| position.pack(mv))
    }

    /// The table that all thinkers share.
    pub fn table(&self) -> &TranspositionTable {
        &self.table
    }
}

/// The cores of this machine.
pub fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// As [`game::Visitor`](zeitnot_rules::Visitor), for those who also need the engine.
pub trait PlayVisitor {
    /// What the visit returns.
    type Out;
    /// Runs with the type of the game.
    fn visit<G: Playable>(self) -> Self::Out;
}

macro_rules! with_game {
    ($($id:ident => $ty:ty),* $(,)?) => {
        /// Runs a visitor with the type of this game.
        pub fn with_game<V: PlayVisitor>(id: GameKind, visitor: V) -> V::Out {
            match id { $(GameKind::$id => visitor.visit::<$ty>()),* }
        }
    };
}
for_each_game!(with_game);
