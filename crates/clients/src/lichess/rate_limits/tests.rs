//! Rate limits in simulated time: outages, floods, limits, clocks.

use std::{future::pending, sync::Arc};

use tokio::{
    join,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::*;
use crate::lichess::timeouts::Timeouts;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const STREAM: RequestKind = RequestKind::GameStream;

/// Limits of an account without games.
fn limits() -> RateLimits {
    RateLimits::new(&Timeouts::default().reconnect)
}

fn limits_with(clocks: GameClocks) -> RateLimits {
    RateLimits { clocks, ..limits() }
}

async fn acquire(limits: &RateLimits, kind: RequestKind) -> Permit<'_> {
    limits.acquire(kind, false).await
}

/// Clocks of a game that begins now, with this time for each side, in which we are to move.
fn game_of(time: Duration) -> GameClocks {
    let clocks = GameClocks::default();
    let id = "ourgame1".parse().unwrap();
    clocks.begin(id, now());
    clocks.update(id, time, now(), true, time, 2 * time);
    clocks
}

/// Answers of a server to attempts at opening a stream.
#[derive(Copy, Clone)]
enum Answer {
    Refused,
    Error,
    Limited,
    /// It is open, and closed at once.
    Closed,
    Open,
}

/// Reopens the streams of all games, each attempt again until it succeeds. The server gives this answer after this time.
/// Returns the times of the attempts.
async fn attempts(
    games: u32,
    clocks: GameClocks,
    answer: impl Fn(Duration) -> (Answer, Duration) + Copy + Send + Sync + 'static,
) -> Vec<Duration> {
    let limits = Arc::new(limits_with(clocks));
    let began = Instant::now();
    let mut streams = JoinSet::new();
    for _ in 0..games {
        let limits = limits.clone();
        streams.spawn(async move {
            let mut attempts = Vec::new();
            loop {
                let permit = limits.acquire(STREAM, false).await;
                attempts.push(began.elapsed());
                let (answer, time) = answer(began.elapsed());
                sleep(time).await;
                match answer {
                    Answer::Error => permit.failed(),
                    Answer::Limited => permit.limited(MINUTE, true),
                    Answer::Refused | Answer::Closed => permit.succeeded(),
                    Answer::Open => {
                        permit.succeeded();
                        limits.stream_told();
                        return attempts;
                    }
                }
            }
        });
    }
    streams.join_all().await.concat()
}

/// Returns the number of attempts in each minute.
fn minutes(attempts: &[Duration]) -> Vec<usize> {
    let last = attempts.iter().max().unwrap().as_secs() / 60;
    let in_minute = |minute| attempts.iter().filter(|at| at.as_secs() / 60 == minute).count();
    (0..=last).map(in_minute).collect()
}

/// The server is away until then.
fn back_at(end: Duration) -> impl Fn(Duration) -> (Answer, Duration) + Copy + Send + Sync + 'static {
    move |now| (if now < end { Answer::Error } else { Answer::Open }, SECOND / 10)
}

#[test(start_paused = true)]
async fn an_outage_of_three_hours_costs_few_attempts_however_many_games_run() {
    for games in [30, 256] {
        let end = 180 * MINUTE;
        let attempts = attempts(games, game_of(MINUTE), back_at(end)).await;
        let minutes = minutes(&attempts);
        // With running clocks; then with the clocks near their end; then without.
        assert!(minutes[0] <= 180 && minutes[1] <= 120, "{minutes:?}");
        assert!(minutes[4..180].iter().all(|count| *count <= 4), "{minutes:?}");
        let opened = *attempts.iter().max().unwrap();
        assert!(opened <= end + 31 * SECOND, "{opened:?}");
    }
}

#[test(start_paused = true)]
async fn long_games_share_one_probe_every_two_seconds_and_open_at_once() {
    for games in [30, 256] {
        let end = 180 * MINUTE;
        let attempts = attempts(games, game_of(360 * MINUTE), back_at(end)).await;
        let minutes = minutes(&attempts);
        assert!(minutes[0] <= 60 + 60, "{minutes:?}");
        assert!(minutes[1..180].iter().all(|count| (25..=60).contains(count)), "{minutes:?}");
        let opened = *attempts.iter().max().unwrap();
        assert!(opened <= end + 7 * SECOND / 2, "{opened:?}");
    }
}

