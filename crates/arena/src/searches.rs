//! Searches for tables: a bounded number at once, behind every other thread of the program.
//!
//! A search waits for its turn, and those that wait make the others shorter, so that a full house of tables gets its
//! moves in time, only weaker.

use std::{
    any::Any,
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    sync::{
        Arc, Mutex, PoisonError,
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
    Config, EngineFactory, Limits, OutOfMemory, PlayVisitor, Playable, Progress, cores,
    driver::{SearchEvent, SearchRequest, SearchThread},
    priority::Granted,
    time::{Budget, Clock, Reserve},
    with_game,
};
use zeitnot_rules::{DynGame, GameHistory, GameKind};
use zeitnot_web::play::{Finding, Found, RunningClock, Searcher, Strength};

/// Size of the transposition table that all tables share.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// Searches at once: as many as half of the cores, …
const CORES_PER_SEARCH: usize = 2;
/// … and no more than this.
const MAX_SEARCHES: usize = 4;
/// A search is not cut shorter than this, however many wait.
const MIN_TIME: Duration = Duration::from_millis(20);
/// Time of a clock that is kept for the way of the move.
const RESERVE: Reserve = Reserve { lag: Duration::from_millis(50), measured: true };
/// Time for a stopped search to end: on a busy machine it waits for a core.
const GRACE: Duration = Duration::from_millis(500);
/// Longest variation that is told.
const MAX_PV: usize = 16;

/// Runs the searches for people, by our engine.
#[derive(Clone)]
pub struct Searches(Arc<Shared>);

struct Shared {
    factory: EngineFactory,
    places: Semaphore,
    max: usize,
    /// Searches that run or wait.
    wanted: AtomicUsize,
    /// Threads between two searches, at most as many as places for each type of game.
    idle: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl fmt::Debug for Searches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Searches({} at once)", self.0.max)
    }
}

impl Searches {
    /// Creates the table that all searches share.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new() -> Result<Searches, OutOfMemory> {
        let config = Config { hash_mib: HASH_MIB, ..Config::default() };
        // At low priority: a tournament's game, or another program, goes first.
        let factory = EngineFactory::new(&config)?.behind(Granted::Usual);
        let max = (cores().get() / CORES_PER_SEARCH).clamp(1, MAX_SEARCHES);
        let (places, wanted) = (Semaphore::new(max), AtomicUsize::new(0));
        Ok(Searches(Arc::new(Shared { factory, places, max, wanted, idle: Mutex::default() })))
    }

    fn take<G: Playable>(&self) -> SearchThread<G> {
        let mut idle = self.idle();
        let at = idle.iter().position(|thread| thread.is::<SearchThread<G>>());
        let thread = at.and_then(|at| idle.swap_remove(at).downcast::<SearchThread<G>>().ok());
        drop(idle);
        thread.map_or_else(|| SearchThread::new(self.0.factory.clone()), |thread| *thread)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Any + Send>>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Searcher for Searches {
    fn find(
        &self,
        kind: GameKind,
        game: &DynGame,
        strength: Strength,
        clock: Option<RunningClock>,
        stop: CancellationToken,
    ) -> Finding {
        let find = Find { game, strength, clock, searches: self.clone(), stop };
        with_game(kind, find).unwrap_or_else(|| Box::pin(async { None }))
    }
}

struct Find<'g> {
    game: &'g DynGame,
    strength: Strength,
    clock: Option<RunningClock>,
    searches: Searches,
    stop: CancellationToken,
}

