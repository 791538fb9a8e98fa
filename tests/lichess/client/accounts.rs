//! `zeitnot play` with several accounts on one server, and a number of games after which it ends.

use std::{fs, process::Stdio};

use tokio::process::Command;
use zeitnot_testing::soon;

use crate::support::{
    command::{run, zeitnot},
    files,
    lichess_arena::Lichess,
    lichess_server::Server,
};

#[test]
async fn an_account_that_cannot_be_a_bot_is_not_told_to_become_one() {
    const REFUSAL: &str =
        "The account zeitnot has already played games and cannot be upgraded to a bot account";
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let table = format!("[[server]]\nprotocol = 'lichess'\nurl = '{}'\ntoken = 'lip_hush'\n", server.url);
    fs::write(&config, table).unwrap();
    let scopes = r#"{"lip_hush":{"userId":"zeitnot","scopes":"bot:play"}}"#;
    server.answer("/api/token/test", 200, scopes);
    server.answer("/api/bot/account/upgrade", 400, &format!(r#"{{"error":"{REFUSAL}"}}"#));
    let account = |more: &str| {
        let user = format!(r#"{{"id":"zeitnot","username":"Zeitnot"{more}}}"#);
        server.answer("/api/account", 200, &user);
    };
    account("");
    let (status, text) = run(&["lichess", "check"], &config, "").await;
    assert!(status == Some(1) && text.contains("run zeitnot lichess upgrade"), "{text}");
    // The server counts no games, but knows of some.
    let (status, text) = run(&["lichess", "upgrade", "--yes"], &config, "").await;
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains(REFUSAL) && text.contains("create a new account"), "{text}");
    account(r#","count":{"all":7}"#);
    for command in ["check", "upgrade"] {
        let (status, text) = run(&["lichess", command], &config, "").await;
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains("it has played games: create a new account"), "{text}");
        assert!(!text.contains("zeitnot lichess upgrade"), "{text}");
    }
}

#[test]
async fn two_accounts_in_one_process_play_a_game_each() {
    let arena = Lichess::start("").await;
    let folder = arena.arena.folder.path();
    let mut tables = "[cache]\nmemory_mib = 0\n".to_owned();
    for name in ["alice", "bob"] {
        let file = folder.join(name);
        files::write(&file, format!("lip_{name}\n"), 0o600);
        tables += &format!(
            "[[server]]\nprotocol = 'lichess'\nurl = '{}'\ntoken_file = '{}'\n",
            arena.url(),
            file.display()
        );
    }
    let config = folder.join("config.toml");
    fs::write(&config, tables).unwrap();
    for (args, code, told) in [
        (&["check"][..], 0, ["account: alice at ", "account: bob at "]),
        (&["check", "--account", "2"], 0, ["account: bob at ", "limits: 4 games at once"]),
        (&["check", "--account", "3"], 2, ["--account 3", "the configuration has only 2"]),
    ] {
        let (status, text) = run(&[&["lichess"], args].concat(), &config, "").await;
        assert_eq!(status, Some(code), "{text}");
        assert!(told.iter().all(|told| text.contains(told)), "{text}");
    }
    let mut child = Command::from(zeitnot(&["play", "--once", "1", "--config"]))
        .current_dir(folder)
        .arg(&config)
        // With two accounts it would be neither's, so it is ignored.
        .env("LICHESS_BOT_TOKEN", "lip_carol")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let carol = arena.bot("carol");
    let mut events = carol.events().await;
    let mut opponents = Vec::new();
    for name in ["alice", "bob"] {
        carol.sees_online(name).await;
        carol.challenge(name, "clock.limit=60&clock.increment=0&color=white").await;
        let game = events.expect("gameStart").await;
        opponents.push(game["game"]["opponent"]["id"].as_str().unwrap().to_owned());
        let id = game["game"]["gameId"].as_str().unwrap().to_owned();
        let mut watched = carol.watch(&id).await;
        watched.expect("gameFull").await;
        carol.play(&id, "e2e4").await;
        while watched.expect("gameState").await["moves"].as_str().unwrap().split(' ').count() < 2 {}
        carol.act(&id, "resign").await;
        events.expect("gameFinish").await;
    }
    assert_eq!(opponents, ["alice", "bob"]);
    let status = soon("it ends after a game each", child.wait()).await.unwrap();
    assert!(status.success(), "{status}");
    arena.stop().await;
}
