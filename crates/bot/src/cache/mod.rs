//! Cache of moves by position: what was found before need not be searched again.
//!
//! Lookups use the part in memory; [`store`] writes it to disk in the background, and [`shared`] to a server. [`verdict`]
//! decides whether a move may be played without a search, [`learning`] takes the results of games into account.

use std::{
    fmt,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use zeitnot_engine::{Best, Playable, Score};
use zeitnot_rules::{GameHistory, GameKind, Key, Packed};
use zeitnot_settings::{HumanTime, settings, shown};

mod learning;
pub(crate) mod metrics;
mod shared;
mod store;
mod verdict;

use learning::Losses;
pub(crate) use learning::{Lesson, PlayedMove};
pub use shared::{BadSharedPrefix, BadSharedUrl, SharedPrefix, SharedUrl};
use shared::{SharedCache, SharedCounts, SharedKey};
use store::{PositionKey, Store};
use verdict::{Reason, Requirement, Verdict};

/// In seconds.
const DAY: u64 = 86_400;

settings! {
    /// Moves and lags that are kept.
    pub struct Config {
        /// File that keeps moves and measured lags between runs; "": none. Each program needs a file of its own.
        file: PathBuf = "zeitnot.redb".into(),
        /// Size of the part in memory, in MiB; 0: no cache.
        memory_mib: usize = 16,
        /// Maximum number of moves in the file; the oldest are removed.
        max_disk_entries: u64 = 1_000_000,
        /// Minimum effort of a move that is played at once, as a share of the nodes that a search would have now.
        #[schemars(range(min = 0, max = 1000))]
        min_effort: f64 = 0.5,
        /// A Redis or Valkey server by which bots share what they find: redis://host:port or, with TLS, rediss://host:port;
        /// "": none. A program from Cargo needs the feature `redis` for it; see docs/fleet.md.
        #[serde(deserialize_with = "shared::url")]
        #[schemars(with = "String", extend("default" = ""))]
        shared: Option<SharedUrl> = None,
        /// Private file with nothing but the server's password; or ZEITNOT_CACHE_PASSWORD in the environment.
        #[schemars(example = &"cache.password")]
        shared_password_file: Option<PathBuf> = None,
        /// Certificates (PEM) of the authorities that sign the server's, if the system does not know them.
        #[schemars(example = &"ca.pem")]
        shared_ca_file: Option<PathBuf> = None,
        /// First part of the keys on the server.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        shared_prefix: SharedPrefix = SharedPrefix::default(),
        /// Time after which the server removes an entry that nobody stores again.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "1s", "x-max" = "3650days"))]
        shared_expiry: Duration = Duration::from_secs(30 * DAY),
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { file, memory_mib, .. } = self;
        match (memory_mib, file.as_os_str().is_empty()) {
            (0, _) => return write!(f, "none"),
            (_, true) => write!(f, "{memory_mib} MiB in memory, nothing on the disk")?,
            (_, false) => write!(f, "{memory_mib} MiB in memory, more in {}", file.display())?,
        }
        self.shared.as_ref().map_or(Ok(()), |server| write!(f, ", shared by {server}"))
    }
}

impl Config {
    /// Checks what is needed besides the table itself: files, and the environment.
    ///
    /// # Errors
    /// Line that says what to correct.
    pub fn check_shared(&self) -> Result<(), String> {
        SharedCache::check(self)
    }
}

/// Result of a search of a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CachedMove {
    /// The move.
    pub mv: Packed,
    /// Score for the side to move.
    pub score: Score,
    /// Depth in plies.
    pub depth: u16,
    /// Nodes that the search had, or would have had in the time that was left.
    pub effort: u64,
}

