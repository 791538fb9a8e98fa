//! From a won position, a cache that only knows "here I played that" repeats itself into a draw. Ours wins.

use std::{collections::HashMap, time::Duration};

use zeitnot_bot::{
    Config, MoveOrigin,
    cache::{self, Cache, CachedMove},
};
use zeitnot_engine::{Kind, Score};
use zeitnot_rules::{Color, Game, GameHistory, Key, Outcome, Reason, chess::Chess};

use crate::support::bot::{House, ask, clocks, house_with, info, moved};

/// A queen and a rook against a bare king.
const WON: &str = "7k/8/8/8/8/8/QR6/K7 w - - 0 1";

/// Cached moves for two positions, there and back again.
fn shuffle() -> [(Chess, &'static str); 2] {
    let mut line = GameHistory::new(Chess::parse(WON).unwrap());
    let mut known = Vec::new();
    for (ours, theirs) in [("b2b3", "h8g8"), ("b3b2", "g8h8")] {
        known.push((line.now().clone(), ours));
        for text in [ours, theirs] {
            line.play(line.now().read(text).unwrap());
        }
    }
    known.try_into().unwrap()
}

/// Black goes to and fro between two squares, or wherever he can.
fn black(position: &Chess) -> String {
    let moves: Vec<_> = position.moves().iter().map(|&mv| position.write(mv).to_string()).collect();
    let to_and_fro = moves.iter().find(|text| ["h8g8", "g8h8"].contains(&text.as_str()));
    to_and_fro.or(moves.iter().min()).unwrap().clone()
}

#[test]
fn a_naive_cache_draws() {
    let known: HashMap<Key, &str> = shuffle().map(|(position, mv)| (position.key(), mv)).into();
    let mut line = GameHistory::new(Chess::parse(WON).unwrap());
    while !line.outcome().is_over() {
        let text = match line.now().side_to_move() {
            Color::White => known[&line.now().key()].to_owned(),
            Color::Black => black(line.now()),
        };
        line.play(line.now().read(&text).unwrap());
    }
    assert_eq!(line.outcome(), Outcome::Draw(Reason::ThreefoldRepetition));
}

fn planted() -> Cache {
    let in_memory = cache::Config { file: "".into(), ..cache::Config::default() };
    let cache = Cache::open(&in_memory, fingerprint());
    for (position, text) in shuffle() {
        let mv = position.pack(position.read(text).unwrap());
        cache.insert(
            &GameHistory::new(position),
            CachedMove { mv, score: Score::cp(1500), depth: 30, effort: u64::MAX / 2 },
        );
    }
    cache
}

fn fingerprint() -> u64 {
    zeitnot_engine::EngineFactory::new(&zeitnot_engine::Config::default()).unwrap().fingerprint()
}

#[test]
async fn ours_plays_what_it_knows_once_and_then_wins() {
    let cache = planted();
    let mut house = house_with(Kind::Search, Config::default(), |context| context.set_cache(cache));
    let mut seat = house.lobby.open(info(Color::White, Some(WON))).await.unwrap();
    let mut line = GameHistory::new(Chess::parse(WON).unwrap());
    let mut hows = Vec::new();
    for turn in 1.. {
        let ours = ask(&mut seat, turn, Some(clocks(Duration::from_secs(2)))).await;
        hows.push(how(&mut house).await);
        line.play(line.now().read(&ours).unwrap());
        if line.outcome().is_over() {
            break;
        }
        let theirs = black(line.now());
        line.play(line.now().read(&theirs).unwrap());
        assert!(!line.outcome().is_over(), "{:?}", line.outcome());
        for text in [ours, theirs] {
            moved(&seat, &text).await;
        }
    }
    assert_eq!(line.outcome(), Outcome::Win(Color::White, Reason::Checkmate));
    assert_eq!(hows[0], MoveOrigin::Cached, "there is nothing wrong with it the first time");
}

async fn how(house: &mut House) -> MoveOrigin {
    house.answers.recv().await.unwrap().origin
}