impl PlayVisitor for Find<'_> {
    type Out = Option<Finding>;

    fn visit<G: Playable>(self, _start: G) -> Option<Finding> {
        let game = self.game.history::<G>()?.clone();
        let Find { strength, clock, searches, stop, .. } = self;
        Some(Box::pin(async move {
            let wanted = Wanted::new(&searches.0);
            let place = stop.run_until_cancelled(searches.0.places.acquire()).await?.ok()?;
            let time = wanted.share_of(strength.time);
            let found = search(&searches, game, strength, budget(time, clock), &stop).await;
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

fn budget(time: Duration, clock: Option<RunningClock>) -> Budget {
    match clock {
        Some(RunningClock { left, increment, at }) => {
            let left = left.saturating_sub(at.elapsed());
            Clock { left, increment, moves_to_go: None }.budget(RESERVE).capped(time)
        }
        None => Budget { soft: time / 2, hard: time },
    }
}

async fn search<G: Playable>(
    searches: &Searches,
    game: GameHistory<G>,
    strength: Strength,
    budget: Budget,
    stop: &CancellationToken,
) -> Option<Found> {
    let (began, position) = (Instant::now(), game.now().clone());
    let hard = began + budget.hard;
    let request = SearchRequest {
        game,
        limits: Limits {
            depth: strength.depth,
            nodes: strength.nodes,
            hard: Some(hard.into_std()),
            multipv: NonZeroU16::new(strength.candidates),
            ..Limits::default()
        },
        fallback: searches.0.factory.fallback_move(&position),
        started_at: began.into_std(),
        budget: Some(budget),
    };
    // The lines of the last iteration, best first.
    let lines: Arc<Mutex<Vec<Progress<G>>>> = Arc::default();
    let (to_us, mut ended) = mpsc::channel(1);
    let observed = lines.clone();
    let mut thread = searches.take::<G>();
    let handle = thread.search(request, move |event| match event {
        SearchEvent::Progress(progress) => {
            let mut lines = observed.lock().unwrap_or_else(PoisonError::into_inner);
            if progress.multipv == 1 {
                lines.clear();
            }
            lines.push(progress.clone());
        }
        SearchEvent::Ended(_) => {
            let _ = to_us.try_send(Instant::now());
        }
    });
    let at = select! {
        at = ended.recv() => at.unwrap_or_else(Instant::now),
        () = sleep_until(hard + GRACE) => Instant::now(),
        () = stop.cancelled() => began,
    };
    let best = handle.best();
    drop(handle);
    searches.idle().push(Box::new(thread));
    if stop.is_cancelled() {
        return None;
    }
    let lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
    let random = || i32::from(fastrand::u16(..=strength.noise));
    let chosen = lines.iter().max_by_key(|line| line.score.get() + random());
    let usual = || Some(position.write(position.unpack(best.mv)?).to_string());
    // A search that was aborted in its last iteration may know better than that of the last one.
    let first = chosen.filter(|_| strength.candidates > 1).and_then(|line| line.pv.first().copied());
    let text = first.map(|mv| position.write(mv).to_string()).or_else(usual)?;
    let told = chosen.filter(|line| line.pv.first().is_some_and(|&mv| position.write(mv).as_str() == text));
    Some(Found {
        text,
        score: told.map_or(best.score, |line| line.score).into(),
        depth: told.map_or(best.depth, |line| line.depth),
        nodes: lines.last().map_or(0, |line| line.nodes),
        time: lines.last().map_or(Duration::ZERO, |line| line.time),
        pv: told.map(|line| variation(position, &line.pv)).unwrap_or_default(),
        at,
    })
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
    use zeitnot_web::play::Level;
    use zeitnot_wire::uci::UciScore;

    use super::*;

    async fn find(kind: GameKind, fen: Option<&str>, level: u8) -> Option<Found> {
        let searches = Searches::new().unwrap();
        let game = DynGame::begin(kind, fen).unwrap();
        let strength = Level::try_from(level).unwrap().strength();
        searches.find(kind, &game, strength, None, CancellationToken::new()).await
    }

    #[test]
    async fn every_game_gets_a_legal_move_of_every_level() {
        for (at, &kind) in GameKind::ALL.iter().enumerate() {
            let level = u8::try_from(at % 6).unwrap() + 1;
            let found = find(kind, None, level).await.unwrap();
            let game = DynGame::begin(kind, None).unwrap();
            assert!(game.read(&found.text).is_ok(), "{} {found:?}", kind.name());
        }
    }

    #[test]
    async fn a_strong_level_mates_and_tells_how() {
        let fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
        let found = find(GameKind::Chess, Some(fen), 8).await.unwrap();
        assert_eq!((found.text.as_str(), found.score), ("a1a8", UciScore::Mate(1)));
        assert_eq!(found.pv[0], ("a1a8".to_owned(), "Ra8#".to_owned()));
    }

    #[test]
    async fn a_search_that_nobody_wants_ends_at_once() {
        let searches = Searches::new().unwrap();
        let game = DynGame::begin(GameKind::Chess, None).unwrap();
        let (stop, strength) = (CancellationToken::new(), Level::try_from(8).unwrap().strength());
        let finding = searches.find(GameKind::Chess, &game, strength, None, stop.clone());
        stop.cancel();
        assert!(finding.await.is_none());
        assert_eq!(searches.0.wanted.load(Relaxed), 0);
    }

    #[test]
    async fn those_that_wait_make_each_search_shorter() {
        let searches = Searches::new().unwrap();
        let one = Wanted::new(&searches.0);
        let second = Duration::from_secs(1);
        assert_eq!(one.share_of(second), second);
        let more: Vec<_> = (0..4 * searches.0.max).map(|_| Wanted::new(&searches.0)).collect();
        assert_eq!(one.share_of(second), second / 5);
        assert_eq!(one.share_of(Duration::from_millis(21)), MIN_TIME);
        drop(more);
        assert_eq!(one.share_of(second), second);
    }

    #[test]
    async fn a_clock_bounds_the_time_of_a_move() {
        let (time, at) = (Duration::from_secs(2), Instant::now());
        let clock =
            |millis| RunningClock { left: Duration::from_millis(millis), increment: Duration::ZERO, at };
        assert!(budget(time, Some(clock(1000))).hard < Duration::from_millis(500));
        assert_eq!(budget(time, Some(clock(10_000_000))).hard, time);
        assert_eq!(budget(time, None).hard, time);
    }
}
