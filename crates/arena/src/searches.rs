//! Searches of the arena's own: for tables and analysis, and for the players that it provides in tournaments. A bounded
//! number at once, behind every other thread of the program.
//!
//! A search waits for its turn, and those that wait make the others shorter, so that many tables at once get their moves
//! in time, only weaker.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    select,
    sync::{Semaphore, mpsc},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use zeitnot_engine::{
    BuiltIn, Clocks, EngineFactory, Limits, OutOfMemory, PlayVisitor, Playable, Progress, Score, cores,
    driver::{SearchEvent, SearchRequest, SearchThread},
    priority::Granted,
    time::{Budget, Clock, Reserve},
    with_game,
};
use zeitnot_net::wait::until;
use zeitnot_rules::{Color, DynGame, GameHistory, GameKind};
use zeitnot_web::play::{Finding, Found};

/// Searches at once: as many as half of the cores, …
const CORES_PER_SEARCH: usize = 2;
/// … and no more than this.
const MAX_SEARCHES: usize = 4;
/// A search is not cut shorter than this, however many wait.
const MIN_TIME: Duration = Duration::from_millis(20);
/// Longest search of a built-in player, which its nodes end much sooner.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(2);
/// Time of a clock that is kept for the way of the move.
const RESERVE: Reserve = Reserve { lag: Duration::from_millis(50), measured: true };
/// Time for a stopped search to end, which waits for a core on a busy machine. At most an eighth of the clock.
const GRACE: Duration = Duration::from_millis(500);
/// Longest variation that is told.
const MAX_PV: usize = 16;

/// Engine of the arena, and its threads between two searches.
pub(crate) struct SearchEngine {
    factory: EngineFactory,
    /// At most as many as places for each type of game.
    idle: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl fmt::Debug for SearchEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SearchEngine({})", self.factory.name())
    }
}

impl SearchEngine {
    pub(crate) fn new(factory: EngineFactory) -> Arc<SearchEngine> {
        // At low priority: a tournament's game, or another program, goes first.
        let factory = factory.behind(Granted::Usual);
        Arc::new(SearchEngine { factory, idle: Mutex::default() })
    }

    /// Starts a thread for the next search, and the process of an external engine.
    pub(crate) fn prepare(&self, kind: GameKind) {
        if self.idle().is_empty() {
            with_game(kind, Prepare(self));
        }
    }

    /// Ends the idle threads, and the processes of an external engine with them.
    pub(crate) fn rest(&self) {
        let idle = std::mem::take(&mut *self.idle());
        drop(idle);
    }

    fn take<G: Playable>(&self) -> SearchThread<G> {
        let mut idle = self.idle();
        let at = idle.iter().position(|thread| thread.is::<SearchThread<G>>());
        let thread = at.and_then(|at| idle.swap_remove(at).downcast::<SearchThread<G>>().ok());
        drop(idle);
        thread.map_or_else(|| SearchThread::new(self.factory.clone()), |thread| *thread)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Prepare<'e>(&'e SearchEngine);

impl PlayVisitor for Prepare<'_> {
    type Out = ();

    fn visit<G: Playable>(self, _start: G) {
        let thread = SearchThread::<G>::started(self.0.factory.clone());
        self.0.idle().push(Box::new(thread));
    }
}

/// Bounds the number of searches.
#[derive(Clone)]
pub(crate) struct Searches(Arc<Shared>);

struct Shared {
    places: Semaphore,
    max: usize,
    /// Searches that run or wait.
    wanted: AtomicUsize,
}

impl fmt::Debug for Searches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Searches({} at once)", self.0.max)
    }
}

impl Default for Searches {
    fn default() -> Searches {
        let max = (cores().get() / CORES_PER_SEARCH).clamp(1, MAX_SEARCHES);
        Searches(Arc::new(Shared { places: Semaphore::new(max), max, wanted: AtomicUsize::new(0) }))
    }
}

impl Searches {
    /// Finds a move in at most this time, unless `stop` is cancelled before. `None` too where the engine has none to give.
    pub(crate) fn find(
        &self,
        (engine, time): (&Arc<SearchEngine>, Duration),
        game: &DynGame,
        clocks: Option<Clocks>,
        stop: CancellationToken,
    ) -> Finding {
        let find = Find { game, engine: engine.clone(), time, clocks, searches: self.clone(), stop };
        with_game(game.kind(), find).unwrap_or_else(|| Box::pin(async { None }))
    }
}

struct Find<'g> {
    game: &'g DynGame,
    engine: Arc<SearchEngine>,
    time: Duration,
    clocks: Option<Clocks>,
    searches: Searches,
    stop: CancellationToken,
}

