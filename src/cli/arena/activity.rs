//! Metrics of an arena: its tournaments' games and players, by the events that the log shows.

use metrics::{counter, describe_counter};
use zeitnot_arena::Event;
use zeitnot_rules::{Color, GameResult};

const GAMES: &str = "zeitnot_arena_games_total";
const STARTED: &str = "zeitnot_arena_games_started_total";
const JOINED: &str = "zeitnot_arena_players_joined_total";
const LEFT: &str = "zeitnot_arena_players_left_total";

const WHITE: &str = "white";
const BLACK: &str = "black";
const DRAW: &str = "draw";
const NONE: &str = "none";

/// Describes the metrics to the exporter.
pub(super) fn describe() {
    describe_counter!(STARTED, "Games that have begun in tournaments");
    describe_counter!(GAMES, "Games that are over in tournaments, by result");
    describe_counter!(JOINED, "Players that have joined a tournament, those who came back included");
    describe_counter!(LEFT, "Players that have left a tournament");
    // From the beginning on, so that the first event shows as an increase.
    for counter in [counter!(STARTED), counter!(JOINED), counter!(LEFT)] {
        counter.increment(0);
    }
    for result in [WHITE, BLACK, DRAW, NONE] {
        counter!(GAMES, "result" => result).increment(0);
    }
}

pub(super) fn count(event: &Event) {
    match event {
        Event::Joined(_) => counter!(JOINED).increment(1),
        Event::Left(_) => counter!(LEFT).increment(1),
        Event::GameStarted { .. } => counter!(STARTED).increment(1),
        Event::GameEnded { result, .. } => {
            let result = match result {
                Some(GameResult::Won(Color::White)) => WHITE,
                Some(GameResult::Won(_)) => BLACK,
                Some(GameResult::Draw) => DRAW,
                None => NONE,
            };
            counter!(GAMES, "result" => result).increment(1);
        }
        Event::Withdrawn(_) | Event::Over(_) => {}
    }
}
