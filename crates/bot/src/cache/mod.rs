//! Moves by position: what was found before need not be searched again.
//!
//! The hot part is in memory, and all that a move waits for; [`store`] keeps it on the disk, behind. Whether
//! a move may be played without a search is said in [`verdict`], and what is kept of one in [`entry`].

use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::sync::oneshot;

use zeitnot_engine::{Best, Playable, Score};
use zeitnot_rules::{GameHistory, GameKind, Packed};

mod entry;
mod store;
mod verdict;

use entry::Entry;
use store::{At, Store};
use verdict::{Present, Reason, Verdict};

/// The `[cache]` table of the configuration.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where moves and measured lags are kept between runs; empty: nowhere.
    pub file: PathBuf,
    /// The size of the part in memory, in MiB; 0: no cache.
    pub memory_mib: usize,
    /// Moves on the disk; where there are more, the oldest go.
    pub disk_entries: u64,
    /// A move is played at once if it was found with at least this part of the effort that the present
    /// budget would buy.
    pub effort: Effort,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            file: "zeitnot.redb".into(),
            memory_mib: 16,
            disk_entries: 1_000_000,
            effort: Effort::default(),
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { file, memory_mib, .. } = self;
        match (memory_mib, file.as_os_str().is_empty()) {
            (0, _) => write!(f, "none"),
            (_, true) => write!(f, "{memory_mib} MiB in memory, nothing on the disk"),
            (_, false) => write!(f, "{memory_mib} MiB in memory, more in {}", file.display()),
        }
    }
}

/// A part of an effort: at least 0; above 1 more is asked for than a search would give.
#[derive(Copy, Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Effort(f64);

/// A number that is no [`Effort`].
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0} is no part of an effort: expected a number from 0 to 1000")]
pub struct BadEffort(f64);

impl Default for Effort {
    fn default() -> Self {
        Effort(0.5)
    }
}

impl TryFrom<f64> for Effort {
    type Error = BadEffort;
    fn try_from(part: f64) -> Result<Self, BadEffort> {
        if (0.0..=1000.0).contains(&part) { Ok(Effort(part)) } else { Err(BadEffort(part)) }
    }
}

impl Effort {
    /// The part of this price.
    fn of(self, price: u64) -> u64 {
        (price as f64 * self.0) as u64
    }
}

/// What a search found in a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The move.
    pub mv: Packed,
    /// What it is worth to the side to move.
    pub score: Score,
    /// In plies.
    pub depth: u16,
    /// The nodes that its time bought.
    pub effort: u64,
}

impl Found {
    /// As it stands in a decision.
    pub fn best(&self) -> Best {
        Best { mv: self.mv, score: self.score, depth: self.depth }
    }
}

/// What the cache makes of a position.
#[derive(Debug)]
pub enum Advice {
    /// Play this at once.
    Play(Found),
    /// Look at this first.
    Seed(Found),
    /// Nothing is in memory, but something may be on the disk.
    Later(Lookup),
    /// Nothing is known.
    Nothing,
}

/// The disk is looked at.
#[derive(Debug)]
pub struct Lookup {
    answer: oneshot::Receiver<Option<Entry>>,
    at: At,
    shared: Arc<Shared>,
}

impl Lookup {
    /// Waits for the disk. When it is true, there is something in memory now: consult again. Cancel safe.
    pub async fn done(&mut self) -> bool {
        let Ok(Some(entry)) = (&mut self.answer).await else { return false };
        self.shared.memory.insert(self.at, entry);
        true
    }
}

/// See the module's comment. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// `None`: remembers nothing.
    shared: Option<Arc<Shared>>,
    /// The engine that plays now.
    engine: u64,
    /// What earlier runs knew of servers.
    lags: Arc<Vec<(String, Vec<u8>)>>,
}

