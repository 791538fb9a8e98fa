//! Session loop: connects to a server, and again after each lost connection, until told to stop.

use std::{fmt, time::Duration};

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use zeitnot_net::{Outage, OutageNews};

use crate::{
    backoff::{Backoff, Reconnect},
    protocol::{ProtocolError, Shutdown},
    wait::now,
};

/// Target of the events that say that a connection is open, for the first time or again.
pub const CONNECTED: &str = "zeitnot_clients::connected";

/// Target of the events that say that a connection is lost, or could not be opened.
pub const LOST: &str = "zeitnot_clients::lost";

/// Log of one session's connections: of an outage a line at its start, one a minute, and one at its end.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLog {
    outage: Outage,
    /// Error that the outage began with.
    first: String,
}

impl ConnectionLog {
    /// Notes that a connection is open.
    pub(crate) fn connected(&mut self) {
        debug!(target: CONNECTED, "connected");
        if let Some(OutageNews::Ends(lasted)) = self.outage.ended(now()) {
            info!("connected again after {}", in_words(lasted));
        }
    }

    /// Notes a connection that was lost or could not be opened. Returns what is to be reported of it.
    ///
    /// A server that takes each connection and ends it at once is not back: its outage goes on if the connection was
    /// short, and ended as those before it.
    pub(crate) fn failed(&mut self, error: &impl fmt::Display, was_short: bool) -> Option<OutageNews> {
        let error = error.to_string();
        let news = match was_short && error == self.first {
            true => self.outage.relapsed(now()),
            false => self.outage.failed(now()),
        };
        if news == Some(OutageNews::Begins) {
            self.first = error;
        }
        news
    }

    /// Notes a connection that served its purpose: a failure of the next one is not part of an earlier outage.
    fn completed(&mut self) {
        self.first.clear();
    }
}

/// Reports a lost connection, and the delay before the next attempt.
pub(crate) fn report_lost(error: &impl fmt::Display, delay: Duration, news: Option<OutageNews>) {
    let delay = delay.as_secs_f64();
    match news {
        Some(OutageNews::Begins) => warn!(target: LOST, "{error}; reconnecting in {delay:.1} s"),
        Some(OutageNews::Lasts(lasted)) => {
            let lasted = in_words(lasted);
            warn!(target: LOST, "{error}; trying for {lasted} now; reconnecting in {delay:.1} s");
        }
        Some(OutageNews::Ends(_)) | None => {
            debug!(target: LOST, "{error}; reconnecting in {delay:.1} s");
        }
    }
}

/// Formats the length of an outage.
fn in_words(length: Duration) -> String {
    match length.as_secs() {
        0..10 => format!("{:.1} s", length.as_secs_f64()),
        seconds => humantime::format_duration(Duration::from_secs(seconds)).to_string(),
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

    /// Reports a lost connection and the delay before the next attempt, as far as that is news.
    fn report(&mut self, error: &Self::Error, delay: Duration, news: Option<OutageNews>) {
        report_lost(error, delay, news);
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
                continue;
            }
            Err(error) => error,
        };
        if let Some(refusal) = session.refusal(&error) {
            return Err(refusal);
        }
        let was_short = !session.was_useful() && started.elapsed() < reconnect.stable_after;
        if !was_short {
            backoff.reset();
        }
        let delay = backoff.next(session.time_left());
        let news = log.failed(&error, was_short);
        session.report(&error, delay, news);
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
        delays: Vec<Duration>,
        news: Vec<OutageNews>,
        /// Each connection is opened before it ends.
        opens: bool,
        /// Number of the connection after which a game goes on, with a second left.
        plays_from: usize,
        /// Number of the connection that is useful, however short.
        useful: usize,
        has_left: bool,
    }

    impl Session for Scripted {
        type Error = &'static str;

        async fn connect_once(&mut self, _: &CancellationToken, log: &mut ConnectionLog) -> End {
            let (lasts, end) = self.script.next().unwrap_or((SECOND, Ok(ConnectionEnd::Stopped)));
            if self.opens {
                log.connected();
            }
            sleep(lasts).await;
            end
        }

        fn was_useful(&self) -> bool {
            self.delays.len() == self.useful
        }

        fn time_left(&self) -> Option<Duration> {
            (self.delays.len() >= self.plays_from).then_some(SECOND)
        }

        fn report(&mut self, _: &&'static str, delay: Duration, news: Option<OutageNews>) {
            self.delays.push(delay);
            self.news.extend(news);
        }

        async fn leave(&mut self) {
            self.has_left = true;
        }
    }

    fn scripted(script: Vec<(Duration, End)>) -> Scripted {
        let script = script.into_iter();
        let never = usize::MAX;
        let delays = Vec::new();
        let news = Vec::new();
        Scripted { script, delays, news, opens: false, plays_from: never, useful: never, has_left: false }
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

    /// Sixteen failures in a row take between 103 and 206 s.
    #[test(start_paused = true)]
    async fn an_outage_is_news_at_its_start_and_once_a_minute() {
        for (opens, errors) in [(false, ["gone", "refused"]), (true, ["refused", "refused"])] {
            let mut session = scripted((0..16).map(|at| (Duration::ZERO, Err(errors[at % 2]))).collect());
            session.opens = opens;
            assert_eq!(run(&mut session, &RECONNECT, &Shutdown::default()).await, Ok(()));
            assert_eq!((session.delays.len(), session.news.first()), (16, Some(&OutageNews::Begins)));
            let later = &session.news[1..];
            let is_late =
                |news: &OutageNews| matches!(news, OutageNews::Lasts(lasted) if *lasted >= 60 * SECOND);
            assert!((1..=3).contains(&later.len()) && later.iter().all(is_late), "{later:?}");
        }
    }

    #[test(start_paused = true)]
    async fn a_connection_that_ends_otherwise_is_a_new_outage() {
        let mut session =
            scripted(vec![(SECOND, Err("reset")), (SECOND, Err("refused")), (SECOND, Err("refused"))]);
        session.opens = true;
        assert_eq!(run(&mut session, &RECONNECT, &Shutdown::default()).await, Ok(()));
        assert_eq!(session.news, [OutageNews::Begins; 2]);
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
        assert_eq!(delays_before.len(), 1);
        let shutdown = Shutdown::default();
        let now = async {
            sleep(SECOND).await;
            shutdown.now.cancel();
        };
        tokio::join!(delays(vec![(1_000_000 * SECOND, Ok(ConnectionEnd::Completed))], &shutdown), now);
    }
}