#[test(start_paused = true)]
async fn attempts_a_minute_are_bounded_whatever_the_server_answers() {
    let silence = 8 * SECOND;
    let answers = [
        (Answer::Error, silence),
        (Answer::Error, SECOND / 100),
        (Answer::Limited, SECOND / 100),
        (Answer::Refused, SECOND / 100),
        (Answer::Closed, SECOND / 100),
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        for time in [2 * SECOND, MINUTE, 60 * MINUTE] {
            let end = 5 * MINUTE;
            let until_end = move |now| if now < end { answer } else { (Answer::Open, SECOND / 100) };
            let minutes = minutes(&attempts(256, game_of(time), until_end).await);
            assert!(minutes[0] <= 181, "{at} {time:?}: {minutes:?}");
            assert!(minutes[1..5].iter().all(|count| *count <= 121), "{at} {time:?}: {minutes:?}");
        }
    }
}

#[test(start_paused = true)]
async fn streams_that_all_break_are_open_again_at_once_and_new_games_wait_for_none() {
    let (limits, began) = (limits_with(game_of(MINUTE)), Instant::now());
    let reopened = attempts(256, game_of(MINUTE), |_| (Answer::Open, SECOND / 20));
    // Another 60 streams are never answered.
    let hanging = async {
        let mut permits = Vec::new();
        for _ in 0..TOKENS.burst {
            permits.push(acquire(&limits, STREAM).await);
        }
        limits.acquire(STREAM, true).await.succeeded();
        began.elapsed()
    };
    let (reopened, new) = join!(reopened, hanging);
    let last = *reopened.iter().max().unwrap();
    assert!(reopened.len() == 256 && last <= SECOND, "{last:?}");
    assert_eq!(new, Duration::ZERO);
}

#[test(start_paused = true)]
async fn a_probe_that_hangs_keeps_others_waiting_no_longer_than_a_clock_allows() {
    for (time, most) in [(MINUTE, 4 * SECOND), (8 * SECOND, SECOND)] {
        let limits = limits_with(game_of(time));
        acquire(&limits, STREAM).await.failed();
        let began = Instant::now();
        let hanging = acquire(&limits, STREAM).await;
        acquire(&limits, STREAM).await.succeeded();
        assert!(began.elapsed() <= most, "{:?}", began.elapsed());
        // What began before the answer is no news.
        hanging.failed();
        assert!(limits.closed_for(STREAM).is_zero());
    }
}

#[test(start_paused = true)]
async fn a_clock_that_is_told_ends_a_wait_that_it_does_not_allow() {
    let limits = limits();
    acquire(&limits, STREAM).await.limited(10 * MINUTE, true);
    let began = Instant::now();
    let told = async {
        sleep(5 * SECOND).await;
        let id = "ourgame1".parse().unwrap();
        limits.clocks.begin(id, now());
        limits.clocks.update(id, SECOND / 2, now(), true, SECOND, SECOND);
        pending().await
    };
    select! {
        () = told => {}
        permit = acquire(&limits, STREAM) => permit.succeeded(),
    }
    assert!(began.elapsed() <= 5 * SECOND + SECOND / 100, "{:?}", began.elapsed());
}

#[test(start_paused = true)]
async fn a_new_game_waits_two_seconds_at_most_whatever_the_server_tells() {
    let limits = limits();
    limits.clocks.begin("ourgame1".parse().unwrap(), now());
    acquire(&limits, STREAM).await.limited(10 * MINUTE, true);
    let began = Instant::now();
    limits.acquire(STREAM, true).await.succeeded();
    assert!(began.elapsed() <= 2 * SECOND, "{:?}", began.elapsed());
}

#[test(start_paused = true)]
async fn look_ups_that_fail_are_spaced_by_their_callers_alone() {
    use RequestKind::{Account, Bots, Online, Playing};
    let limits = limits();
    for kind in [Account, Bots, Online, Playing] {
        acquire(&limits, kind).await.failed();
        assert!(limits.closed_for(kind).is_zero(), "{kind:?}");
        acquire(&limits, kind).await.limited(MINUTE, true);
        assert_eq!(limits.closed_for(kind), MINUTE);
    }
}