#[derive(Debug)]
struct Shared {
    effort: Effort,
    memory: quick_cache::sync::Cache<At, Entry>,
    /// Entries that the memory has room for, about.
    capacity: usize,
    /// Empty: nothing is kept on the disk.
    store: OnceLock<Store>,
    /// Does the disk know more than the memory?
    more_on_disk: AtomicBool,
    counts: Counts,
}

/// What an entry takes in memory: 72 bytes in its slot, half of that again for what the map remembers of
/// entries that had to go, and its place in the index. Reckoned, not measured.
const ENTRY_BYTES: usize = 112;

impl Cache {
    /// Remembers nothing.
    pub fn off() -> Cache {
        Cache::default()
    }

    /// Opens the file and begins to read it. What cannot be used is reported and left out.
    pub fn open(config: &Config, engine: u64) -> Cache {
        if config.memory_mib == 0 {
            return Cache::off();
        }
        let capacity = config.memory_mib.saturating_mul(1 << 20) / ENTRY_BYTES;
        let on_disk = !config.file.as_os_str().is_empty();
        let opened = on_disk.then(|| store::open(&config.file)).flatten();
        let (database, lags) = opened.map_or((None, Vec::new()), |o| (Some(o.database), o.lags));
        let shared = Arc::new(Shared {
            effort: config.effort,
            memory: quick_cache::sync::Cache::new(capacity),
            capacity,
            more_on_disk: AtomicBool::new(false),
            store: OnceLock::new(),
            counts: Counts::default(),
        });
        if let Some(database) = database {
            shared.start_store(database, config.disk_entries);
        }
        Cache { shared: Some(shared), engine, lags: Arc::new(lags) }
    }

    /// The same, as another engine sees it.
    pub fn seen_by(&self, engine: u64) -> Cache {
        Cache { engine, ..self.clone() }
    }

    /// What to make of this position with a budget that buys so many nodes.
    pub fn consult<G: Playable>(&self, line: &GameHistory<G>, price: u64) -> Advice {
        let Some(shared) = &self.shared else { return Advice::Nothing };
        let at = (line.now().kind().name(), line.now().key().0);
        let Some(entry) = shared.memory.get(&at) else { return shared.clone().miss(at) };
        let present = Present { engine: self.engine, effort: shared.effort.of(price) };
        let verdict = verdict::judge(&entry, line, present);
        shared.counts.count(verdict);
        tracing::debug!(?verdict, depth = entry.found.depth, effort = entry.found.effort, price, "cache");
        match verdict {
            Verdict::Play => Advice::Play(entry.found),
            Verdict::Seed(_) => Advice::Seed(entry.found),
            Verdict::Ignore(_) => Advice::Nothing,
        }
    }

    /// The move to play at once in this position, with a budget that buys so many nodes.
    pub fn known<G: Playable>(&self, line: &GameHistory<G>, price: u64) -> Option<Best> {
        match self.consult(line, price) {
            Advice::Play(found) => Some(found.best()),
            Advice::Seed(_) | Advice::Later(_) | Advice::Nothing => None,
        }
    }