impl CachedMove {
    pub(crate) fn best(&self) -> Best {
        Best { mv: self.mv, score: self.score, depth: self.depth }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Entry {
    cached: CachedMove,
    /// Fingerprint of the engine that found it.
    engine: u64,
    losses: Losses,
    /// Time in hours since 1970.
    hour: u32,
}

/// Answer of the cache for a position.
#[derive(Debug)]
pub enum CacheAnswer {
    /// Play this at once.
    Play(CachedMove),
    /// Search this first.
    Hint(CachedMove),
    /// Nothing is in memory, but something may be on disk or in the shared cache.
    Pending(CacheLookup),
    /// Nothing is known.
    Unknown,
}

/// A lookup on disk and, where the file does not know the position, in the shared cache.
pub struct CacheLookup(Pin<Box<dyn Future<Output = bool> + Send>>);

impl CacheLookup {
    /// Waits for the answers. If it returns true, the position is in memory now: look it up again. Cancel safe.
    pub async fn done(&mut self) -> bool {
        self.0.as_mut().await
    }
}

impl fmt::Debug for CacheLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CacheLookup").finish_non_exhaustive()
    }
}

/// Place of a position in the cache.
pub(crate) struct CacheSlot {
    key: PositionKey,
    /// Whether the value of the position may depend on the moves that led to it.
    depends_on_history: bool,
}

impl CacheSlot {
    pub(crate) fn of<G: Playable>(history: &GameHistory<G>) -> CacheSlot {
        let now = history.now();
        let near_fifty = now.reversible_plies() > verdict::FAR_FROM_FIFTY;
        let depends_on_history = near_fifty || history.repetitions() > 0;
        CacheSlot { key: (now.kind().name(), now.table_key().0), depends_on_history }
    }

    pub(crate) fn key(&self) -> Key {
        Key(self.key.1)
    }
}

/// Cache of moves by position. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// `None`: the cache is off.
    levels: Option<Arc<Levels>>,
    /// Fingerprint of the engine that plays.
    engine: u64,
    /// Lags of servers that earlier runs have stored.
    lags: Arc<Vec<(String, Vec<u8>)>>,
}

#[derive(Debug)]
struct Levels {
    min_effort: f64,
    memory: quick_cache::sync::Cache<PositionKey, Entry>,
    /// Approximate number of entries in memory.
    capacity: usize,
    /// Empty: there is no file.
    store: OnceLock<Store>,
    /// Whether entries on disk may be missing in memory.
    more_on_disk: AtomicBool,
    shared: Option<SharedCache>,
    counts: Arc<Counts>,
}

/// Estimated size of an entry in memory: 72 bytes in its slot, half of that again for the map's ghosts of evicted
/// entries, and its place in the index.
const ENTRY_BYTES: usize = 112;

impl Cache {
    /// Opens the file and starts to read it. An unusable file is reported, and not used. `engine`: fingerprint of the
    /// engine that plays.
    pub fn open(config: &Config, engine: u64) -> Cache {
        if config.memory_mib == 0 {
            return Cache::default();
        }
        let capacity = config.memory_mib.saturating_mul(1 << 20) / ENTRY_BYTES;
        let on_disk = !config.file.as_os_str().is_empty();
        let opened = on_disk.then(|| store::open(&config.file)).flatten();
        let (database, lags) = opened.unzip();
        let counts = Arc::default();
        let levels = Arc::new(Levels {
            min_effort: config.min_effort,
            memory: quick_cache::sync::Cache::new(capacity),
            capacity,
            more_on_disk: AtomicBool::new(false),
            store: OnceLock::new(),
            shared: SharedCache::start(config, &counts),
            counts,
        });
        if let Some(database) = database {
            levels.start_store(database, config.max_disk_entries);
        }
        Cache { levels: Some(levels), engine, lags: Arc::new(lags.unwrap_or_default()) }
    }

    pub(crate) fn with_engine(&self, engine: u64) -> Cache {
        Cache { engine, ..self.clone() }
    }

