//! Programs that share a cache: what the second plays of what the first has found, and faults of the server in mid-game.

use std::{collections::HashSet, path::Path, time::Duration};

use tokio::time::Instant;
use zeitnot_rules::{Game, chess::Chess};
use zeitnot_testing::until;

use super::{cache_second_game::script, cache_shared::start_with_tls};
use crate::support::{
    arena::{By, Player, TestArena, word},
    command::{out, zeitnot},
    program::Program,
    redis::{Redis, free_port},
};

/// A program that plays in this arena, with this server and without a file. What was found counts although more could
/// be found now.
fn program(folder: &Path, arena: &str, shared: &str) -> Program {
    let text = format!(
        "[engine]\nhash_mib = 8\n[cache]\nfile = ''\nmin_effort = 0.0\nshared = '{shared}'\n\
         [[server]]\nprotocol = 'contest'\naddress = '{arena}'\ntournament = 'class'\nplayer = 'zeitnot'\n"
    );
    Program::configured(folder, "bot", &text)
}

/// The number before these words in the report at the program's end.
fn count(told: &[String], what: &str) -> usize {
    let report = told.iter().find_map(|line| line.split_once("cache: ")).map_or("", |(_, report)| report);
    let counts = report.split([',', ';', ':']).filter_map(|count| count.trim().split_once(' '));
    counts.into_iter().find(|(_, words)| *words == what).map_or(0, |(count, _)| count.parse().unwrap())
}

/// Plays two games against a program of its own. Returns the positions that it was left, and its log.
async fn two_games(redis: &Redis) -> (Vec<String>, Vec<String>) {
    let arena = TestArena::start("time = '2+0.1'\ngames_per_pair = 2\nplayers = 2").await;
    let program = program(arena.folder.path(), &arena.url(By::Tcp), &redis.url());
    let asked = script(arena.join(By::Tcp, "script").await, 2).await;
    let (code, told) = program.stop().await;
    assert_eq!(code, Some(0), "{told:#?}");
    arena.stop().await;
    (asked, told)
}

#[test(workers = 2)]
async fn the_second_bot_plays_what_the_first_has_found() {
    let Some(redis) = Redis::start(&[]) else { return };
    let (asked_first, first) = two_games(&redis).await;
    let (asked_then, second) = two_games(&redis).await;
    // The games may part where a draw is searched again, or the machine is too busy for a first iteration.
    let seen: HashSet<_> = asked_first.iter().collect();
    let again = asked_then.iter().filter(|asked| seen.contains(asked)).count();
    let [known_at_first, known] = [&first, &second].map(|told| count(told, "moves played at once"));
    let [found_at_first, found] = [&first, &second].map(|told| count(told, "found"));
    println!(
        "played at once: {known_at_first} of {}, then {known} of {}, of which {again} had been asked before; {found} found",
        asked_first.len(),
        asked_then.len()
    );
    assert!(count(&first, "stored") > 0 && found > found_at_first, "{first:#?} {second:#?}");
    assert!(!asked_then.is_empty() && known >= again * 4 / 5, "{second:#?}");
}

/// A fault of the server while a game runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fault {
    Killed,
    Paused,
    Full,
    WrongPassword,
}

/// Plays the first moves of the alphabet and, from the fourth on, with this fault. Returns the program's longest times
/// before and after.
async fn play(mut player: Player, redis: &mut Redis, fault: Fault) -> [Duration; 2] {
    let mut longest = [Duration::ZERO; 2];
    let mut moves = 0;
    let mut answered = Instant::now();
    loop {
        let line = player.next().await.expect("the arena is there");
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" => {
                let longest = &mut longest[usize::from(moves > 4)];
                *longest = (*longest).max(if moves > 0 { answered.elapsed() } else { Duration::ZERO });
                match (moves, fault) {
                    (4, Fault::Killed) => redis.kill(),
                    (4, Fault::Paused) => redis.pause(),
                    (4, Fault::Full) => drop(redis.client().ask("CONFIG SET maxmemory 1")),
                    (12, _) => {
                        player.send(&format!("RESIGN {}", word(&line, 1))).await;
                        continue;
                    }
                    _ => {}
                }
                moves += 1;
                let mv = first_move(line.splitn(7, ' ').nth(6).unwrap());
                player.send(&format!("MOVE {} {mv}", word(&line, 1))).await;
                answered = Instant::now();
            }
            "GAME_OVER" => {
                assert!(line.to_ascii_lowercase().contains("resign"), "{fault:?}: {line}");
                return longest;
            }
            _ => {}
        }
    }
}

fn first_move(fen: &str) -> String {
    let position = Chess::parse(fen).unwrap();
    position.moves().iter().map(|mv| position.write(*mv).to_string()).min().unwrap()
}

#[test(workers = 2)]
async fn no_fault_of_the_server_loses_a_game_or_says_more_than_a_line() {
    for (fault, word) in [
        (Fault::Killed, "playing without it"),
        (Fault::Paused, "no answer within 250ms"),
        (Fault::Full, "OOM"),
        (Fault::WrongPassword, "shared_password_file"),
    ] {
        let Some(mut redis) = Redis::start(&[]) else { return };
        if fault == Fault::WrongPassword {
            redis.client().ask("CONFIG SET requirepass other");
        }
        let arena = TestArena::start("time = '2+0.1'\ngames_per_pair = 1\nplayers = 2").await;
        let url = format!("redis://:hush-hush@127.0.0.1:{}", redis.port);
        let url = if fault == Fault::WrongPassword { url } else { redis.url() };
        let program = program(arena.folder.path(), &arena.url(By::Tcp), &url);
        let longest = play(arena.join(By::Tcp, "script").await, &mut redis, fault).await;
        // The game may end before the fault is noticed.
        program.tells(word).await;
        let warnings = program.warnings();
        let (_, told) = program.stop().await;
        println!("{fault:?}: longest move before and after: {longest:?}");
        let of_cache: Vec<_> = warnings.iter().filter(|line| line.contains("shared cache")).collect();
        assert!(of_cache.len() == 1 && of_cache[0].contains(word), "{fault:?}: {warnings:#?}");
        assert!(!told.iter().any(|line| line.contains("hush")), "{told:#?}");
        arena.stop().await;
    }
}

#[test]
async fn a_certificate_of_an_unknown_authority_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_redis, url)) = start_with_tls(folder.path()) else { return };
    let program = program(folder.path(), &format!("tcp://127.0.0.1:{}", free_port()), &url);
    until("a warning", async || program.warnings().iter().any(|line| line.contains("UnknownIssuer"))).await;
    program.stop().await;
}

#[test]
fn check_shows_the_server_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    let check = |url: &str| {
        std::fs::write(&file, format!("[cache]\nshared = '{url}'\n")).unwrap();
        let output = zeitnot(&["check", "--config"]).arg(&file).output().unwrap();
        let text = out(&output).replace("\n    ", " ");
        assert!(output.status.success() && !text.contains("hush"), "{output:?}");
        text
    };
    let local = check("redis://me:hush@127.0.0.1:6380");
    assert!(local.contains("shared by redis://me@127.0.0.1:6380"), "{local}");
    assert!(!local.contains("unencrypted"), "{local}");
    assert!(
        check("redis://:hush@cache.example.org").contains("warning: cache.shared: moves, and a password")
    );
}
