//! `zeitnot play` with several accounts on one server: each keeps its own token, each plays its own games, and after
//! so many of them the program ends.

use std::{fs, os::unix::fs::PermissionsExt, process::Stdio};

use tokio::process::Command;

use crate::support::{
    command::zeitnot,
    lichess_arena,
    wait::{soon, until},
};

#[tokio::test]
async fn two_accounts_in_one_process_play_a_game_each() {
    let arena = lichess_arena::Lichess::start("").await;
    let mut tables = "[cache]\nmemory_mib = 0\n".to_owned();
    for name in ["alice", "bob"] {
        let file = arena.folder.path().join(name);
        fs::write(&file, format!("lip_{name}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        tables += &format!(
            "[[server]]\nprotocol = 'lichess'\nurl = 'http://{}'\ntoken_file = '{}'\n",
            arena.address,
            file.display()
        );
    }
    let config = arena.folder.path().join("config.toml");
    fs::write(&config, tables).unwrap();
    for (args, code, told) in [
        (&["check"][..], 0, ["account: alice at ", "account: bob at "]),
        (&["check", "--account", "2"], 0, ["account: bob at ", "at once: 4 games"]),
        (&["check", "--account", "3"], 2, ["--account 3", "the configuration has only 2"]),
    ] {
        let run = Command::from(zeitnot(&["lichess"]))
            .args(args)
            .arg("--config")
            .arg(&config)
            .kill_on_drop(true)
            .output();
        let output = soon("it ends", run).await.unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(told.iter().all(|told| text.contains(told)), "{text}");
    }
    let mut child = Command::from(zeitnot(&["play", "--once", "1", "--config"]))
        .current_dir(&arena.folder)
        .arg(&config)
        // Whose it is would be neither.
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
        online(&carol, name).await;
        let form = "clock.limit=60&clock.increment=0&color=white";
        let (status, challenge) = carol.post(&format!("/api/challenge/{name}"), form).await;
        assert_eq!(status, 200, "{challenge}");
        let game = events.expect("gameStart").await;
        opponents.push(game["game"]["opponent"]["id"].as_str().unwrap().to_owned());
        let id = game["game"]["gameId"].as_str().unwrap().to_owned();
        let mut watched = carol.watch(&id).await;
        watched.expect("gameFull").await;
        carol.play(&id, "e2e4").await;
        // Ours, and then theirs.
        while watched.expect("gameState").await["moves"].as_str().unwrap().split(' ').count() < 2 {}
        carol.ok(&format!("/api/bot/game/{id}/resign")).await;
        events.expect("gameFinish").await;
    }
    assert_eq!(opponents, ["alice", "bob"]);
    let status = soon("it ends after a game each", child.wait()).await.unwrap();
    assert!(status.success(), "{status}");
    arena.stop().await;
}

/// Waits until its event stream is open.
async fn online(asker: &lichess_arena::Bot, name: &str) {
    let path = format!("/api/users/status?ids={name}");
    until("it comes online", async || asker.get(&path).await.1[0]["online"] == true).await;
}

#[tokio::test]
async fn what_cannot_be_counted_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let table =
        "[[server]]\nprotocol = 'contest'\naddress = 'tcp://localhost:1'\ntournament = 't'\nplayer = 'p'\n";
    fs::write(&config, table).unwrap();
    let run =
        Command::from(zeitnot(&["play", "--once", "3", "--config"])).arg(&config).kill_on_drop(true).output();
    let output = soon("it ends", run).await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("server[0]") && told.contains("its tournament determines"), "{told}");
}