    /// Looks the last position up. `nodes`: what a search would have in the time for the move, which is `time`.
    pub fn look_up<G: Playable>(&self, history: &GameHistory<G>, nodes: u64, time: Duration) -> CacheAnswer {
        let Some(levels) = &self.levels else { return CacheAnswer::Unknown };
        let key = (history.now().kind().name(), history.now().table_key().0);
        let Some(entry) = levels.memory.get(&key) else {
            return levels.clone().miss(SharedKey { position: key, engine: self.engine }, time);
        };
        let min_effort = (nodes as f64 * levels.min_effort) as u64;
        let verdict = verdict::judge(&entry, history, Requirement { engine: self.engine, min_effort });
        levels.counts.count(verdict);
        let CachedMove { depth, effort, .. } = entry.cached;
        tracing::debug!(?verdict, depth, effort, nodes, "cache");
        match verdict {
            Verdict::Play => CacheAnswer::Play(entry.cached),
            Verdict::Hint(_) => CacheAnswer::Hint(entry.cached),
            Verdict::Ignore(reason) => {
                if reason == Reason::Illegal {
                    // Whatever a search finds replaces it.
                    levels.memory.remove(&key);
                }
                CacheAnswer::Unknown
            }
        }
    }

    /// Stores the result of a search of the last position, unless the same engine has searched it with more effort, or
    /// its value may depend on the history.
    pub fn insert<G: Playable>(&self, history: &GameHistory<G>, cached: CachedMove) {
        self.insert_at(&CacheSlot::of(history), cached);
    }

    pub(crate) fn insert_at(&self, slot: &CacheSlot, cached: CachedMove) {
        let Some(levels) = self.levels.as_ref().filter(|_| !slot.depends_on_history) else { return };
        let key = slot.key;
        let known = levels.memory.get(&key).filter(|known| known.engine == self.engine);
        if known.is_some_and(|known| known.cached.effort > cached.effort) {
            return;
        }
        let losses = known.map(|known| known.losses).unwrap_or_default();
        levels.insert(key, Entry { cached, engine: self.engine, losses, hour: this_hour() });
    }

    /// Returns the lags of servers that earlier runs have stored.
    pub fn lags(&self) -> &[(String, Vec<u8>)] {
        &self.lags
    }

    /// Stores the lag of a server for the next run.
    pub fn store_lag(&self, server: &str, summary: Vec<u8>) {
        if let Some(store) = self.store() {
            store.insert_lag(server, summary);
        }
    }

    /// Writes what is queued. Blocks for up to three seconds.
    pub fn close(&self) {
        if let Some(store) = self.store() {
            store.close();
        }
        if let Some(shared) = self.levels.as_ref().and_then(|levels| levels.shared.as_ref()) {
            shared.close();
        }
    }

    fn store(&self) -> Option<&Store> {
        self.levels.as_ref()?.store.get()
    }

    /// Returns whether there is a file.
    pub fn is_on_disk(&self) -> bool {
        self.store().is_some()
    }

    /// Returns statistics for the log; `None` if the cache is off.
    pub fn report(&self) -> Option<String> {
        self.levels.as_ref().map(|levels| levels.counts.to_string())
    }
}

impl Levels {
    /// Stores an entry in memory, in the file and in the shared cache. Losses are an account's own: others only lose
    /// the entry, and search anew.
    fn insert(&self, key: PositionKey, entry: Entry) {
        self.insert_here(key, entry);
        let Some(shared) = &self.shared else { return };
        let key = SharedKey { position: key, engine: entry.engine };
        if entry.is_refuted() {
            shared.remove(key);
        } else {
            shared.store(key, entry.cached);
        }
    }

    /// Stores an entry in memory and in the file.
    fn insert_here(&self, key: PositionKey, entry: Entry) {
        self.memory.insert(key, entry);
        self.check_room();
        let queued = self.store.get().is_none_or(|store| store.insert(key, entry));
        self.counts.dropped.fetch_add(u64::from(!queued), Relaxed);
    }

    /// Notes that entries may have been evicted from memory.
    fn check_room(&self) {
        if self.store.get().is_some() && self.memory.len() >= self.capacity / 8 * 7 {
            self.more_on_disk.store(true, Relaxed);
        }
    }

