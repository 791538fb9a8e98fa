//! Threads that help a search, kept between searches: starting one takes as long as a hundred nodes.

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::STACK_SIZE;

/// Helper threads of one search; they start when they are first wanted.
pub(super) struct Helpers {
    most: usize,
    pool: Option<ThreadPool>,
}

impl Helpers {
    /// At most so many threads.
    pub(super) fn new(most: usize) -> Self {
        Helpers { most, pool: None }
    }

    /// Runs `main` on this thread and `help` with each of `shares` on a thread of its own. Returns when all have ended.
    ///
    /// Where the system refuses the threads nobody helps.
    pub(super) fn run<D: Send, T>(
        &mut self,
        shares: &mut [D],
        help: impl Fn(&mut D) + Sync,
        main: impl FnOnce() -> T,
    ) -> T {
        debug_assert!(shares.len() <= self.most);
        if shares.is_empty() {
            return main();
        }
        if self.pool.is_none() {
            let builder = ThreadPoolBuilder::new().num_threads(self.most).stack_size(STACK_SIZE);
            self.pool = builder.thread_name(|_| "search".into()).build().ok();
        }
        let Some(pool) = &self.pool else { return main() };
        let help = &help;
        pool.in_place_scope(|scope| {
            for share in shares {
                scope.spawn(move |_| help(share));
            }
            main()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::Barrier,
        thread::{self, ThreadId},
    };

    use super::*;

    #[test]
    fn the_same_threads_help_again_all_at_once() {
        let mut helpers = Helpers::new(3);
        let mut run = |count: usize| {
            let mut ids = vec![None::<ThreadId>; count];
            // Passed only if all run at the same time.
            let all = Barrier::new(count + 1);
            let help = |id: &mut Option<ThreadId>| {
                all.wait();
                *id = Some(thread::current().id());
            };
            helpers.run(&mut ids, help, || all.wait());
            ids.sort_by_key(|id| format!("{id:?}"));
            ids
        };
        let first = run(3);
        assert!(first.iter().all(|id| id.is_some_and(|id| id != thread::current().id())));
        assert_eq!(run(3), first);
        assert!(run(2).iter().all(|id| first.contains(id)));
        assert!(run(0).is_empty());
    }
}
