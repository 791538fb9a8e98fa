//! Run of one seed: its random numbers, its virtual time, its mutant, and the record of its steps and checks.

use std::{fmt, ops::Range, time::Duration};

use fastrand::Rng;

use super::law::{Law, Mutant, Planted};

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) law: &'static str,
    pub(crate) what: String,
}

/// Result of what checks laws: an error is the first that is broken.
pub(crate) type Checked<T = ()> = Result<T, Broken>;

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) rng: Rng,
    /// Time since the start.
    pub(crate) now: Duration,
    pub(crate) planted: Planted,
    /// `None` where nobody reads them, as most of the time would go into them.
    lines: Option<Vec<String>>,
    pub(crate) steps: u64,
    pub(crate) checks: u64,
}

impl Run {
    pub(crate) fn new(seed: u64, planted: Planted) -> Run {
        // Ids of games and the jitter of back-offs come from the thread's generator.
        fastrand::seed(seed);
        let rng = Rng::with_seed(seed);
        Run { rng, now: Duration::ZERO, planted, lines: None, steps: 0, checks: 0 }
    }

    /// Creates a run whose history is written.
    pub(crate) fn written(seed: u64, planted: Planted) -> Run {
        Run { lines: Some(Vec::new()), ..Run::new(seed, planted) }
    }

    pub(crate) fn has(&self, mutant: &Mutant) -> bool {
        self.planted.is(mutant)
    }

    /// Returns a random time of whole seconds.
    pub(crate) fn secs(&mut self, range: Range<u64>) -> Duration {
        Duration::from_secs(self.rng.u64(range.start..range.end.max(range.start + 1)))
    }

    /// Returns a random time of whole milliseconds.
    pub(crate) fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range))
    }

    /// Returns true once in so many times.
    pub(crate) fn one_in(&mut self, times: u32) -> bool {
        self.rng.u32(..times) == 0
    }

    /// Returns one of these, if there are any.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.rng.usize(..items.len().max(1)))
    }

    /// Counts a step of the state machine, and writes it.
    pub(crate) fn step(&mut self, what: fmt::Arguments<'_>) {
        self.steps += 1;
        self.note(what);
    }

    /// Writes something that happens in the world.
    pub(crate) fn note(&mut self, what: fmt::Arguments<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{:>12.3} {what}", self.now.as_secs_f64()));
        }
    }

    /// Checks a law. `what` says how it is broken.
    ///
    /// # Errors
    /// If it does not hold.
    pub(crate) fn check(&mut self, law: &Law, holds: bool, what: impl FnOnce() -> String) -> Checked {
        self.checks += 1;
        if holds || !self.planted.concerns(law.name) {
            return Ok(());
        }
        Err(Broken { law: law.name, what: what() })
    }

    /// Checks a law, which an error breaks.
    ///
    /// # Errors
    /// If it does not hold.
    pub(crate) fn check_ok<T>(
        &mut self,
        law: &Law,
        result: Result<T, impl fmt::Display>,
    ) -> Checked<Option<T>> {
        let error = result.as_ref().err().map(ToString::to_string);
        self.check(law, error.is_none(), || error.unwrap_or_default())?;
        Ok(result.ok())
    }

    pub(crate) fn lines(&self) -> &[String] {
        self.lines.as_deref().unwrap_or_default()
    }
}
