//! History of one seed: its steps, the laws that were checked, and its lines where somebody reads them.

use std::{fmt, time::Duration};

use super::law::Law;

/// Of a state machine that panics.
pub(crate) const NO_PANIC: Law = Law { name: "no-panic", text: "nothing panics, whatever comes" };

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) law: &'static str,
    pub(crate) what: String,
}

/// Steps of one seed.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Written only for a reader, as most of the time would go into them.
    lines: Option<Vec<String>>,
    steps: u64,
    checks: u64,
    /// The only law that can be broken, where a mutant is planted to break it.
    focus: Option<&'static str>,
}

impl History {
    /// A history with lines.
    pub(crate) fn written() -> History {
        History { lines: Some(Vec::new()), ..History::default() }
    }

    /// Lets no other law than that of the mutant be broken: a mutant may break many.
    pub(crate) fn focus(&mut self, law: &'static Law) {
        self.focus = Some(law.name);
    }

    /// Counts a step of the state machine, and writes it.
    pub(crate) fn step(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        self.steps += 1;
        self.note(at, what);
    }

    /// Writes something that happens in the world. `at` is the virtual time since the start.
    pub(crate) fn note(&mut self, at: Duration, what: fmt::Arguments<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{:>12.3} {what}", at.as_secs_f64()));
        }
    }

    /// Checks a law. `what` says how it is broken.
    ///
    /// # Errors
    /// If it does not hold.
    pub(crate) fn check(
        &mut self,
        law: &'static Law,
        holds: bool,
        what: impl FnOnce() -> String,
    ) -> Result<(), Broken> {
        self.checks += 1;
        let is_ignored = self.focus.is_some_and(|focus| focus != law.name);
        if holds || is_ignored { Ok(()) } else { Err(Broken { law: law.name, what: what() }) }
    }

    pub(crate) fn lines(&self) -> &[String] {
        self.lines.as_deref().unwrap_or_default()
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn checks(&self) -> u64 {
        self.checks
    }
}
