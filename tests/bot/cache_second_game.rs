//! Moves of a game that is played again come from the cache, even after a restart.

use std::{collections::HashSet, path::Path};

use tokio::sync::{mpsc, watch};
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
fn reply(position: &Chess) -> <Chess as Game>::Move {
    let moves = position.moves();
    let worth = |mv: &<Chess as Game>::Move| {
        let safe = position.see_ge(*mv, 0);
        (safe, if safe { position.gain(*mv) } else { 0 }, std::cmp::Reverse(position.write(*mv).to_string()))
    };
    *moves.iter().max_by_key(|mv| worth(mv)).unwrap()
}

/// Plays this many games, and resigns them early: of a game that we give away nothing is played again. Returns the
/// positions that it left to us.
pub(super) async fn script(mut player: Player, games: usize) -> Vec<String> {
    let mut over = 0;
    let mut moves = 0;
    let mut asked = Vec::new();
    while over < games {
        let line = player.next().await.expect("the arena is there");
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" if moves == 12 => player.send(&format!("RESIGN {}", word(&line, 1))).await,
            "YOUR_MOVE" => {
                moves += 1;
                let position = Chess::parse(line.splitn(7, ' ').nth(6).unwrap()).unwrap();
                let reply = reply(&position);
                asked.push(position.after(reply).print());
                player.send(&format!("MOVE {} {}", word(&line, 1), position.write(reply))).await;
            }
            "GAME_OVER" => (over, moves) = (over + 1, 0),
            _ => {}
        }
    }
    asked
}

/// Plays two games, one with each colour, with this file. Returns the positions that our opponent left to us, and our
/// answers.
async fn two_games(file: &Path) -> (Vec<String>, Vec<Answer>) {
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
        watch::channel(entry(&arena.url(By::Tcp), "zeitnot")).1,
        lobby,
        OrderQueue::default(),
        shutdown.clone(),
    ));
    let asked = script(arena.join(By::Tcp, "script").await, 2).await;
    shutdown.now.cancel();
    client.await.unwrap().unwrap();
    bot.await.unwrap();
    arena.stop().await;
    cache.close();
    (asked, std::iter::from_fn(|| told.try_recv().ok()).collect())
}

#[test(workers = 2)]
async fn moves_of_a_repeated_game_come_from_the_cache_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let (asked_at_first, first) = two_games(&file).await;
    let (asked_then, second) = two_games(&file).await;
    let known_at_first = first.iter().filter(|answer| answer.origin == MoveOrigin::Cached).count();
    assert!(known_at_first < first.len() / 2, "{known_at_first} of {}", first.len());
    // A machine too busy for a first iteration keeps nothing, and a draw is searched again: the games may part there,
    // and what follows is new. The first answer of each game is to the same position in any case.
    let seen: HashSet<_> = asked_at_first.iter().collect();
    let replies = second.iter().filter(|answer| answer.ply > 0);
    let again: Vec<_> = replies.zip(&asked_then).filter(|(_, asked)| seen.contains(asked)).collect();
    let known = again.iter().filter(|(answer, _)| answer.origin == MoveOrigin::Cached).count();
    println!(
        "from the cache: {known_at_first} of {}, then {known} of {} asked again",
        first.len(),
        again.len()
    );
    // A game may also end by a mate before the twelfth move.
    assert!(asked_then.len() >= 12 && !again.is_empty(), "{}, {}", asked_then.len(), again.len());
    assert!(known >= again.len() * 4 / 5, "{known} of {}", again.len());
}