#[test(start_paused = true)]
async fn a_probe_that_is_given_up_has_failed_and_its_successor_waits() {
    let limits = limits();
    acquire(&limits, RequestKind::Game).await.failed();
    let probe = acquire(&limits, RequestKind::Game).await;
    assert!(timeout(MINUTE, acquire(&limits, RequestKind::Game)).await.is_err());
    drop(probe);
    assert!(!limits.closed_for(RequestKind::Game).is_zero());
    acquire(&limits, RequestKind::Game).await.succeeded();
    assert!(limits.closed_for(RequestKind::Game).is_zero());
}

#[test(start_paused = true)]
async fn a_kind_that_succeeds_again_hurries_the_others() {
    let limits = limits();
    for _ in 0..10 {
        acquire(&limits, RequestKind::Challenge).await.failed();
    }
    acquire(&limits, RequestKind::EventStream).await.failed();
    assert!(limits.closed_for(RequestKind::Challenge) > 10 * SECOND);
    acquire(&limits, RequestKind::EventStream).await.succeeded();
    assert!(limits.closed_for(RequestKind::Challenge).is_zero());
}

#[test(start_paused = true)]
async fn a_limit_of_one_look_up_holds_back_no_other() {
    use RequestKind::{Account, Bots, Online, Playing, Tournament};
    let limits = limits();
    acquire(&limits, Tournament).await.limited(MINUTE, true);
    let began = Instant::now();
    for other in [Account, Bots, Online, Playing] {
        acquire(&limits, other).await.succeeded();
    }
    assert!(began.elapsed() < SECOND);
}

#[test(start_paused = true)]
async fn only_the_limited_kind_waits_and_moves_never_do() {
    let limits = limits();
    acquire(&limits, RequestKind::Chat).await.limited(MINUTE, true);
    let began = Instant::now();
    acquire(&limits, RequestKind::Game).await;
    acquire(&limits, RequestKind::Move).await.limited(MINUTE, true);
    acquire(&limits, RequestKind::Move).await;
    assert!(began.elapsed() < Duration::from_secs(1));
    acquire(&limits, RequestKind::Chat).await;
    assert!(began.elapsed() >= MINUTE);
}

#[test(start_paused = true)]
async fn a_longer_wait_is_not_overwritten_by_a_shorter_one() {
    let limits = limits();
    let first = acquire(&limits, RequestKind::Game).await;
    let second = acquire(&limits, RequestKind::Game).await;
    let began = Instant::now();
    first.limited(MINUTE, true);
    second.limited(MINUTE / 10, true);
    assert_eq!(limits.closed_for(RequestKind::Game), MINUTE);
    acquire(&limits, RequestKind::Game).await;
    assert!(began.elapsed() >= MINUTE);
}

#[test(start_paused = true)]
async fn serial_kinds_are_sent_one_at_a_time() {
    let limits = limits();
    let first = acquire(&limits, RequestKind::Account).await;
    assert!(timeout(MINUTE, acquire(&limits, RequestKind::Account)).await.is_err());
    first.succeeded();
    assert!(timeout(MINUTE, acquire(&limits, RequestKind::Account)).await.is_ok());
    // A request that hangs in one game delays no other game.
    let _claim = acquire(&limits, RequestKind::Game).await;
    assert!(timeout(MINUTE, acquire(&limits, RequestKind::Game)).await.is_ok());
}

#[test(start_paused = true)]
async fn the_event_stream_is_opened_thirty_times_in_ten_minutes() {
    // Openings that never arrived do not count.
    let limits = limits();
    let began = Instant::now();
    for _ in 0..MAX_REQUESTS {
        acquire(&limits, RequestKind::EventStream).await.refund();
        acquire(&limits, RequestKind::EventStream).await.succeeded();
    }
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(limits.is_scarce(RequestKind::EventStream));
    assert!(!limits.is_scarce(RequestKind::Join));
    acquire(&limits, RequestKind::EventStream).await;
    assert!(began.elapsed() >= WINDOW);
}
