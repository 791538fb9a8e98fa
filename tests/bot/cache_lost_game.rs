//! Against an opponent that always plays the same, a lost game is not played again from the cache.

use std::{path::Path, time::Duration};

use zeitnot_bot::{
    Answer, Config, MoveOrigin,
    cache::{self, Cache},
    policy::Resign,
};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind};
use zeitnot_rules::{Color, Game, GameHistory, GameResult, Key, chess::Chess};
use zeitnot_seat::{Action, Clocks, Event, Turn};

use crate::support::bot::{House, ask, clocks, house_with, info, moved, tell};

/// White lacks a knight, so that no score is a draw.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1";
const MOVES: u32 = 3;

/// A cache that plays whatever it knows, however little effort it took.
fn open(file: &Path) -> Cache {
    let config = cache::Config { file: file.into(), min_effort: 0.0, ..Default::default() };
    Cache::open(&config, EngineFactory::new(&engine::Config::default()).unwrap().fingerprint())
}

/// A bot that gives up after so many moves in a lost position; 0: never.
fn house(cache: &Cache, moves: usize) -> House {
    let cache = cache.clone();
    let lag = Duration::from_millis(5);
    // The time for a move does not depend on how busy the machine is.
    let resign = Resign { moves, score: 500, ..Resign::default() };
    let config = Config { move_overhead: lag, min_lag: lag, max_lag: lag, resign, ..Config::default() };
    house_with(Kind::Search, config, |context| context.set_cache(cache))
}

/// Plays a game with this result; returns our answers and the positions before them.
async fn game(house: &mut House, result: GameResult) -> Vec<(Key, Answer)> {
    let mut seat = house.lobby.open(info(Color::White, Some(START))).await.unwrap();
    let mut line = GameHistory::new(Chess::parse(START).unwrap());
    let mut answers = Vec::new();
    for turn in 1..=MOVES {
        let key = line.now().key();
        let time = Clocks { increment: Duration::from_millis(40), ..clocks(Duration::from_secs(1)) };
        let ours = ask(&mut seat, turn, Some(time)).await;
        answers.push((key, house.answers.recv().await.unwrap()));
        line.play(line.now().read(&ours).unwrap());
        let all = line.now().moves();
        let theirs = all.iter().map(|&mv| line.now().write(mv).to_string()).min().unwrap();
        line.play(line.now().read(&theirs).unwrap());
        moved(&seat, &ours).await;
        moved(&seat, &theirs).await;
    }
    tell(&seat, Event::Ended { result: result.to_string(), outcome: Some(result) }).await;
    assert!(seat.actions.recv().await.is_none(), "the player has left");
    answers
}

#[test]
async fn a_lost_game_is_searched_anew_with_more_time_also_after_a_restart() {
    let lost = GameResult::Won(Color::Black);
    let drawn = GameResult::Draw;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let cache = open(&file);
    let mut before = house(&cache, 0);
    let first = game(&mut before, drawn).await;
    let second = game(&mut before, lost).await;
    for (_, answer) in &second {
        assert_eq!(answer.origin, MoveOrigin::Cached, "move by move the game before");
    }
    cache.close();

    let mut after = house(&open(&file), 0);
    let is_cached = |(_, answer): &(Key, Answer)| answer.origin == MoveOrigin::Cached;
    let third = game(&mut after, lost).await;
    assert!(!third.iter().any(is_cached), "{third:?}");

    let fourth = game(&mut after, drawn).await;
    let same = fourth.iter().zip(&first).take_while(|((now, _), (then, _))| now == then);
    let same: Vec<_> = same.map(|((_, now), (_, then))| (now, then)).collect();
    for (now, then) in &same {
        assert_ne!(now.origin, MoveOrigin::Cached);
        assert!(now.budget.soft >= then.budget.soft * 3 / 2, "{:?}, {:?}", now.budget, then.budget);
    }
    assert!(!same.is_empty());
    // The new searches are cached, as the game after them was drawn.
    let fifth = game(&mut after, drawn).await;
    assert!(fifth.iter().all(is_cached), "{fifth:?}");
}

/// Not every protocol tells the end of such a game.
#[test]
async fn a_game_that_we_give_up_is_lost() {
    let mut house = house(&open(Path::new("")), 2);
    // White lacks its queen.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1";
    let time = Some(clocks(Duration::from_secs(1)));
    for _ in 0..2 {
        let mut seat = house.lobby.open(info(Color::White, Some(start))).await.unwrap();
        let ours = ask(&mut seat, 1, time).await;
        assert_ne!(house.answers.recv().await.unwrap().origin, MoveOrigin::Cached);
        moved(&seat, &ours).await;
        moved(&seat, "b8c6").await;
        tell(&seat, Event::YourTurn { turn: Turn(2), clocks: time }).await;
        assert_eq!(seat.actions.recv().await, Some(Action::Resign { turn: Turn(2) }));
    }
}
