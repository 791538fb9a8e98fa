//! Session loop: connects to a server, and again after each lost connection, until told to stop.

use std::{fmt, num::NonZeroU32, time::Duration};

use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::info;

pub(crate) use crate::connection_log::ConnectionLog;
use crate::{
    backoff::{Backoff, Reconnect},
    protocol::{ProtocolError, Shutdown},
};

/// End of a connection that was not lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// It served its purpose; the next one follows at once, or after the shortest delay since it began.
    Completed,
    /// We left, because we were told to or because nothing is left to do.
    Stopped,
}

/// Returns whether all games are played that the configuration asks for, and logs it if so.
pub(crate) fn has_played_all(games: Option<NonZeroU32>, played: u32) -> bool {
    let is_last = games.is_some_and(|games| games.get() == played);
    if is_last {
        let plural = if played == 1 { "" } else { "s" };
        info!("leaving after {played} game{plural}, as configured");
    }
    is_last
}

/// Client of one server, driven by [`run`].
pub(crate) trait Session: Send {
    /// Error of a connection that was lost, or could not be opened.
    type Error: fmt::Display + Send;

    /// Connects, and stays until the connection ends. It tells the log as soon as the connection is open. Once `stop`
    /// is cancelled, it finishes a game that runs or that can be taken up, and leaves.
    fn connect_once(
        &mut self,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> impl Future<Output = Result<ConnectionEnd, Self::Error>> + Send;

    /// Returns the error that ends the session, where the next attempt would fail for the same reason.
    fn refusal(&self, _: &Self::Error) -> Option<ProtocolError> {
        None
    }

    /// Returns whether the connection that was lost has served a purpose. That resets the delay, as does one that has
    /// lasted.
    fn was_useful(&self) -> bool {
        false
    }

    /// Returns our time left in a game that goes on without the connection, if there is one. It bounds the delay.
    fn time_left(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the next connection may go on with a game of the last one, which a stop does not prevent.
    fn has_lost_game(&self) -> bool {
        false
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
    let mut backoff = Backoff::new(reconnect);
    let mut log = ConnectionLog::default();
    while !stop.is_cancelled() || session.has_lost_game() {
        let started = Instant::now();
        let error = match session.connect_once(stop, &mut log).await {
            Ok(ConnectionEnd::Stopped) => break,
            Ok(ConnectionEnd::Completed) => {
                backoff.reset();
                log.completed();
                // A server may end games as soon as they begin.
                stop.run_until_cancelled(sleep_until(started + reconnect.min_delay)).await;
                continue;
            }
            Err(error) => error,
        };
        if let Some(refusal) = session.refusal(&error) {
            return Err(refusal);
        }
        match session.was_useful() {
            true => backoff.reset(),
            false => backoff.lasted(started.elapsed()),
        }
        let delay = backoff.next(session.time_left());
        log.failed(&error, delay);
        match session.has_lost_game() {
            true => sleep(delay).await,
            false => drop(stop.run_until_cancelled(sleep(delay)).await),
        }
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
        /// Delays after the connections that were lost.
        delays: Vec<Duration>,
        lost: Option<Instant>,
        /// Number of the connection after which a game goes on, with a second left.
        plays_from: usize,
        /// Number of the connection that is useful, however short.
        useful: usize,
        has_left: bool,
    }

    impl Session for Scripted {
        type Error = &'static str;

        async fn connect_once(&mut self, _: &CancellationToken, _: &mut ConnectionLog) -> End {
            self.delays.extend(self.lost.map(|lost| lost.elapsed()));
            let (lasts, end) = self.script.next().unwrap_or((SECOND, Ok(ConnectionEnd::Stopped)));
            sleep(lasts).await;
            self.lost = end.is_err().then(Instant::now);
            end
        }

        fn was_useful(&self) -> bool {
            self.delays.len() == self.useful
        }

        fn time_left(&self) -> Option<Duration> {
            (self.delays.len() >= self.plays_from).then_some(SECOND)
        }

        async fn leave(&mut self) {
            self.has_left = true;
        }
    }

    fn scripted(script: Vec<(Duration, End)>) -> Scripted {
        let script = script.into_iter();
        let never = usize::MAX;
        Scripted { script, delays: Vec::new(), lost: None, plays_from: never, useful: never, has_left: false }
    }

    /// Returns the delays between the connections of this script.
    async fn delays(script: Vec<(Duration, End)>, shutdown: &Shutdown) -> Vec<Duration> {
        let mut session = scripted(script);
        assert_eq!(run(&mut session, &RECONNECT, shutdown).await, Ok(()));
        assert!(session.has_left);
        session.delays
    }

    #[test(start_paused = true)]
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

    #[test(start_paused = true)]
    async fn connections_that_end_as_they_begin_are_no_flood() {
        let began = Instant::now();
        delays(vec![(Duration::ZERO, Ok(ConnectionEnd::Completed)); 5], &Shutdown::default()).await;
        assert!(began.elapsed() >= 5 * SECOND, "{:?}", began.elapsed());
    }

    #[test(start_paused = true)]
    async fn a_useful_connection_resets_the_delay_and_a_running_game_bounds_it() {
        let mut session = scripted(vec![(SECOND, Err("gone")); 8]);
        (session.useful, session.plays_from) = (3, 5);
        assert_eq!(run(&mut session, &RECONNECT, &Shutdown::default()).await, Ok(()));
        let minimum = [1, 2, 4, 1, 2].map(|times| times * SECOND);
        for (delay, minimum) in session.delays.iter().zip(minimum) {
            assert!((minimum..=2 * minimum).contains(delay), "{delay:?} for {minimum:?}");
        }
        let in_game = &session.delays[5..];
        assert!(in_game.len() == 3 && in_game.iter().all(|delay| *delay <= SECOND / 10), "{in_game:?}");
    }

    #[test(start_paused = true)]
    async fn the_first_stop_ends_a_delay_and_the_second_a_connection() {
        let shutdown = Shutdown::default();
        let soon = async {
            sleep(SECOND / 2).await;
            shutdown.soon.cancel();
        };
        let lost = || (Duration::ZERO, Err("gone"));
        let (delays_before, ()) = tokio::join!(delays(vec![lost(), lost()], &shutdown), soon);
        assert!(delays_before.is_empty(), "a second connection after {delays_before:?}");
        let shutdown = Shutdown::default();
        let now = async {
            sleep(SECOND).await;
            shutdown.now.cancel();
        };
        tokio::join!(delays(vec![(1_000_000 * SECOND, Ok(ConnectionEnd::Completed))], &shutdown), now);
    }
}
