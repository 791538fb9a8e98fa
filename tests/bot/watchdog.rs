//! Each rule of the watchdog in simulated time: the answer leaves in time whatever a search does.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use zeitnot_bot::{Config, MoveOrigin};
use zeitnot_engine::{Fault, Kind};
use zeitnot_rules::{Color, Game, chess::Chess};
use zeitnot_seat::{Clocks, Event, Seat, Turn};

use crate::support::bot::{House, answer, ask, clocks, house, info, moved, tell};

const MS: Duration = Duration::from_millis(1);

/// The time of an answer, and how it came about. A timer fires up to a millisecond late.
async fn timed(
    house: &mut House,
    seat: &mut Seat,
    turn: u32,
    clocks: Option<Clocks>,
) -> (Duration, MoveOrigin) {
    let began = Instant::now();
    let mv = ask(seat, turn, clocks).await;
    let took = began.elapsed();
    assert!(Chess::start().read(&mv).is_ok() || mv.len() >= 4, "{mv}");
    (took, house.answers.recv().await.unwrap().origin)
}

#[test(start_paused = true)]
async fn a_search_with_any_fault_costs_neither_this_answer_nor_the_next_ones() {
    for fault in Fault::ALL {
        let mut house = house(Kind::Faulty(fault), Config::default());
        let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
        for turn in 1..=8 {
            let left = 10_000 * MS;
            let (took, how) = timed(&mut house, &mut seat, turn, Some(clocks(left))).await;
            assert!(took <= left / LAST_RESERVE + MS, "{fault}: {took:?}");
            assert!(matches!(how, MoveOrigin::HardLimit | MoveOrigin::Failed), "{fault}: {how:?}");
        }
    }
}

/// While the lag of a server is a guess, no more of the clock is used than an eighth.
const LAST_RESERVE: u32 = 8;

#[test(start_paused = true)]
async fn a_thinker_that_says_nothing_leaves_a_sensible_move_in_the_slot() {
    let house = house(Kind::Faulty(Fault::Silent), Config::default());
    // The queen hangs, and a pawn can take it.
    let start = Some("rnb1kbnr/pppp1ppp/8/4q3/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 3");
    let mut seat = house.lobby.open(info(Color::White, start)).await.unwrap();
    assert_eq!(ask(&mut seat, 1, Some(clocks(1000 * MS))).await, "d4e5");
}

#[test(start_paused = true)]
async fn the_only_legal_move_is_played_at_once() {
    let mut house = house(Kind::Faulty(Fault::Silent), Config::default());
    let start = "7k/8/5K2/8/8/8/8/6Q1 b - - 0 1";
    assert_eq!(Chess::parse(start).unwrap().moves().len(), 1);
    let mut seat = house.lobby.open(info(Color::Black, Some(start))).await.unwrap();
    let (took, how) = timed(&mut house, &mut seat, 1, Some(clocks(60_000 * MS))).await;
    assert_eq!((took, how), (Duration::ZERO, MoveOrigin::Forced));
}

#[test(start_paused = true)]
async fn a_faked_thought_ends_long_before_the_deadline_and_holds_up_no_other_game() {
    let config = Config { fake_think_time: true, ..Config::default() };
    let mut house = house(Kind::Faulty(Fault::Silent), config);
    // There is one legal move.
    let start = Some("7k/8/5K2/8/8/8/8/6Q1 b - - 0 1");
    let mut slow = house.lobby.open(info(Color::Black, start)).await.unwrap();
    let mut fast = house.lobby.open(info(Color::Black, start)).await.unwrap();
    let began = Instant::now();
    let left = 60_000 * MS;
    tell(&slow, Event::YourTurn { turn: Turn(1), clocks: Some(clocks(left)) }).await;
    let (took, how) = timed(&mut house, &mut fast, 1, Some(clocks(left / 100))).await;
    assert_eq!(how, MoveOrigin::Forced);
    assert!(took > Duration::ZERO && took <= left / 100 / LAST_RESERVE / 2 + MS, "{took:?}");
    answer(&mut slow, 1).await;
    let thought = began.elapsed();
    assert!(thought > 300 * MS && thought <= left / LAST_RESERVE / 2 + MS, "{thought:?}");
    // A lower clock brings it nearer, and a takeback calls it off.
    tell(&fast, Event::TakenBack { plies: 0 }).await;
    tell(&fast, Event::YourTurn { turn: Turn(2), clocks: Some(clocks(left)) }).await;
    tell(&fast, Event::TakenBack { plies: 0 }).await;
    assert!(timeout(left, fast.actions.recv()).await.is_err());
}

