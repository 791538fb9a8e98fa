//! Notifications to systemd: that the program is ready, what it does, and that it is not hung (sd_notify(3)).
//!
//! A thread of its own sends them, as a busy service manager may make it wait.

#[cfg(not(target_os = "linux"))]
use tokio_util::sync::CancellationToken;

use super::Health;
use crate::cli::CliError;

#[cfg(target_os = "linux")]
pub(in crate::cli) use linux::Notifier;

/// Variables of the service manager, which are not for child processes.
pub(super) const VARIABLES: [&str; 4] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY"];

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        env,
        sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
        thread,
        time::Duration,
    };

    use sd_notify::NotifyState;
    use tokio_util::sync::CancellationToken;
    use zeitnot_engine::priority;

    use super::{CliError, Health, VARIABLES};
    use crate::cli::io_error;

    /// Interval at which the status line is looked at.
    const STATUS_INTERVAL: Duration = Duration::from_secs(1);

    /// Thread that notifies systemd until this is dropped.
    pub(in crate::cli) struct Notifier {
        _running: SyncSender<()>,
    }

    impl Notifier {
        /// Tells systemd that the program is ready, and then what it does. Returns `None` if systemd does not listen.
        pub(in crate::cli::service) fn start(
            health: Health,
            status: impl Fn() -> String + Send + 'static,
            stopping: CancellationToken,
        ) -> Result<Option<Notifier>, CliError> {
            if env::var_os(VARIABLES[0]).is_none() {
                return Ok(None);
            }
            let (running, ended) = sync_channel(0);
            let thread = thread::Builder::new().name("systemd".into());
            let started = thread.spawn(move || {
                priority::usual();
                notify(&health, status, &stopping, &ended);
            });
            started.map_err(io_error("cannot start the thread that notifies systemd"))?;
            Ok(Some(Notifier { _running: running }))
        }
    }

    impl Drop for Notifier {
        fn drop(&mut self) {
            send(&[NotifyState::Stopping]);
        }
    }

    fn notify(
        health: &Health,
        status: impl Fn() -> String,
        stopping: &CancellationToken,
        ended: &Receiver<()>,
    ) {
        let watchdog = sd_notify::watchdog_enabled();
        // Three signs of life in the time that systemd waits for one.
        let interval = watchdog.map_or(STATUS_INTERVAL, |limit| (limit / 3).min(STATUS_INTERVAL));
        let mut shown = status();
        let mut is_stopping = false;
        send(&[NotifyState::Ready, NotifyState::Status(&shown)]);
        while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            if watchdog.is_some_and(|limit| health.is_alive_within(limit / 3)) {
                send(&[NotifyState::Watchdog]);
            }
            if stopping.is_cancelled() && !std::mem::replace(&mut is_stopping, true) {
                send(&[NotifyState::Stopping]);
            }
            let now = status();
            if now != shown {
                send(&[NotifyState::Status(&now)]);
                shown = now;
            }
        }
    }

    fn send(states: &[NotifyState<'_>]) {
        if let Err(error) = sd_notify::notify(states) {
            tracing::debug!("cannot notify systemd: {error}");
        }
    }
}

/// Other systems have no systemd.
#[cfg(not(target_os = "linux"))]
pub(in crate::cli) struct Notifier;

#[cfg(not(target_os = "linux"))]
impl Notifier {
    pub(super) fn start(
        _: Health,
        _: impl Fn() -> String + Send,
        _: CancellationToken,
    ) -> Result<Option<Notifier>, CliError> {
        Ok(None)
    }
}
