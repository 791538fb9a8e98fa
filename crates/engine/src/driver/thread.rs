//! The thread of a thinker, for callers who cannot wait.

use std::{io, sync::Arc};

use super::{
    handle::{SearchEnd, SearchEvent, SearchHandle, SearchRequest},
    hang::{Clocks, SystemClocks, ThreadId},
    job::Job,
    mailbox::{Mailbox, Owner},
};
use crate::{
    factory::{EngineFactory, Playable},
    spawner::ThreadSpawner,
    thinker::Thinker,
};

/// Makes thinkers; called on the thread that they work on.
type MakeThinker<G> = Arc<dyn Fn() -> Box<dyn Thinker<G>> + Send + Sync>;

/// Runs the searches of one game, one at a time. Dropping it stops the current one.
pub struct SearchThread<G: Playable> {
    make_thinker: MakeThinker<G>,
    mailbox: Option<Arc<Mailbox<G>>>,
    spawner: ThreadSpawner,
    clocks: Arc<dyn Clocks>,
}

impl<G: Playable> SearchThread<G> {
    /// Creates the search thread of a game. The thread itself starts with the first search.
    pub fn new(factory: EngineFactory) -> Self {
        let spawner = factory.spawner();
        let make_thinker = move || {
            factory.enter_thread();
            factory.thinker()
        };
        SearchThread::with(make_thinker, spawner)
    }

    /// Creates the search thread of a game, and its thinker at once: an external engine may take long to start.
    pub fn started(factory: EngineFactory) -> Self {
        let mut thread = SearchThread::new(factory);
        // If there is no thread now, there may be one for the first search.
        let _ = thread.open_mailbox();
        thread
    }

    fn with(
        make_thinker: impl Fn() -> Box<dyn Thinker<G>> + Send + Sync + 'static,
        spawner: ThreadSpawner,
    ) -> Self {
        let make_thinker = Arc::new(make_thinker);
        SearchThread { make_thinker, mailbox: None, spawner, clocks: Arc::new(SystemClocks) }
    }