impl PlayVisitor for Find<'_> {
    type Out = Option<Finding>;

    fn visit<G: Playable>(self, _start: G) -> Option<Finding> {
        let game = self.game.history::<G>()?.clone();
        let Find { engine, time, clocks, searches, stop, .. } = self;
        Some(Box::pin(async move {
            let wanted = Wanted::new(&searches.0);
            let side = game.now().side_to_move();
            // A longer wait would lose on time.
            let last = clocks.map(|clocks| Instant::now() + budget(Duration::MAX, clocks, side).hard);
            let place = select! {
                place = searches.0.places.acquire() => place.ok()?,
                () = until(last) => return unsearched(&engine, game.now()),
                () = stop.cancelled() => return None,
            };
            let time = wanted.share_of(time);
            let budget = match clocks {
                Some(clocks) => budget(time, clocks, side),
                None => Budget { soft: time / 2, hard: time },
            };
            let grace = clocks.map_or(GRACE, |clocks| GRACE.min(clocks.left[side] / 8));
            // By its clock, an engine would plan with more time.
            let clocks = clocks.filter(|_| budget.hard < time);
            let found = search(&engine, game, clocks, budget, grace, &stop).await;
            drop(place);
            found
        }))
    }
}

/// A search that runs or waits.
struct Wanted<'s>(&'s Shared);

impl Wanted<'_> {
    fn new(shared: &Shared) -> Wanted<'_> {
        shared.wanted.fetch_add(1, Relaxed);
        Wanted(shared)
    }

    /// Returns the time for a search when as many are wanted as now.
    fn share_of(&self, time: Duration) -> Duration {
        let rounds = self.0.wanted.load(Relaxed).div_ceil(self.0.max).max(1);
        (time / u32::try_from(rounds).unwrap_or(u32::MAX)).max(MIN_TIME)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.wanted.fetch_sub(1, Relaxed);
    }
}

fn budget(time: Duration, clocks: Clocks, side: Color) -> Budget {
    let Clocks { left, increment, moves_to_go, read_at } = clocks;
    let left = left[side].saturating_sub(read_at.elapsed());
    Clock { left, increment, moves_to_go }.budget(RESERVE).capped(time)
}

/// Move that is played without a search.
fn unsearched<G: Playable>(engine: &SearchEngine, position: &G) -> Option<Found> {
    let mv = position.unpack(engine.factory.fallback_move(position))?;
    let (text, score, time) = (position.write(mv).to_string(), Score::ZERO.into(), Duration::ZERO);
    Some(Found { text, score, depth: 0, nodes: 0, time, pv: Vec::new(), at: Instant::now() })
}

async fn search<G: Playable>(
    engine: &SearchEngine,
    game: GameHistory<G>,
    clocks: Option<Clocks>,
    budget: Budget,
    grace: Duration,
    stop: &CancellationToken,
) -> Option<Found> {
    let (began, position) = (Instant::now(), game.now().clone());
    let hard = began + budget.hard;
    let request = SearchRequest {
        game,
        limits: Limits { hard: Some(hard.into_std()), clocks, ..Limits::default() },
        fallback: engine.factory.fallback_move(&position),
        started_at: began.into_std(),
        budget: Some(budget),
    };
    // The last iteration.
    let told: Arc<Mutex<Option<Progress<G>>>> = Arc::default();
    let (to_us, mut ended) = mpsc::channel(1);
    let observed = told.clone();
    let mut thread = engine.take::<G>();
    let handle = thread.search(request, move |event| match event {
        SearchEvent::Progress(progress) => {
            *observed.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress.clone());
        }
        SearchEvent::Ended(_) => {
            let _ = to_us.try_send(Instant::now());
        }
    });
    let at = select! {
        at = ended.recv() => at.unwrap_or_else(Instant::now),
        () = sleep_until(hard + grace) => Instant::now(),
        () = stop.cancelled() => began,
    };
    let best = handle.best();
    drop(handle);
    engine.idle().push(Box::new(thread));
    if stop.is_cancelled() {
        return None;
    }
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).take();
    let text = position.write(position.unpack(best.mv)?).to_string();
    let is_best =
        |progress: &&Progress<G>| progress.pv.first().is_some_and(|&mv| position.pack(mv) == best.mv);
    Some(Found {
        text,
        score: best.score.into(),
        depth: best.depth,
        nodes: told.as_ref().map_or(0, |told| told.nodes),
        time: told.as_ref().map_or(Duration::ZERO, |told| told.time),
        pv: told
            .as_ref()
            .filter(is_best)
            .map(|told| variation(position.clone(), &told.pv))
            .unwrap_or_default(),
        at,
    })
}

/// The built-in players that are used, made when they are needed first.
#[derive(Debug, Default)]
pub(crate) struct BuiltInEngines(Mutex<BTreeMap<BuiltIn, Arc<SearchEngine>>>);

