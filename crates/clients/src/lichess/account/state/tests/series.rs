//! Series of games against one opponent, by one order of the owner.

use zeitnot_seat::{BlockOrder, Order, OrderAnswer};
use zeitnot_wire::lichess::{ChallengeEnd, ColorWish, RateLimit};

use super::*;

/// A bot that plays nobody by itself, with an order for this many games against bob.
fn ordered(games: u32) -> Driver {
    let mut account = Driver::new("", &Seats::new(1));
    let told = order(&mut account, "bob", games).unwrap();
    assert!(told.starts_with(&format!("challenging bob to {games} games")), "{told}");
    account
}

fn order(account: &mut Driver, opponent: &str, games: u32) -> OrderAnswer {
    let order =
        format!(r#"{{"opponent":"{opponent}","time_control":"180+2","color":"black","games":{games}}}"#);
    account.tell(Input::Order(Order::Challenge(serde_json::from_str(&order).unwrap())));
    let at = account.wanted.iter().position(|effect| matches!(effect, Effect::Answer(_))).unwrap();
    match account.wanted.remove(at) {
        Some(Effect::Answer(answer)) => answer,
        other => panic!("{other:?}"),
    }
}

/// Takes what is wanted now, and returns the color that we ask for in each challenge to bob.
fn proposed(account: &mut Driver) -> Vec<ColorWish> {
    let color = |request| match request {
        Request::Challenge(to, challenge) if to.as_str() == "bob" => Some(challenge.color),
        _ => None,
    };
    account.requests().into_iter().filter_map(color).collect()
}

fn accepted(account: &mut Driver, number: usize) {
    account.tell(Input::Reply(Reply::Created(Ok(id(number)))));
    account.tell(Input::Reply(Reply::ChallengeEnded(id(number), Some(ChallengeEnd::Accepted))));
}

fn over(account: &mut Driver, number: usize) {
    account.requests();
    account.tell(Input::GameEnded(id(number), Some(GameEnd::Over)));
}

/// Plays a game whose challenge was sent just now.
fn play(account: &mut Driver, number: usize) {
    accepted(account, number);
    account.begin(number);
    over(account, number);
}

fn later(account: &mut Driver, time: Duration) {
    account.wait_until(account.now + time);
}

fn is_over(account: &mut Driver) -> bool {
    later(account, 300 * MINUTE);
    proposed(account).is_empty()
}

#[test]
fn the_games_of_a_series_are_played_one_after_another_with_alternating_colors() {
    let mut account = ordered(3);
    for (number, color) in [(1, ColorWish::Black), (2, ColorWish::White), (3, ColorWish::Black)] {
        assert_eq!(proposed(&mut account), [color]);
        accepted(&mut account, number);
        account.begin(number);
        later(&mut account, 3 * MINUTE);
        assert_eq!(proposed(&mut account), [], "the game runs");
        over(&mut account, number);
        later(&mut account, 10 * SECOND);
    }
    assert!(is_over(&mut account));
    assert!(order(&mut account, "bob", 2).is_ok());
}

#[test]
fn a_series_waits_for_a_slot() {
    let mut account = ordered(2);
    proposed(&mut account);
    play(&mut account, 1);
    account.challenge(5);
    account.tell(Input::Reply(Reply::Accepted(id(5), Ok(()))));
    account.begin(5);
    later(&mut account, MINUTE);
    assert_eq!(proposed(&mut account), []);
    over(&mut account, 5);
    assert_eq!(proposed(&mut account), [ColorWish::White]);
}

#[test]
fn a_decline_or_no_answer_ends_a_series() {
    for end in [Some(ChallengeEnd::Declined), None] {
        let mut account = ordered(2);
        proposed(&mut account);
        account.tell(Input::Reply(Reply::Created(Ok(id(1)))));
        account.tell(Input::Reply(Reply::ChallengeEnded(id(1), end)));
        assert!(is_over(&mut account));
    }
}

#[test]
fn a_rate_limit_delays_a_series_and_errors_in_a_row_end_it() {
    let mut account = ordered(2);
    proposed(&mut account);
    play(&mut account, 1);
    later(&mut account, 10 * SECOND);
    assert_eq!(proposed(&mut account), [ColorWish::White]);
    let limited =
        HttpError::Limited { what: RateLimit::BOT_VS_BOT.into(), wait: 120 * MINUTE, is_told: true };
    account.tell(Input::Reply(Reply::Created(Err(limited))));
    later(&mut account, 119 * MINUTE);
    assert_eq!(proposed(&mut account), []);
    later(&mut account, 2 * MINUTE);
    for _ in 0..2 {
        assert_eq!(proposed(&mut account), [ColorWish::White], "the same game");
        account.tell(Input::Reply(Reply::Created(Err(HttpError::Server(502)))));
        later(&mut account, 2 * MINUTE);
    }
    assert!(is_over(&mut account), "three failures in a row");
}

#[test]
fn a_refusal_a_block_a_stop_and_a_game_that_is_not_played_end_a_series() {
    let ends: [fn(&mut Driver); 5] = [
        |account| account.tell(Input::Reply(Reply::Created(Err(HttpError::NotFound)))),
        |account| {
            play(account, 1);
            account.tell(Input::Order(Order::Block(BlockOrder { player: "Bob".into() })));
        },
        |account| {
            play(account, 1);
            account.tell(Input::Stop);
        },
        |account| {
            accepted(account, 1);
            account.begin(1);
            account.requests();
            account.tell(Input::GameEnded(id(1), Some(GameEnd::Unplayed)));
        },
        // Its game never begins.
        |account| accepted(account, 1),
    ];
    for end in ends {
        let mut account = ordered(2);
        proposed(&mut account);
        end(&mut account);
        assert!(is_over(&mut account));
    }
}

#[test]
fn there_is_one_series_at_a_time() {
    let mut account = ordered(2);
    proposed(&mut account);
    play(&mut account, 1);
    for (opponent, games) in [("bob", 1), ("eve", 2)] {
        let error = order(&mut account, opponent, games).unwrap_err().to_string();
        assert!(error.starts_with("a series of games against bob is being played"), "{error}");
    }
    assert!(order(&mut account, "eve", 1).is_ok());
}
