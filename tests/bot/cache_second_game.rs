//! Moves of a game that is played again come from the cache, even after a restart.

use std::{path::Path, time::Duration};

use tokio::sync::mpsc;
use zeitnot_bot::{
    Answer, Bot, BotContext, Config, MoveOrigin,
    cache::{self, Cache},
};
use zeitnot_clients::{OrderQueue, Protocol, Shutdown, contest::Contest};
use zeitnot_engine as engine;
use zeitnot_engine::EngineFactory;
use zeitnot_rules::{Game, Tactics, chess::Chess};

use crate::support::{
    arena::{By, Player, TestArena, word},
    contest_server::entry,
};

/// Reply of the scripted opponent: the best safe capture, or else the first move of the alphabet.
fn reply(fen: &str) -> String {
    let position = Chess::parse(fen).unwrap();
    let moves = position.moves();
    let worth = |mv: &<Chess as Game>::Move| {
        let safe = position.see_ge(*mv, 0);
        (safe, if safe { position.gain(*mv) } else { 0 }, std::cmp::Reverse(position.write(*mv).to_string()))
    };
    position.write(*moves.iter().max_by_key(|mv| worth(mv)).unwrap()).to_string()
}

/// Plays this many games, and resigns them early: of a game that we give away nothing is played again.
async fn script(mut player: Player, games: usize) {
    let (mut over, mut moves) = (0, 0);
    while over < games {
        let line = player.next().await.expect("the arena is there");
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" if moves == 12 => player.send(&format!("RESIGN {}", word(&line, 1))).await,
            "YOUR_MOVE" => {
                moves += 1;
                let fen = line.splitn(7, ' ').nth(6).unwrap();
                player.send(&format!("MOVE {} {}", word(&line, 1), reply(fen))).await;
            }
            "GAME_OVER" => (over, moves) = (over + 1, 0),
            _ => {}
        }
    }
}

/// Plays two games, one with each colour, with this file, and returns our answers.
async fn two_games(file: &Path) -> Vec<Answer> {
    let arena = TestArena::start("time = '2+0.1'\ngames_per_pair = 2\nplayers = 2").await;
    let factory =
        EngineFactory::new(&engine::Config { hash_mib: 8.try_into().unwrap(), ..Default::default() })
            .unwrap();
    // The machine may be less busy the second time: what was found counts although more could be found now.
    let config = cache::Config { file: file.into(), min_effort: 0.0, ..Default::default() };
    let cache = Cache::open(&config, factory.fingerprint());
    let (tell, mut told) = mpsc::channel(1024);
    let mut context = BotContext::new(Config::default(), factory, mpsc::channel(1).0);
    context.set_cache(cache.clone());
    context.answers = Some(tell);
    let (lobby, bot) = Bot::channel(context);
    let shutdown = Shutdown::default();
    let bot = tokio::spawn(bot.run(shutdown.now.clone()));
    let client = tokio::spawn(Contest::run(
        entry(&arena.url(By::Tcp), "zeitnot"),
        lobby,
        OrderQueue::default(),
        shutdown.clone(),
    ));
    let player = arena.join(By::Tcp, "script").await;
    script(player, 2).await;
    shutdown.now.cancel();
    client.await.unwrap().unwrap();
    bot.await.unwrap();
    arena.stop().await;
    cache.close();
    std::iter::from_fn(|| told.try_recv().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_of_a_repeated_game_come_from_the_cache_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let first = two_games(&file).await;
    let second = two_games(&file).await;
    let known = |answers: &[Answer]| answers.iter().filter(|a| a.origin == MoveOrigin::Cached).count();
    let (known_at_first, known_then) = (known(&first), known(&second));
    println!("from the cache: {known_at_first} of {}, then {known_then} of {}", first.len(), second.len());
    assert!(second.len() >= 20, "{}", second.len());
    assert!(known_at_first < first.len() / 2);
    assert!(known_then >= second.len() * 4 / 5, "{known_then} of {}", second.len());
    // Known moves take next to no time. In figures: a few milliseconds against a tenth of a second.
    let (thought, knew) =
        (typical(&first, |how| how != MoveOrigin::Cached), typical(&second, |how| how == MoveOrigin::Cached));
    println!("{thought:?} for a thought, {knew:?} for what is known");
    assert!(knew < thought / 2, "{knew:?} and {thought:?}");
}

/// The median of the times that such answers took.
fn typical(answers: &[Answer], such: fn(MoveOrigin) -> bool) -> Duration {
    let such = answers.iter().filter(|answer| such(answer.origin));
    let mut times: Vec<_> = such.map(|answer| answer.sent_at - answer.asked_at).collect();
    times.sort_unstable();
    times[times.len() / 2]
}