#[test(start_paused = true)]
async fn a_server_that_talks_without_end_does_not_hold_up_the_answer() {
    let house = house(Kind::Faulty(Fault::Silent), Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let now = clocks(8000 * MS);
    tell(&seat, Event::YourTurn { turn: Turn(1), clocks: Some(now) }).await;
    let began = Instant::now();
    let events = seat.events.clone();
    let storm = tokio::spawn(async move {
        loop {
            events.send(Event::ClocksRead(now)).await.unwrap_or_default();
            tokio::time::sleep(MS / 10).await;
        }
    });
    answer(&mut seat, 1).await;
    assert!(began.elapsed() <= now.left[Color::White] / LAST_RESERVE + MS);
    storm.abort();
}

#[test(start_paused = true)]
async fn a_move_of_days_takes_no_longer_than_the_configuration_says() {
    let config = Config { max_move_time: 90_000 * MS, ..Config::default() };
    let mut house = house(Kind::Faulty(Fault::Silent), config);
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let days = Clocks { moves_to_go: Some(1), ..clocks(3 * 86_400_000 * MS) };
    let (took, how) = timed(&mut house, &mut seat, 1, Some(days)).await;
    assert!((89_999 * MS..=90_001 * MS).contains(&took), "{took:?}");
    assert_eq!(how, MoveOrigin::HardLimit);
}

#[test(start_paused = true)]
async fn the_deadline_follows_a_clock_that_is_lowered_while_we_think() {
    let left = 800_000 * MS;
    let after = 10_000 * MS;
    // The clock after ten seconds, and the eighth that is used of what it would have been at the request.
    for (now, due) in [
        (790_000 * MS, left / LAST_RESERVE),
        (90_000 * MS, 100_000 * MS / LAST_RESERVE),
        (8_000 * MS, after),
        // As it stood at the request, and raised: the search has its hard limit already.
        (left, left / LAST_RESERVE),
        (2 * left, left / LAST_RESERVE),
    ] {
        let house = house(Kind::Faulty(Fault::Silent), Config::default());
        let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
        tell(&seat, Event::YourTurn { turn: Turn(1), clocks: Some(clocks(left)) }).await;
        let began = Instant::now();
        tokio::time::sleep(after).await;
        tell(&seat, Event::ClocksRead(clocks(now))).await;
        answer(&mut seat, 1).await;
        let took = began.elapsed();
        assert!((due - MS..=due + MS).contains(&took), "{now:?}: {took:?} instead of {due:?}");
    }
}

/// One move: the answer leaves at its hard limit, and the server's clock takes `lag` more than that. Tells
/// how long the answer took.
async fn charged_move(
    house: &mut House,
    seat: &mut Seat,
    turn: u32,
    left: Duration,
    lag: Duration,
) -> Duration {
    let before = clocks(left);
    let (took, _) = timed(house, seat, turn, Some(before)).await;
    let (ours, theirs) = [("g1f3", "g8f6"), ("f3g1", "f6g8")][turn as usize % 2];
    moved(seat, ours).await;
    tell(seat, Event::ClocksRead(clocks(left.saturating_sub(took + lag)))).await;
    moved(seat, theirs).await;
    took
}

#[test(start_paused = true)]
async fn what_a_server_charges_beyond_our_time_is_kept_in_hand() {
    let mut house = house(Kind::Faulty(Fault::Silent), Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let left = 1000 * MS;
    let lag = 700 * MS;
    for turn in (2..40).step_by(2) {
        charged_move(&mut house, &mut seat, turn, left, lag).await;
        charged_move(&mut house, &mut seat, turn + 1, left, lag).await;
    }
    let took = charged_move(&mut house, &mut seat, 40, left, lag).await;
    assert!(took + lag <= left, "{took:?}");
    // Half of what the network leaves, at most.
    assert!(took <= (left - lag) / 2 + MS, "{took:?}");
}

#[test(start_paused = true)]
async fn when_the_lag_is_known_to_be_small_the_clock_is_used() {
    let mut house = house(Kind::Faulty(Fault::Silent), Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let left = 1000 * MS;
    let lag = 2 * MS;
    let first = charged_move(&mut house, &mut seat, 2, left, lag).await;
    for turn in 3..40 {
        charged_move(&mut house, &mut seat, turn, left, lag).await;
    }
    let last = charged_move(&mut house, &mut seat, 40, left, lag).await;
    assert!(last > first, "{last:?} after {first:?}");
}

#[test(start_paused = true)]
async fn a_clock_that_is_told_in_steps_is_not_believed_to_the_last_step() {
    let mut house =
        house(Kind::Faulty(Fault::Silent), Config { move_overhead: Duration::ZERO, ..Config::default() });
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let coarse = Clocks { resolution: 1000 * MS, moves_to_go: Some(1), ..clocks(1000 * MS) };
    let (took, _) = timed(&mut house, &mut seat, 1, Some(coarse)).await;
    assert!(took <= 501 * MS, "{took:?}");
}

#[test(start_paused = true)]
async fn an_old_request_is_never_answered() {
    let house = house(Kind::Faulty(Fault::Silent), Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    tell(&seat, Event::YourTurn { turn: Turn(1), clocks: Some(clocks(60_000 * MS)) }).await;
    moved(&seat, "e2e4").await;
    assert!(timeout(120_000 * MS, seat.actions.recv()).await.is_err());
}
