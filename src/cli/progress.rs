//! Long work: its progress bar, and how Ctrl-C ends it with what it has.

use std::{
    fmt,
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use zeitnot_engine::StopFlag;

use super::{CliError, signals};

/// Template of a bar with a message.
pub(super) const STEPS: &str = "{wide_bar} {pos}/{len} {elapsed} {msg}";

/// Work that shows its progress, and that the first Ctrl-C ends after the present step. The second one ends the process.
pub(super) struct Work {
    pub(super) bar: ProgressBar,
    pub(super) stop: Arc<StopFlag>,
}

impl Work {
    /// Begins work of this many steps. The template is one of indicatif's.
    pub(super) fn begin(steps: u64, template: &str) -> Result<Work, CliError> {
        Ok(Work { stop: signals::stop_flag(signals::ENDING)?, bar: bar(steps, template) })
    }

    /// Returns whether to end with what is there.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }
}

/// Says of work that a signal ended how far it came. After SIGTERM that is an error, so that a scheduler does not take
/// the work for done.
pub(super) fn continues(so_far: fmt::Arguments<'_>) -> Result<(), CliError> {
    let told = format!("{so_far}; the same command continues");
    if signals::is_terminated() {
        return Err(CliError::Terminated(told));
    }
    // Even if stderr is closed, the work is there.
    let _ = writeln!(io::stderr(), "{told}");
    Ok(())
}

/// A progress bar on stderr, if it is a terminal. The template is one of indicatif's.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