    /// Starts a search. One that still runs is stopped; one that waits is dropped.
    ///
    /// The search waits where too many threads hang already, and starts should one of them come back.
    pub fn search(
        &mut self,
        request: SearchRequest<G>,
        observe: impl Fn(SearchEvent<'_, G>) + Send + Sync + 'static,
    ) -> SearchHandle {
        let (job, handle) = Job::new(request, Box::new(observe));
        if self.mailbox.as_ref().is_some_and(|mailbox| mailbox.is_hung()) {
            self.abandon();
        }
        let refused = match &self.mailbox {
            Some(mailbox) => mailbox.put(job),
            None => Some(job),
        };
        if let Some(job) = refused {
            match self.open_mailbox() {
                // A thread that is gone already drops the job, which tells the observer.
                Ok(mailbox) => drop(mailbox.put(job)),
                Err(error) => tracing::error!(%error, "no thread for the search; playing without"),
            }
        }
        handle
    }

    /// Abandons a hung thread, unless there are too many of them.
    fn abandon(&mut self) {
        if !self.spawner.abandon_one() {
            tracing::error!("a search did not stop when told to, nor did others: playing without one");
            return;
        }
        tracing::error!(
            "a search did not stop when told to; its thread is abandoned and a new one takes over"
        );
        if let Some(mailbox) = self.mailbox.take() {
            mailbox.close(Owner::AbandonedUs);
        }
    }

    fn open_mailbox(&mut self) -> io::Result<&Mailbox<G>> {
        let mailbox = Arc::new(Mailbox::new(self.clocks.clone()));
        // The thread's end is dropped, too, where no thread comes to be.
        let reader = Reader(mailbox.clone());
        let (make_thinker, spawner) = (self.make_thinker.clone(), self.spawner.clone());
        self.spawner.spawn(move || {
            let (thread, mut thinker) = (ThreadId::current(), make_thinker());
            while let Some(job) = reader.0.take(&thread) {
                let end = job.run(&mut *thinker);
                if end == SearchEnd::Panicked {
                    thinker = make_thinker();
                }
                match reader.0.finish() {
                    Owner::Waits => job.ended(end),
                    Owner::IsGone => {}
                    Owner::AbandonedUs => spawner.one_came_back(),
                }
            }
        })?;
        Ok(self.mailbox.insert(mailbox))
    }
}

impl<G: Playable> Drop for SearchThread<G> {
    fn drop(&mut self) {
        if let Some(mailbox) = &self.mailbox {
            mailbox.close(Owner::IsGone);
        }
    }
}

/// The thread's end of a mailbox.
struct Reader<G: Playable>(Arc<Mailbox<G>>);

impl<G: Playable> Drop for Reader<G> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering::Relaxed},
            mpsc,
        },
        thread,
        time::{Duration, Instant},
    };

    use zeitnot_rules::{Game, GameHistory, Packed, chess::Chess};

    use super::*;
    use crate::{
        driver::hang::{TestClocks, WALL_LIMIT},
        faulty::{Fault, Faulty, LastMove},
        limits::Limits,
        spawner::MAX_ABANDONED,
    };

    const FALLBACK: Packed = Packed(1);

    fn last_move() -> Packed {
        let start = Chess::start();
        start.pack(start.moves()[19])
    }

    fn search(thread: &mut SearchThread<Chess>) -> (SearchHandle, mpsc::Receiver<SearchEnd>) {
        let (tell, told) = mpsc::channel();
        let request = SearchRequest {
            game: GameHistory::new(Chess::start()),
            limits: Limits::default(),
            fallback: FALLBACK,
            started_at: Instant::now(),
            budget: None,
        };
        let handle = thread.search(request, move |event| {
            if let SearchEvent::Ended(end) = event {
                tell.send(end).unwrap_or_default();
            }
        });
        (handle, told)
    }

    fn clocks(thread: &mut SearchThread<Chess>) -> Arc<TestClocks> {
        let clocks = Arc::<TestClocks>::default();
        thread.clocks = clocks.clone();
        clocks
    }

    /// Waits until a thinker has taken the search.
    fn begun(thread: &SearchThread<Chess>) {
        while thread.mailbox.as_ref().is_none_or(|mailbox| !mailbox.is_busy()) {
            thread::yield_now();
        }
    }

    /// A search thread whose first thinkers have this fault, and a count of all thinkers made.
    fn faulty(fault: Fault, count: usize) -> (SearchThread<Chess>, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = made.clone();
        let make = move || -> Box<dyn Thinker<Chess>> {
            if counter.fetch_add(1, Relaxed) < count { Box::new(Faulty(fault)) } else { Box::new(LastMove) }
        };
        (SearchThread::with(make, ThreadSpawner::default()), made)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_thinker_that_panics_is_replaced_and_its_move_stands() {
        let (mut thread, made) = faulty(Fault::Panics, 1);
        let (first, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Panicked));
        assert_eq!((first.best().mv, first.end()), (FALLBACK, Some(SearchEnd::Panicked)));
        let (second, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!((second.best().mv, made.load(Relaxed)), (last_move(), 2));
    }

    #[test]
    fn a_thinker_that_hangs_is_abandoned_also_by_searches_in_quick_succession() {
        let (mut thread, made) = faulty(Fault::Hangs, 1);
        let clocks = clocks(&mut thread);
        let (first, _) = search(&mut thread);
        begun(&thread);
        drop(first);
        for _ in 0..3 {
            clocks.pass(WALL_LIMIT / 4);
            drop(search(&mut thread));
        }
        assert_eq!(made.load(Relaxed), 1, "it may still come back");
        clocks.pass(WALL_LIMIT / 4);
        let (last, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!((last.best().mv, made.load(Relaxed)), (last_move(), 2));
    }

    #[test]
    fn the_next_search_after_a_while_gets_a_new_thread_at_once() {
        let (mut thread, _) = faulty(Fault::Hangs, 1);
        let clocks = clocks(&mut thread);
        let (first, told) = search(&mut thread);
        // The deadline: the caller reads the slot, stops the search, and goes on.
        assert_eq!(first.best().mv, FALLBACK);
        begun(&thread);
        drop(first);
        clocks.pass(WALL_LIMIT);
        let (second, second_told) = search(&mut thread);
        assert_eq!(second_told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!(second.best().mv, last_move());
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "the first still runs");
    }

    #[test]
    fn a_search_that_gets_no_core_keeps_its_thread() {
        let (mut thread, made) = faulty(Fault::Hangs, 1);
        let clocks = clocks(&mut thread);
        let (first, _) = search(&mut thread);
        begun(&thread);
        drop(first);
        clocks.pass(WALL_LIMIT / 2);
        let mailbox = thread.mailbox.clone().unwrap();
        drop(search(&mut thread));
        assert!(Arc::ptr_eq(&mailbox, thread.mailbox.as_ref().unwrap()), "it is not abandoned");
        // Now it runs, and still does not stop.
        clocks.work(WALL_LIMIT / 2);
        let (last, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!((last.best().mv, made.load(Relaxed)), (last_move(), 2));
    }

    #[test]
    fn a_search_stopped_just_now_is_not_hung_however_long_it_ran() {
        let (mut thread, made) = faulty(Fault::Silent, 1);
        let clocks = clocks(&mut thread);
        let (_first, told) = search(&mut thread);
        begun(&thread);
        clocks.pass(2 * WALL_LIMIT);
        clocks.work(2 * WALL_LIMIT);
        let (_second, _) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!(made.load(Relaxed), 1);
    }

    #[test]
    fn the_latest_search_replaces_the_one_that_waits() {
        let (mut thread, _) = faulty(Fault::Hangs, 1);
        let (_first, told) = search(&mut thread);
        begun(&thread);
        let (_second, replaced) = search(&mut thread);
        let (_third, waits) = search(&mut thread);
        assert_eq!(replaced.recv_timeout(LONG), Ok(SearchEnd::NotStarted));
        assert_ne!(waits.try_recv(), Ok(SearchEnd::NotStarted));
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "the first still runs");
    }

    #[test]
    fn only_a_few_threads_are_abandoned() {
        let (mut thread, made) = faulty(Fault::Hangs, 100);
        let clocks = clocks(&mut thread);
        for _ in 0..MAX_ABANDONED + 4 {
            let stopped = search(&mut thread);
            begun(&thread);
            drop(stopped);
            clocks.pass(WALL_LIMIT);
        }
        assert_eq!(made.load(Relaxed), MAX_ABANDONED + 1);
    }

    #[test]
    fn a_search_without_a_thread_ends_and_the_next_gets_one() {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = made.clone();
        // The first thread ends before it begins, as one that the system refuses after all.
        let make = move || -> Box<dyn Thinker<Chess>> {
            if counter.fetch_add(1, Relaxed) == 0 { panic!("no thinker today") } else { Box::new(LastMove) }
        };
        let mut thread = SearchThread::with(make, ThreadSpawner::default());
        let (first, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::NotStarted));
        assert_eq!(first.best().mv, FALLBACK);
        let (second, told) = search(&mut thread);
        assert_eq!(told.recv_timeout(LONG), Ok(SearchEnd::Finished));
        assert_eq!((second.best().mv, made.load(Relaxed)), (last_move(), 2));
    }

    #[test]
    fn an_abandoned_thread_that_comes_back_makes_room() {
        let (mut thread, _) = faulty(Fault::Deaf, MAX_ABANDONED + 1);
        let clocks = clocks(&mut thread);
        let is_found = (0..1000).any(|_| {
            let (handle, told) = search(&mut thread);
            let end = told.recv_timeout(Duration::from_millis(20));
            clocks.pass(WALL_LIMIT);
            end == Ok(SearchEnd::Finished) && handle.best().mv == last_move()
        });
        assert!(is_found);
    }
}
