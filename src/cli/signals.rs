//! Ctrl-C and SIGTERM: the first one lets the games end, the second one leaves them, as SIGQUIT does at once.

use std::{
    io::{self, IsTerminal, Write},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::runtime;
use tracing::info;

use zeitnot_clients::Shutdown;
use zeitnot_engine::StopFlag;

use super::{CliError, io_error};

/// Message at the first signal, if the running games are finished.
pub(super) const FINISHING: &str = "finishing the running games; press Ctrl-C again to leave now";

/// Listens from now on, also before the future is first polled, until `shutdown.now`. `first` is logged at the first
/// signal. Must be called within a runtime.
pub(super) fn watch(
    shutdown: Shutdown,
    first: &'static str,
) -> Result<impl Future<Output = ()> + Send, CliError> {
    let mut signals = Signals::new()?;
    let now = shutdown.now.clone();
    let asked = async move {
        if signals.next().await != Signal::Quit {
            info!("{first}");
            shutdown.soon.cancel();
            signals.next().await;
        }
        info!("leaving at once");
        shutdown.now.cancel();
    };
    Ok(async move {
        now.run_until_cancelled(asked).await;
    })
}

/// Exit code of a process that Ctrl-C ended, as shells report it.
const INTERRUPTED: i32 = 130;
/// Exit code of a process that SIGTERM ended.
pub(super) const TERMINATED_CODE: u8 = 143;

/// Message at the first signal, for work that ends with what it has.
pub(super) const ENDING: &str = "ending with the results so far; press Ctrl-C again to end now\n";

/// Whether the signal that raised a flag was SIGTERM.
static TERMINATED: AtomicBool = AtomicBool::new(false);

/// Returns whether SIGTERM ended the work, as from a scheduler that needs the machine.
pub(super) fn is_terminated() -> bool {
    TERMINATED.load(Ordering::Relaxed)
}

/// Returns a flag that the first signal raises, for work without a runtime; `first` is written to stderr then. The second
/// signal ends the process.
pub(super) fn stop_flag(first: &'static str) -> Result<Arc<StopFlag>, CliError> {
    let failed = io_error("cannot listen for signals");
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(&failed)?;
    let flag = Arc::new(StopFlag::default());
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let raised = flag.clone();
    let wait = async move {
        if let Signal::Terminate = signals.next().await {
            TERMINATED.store(true, Ordering::Relaxed);
        }
        raised.stop();
        // Even if stderr is closed, the flag is raised.
        let _ = io::stderr().write_all(first.as_bytes());
        signals.next().await;
        process::exit(INTERRUPTED)
    };
    thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(wait)).map_err(failed)?;
    Ok(flag)
}

/// Signal that asks the program to end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "there is only Ctrl-C"))]
pub(super) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
    /// SIGQUIT, with which a service manager restarts the program: games are left, to be taken up again.
    Quit,
}

#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on.
    pub(super) fn new() -> Result<Signals, CliError> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(io_error("cannot listen for signals"));
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            quit: listen(SignalKind::quit())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.quit.recv() => Signal::Quit,
        }
    }
}

/// Hangups (SIGHUP): orders to read the configuration again, or the end of the terminal.
pub(super) struct Hangups {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
    had_terminal: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Hangup {
    /// Somebody wants the configuration to be read again.
    Reload,
    TerminalGone,
}

impl Hangups {
    /// Listens from now on.
    pub(super) fn new() -> Result<Hangups, CliError> {
        Ok(Hangups {
            #[cfg(unix)]
            signals: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())
                .map_err(io_error("cannot listen for signals"))?,
            had_terminal: io::stderr().is_terminal(),
        })
    }

    /// Waits for the next one; forever where the system has none. Cancel safe.
    pub(super) async fn next(&mut self) -> Hangup {
        #[cfg(unix)]
        self.signals.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
        match self.had_terminal && !io::stderr().is_terminal() {
            true => Hangup::TerminalGone,
            false => Hangup::Reload,
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> Result<Signals, CliError> {
        Ok(Signals)
    }

    pub(super) async fn next(&mut self) -> Signal {
        let _ = tokio::signal::ctrl_c().await;
        Signal::Interrupt
    }
}