    /// Keeps what was found at the end of this line, unless the same engine has found something with more
    /// effort before, or what was found may owe something to how the line came there.
    pub fn keep<G: Playable>(&self, line: &GameHistory<G>, found: Found) {
        let Some(shared) = &self.shared else { return };
        let now = line.now();
        if line.repetitions() > 0 || now.reversible_plies() > verdict::FAR_FROM_FIFTY {
            return;
        }
        let at = (now.kind().name(), now.key().0);
        let hours = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 3600);
        let entry = Entry { found, engine: self.engine, hour: u32::try_from(hours).unwrap_or(u32::MAX) };
        let known = shared.memory.get(&at);
        if known.is_some_and(|known| known.engine == entry.engine && known.found.effort > found.effort) {
            return;
        }
        shared.memory.insert(at, entry);
        shared.mind_the_room();
        let kept = shared.store.get().is_none_or(|store| store.keep(at, entry));
        shared.counts.dropped.fetch_add(u64::from(!kept), Relaxed);
    }

    /// What earlier runs have learned of servers, as [`ServerLag::summary`](super::lag::ServerLag::summary)
    /// told it.
    pub fn lags(&self) -> &[(String, Vec<u8>)] {
        &self.lags
    }

    /// Keeps what was learned of a server for the next run.
    pub fn keep_lag(&self, server: &str, summary: Vec<u8>) {
        if let Some(store) = self.store() {
            store.keep_lag(server, summary);
        }
    }

    /// Writes what still waits to be written; takes two seconds at most. To be called where that may block.
    pub fn close(&self) {
        if let Some(store) = self.store() {
            store.close();
        }
    }

    fn store(&self) -> Option<&Store> {
        self.shared.as_ref()?.store.get()
    }

    /// Is what it holds kept on the disk?
    pub fn is_on_disk(&self) -> bool {
        self.store().is_some()
    }

    /// How it has served, for the log; `None` if there is none.
    pub fn report(&self) -> Option<String> {
        self.shared.as_ref().map(|shared| shared.counts.to_string())
    }
}

impl Shared {
    /// What has no room in memory is still on the disk.
    fn mind_the_room(&self) {
        if self.store.get().is_some() && self.memory.len() >= self.capacity / 8 * 7 {
            self.more_on_disk.store(true, Relaxed);
        }
    }

    /// Starts the thread of the database, which first reads into memory what fits.
    fn start_store(self: &Arc<Self>, database: redb::Database, most: u64) {
        let mut room = self.capacity;
        // The thread must not keep alive who keeps it alive.
        let (reads, ends) = (Arc::downgrade(self), Arc::downgrade(self));
        let load = move |game: &str, key: u64, entry: Entry| {
            let (Some(shared), Ok(game)) = (reads.upgrade(), game.parse::<GameKind>()) else { return true };
            let at = (game.name(), key);
            // What was found since the start is newer.
            if shared.memory.get(&at).is_none() {
                shared.memory.insert(at, entry);
            }
            room = room.saturating_sub(1);
            room > 0
        };
        let loaded = move |all: bool| {
            if let Some(shared) = ends.upgrade() {
                shared.more_on_disk.store(!all, Relaxed);
                shared.mind_the_room();
            }
        };
        self.more_on_disk.store(true, Relaxed);
        match Store::start(database, most, load, loaded) {
            Ok(store) => drop(self.store.set(store)),
            Err(error) => tracing::warn!("no thread for the cache: {error}; playing from memory"),
        }
    }

    fn miss(self: Arc<Self>, at: At) -> Advice {
        self.counts.misses.fetch_add(1, Relaxed);
        let store = self.store.get().filter(|_| self.more_on_disk.load(Relaxed));
        match store.and_then(|store| store.look_up(at)) {
            Some(answer) => Advice::Later(Lookup { answer, at, shared: self }),
            None => Advice::Nothing,
        }
    }
}

/// How the cache has served.
#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    /// Entries that only seeded a search, or were of no use, by [`Reason`].
    refused: [AtomicU64; Reason::ALL.len()],
    /// Not written, because too much waited for the disk.
    dropped: AtomicU64,
}

impl Counts {
    fn count(&self, verdict: Verdict) {
        let counter = match verdict {
            Verdict::Play => &self.hits,
            Verdict::Seed(reason) | Verdict::Ignore(reason) => &self.refused[reason as usize],
        };
        counter.fetch_add(1, Relaxed);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hits, misses) = (self.hits.load(Relaxed), self.misses.load(Relaxed));
        write!(f, "cache: {hits} moves played at once, {misses} positions unknown")?;
        for reason in Reason::ALL {
            match self.refused[reason as usize].load(Relaxed) {
                0 => {}
                refused => write!(f, ", {refused} not played ({reason})")?,
            }
        }
        match self.dropped.load(Relaxed) {
            0 => Ok(()),
            dropped => write!(f, ", {dropped} not written"),
        }
    }
}