    /// Starts the thread of the database, which first fills the memory.
    fn start_store(self: &Arc<Self>, database: redb::Database, max_entries: u64) {
        let mut room = self.capacity;
        // Weak, as the thread must not keep its owner alive.
        let reads = Arc::downgrade(self);
        let ends = Arc::downgrade(self);
        let load = move |game: &str, key: u64, entry: Entry| {
            let (Some(levels), Ok(game)) = (reads.upgrade(), game.parse::<GameKind>()) else { return true };
            let key = (game.name(), key);
            // Entries since the start are newer.
            if levels.memory.get(&key).is_none() {
                levels.memory.insert(key, entry);
            }
            room = room.saturating_sub(1);
            room > 0
        };
        let loaded = move |all: bool| {
            if let Some(levels) = ends.upgrade() {
                levels.more_on_disk.store(!all, Relaxed);
                levels.check_room();
            }
        };
        self.more_on_disk.store(true, Relaxed);
        match Store::start(database, max_entries, load, loaded) {
            Ok(store) => drop(self.store.set(store)),
            Err(error) => {
                tracing::warn!(
                    "cannot start the thread of the cache: {error}; using the cache in memory only"
                );
            }
        }
    }

    /// Looks up elsewhere what is not in memory.
    fn miss(self: Arc<Self>, key: SharedKey, time: Duration) -> CacheAnswer {
        self.counts.misses.fetch_add(1, Relaxed);
        let store = self.store.get().filter(|_| self.more_on_disk.load(Relaxed));
        let on_disk = store.and_then(|store| store.look_up(key.position));
        let until = self.shared.as_ref().and_then(|shared| shared.wait_until(time));
        if on_disk.is_none() && until.is_none() {
            return CacheAnswer::Unknown;
        }
        CacheAnswer::Pending(CacheLookup(Box::pin(async move {
            if let Some(on_disk) = on_disk
                && let Ok(Some(entry)) = on_disk.await
            {
                self.memory.insert(key.position, entry);
                return true;
            }
            match until {
                Some(until) => self.ask_others(key, until).await,
                None => false,
            }
        })))
    }

    /// Looks a position up in the shared cache; returns whether it is in memory now.
    async fn ask_others(&self, key: SharedKey, until: Instant) -> bool {
        let Some(asked) = self.shared.as_ref().and_then(|shared| shared.look_up(key, until)) else {
            return false;
        };
        let Some(cached) = asked.await else { return false };
        let entry = Entry { cached, engine: key.engine, losses: Losses::default(), hour: this_hour() };
        // Another game may have found more meanwhile.
        let known = self.memory.get(&key.position).filter(|known| known.engine == key.engine);
        if known.is_none_or(|known| known.cached.effort < cached.effort) {
            self.insert_here(key.position, entry);
        }
        true
    }
}

fn this_hour() -> u32 {
    let hours = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 3600);
    u32::try_from(hours).unwrap_or(u32::MAX)
}

#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    /// Entries that were not played, by [`Reason`].
    refused: [AtomicU64; Reason::ALL.len()],
    /// Entries not written because the queue was full.
    dropped: AtomicU64,
    shared: SharedCounts,
}

impl Counts {
    fn count(&self, verdict: Verdict) {
        let counter = match verdict {
            Verdict::Play => &self.hits,
            Verdict::Hint(reason) | Verdict::Ignore(reason) => &self.refused[reason as usize],
        };
        counter.fetch_add(1, Relaxed);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hits = self.hits.load(Relaxed);
        let misses = self.misses.load(Relaxed);
        write!(f, "cache: {hits} moves played at once, {misses} positions unknown")?;
        for reason in Reason::ALL {
            match self.refused[reason as usize].load(Relaxed) {
                0 => {}
                refused => write!(f, ", {refused} not played ({reason})")?,
            }
        }
        match self.dropped.load(Relaxed) {
            0 => {}
            dropped => write!(f, ", {dropped} not written")?,
        }
        self.shared.fmt(f)
    }
}
