//! Tournaments in every game: by legal moves alone, and with our bot.

use std::{mem, time::Duration};

use futures_util::future::{join, join_all};
use serde_json::Value;
use zeitnot_bot as bot;
use zeitnot_clients::contest::{Config, Contest};
use zeitnot_engine::Kind;
use zeitnot_rules::{DynGame, GameKind, fnv1a};
use zeitnot_testing::LONG;

use crate::support::{
    arena::{By, TestArena, results, tags},
    client::Client,
    log::Log,
};

/// Starts an arena with a tournament of two for each of these names and settings.
async fn start<'n>(tournaments: impl IntoIterator<Item = (&'n str, String)>) -> TestArena {
    let mut text = "tcp = '127.0.0.1:0'\ngames = '{folder}/games'\n".to_owned();
    for (name, settings) in tournaments {
        text += &format!(
            "[[tournament]]\nname = '{name}'\ntime = '100+0'\nplayers = 2\npairing_interval = '20ms'\n\
             pause = '0s'\n{settings}\n"
        );
    }
    TestArena::open(tempfile::tempdir().unwrap(), &text).await
}

/// Plays at random, by the legal moves, until the connection is closed. Returns the games' names, and their ends.
async fn play_at_random(arena: &TestArena, tournament: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let mut random = fastrand::Rng::with_seed(fnv1a(tournament) ^ fnv1a(name));
    play(arena, tournament, name, |legal| random.choice(legal)).await
}

/// The same, with moves chosen in another way.
async fn play(
    arena: &TestArena,
    tournament: &str,
    name: &str,
    mut choose: impl FnMut(Vec<String>) -> Option<String>,
) -> (Vec<String>, Vec<String>) {
    let mut player = arena.say(name, &format!("JOIN {tournament} {name} +moves")).await;
    let (mut legal, mut variants, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(line) = player.next().await {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "GAME_PAIRED" => player.ack(&line).await,
            "VARIANT" => variants.push(words[2].to_owned()),
            "LEGAL_MOVES" => legal = words[2..].iter().map(|mv| (*mv).to_owned()).collect(),
            "YOUR_MOVE" => {
                let mv = choose(mem::take(&mut legal)).unwrap_or_else(|| panic!("no move before {line}"));
                player.send(&format!("MOVE {} {mv}", words[1])).await;
            }
            "GAME_OVER" => ends.push(words[2..].join(" ")),
            "INFO" => assert!(!line.contains("is not legal"), "{tournament}: {line}"),
            _ => {}
        }
    }
    (variants, ends)
}

/// The moves of a PGN with one game.
fn moves(pgn: &str) -> Vec<&str> {
    let (_, body) = pgn.split_once("\n\n").unwrap();
    let texts = body.split(['{', '}']).step_by(2).flat_map(str::split_whitespace);
    texts.filter(|text| !text.ends_with('.') && !["1-0", "0-1", "1/2-1/2"].contains(text)).collect()
}

/// Reads the only game of a tournament again: its PGN and its JSON.
fn check_record(database: &str, tournament: &str, kind: GameKind) {
    let pgn = results(database, &[tournament, "--pgn"]);
    let json: Value = serde_json::from_str(&results(database, &[tournament, "--json"])).unwrap();
    assert_eq!(json["kind"], kind.name());
    let result = json["pairings"][0]["result"].as_str().unwrap();
    assert!(["1-0", "0-1", "1/2-1/2"].contains(&result), "{json}");
    assert_eq!(tags(&pgn, "Result"), [result]);
    assert_eq!(tags(&pgn, "Variant").is_empty(), kind == GameKind::Chess, "{pgn}");
    let moves = moves(&pgn);
    assert_eq!(tags(&pgn, "PlyCount"), [moves.len().to_string()], "{pgn}");
    let mut positions = pgn.split("[%fen ").skip(1).map(|text| text.split(']').next().unwrap());
    let mut game = DynGame::begin(kind, tags(&pgn, "FEN").first().copied()).unwrap();
    for text in moves {
        let mv = game.read(text).unwrap_or_else(|error| panic!("{tournament}: {error} in {pgn}"));
        game.play(&mv).unwrap();
        // The moves alone tell nothing of the prizes.
        if kind == GameKind::Tuc {
            game = DynGame::begin(kind, Some(positions.next().unwrap())).unwrap();
        }
    }
    assert_eq!(positions.next(), None, "{pgn}");
    if kind == GameKind::Tuc {
        assert_eq!(result, game.result_so_far().as_str(), "{pgn}");
    }
}

#[test(limit = LONG)]
async fn two_who_know_no_rules_play_a_game_of_each_to_its_end() {
    let games = || GameKind::ALL.iter().map(|kind| kind.name());
    let arena = start(games().map(|name| (name, format!("game = '{name}'\ngames_per_pair = 1")))).await;
    let both = |name| join(play_at_random(&arena, name, "alice"), play_at_random(&arena, name, "bob"));
    for (name, (alice, bob)) in games().zip(join_all(games().map(both)).await) {
        assert_eq!(alice, bob);
        let (variants, ends) = alice;
        assert_eq!((variants, ends.len()), (vec![name.to_owned()], 1));
        // By the rules, not on time.
        assert!(!ends[0].contains("time") && !ends[0].contains("Illegal"), "{name}: {ends:?}");
    }
    let (summary, folder) = arena.end().await;
    assert!(summary.tournaments.iter().all(|tournament| tournament.complete && tournament.pgn.is_some()));
    for kind in GameKind::ALL {
        check_record(&folder.database(), kind.name(), *kind);
    }
}

