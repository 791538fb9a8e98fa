//! Ctrl-C and SIGTERM: the first one finishes the games, the second one leaves them.

use std::io;

use tracing::info;

use zeitnot_clients::Shutdown;

/// Where a command finishes what it has begun.
pub const FINISHING: &str = "leaving when the running games are over; once more to leave at once";

/// Listens from now on, also before the future is first polled, and until there is nothing more to stop.
///
/// `first` is what the user is told at the first one.
///
/// # Errors
/// The operating system lends no ear. To be called within a runtime.
pub fn watch(shutdown: Shutdown, first: &'static str) -> io::Result<impl Future<Output = ()> + Send> {
    let mut signals = Signals::new()?;
    let now = shutdown.now.clone();
    let asked = async move {
        signals.next().await;
        info!("{first}");
        shutdown.soon.cancel();
        signals.next().await;
        info!("leaving at once");
        shutdown.now.cancel();
    };
    Ok(async move {
        now.run_until_cancelled(asked).await;
    })
}

/// The two signals, each as often as it comes.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C, as often as it comes.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub fn new() -> io::Result<Signals> {
        Ok(Signals)
    }

    pub async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
