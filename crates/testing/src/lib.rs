//! Time limits of tests; what several crates' tests share: waiting, signals, missing programs.
//!
//! A crate whose root says `#[cfg(test)] #[macro_use] extern crate zeitnot_testing;` gets this crate's `#[test]` instead
//! of the standard one. Each of its tests has a time limit, also an async one, which needs no other attribute. A
//! watchdog thread enforces the limit: it names the test and what it waits for, shows the last output of the test's
//! processes, kills them, and lets the test fail. A test that does not end even then ends the program.
//!
//! Processes that a test leaves behind are killed as it ends (on Linux, by the list of children that the kernel keeps
//! for each thread). So no test needs a guard against its own failure, and waits need no time limits of their own.

mod installed;
mod processes;
mod signals;
mod wait;
mod watchdog;

use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{Either, select};
pub use zeitnot_testing_macros::test;

pub use crate::{
    installed::{has_engine, has_program, is_installed},
    signals::{send_signal, signal_group},
    wait::{as_time_passes, soon, until, wait_for},
    watchdog::{shows, waits_for},
};

/// The time limit of most tests.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Of tests that play games, start many programs or try many cases.
pub const LONG: Duration = Duration::from_secs(120);
/// Of tests that drive a browser, or compile.
pub const VERY_LONG: Duration = Duration::from_secs(600);
/// Of tests that `scripts/soak` runs.
pub const SOAK: Duration = Duration::from_secs(4 * 3600);

/// The test program whose tests run one at a time: they measure time, or need much of the machine.
const ALONE: &str = "alone";

/// Arguments of `#[test]`.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// The time limit, without the time that a test waits for another one to end.
    pub limit: Duration,
    /// Whether time stands still, and leaps to the next timer when all tasks wait. Of async tests.
    pub start_paused: bool,
    /// Threads of an async test; 0 runs all its tasks on the thread of the test.
    pub workers: usize,
}

impl Options {
    /// What a test has that names nothing else.
    pub const DEFAULT: Options = Options { limit: LIMIT, start_paused: false, workers: 0 };
}

/// Runs a test. `program` is the crate that it belongs to.
pub fn run<T>(program: &str, options: Options, test: impl FnOnce() -> T) -> T {
    let _turn = turn(program);
    let watched = watchdog::watch(options.limit);
    let _processes = watched.processes();
    test()
}

/// Runs an async test in a runtime of its own.
pub fn block_on<T>(program: &str, options: Options, test: impl Future<Output = T>) -> T {
    let _turn = turn(program);
    let watched = watchdog::watch(options.limit);
    let runtime = watched.runtime(options);
    let expired = watched.expired();
    let _processes = watched.processes();
    runtime.block_on(async move {
        match select(pin!(test), expired).await {
            Either::Left((output, _)) => output,
            Either::Right((report, _)) => panic!("{}", report.unwrap_or_default()),
        }
    })
}

/// Waits until no other test of the program runs, if it is the one where they run one at a time.
fn turn(program: &str) -> Option<impl Drop> {
    static TURN: Mutex<()> = Mutex::new(());
    (program == ALONE).then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}
