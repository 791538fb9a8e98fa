//! Runs seeds on all cores.

use std::{
    any::Any,
    num::NonZeroUsize,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::{
    law::Planted,
    run::{Broken, Checked, Run},
    subject::Subject,
};

/// Name of the law that a panic breaks.
const NO_PANIC: &str = "no-panic";

/// Seeds that a thread takes at once.
const CHUNK: u64 = 16;

/// Result of many seeds.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    pub(crate) run: u64,
    pub(crate) steps: u64,
    pub(crate) checks: u64,
    /// The first seed that broke a law.
    pub(crate) broken: Option<(u64, Broken)>,
}

impl Seeds {
    fn add(&mut self, other: Seeds) {
        self.run += other.run;
        self.steps += other.steps;
        self.checks += other.checks;
        let broken = self.broken.take().into_iter().chain(other.broken);
        self.broken = broken.min_by_key(|(seed, _)| *seed);
    }
}

/// Runs one seed. A panic breaks a law, too.
pub(crate) fn run_seed(subject: &Subject, mut run: Run) -> (Run, Checked) {
    let result = catch_unwind(AssertUnwindSafe(|| (subject.run)(&mut run)));
    let result = result.unwrap_or_else(|panic| Err(Broken { law: NO_PANIC, what: message(panic.as_ref()) }));
    let planted = run.planted;
    (run, result.or_else(|broken| if planted.concerns(broken.law) { Err(broken) } else { Ok(()) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without text".to_owned())
}

/// Runs seeds in order, on all cores, up to the first one that breaks a law: any law, or that of the mutant.
pub(crate) fn run_seeds(subject: &Subject, planted: Planted, seeds: Range<u64>) -> Seeds {
    let next = AtomicU64::new(seeds.start);
    let first_broken = AtomicU64::new(u64::MAX);
    let total = Mutex::new(Seeds::default());
    let work = || {
        let mut mine = Seeds::default();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            // Earlier seeds than a broken one are all taken, and still run.
            if start >= seeds.end || start > first_broken.load(Ordering::Relaxed) {
                break;
            }
            for seed in start..(start + CHUNK).min(seeds.end) {
                let (run, result) = run_seed(subject, Run::new(seed, planted));
                let broken = result.err().map(|broken| (seed, broken));
                if broken.is_some() {
                    first_broken.fetch_min(seed, Ordering::Relaxed);
                }
                mine.add(Seeds { run: 1, steps: run.steps, checks: run.checks, broken });
            }
        }
        total.lock().unwrap_or_else(PoisonError::into_inner).add(mine);
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{super::law::laws, *};

    laws! {
        EVEN "even": "the number is even" {
            ODD "odd": "adds one to the seeds above 100";
        }
    }

    fn double(run: &mut Run) -> Checked {
        let seed = run.rng.get_seed();
        assert!(seed != 3_000, "a panic");
        let number = 2 * seed + u64::from(run.has(&ODD) && seed > 100);
        run.step(format_args!("{number}"));
        run.check(&EVEN, number.is_multiple_of(2), || format!("{number}"))
    }

    #[test]
    fn the_first_broken_seed_is_found() {
        let subject = Subject { name: "doubling", laws: LAWS, run: double };
        let clean = run_seeds(&subject, Planted::default(), 0..1_000);
        assert_eq!((clean.run, clean.steps, clean.checks, clean.broken), (1_000, 1_000, 1_000, None));
        let broken = run_seeds(&subject, subject.mutants().next().unwrap(), 0..1_000).broken;
        assert_eq!(broken, Some((101, Broken { law: "even", what: "203".into() })));
        let panicked = run_seeds(&subject, Planted::default(), 2_990..3_010).broken;
        assert_eq!(panicked, Some((3_000, Broken { law: "no-panic", what: "a panic".into() })));
    }
}
