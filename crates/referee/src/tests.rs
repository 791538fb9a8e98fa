//! The referee in simulated time.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, DynGame, GameKind, GameResult, Reason};
use zeitnot_wire::uci::UciScore;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn chess(time_control: &str, rules: RefereeRules) -> (Referee<DynGame>, Instant) {
    start(None, time_control, rules)
}

fn start(fen: Option<&str>, time_control: &str, rules: RefereeRules) -> (Referee<DynGame>, Instant) {
    let now = Instant::now();
    let allowances = ByColor::both(Allowance::Game(time_control.parse().unwrap()));
    let mut referee = Referee::new(DynGame::begin(GameKind::Chess, fen).unwrap(), allowances, rules, now);
    referee.await_move(now);
    (referee, now)
}

/// Plays moves at once, White first.
fn play(referee: &mut Referee<DynGame>, moves: &str, now: Instant) {
    for text in moves.split(' ') {
        referee.play(referee.turn(), text, now, None).unwrap();
        referee.await_move(now);
    }
}

fn won(color: Color, cause: Cause) -> Option<Ending> {
    Some(Ending { result: Some(GameResult::Won(color)), cause })
}

#[test]
fn a_game_to_its_mate() {
    let (mut referee, now) = chess("10+0", RefereeRules::default());
    play(&mut referee, "f2f3 e7e5 g2g4 d8h4", now);
    assert_eq!(referee.ending, won(Color::Black, Cause::Rules(Reason::Checkmate)));
    let san: Vec<_> = referee.plies.iter().map(|ply| ply.san.as_str()).collect();
    assert_eq!(san, ["f3", "e5", "g4", "Qh4#"]);
    assert_eq!(referee.play(Color::White, "a3", now, None), Err(Refusal::Over));
    assert!(!referee.clock.is_running(), "nobody is to move any more");
}

#[test]
fn the_last_moment_counts_and_the_one_after_it_loses() {
    for (margin, at, is_late) in [(0, 1000, false), (0, 1001, true), (20, 1020, false), (20, 1021, true)] {
        let (mut referee, t0) = chess("1+0.5", RefereeRules { margin: margin * MS, ..Default::default() });
        let played = referee.play(Color::White, "e4", t0 + at * MS, None);
        assert_eq!(played.is_err(), is_late, "{margin} {at}");
        let over = is_late.then_some(won(Color::Black, Cause::OutOfTime)).flatten();
        assert_eq!(referee.ending, over);
    }
}

#[test]
fn a_move_that_was_read_in_time_may_take_a_while_to_get_here() {
    let (mut referee, t0) = chess("1+0.5", RefereeRules { transit: 100 * MS, ..Default::default() });
    assert_eq!(referee.timeout(), Some(t0 + 1100 * MS));
    referee.play(Color::White, "e4", t0 + 900 * MS, None).unwrap();
    referee.await_move(t0 + 1050 * MS);
    assert_eq!(referee.plies[0].left, Some(600 * MS));
    assert_eq!(referee.clock.left(Color::Black, t0 + 1050 * MS), Some(1000 * MS));
    referee.time_out(t0 + 2150 * MS);
    assert_eq!(referee.ending, won(Color::White, Cause::OutOfTime));
}

#[test]
fn an_illegal_move_is_refused_or_loses() {
    let (mut referee, t0) = chess("10+0", RefereeRules::default());
    assert_eq!(referee.play(Color::White, "e2e5", t0, None), Err(Refusal::Illegal));
    assert_eq!(referee.play(Color::Black, "e7e5", t0, None), Err(Refusal::NotYourTurn));
    assert_eq!(referee.clock.left(Color::White, t0 + 2000 * MS), Some(8000 * MS), "the clock runs on");
    assert_eq!(referee.ending, None);
    let (mut referee, t0) = chess("10+0", RefereeRules { illegal_move_loses: true, ..Default::default() });
    assert_eq!(referee.play(Color::White, "e2e5", t0, None), Err(Refusal::Illegal));
    assert_eq!(referee.ending, won(Color::Black, Cause::IllegalMove));
}

#[test]
fn opinions_end_a_game() {
    let resign = Some(ResignRule { move_count: 2, score: 300 });
    let adjudication = Adjudication { resign, ..Adjudication::default() };
    let (mut referee, now) = chess("10+0", RefereeRules { adjudication, ..Default::default() });
    for (text, score) in [("e2e4", -310), ("e7e5", 400), ("g1f3", -310), ("b8c6", 400)] {
        assert_eq!(referee.ending, None);
        let opinion = Some(Opinion { score: UciScore::Cp(score), depth: 1 });
        referee.play(referee.turn(), text, now, opinion).unwrap();
    }
    assert_eq!(referee.ending, won(Color::Black, Cause::Adjudicated));
}

#[test]
fn points_decide_the_longest_game_where_there_are_points() {
    for (lead, result) in [
        ("100-0", GameResult::Won(Color::White)),
        ("100-100", GameResult::Draw),
        ("0-100", GameResult::Won(Color::Black)),
    ] {
        let fen = format!("k..../...../..p../..P../...../...../....K w {lead} 4 0 2021");
        let board = DynGame::begin(GameKind::Tuc, Some(&fen)).unwrap();
        let adjudication = Adjudication { max_moves: Some(2), ..Adjudication::default() };
        let rules = RefereeRules { adjudication, ..RefereeRules::default() };
        let now = Instant::now();
        let mut referee = Referee::new(board, ByColor::both(Allowance::Unlimited), rules, now);
        play(&mut referee, "6463 0001 6364", now);
        assert_eq!(referee.ending, None);
        play(&mut referee, "0100", now);
        assert_eq!(referee.ending, Some(Ending { result: Some(result), cause: Cause::TooLong }));
    }
}

