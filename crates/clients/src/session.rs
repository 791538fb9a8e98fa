//! Session loop: connects to a server, and again after each lost connection, until told to stop.

use std::{fmt, time::Duration};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use serde::Deserialize;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::protocol::{ProtocolError, Shutdown};

/// Delays between attempts to connect. They double with each failure, and random jitter keeps the clients of one
/// server from returning all at once after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconnect {
    /// Minimum of the first delay.
    #[serde(with = "humantime_serde")]
    pub min_delay: Duration,
    /// Maximum of all delays.
    #[serde(with = "humantime_serde")]
    pub max_delay: Duration,
    /// A connection that lasted this long resets the delay.
    #[serde(with = "humantime_serde")]
    pub stable_after: Duration,
}

impl Default for Reconnect {
    fn default() -> Reconnect {
        let seconds = Duration::from_secs;
        Reconnect { min_delay: seconds(1), max_delay: seconds(60), stable_after: seconds(30) }
    }
}

impl Reconnect {
    /// The delays after the first failure, the second, and so on.
    pub(crate) fn delays(&self) -> ExponentialBackoff {
        // Jitter adds up to the delay itself.
        let max_delay = self.max_delay / 2;
        let delays = ExponentialBuilder::new().with_min_delay(self.min_delay).with_max_delay(max_delay);
        delays.with_jitter().without_max_times().build()
    }
}

/// End of a connection that was not lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// It served its purpose; the next one follows at once.
    Completed,
    /// We left, because we were told to or because nothing is left to do.
    Stopped,
}

/// Client of one server, driven by [`run`].
pub(crate) trait Session: Send {
    /// Error of a connection that was lost, or could not be opened.
    type Error: fmt::Display + Send;

    /// Connects, and stays until the connection ends. Once `stop` is cancelled, it finishes a running game and
    /// leaves.
    fn connect_once(
        &mut self,
        stop: &CancellationToken,
    ) -> impl Future<Output = Result<ConnectionEnd, Self::Error>> + Send;

    /// Returns the error that ends the session, where the next attempt would fail for the same reason.
    fn refusal(&self, _: &Self::Error) -> Option<ProtocolError> {
        None
    }

    /// Reports a lost connection and the delay before the next attempt.
    fn report(&mut self, error: &Self::Error, delay: Duration) {
        warn!("{error}; reconnecting in {:.1} s", delay.as_secs_f64());
    }

    /// Says goodbye on a connection that is still open after a stop.
    fn leave(&mut self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Runs a session until told to stop. `shutdown.now` drops the attempt in progress.
///
/// # Errors
/// The session's [refusal](Session::refusal).
pub(crate) async fn run(
    session: &mut impl Session,
    reconnect: &Reconnect,
    shutdown: &Shutdown,
) -> Result<(), ProtocolError> {
    let attempts = reconnect_until_stopped(session, reconnect, &shutdown.soon);
    let ended = shutdown.now.run_until_cancelled(attempts).await.unwrap_or(Ok(()));
    session.leave().await;
    ended
}

async fn reconnect_until_stopped(
    session: &mut impl Session,
    reconnect: &Reconnect,
    stop: &CancellationToken,
) -> Result<(), ProtocolError> {
    let mut delays = reconnect.delays();
    while !stop.is_cancelled() {
        let started = Instant::now();
        let error = match session.connect_once(stop).await {
            Ok(ConnectionEnd::Stopped) => break,
            Ok(ConnectionEnd::Completed) => {
                delays = reconnect.delays();
                continue;
            }
            Err(error) => error,
        };
        if let Some(refusal) = session.refusal(&error) {
            return Err(refusal);
        }
        if started.elapsed() >= reconnect.stable_after {
            delays = reconnect.delays();
        }
        let delay = delays.next().unwrap_or(reconnect.max_delay);
        session.report(&error, delay);
        stop.run_until_cancelled(sleep(delay)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const RECONNECT: Reconnect = Reconnect {
        min_delay: SECOND,
        max_delay: Duration::from_secs(16),
        stable_after: Duration::from_secs(30),
    };

    type End = Result<ConnectionEnd, &'static str>;

    /// Session of scripted connections: how long each lasts, and how it ends. Then it stops.
    struct Scripted {
        script: std::vec::IntoIter<(Duration, End)>,
        delays: Vec<Duration>,
        has_left: bool,
    }

    impl Session for Scripted {
        type Error = &'static str;

        async fn connect_once(&mut self, _: &CancellationToken) -> End {
            let (lasts, end) = self.script.next().unwrap_or((SECOND, Ok(ConnectionEnd::Stopped)));
            sleep(lasts).await;
            end
        }

        fn report(&mut self, _: &&'static str, delay: Duration) {
            self.delays.push(delay);
        }

        async fn leave(&mut self) {
            self.has_left = true;
        }
    }

    /// Returns the delays between the connections of this script.
    async fn delays(script: Vec<(Duration, End)>, shutdown: &Shutdown) -> Vec<Duration> {
        let mut session = Scripted { script: script.into_iter(), delays: Vec::new(), has_left: false };
        assert_eq!(run(&mut session, &RECONNECT, shutdown).await, Ok(()));
        assert!(session.has_left);
        session.delays
    }

    #[tokio::test(start_paused = true)]
    async fn delays_grow_to_a_maximum_and_restart_after_a_good_connection() {
        let lost = |seconds: u32| (seconds * SECOND, Err("gone"));
        let mut script: Vec<_> = (0..6).map(|_| lost(1)).collect();
        script.extend([lost(30), lost(1), (SECOND, Ok(ConnectionEnd::Completed)), lost(1)]);
        let delays = delays(script, &Shutdown::default()).await;
        let minimum = [1, 2, 4, 8, 8, 8, 1, 2, 1].map(|times| times * SECOND);
        assert_eq!(delays.len(), minimum.len());
        for (delay, minimum) in delays.into_iter().zip(minimum) {
            assert!((minimum..=2 * minimum).contains(&delay), "{delay:?} for {minimum:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_stop_ends_a_delay_and_the_second_a_connection() {
        let shutdown = Shutdown::default();
        let soon = async {
            sleep(SECOND / 2).await;
            shutdown.soon.cancel();
        };
        let lost = || (Duration::ZERO, Err("gone"));
        let (delays_before, ()) = tokio::join!(delays(vec![lost(), lost()], &shutdown), soon);
        assert_eq!(delays_before.len(), 1);
        let shutdown = Shutdown::default();
        let now = async {
            sleep(SECOND).await;
            shutdown.now.cancel();
        };
        tokio::join!(delays(vec![(1_000_000 * SECOND, Ok(ConnectionEnd::Completed))], &shutdown), now);
    }
}
