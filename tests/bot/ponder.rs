//! Pondering: the expected reply is answered from the search during the opponent's time.

use std::time::Duration;

use zeitnot_bot::{
    Config, MoveOrigin,
    cache::{self, Cache, CacheAnswer},
};
use zeitnot_engine::Kind;
use zeitnot_rules::{Color, Game, GameHistory, chess::Chess};
use zeitnot_seat::Seat;
use zeitnot_testing::until;

use crate::support::bot::{House, ask, clocks, house_with, info, moved};

/// A queen sacrifice that must be taken, and then a knight mates.
const SMOTHERED: &str = "r6k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1";

/// The sacrifice is taken once the search for the answer to that has ended, if there is one. Returns the next answer
/// and its origin.
async fn after_the_sacrifice(ponder: usize) -> (String, MoveOrigin) {
    let cache = Cache::open(&cache::Config { file: "".into(), min_effort: 0.0, ..Default::default() }, 1);
    let config = Config { ponder, ..Config::default() };
    let mut house = house_with(Kind::Search, config, |context| context.set_cache(cache.clone()));
    let mut seat = house.lobby.open(info(Color::White, Some(SMOTHERED))).await.unwrap();
    assert_eq!(next(&mut house, &mut seat, 1).await.0, "c4g8");
    moved(&seat, "c4g8").await;
    let mut line = GameHistory::new(Chess::parse(SMOTHERED).unwrap());
    for mv in ["c4g8", "a8g8"] {
        line.play(line.now().read(mv).unwrap());
    }
    let is_stored = || matches!(cache.look_up(&line, 0, Duration::ZERO), CacheAnswer::Play(_));
    until("the result of the search", async || ponder == 0 || is_stored()).await;
    moved(&seat, "a8g8").await;
    next(&mut house, &mut seat, 2).await
}

async fn next(house: &mut House, seat: &mut Seat, turn: u32) -> (String, MoveOrigin) {
    let mv = ask(seat, turn, Some(clocks(Duration::from_secs(4)))).await;
    (mv, house.answers.recv().await.unwrap().origin)
}

#[test]
async fn the_expected_reply_is_answered_from_the_thought_about_it() {
    assert_eq!(after_the_sacrifice(1).await, ("h6f7".into(), MoveOrigin::Pondered));
}

#[test]
async fn without_a_core_for_it_nothing_is_thought_on_the_opponents_time() {
    assert_eq!(after_the_sacrifice(0).await, ("h6f7".into(), MoveOrigin::Searched));
}
