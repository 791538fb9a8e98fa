//! Ctrl-C and SIGTERM: the first one lets the games end, the second one leaves them.

use tracing::info;

use zeitnot_clients::Shutdown;

use super::{CliError, io_error};

/// Message at the first signal, if the running games are finished.
pub(super) const FINISHING: &str = "leaving when the running games are over; once more to leave at once";

/// Listens from now on, also before the future is first polled, until `shutdown.now`. `first` is logged at the first
/// signal. Must be called within a runtime.
pub(super) fn watch(
    shutdown: Shutdown,
    first: &'static str,
) -> Result<impl Future<Output = ()> + Send, CliError> {
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

#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
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
        })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
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

    pub(super) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