#[test]
fn untimed_moves_cost_no_time_but_must_come() {
    for (expiry, ending) in [
        (Expiry::Loss, won(Color::Black, Cause::NoMove)),
        (Expiry::Abort, Some(Ending { result: None, cause: Cause::NoMove })),
    ] {
        let untimed = Some(Untimed { plies: 1, limit: 60_000 * MS, expiry });
        let rules = RefereeRules { untimed, transit: 9 * MS, ..Default::default() };
        let (mut referee, t0) = chess("1+0", rules);
        let mut late = chess("1+0", rules).0;
        assert!(late.check_time(t0 + 61_000 * MS));
        assert_eq!(late.ending, ending);
        assert_eq!((late.deadline(), late.timeout()), (None, None));
        assert!(!referee.check_time(t0 + 59_000 * MS));
        play(&mut referee, "e4", t0 + 59_000 * MS);
        assert_eq!(referee.plies[0].left, Some(1000 * MS));
        assert_eq!(referee.timeout(), Some(t0 + 60_009 * MS));
    }
}

#[test]
fn a_flag_is_a_draw_where_the_other_side_cannot_win() {
    let lone_king = Some("k7/8/8/8/8/8/8/K5Q1 w - - 0 1");
    for (flag_needs_winner, result) in [(true, GameResult::Draw), (false, GameResult::Won(Color::Black))] {
        let rules = RefereeRules { flag_needs_winner, ..RefereeRules::default() };
        let (mut referee, t0) = start(lone_king, "10+0", rules);
        assert!(!referee.check_time(t0 + 10_000 * MS) && referee.check_time(t0 + 10_001 * MS));
        assert_eq!(referee.ending, Some(Ending { result: Some(result), cause: Cause::OutOfTime }));
    }
}

#[test]
fn a_draw_needs_both_and_a_move_declines_it() {
    let rules = RefereeRules { draw_offers_from: Some(2), ..RefereeRules::default() };
    let (mut referee, now) = start(None, "10+0", rules);
    assert_eq!(referee.draw(Color::White, true, now), None, "too early");
    play(&mut referee, "e4 e5", now);
    assert_eq!(referee.draw(Color::White, true, now), Some(OfferChange::Made));
    assert_eq!([Color::White, Color::Black].map(|color| referee.offers_draw(color)), [true, false]);
    assert_eq!(referee.draw(Color::White, true, now), None, "once is enough");
    assert_eq!(referee.draw(Color::Black, false, now), Some(OfferChange::Declined));
    assert_eq!(referee.draw(Color::White, true, now), Some(OfferChange::Made));
    assert_eq!(referee.draw(Color::White, false, now), Some(OfferChange::Withdrawn));
    assert_eq!(referee.draw(Color::White, false, now), None, "there is nothing to withdraw");
    assert_eq!(referee.draw(Color::Black, true, now), Some(OfferChange::Made));
    play(&mut referee, "d4", now);
    assert!(!referee.offers_draw(Color::Black));
    assert_eq!(referee.draw(Color::White, true, now), Some(OfferChange::Made));
    assert_eq!(referee.draw(Color::Black, true, now), Some(OfferChange::Accepted));
    let agreed = Ending { result: Some(GameResult::Draw), cause: Cause::Agreement };
    assert_eq!(referee.ending, Some(agreed));
    assert_eq!(referee.draw(Color::White, true, now), None, "the game is over");
}

#[test]
fn a_takeback_undoes_the_last_move_and_the_answer_to_it() {
    let (mut referee, now) = start(None, "10+0", RefereeRules::default());
    assert_eq!(referee.takeback(Color::Black, true, now), None, "nothing to take back");
    play(&mut referee, "e4 e5 d4", now);
    assert_eq!(referee.takeback(Color::Black, true, now), Some(OfferChange::Made));
    assert!(referee.asks_takeback(Color::Black));
    assert_eq!(referee.takeback(Color::White, true, now), Some(OfferChange::Accepted));
    assert_eq!((referee.plies.len(), referee.turn()), (1, Color::Black));
    assert!(!referee.clock.is_running() && !referee.asks_takeback(Color::Black));
}

#[test]
fn moves_of_another_referee_do_not_touch_the_clocks() {
    let (mut referee, now) = start(None, "10+0", RefereeRules { abort_before: 2, ..RefereeRules::default() });
    assert!(referee.can_abort());
    let mut aborted = start(None, "10+0", RefereeRules { abort_before: 2, ..RefereeRules::default() }).0;
    aborted.end(None, Cause::Aborted, now);
    assert!(!aborted.can_abort());
    referee.replay("e4", Some(5000 * MS), None).unwrap();
    assert!(referee.replay("e4", None, None).is_err());
    referee.replay("e5", None, None).unwrap();
    assert!(!referee.can_abort());
    assert_eq!(referee.clock.left(Color::White, now), Some(10_000 * MS));
    assert_eq!(referee.plies.iter().map(|ply| ply.left).collect::<Vec<_>>(), [Some(5000 * MS), None]);
}
