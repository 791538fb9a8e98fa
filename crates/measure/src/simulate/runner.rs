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
    history::{Broken, History, NO_PANIC},
    law::Mutant,
    subject::Entry,
};

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

/// Runs one seed. A panic breaks a law, too. A mutant can break only its own law.
pub(crate) fn run_seed(
    subject: &Entry,
    seed: u64,
    mutant: Option<&'static Mutant>,
    history: &mut History,
) -> Result<(), Broken> {
    mutant.iter().for_each(|mutant| history.focus(mutant.law));
    let run = || (subject.run)(seed, mutant, history);
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(Broken { law: NO_PANIC.name, what: message(panic.as_ref()) }))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without text".to_owned())
}

/// Runs seeds in order, on all cores, up to the first one that breaks a law: any law, or that of the mutant.
pub(crate) fn run_seeds(subject: &Entry, mutant: Option<&'static Mutant>, seeds: Range<u64>) -> Seeds {
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
                let mut history = History::default();
                let result = run_seed(subject, seed, mutant, &mut history);
                let broken =
                    result.err().filter(|broken| mutant.is_none_or(|mutant| broken.law == mutant.law.name));
                if broken.is_some() {
                    first_broken.fetch_min(seed, Ordering::Relaxed);
                }
                let (steps, checks) = (history.steps(), history.checks());
                mine.add(Seeds { run: 1, steps, checks, broken: broken.map(|broken| (seed, broken)) });
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
    use std::time::Duration;

    use super::{
        super::{law::Law, subject::Subject},
        *,
    };

    const EVEN: Law = Law { name: "even", text: "the number is even" };
    const ODD: Mutant = Mutant { name: "odd", text: "adds one to the seeds above 100", law: &EVEN };

    struct Doubling;

    impl Subject for Doubling {
        const NAME: &'static str = "doubling";
        const LAWS: &'static [&'static Law] = &[&EVEN];
        const MUTANTS: &'static [&'static Mutant] = &[&ODD];

        fn run(seed: u64, mutant: Option<&'static Mutant>, history: &mut History) -> Result<(), Broken> {
            assert!(seed != 3_000, "a panic");
            let number = 2 * seed + u64::from(mutant.is_some() && seed > 100);
            history.step(Duration::ZERO, format_args!("{number}"));
            history.check(&EVEN, number.is_multiple_of(2), || format!("{number}"))
        }
    }

    #[test]
    fn the_first_broken_seed_is_found() {
        let subject = Entry::of::<Doubling>();
        let clean = run_seeds(&subject, None, 0..1_000);
        assert_eq!((clean.run, clean.steps, clean.checks, clean.broken), (1_000, 1_000, 1_000, None));
        let broken = run_seeds(&subject, Some(&ODD), 0..1_000).broken;
        assert_eq!(broken, Some((101, Broken { law: "even", what: "203".into() })));
        let panicked = run_seeds(&subject, None, 2_990..3_010).broken;
        assert_eq!(panicked, Some((3_000, Broken { law: "no-panic", what: "a panic".into() })));
    }
}