impl BuiltInEngines {
    pub(crate) fn get(&self, player: BuiltIn) -> Result<Arc<SearchEngine>, OutOfMemory> {
        let mut engines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engines.get(&player) {
            return Ok(engine.clone());
        }
        let engine = SearchEngine::new(EngineFactory::new(&player.config())?);
        engines.insert(player, engine.clone());
        Ok(engine)
    }
}

/// Writes the moves of a variation.
fn variation<G: Playable>(mut position: G, moves: &[G::Move]) -> Vec<(String, String)> {
    let mut written = Vec::new();
    for &mv in moves.iter().take(MAX_PV) {
        written.push((position.write(mv).to_string(), position.san(mv)));
        position.play(mv);
    }
    written
}

#[cfg(test)]
mod tests {
    use tokio::join;
    use zeitnot_engine::{Config, Fault, Kind};
    use zeitnot_rules::ByColor;

    use super::*;

    #[test]
    async fn a_search_that_nobody_wants_ends_at_once() {
        let (searches, stop) = (Searches::default(), CancellationToken::new());
        let engine = BuiltInEngines::default().get(BuiltIn::AlphaBeta3).unwrap();
        let game = DynGame::begin(GameKind::Chess, None).unwrap();
        let finding = searches.find((&engine, MAX_TIME), &game, None, stop.clone());
        stop.cancel();
        assert!(finding.await.is_none());
        assert_eq!(searches.0.wanted.load(Relaxed), 0);
    }

    #[test]
    async fn those_that_wait_make_each_search_shorter() {
        let searches = Searches::default();
        let one = Wanted::new(&searches.0);
        let second = Duration::from_secs(1);
        assert_eq!(one.share_of(second), second);
        let more: Vec<_> = (0..4 * searches.0.max).map(|_| Wanted::new(&searches.0)).collect();
        assert_eq!(one.share_of(second), second / 5);
        assert_eq!(one.share_of(Duration::from_millis(21)), MIN_TIME);
        drop(more);
        assert_eq!(one.share_of(second), second);
    }

    fn clocks(millis: u64) -> Clocks {
        let (left, read_at) = (ByColor([Duration::from_millis(millis); 2]), Instant::now().into_std());
        Clocks { left, increment: Duration::ZERO, moves_to_go: None, read_at }
    }

    #[test]
    async fn a_clock_bounds_the_time_of_a_move() {
        let time = Duration::from_secs(2);
        assert!(budget(time, clocks(1000), Color::White).hard < Duration::from_millis(500));
        assert_eq!(budget(time, clocks(10_000_000), Color::White).hard, time);
    }

    #[test(start_paused = true)]
    async fn a_search_that_does_not_end_leaves_time_on_the_clock() {
        let config = Config { kind: Kind::Faulty(Fault::Hangs), ..Config::default() };
        let engine = SearchEngine::new(EngineFactory::new(&config).unwrap());
        let (game, began) = (DynGame::begin(GameKind::Chess, None).unwrap(), Instant::now());
        let stop = CancellationToken::new();
        let finding = Searches::default().find((&engine, MAX_TIME), &game, Some(clocks(400)), stop);
        let took = finding.await.unwrap().at - began;
        assert!(took < Duration::from_millis(100), "{took:?}");
    }

    #[test]
    async fn a_search_waits_for_its_place_as_long_as_the_clock_allows() {
        let (searches, game) = (Searches::default(), DynGame::begin(GameKind::Chess, None).unwrap());
        let all = searches.0.places.acquire_many(u32::try_from(searches.0.max).unwrap()).await.unwrap();
        let engine = BuiltInEngines::default().get(BuiltIn::AlphaBeta3).unwrap();
        let (time, stop) = (Duration::from_millis(500), CancellationToken::new());
        let free_at = Instant::now() + time * 3 / 2;
        let finding = searches.find((&engine, time), &game, Some(clocks(900_000)), stop);
        let free = async {
            sleep_until(free_at).await;
            drop(all);
        };
        assert!(join!(finding, free).0.unwrap().at >= free_at);
    }

    #[test]
    async fn a_search_that_gets_no_place_gives_a_move_before_the_clock_runs_out() {
        let (searches, game) = (Searches::default(), DynGame::begin(GameKind::Chess, None).unwrap());
        let _all = searches.0.places.acquire_many(u32::try_from(searches.0.max).unwrap()).await.unwrap();
        let engine = BuiltInEngines::default().get(BuiltIn::Random).unwrap();
        let finding = searches.find((&engine, MAX_TIME), &game, Some(clocks(500)), CancellationToken::new());
        assert_eq!(finding.await.unwrap().depth, 0);
    }
}