#[test(limit = LONG)]
async fn our_bot_plays_every_game() {
    let games = || GameKind::ALL.iter().map(|kind| kind.name());
    let arena = start(games().map(|name| (name, format!("game = '{name}'\ngames_per_pair = 1")))).await;
    for &game in GameKind::ALL {
        let (address, tournament) = (arena.url(By::Tcp).parse().unwrap(), game.name().to_owned());
        let new = Config::new(address, tournament.try_into().unwrap(), "us".to_owned().try_into().unwrap());
        let quick = bot::Config { max_move_time: Duration::from_millis(5), ..bot::Config::default() };
        let config = Config { game, games: Some(1.try_into().unwrap()), ..new };
        let client = Client::with_bot::<Contest>(config, Kind::Search, quick);
        let (_, ends) = play_at_random(&arena, game.name(), "alice").await;
        client.ends().await;
        let by_rules = |end: &String| !["Illegal", "Resignation", "time"].iter().any(|why| end.contains(why));
        assert!(ends.len() == 1 && ends.iter().all(by_rules), "{}: {ends:?}", game.name());
    }
    let (_, folder) = arena.end().await;
    for kind in GameKind::ALL {
        check_record(&folder.database(), kind.name(), *kind);
    }
}

#[test]
async fn chess960_begins_from_random_positions_and_the_return_game_from_the_same() {
    let arena = start([("class", "chess960 = true\ngames_per_pair = 4".to_owned())]).await;
    let (alice, bob) =
        join(play_at_random(&arena, "class", "alice"), play_at_random(&arena, "class", "bob")).await;
    assert_eq!(alice, bob);
    let (_, folder) = arena.end().await;
    let database = folder.database();
    for words in [&["class"][..], &[]] {
        assert!(results(&database, words).starts_with("class: chess960 at 100+0, complete, "));
    }
    let json: Value = serde_json::from_str(&results(&database, &["class", "--json"])).unwrap();
    assert!(json["kind"] == "chess" && json["chess960"] == true, "{json}");
    let pgn = results(&database, &["class", "--pgn"]);
    let starts = tags(&pgn, "FEN");
    assert!(starts.len() == 4 && starts[0] == starts[1] && starts[2] == starts[3], "{starts:?}");
    assert_ne!(starts[0], starts[2]);
    assert_eq!((tags(&pgn, "Variant"), alice.0), (vec!["Chess960"; 4], vec!["chess960".to_owned(); 4]));
}

#[test]
async fn openings_are_positions_of_the_game() {
    let position = "....k/...pp/...../PP.../...../K.... W 3";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("openings"), position).unwrap();
    let settings = "game = 'minichess-2026'\nplayers = 2\ngames_per_pair = 1\nopenings = '{folder}/openings'";
    let arena = TestArena::tournament(folder, "", settings).await;
    let (alice, _) =
        join(play_at_random(&arena, "class", "alice"), play_at_random(&arena, "class", "bob")).await;
    assert_eq!(alice.0, ["minichess-2026"]);
    let (_, folder) = arena.end().await;
    assert_eq!(tags(&results(&folder.database(), &["class", "--pgn"]), "FEN"), [position]);
}

/// By the rules, kings that go to and fro would do so for ever.
#[test]
async fn points_decide_a_long_game_of_tuc_chess() {
    let folder = tempfile::tempdir().unwrap();
    let position = "k..../...../..p../..P../...../...../....K w 50000-0 4 0 2021";
    std::fs::write(folder.path().join("openings"), position).unwrap();
    let settings = "game = 'tuc'\nplayers = 2\ngames_per_pair = 1\nopenings = '{folder}/openings'";
    let arena = TestArena::tournament(folder, "", settings).await;
    let back_and_forth = |legal: Vec<String>| {
        legal.into_iter().find(|mv| ["6463", "6364", "0001", "0100"].contains(&mv.as_str()))
    };
    let both = ["alice", "bob"].map(|name| play(&arena, "class", name, back_and_forth));
    join_all(both).await;
    let (_, folder) = arena.end().await;
    let pgn = results(&folder.database(), &["class", "--pgn"]);
    let ends = ["PlyCount", "Result", "Termination"].map(|tag| tags(&pgn, tag).concat());
    assert_eq!(ends, ["600", "1-0", "adjudication"]);
}

#[test]
async fn a_bot_that_expects_another_game_says_so_and_resigns() {
    let arena = start([("class", "games_per_pair = 1".to_owned())]).await;
    let log = Log::capture();
    let address = arena.url(By::Tcp).parse().unwrap();
    let new =
        Config::new(address, "class".to_owned().try_into().unwrap(), "us".to_owned().try_into().unwrap());
    let config = Config { game: GameKind::Minichess2026, games: Some(1.try_into().unwrap()), ..new };
    let client = Client::with_bot::<Contest>(config, Kind::Random, bot::Config::default());
    let (_, ends) = play_at_random(&arena, "class", "alice").await;
    assert!(ends.len() == 1 && ends[0].contains("Resignation"), "{ends:?}");
    client.ends().await;
    let told = "resigning: it is not minichess-2026 (";
    assert_eq!((log.count(told), log.count("set `game` in its [[server]] table")), (1, 1), "{}", log.text());
    arena.end().await;
}
