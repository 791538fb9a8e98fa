//! The README's first command, and `zeitnot arena` with configurations that cannot work.

use std::{fs, net::TcpListener, process::Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use zeitnot_testing::{LONG, soon, wait_for};

use crate::support::{
    command::{err, zeitnot},
    files,
    pty::Pty,
    web::Browser,
};

#[test(limit = LONG)]
async fn the_demo_plays_its_tournament_to_the_end_and_can_be_watched() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = tokio::process::Command::from(zeitnot(&[]))
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut out = String::new();
    let page = loop {
        let line = soon("the demo's page", lines.next_line()).await.unwrap().expect("no word of the page");
        out += &format!("{line}\n");
        if let Some(page) = line.strip_prefix("Watch the games at http://") {
            break page.parse().unwrap();
        }
    };
    watch_thoughts(&Browser::new(page)).await;
    while let Some(line) = soon("the demo's output", lines.next_line()).await.unwrap() {
        out += &format!("{line}\n");
    }
    let output = soon("the demo's end", child.wait_with_output()).await.unwrap();
    let err = err(&output);
    assert!(output.status.success(), "{out}{err}");
    // A busy machine may leave a search without a processor for half a second.
    let is_fault = |line: &str| line.contains("WARN") || line.contains("ERROR");
    let faults = err.lines().filter(|line| is_fault(line) && !line.contains("a search did not stop"));
    assert_eq!(faults.count(), 0, "{err}");
    assert!(!out.contains("Out of time") && !err.contains("Out of time"), "{err}");
    for name in ["final standings", "zeitnot-tenth", "sparring"] {
        assert!(out.contains(name), "{out}");
    }
    let pgn = out.lines().find_map(|line| line.strip_prefix("games: ")).expect("no word of the games");
    let games = fs::read_to_string(folder.path().join(pgn)).unwrap();
    assert_eq!(games.matches("[Result ").count(), 6);
}

/// Watches a game until one of our engines has shown what it thinks, before its move and with it.
async fn watch_thoughts(browser: &Browser) {
    let mut spectator = browser.live().await;
    spectator.send(r#"{"watch":"games"}"#).await;
    let is_ours = |game: &Value| game["white"]["name"] == "zeitnot" || game["black"]["name"] == "zeitnot";
    let id = loop {
        let game = spectator.expect("begin").await["game"].clone();
        if is_ours(&game) {
            break game["id"].clone();
        }
    };
    spectator.send(&json!({"watch": {"game": id}}).to_string()).await;
    let thought = spectator.expect("thought").await["thought"].clone();
    assert!(thought["depth"].as_u64().is_some() && thought["pv"][0].is_string(), "{thought}");
    loop {
        let game = browser.json(&format!("/api/games/{}", id.as_str().unwrap())).await.1;
        let plies = game["plies"].as_array().unwrap();
        let searched = |ply: &&Value| ply["thought"]["nodes"].as_u64().is_some_and(|nodes| nodes > 0);
        if let Some(ply) = plies.iter().find(searched) {
            assert_eq!(ply["thought"]["pv"][0], ply["uci"], "{ply}");
            return;
        }
        assert_eq!(game["state"], "running", "no thought: {game}");
        spectator.expect("move").await;
    }
}

#[test]
fn an_arena_whose_port_is_taken_fails_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let config =
        format!("[arena]\ntcp = \"{at}\"\n[[arena.tournament]]\nname = \"class\"\ntime = \"3+0.05\"\n");
    fs::write(folder.path().join("config.toml"), config).unwrap();
    let output = zeitnot(&["arena"]).current_dir(&folder).output().unwrap();
    let err = err(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains(&at.to_string()) && err.contains("is another server running there"), "{err}");
}

#[test]
fn an_arena_without_its_table_fails_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "[bot]\nmax_games = 1\n").unwrap();
    let output = zeitnot(&["arena"]).current_dir(&folder).output().unwrap();
    let err = err(&output);
    assert_eq!((output.status.code(), err.lines().count()), (Some(2), 1), "{err}");
    assert!(err.contains("arena: nowhere to listen"), "{err}");
}

/// Without waiting for the games, which take half a minute.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_the_demo_opens_a_browser_and_ends_by_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    let opened = folder.path().join("opened");
    files::write(&opener, "#!/bin/sh\necho \"$1\" > opened.part && mv opened.part opened\n", 0o755);
    let Some(mut pty) = Pty::start(folder.path(), "demo --open --stay") else { return };
    let page = wait_for("the browser", || fs::read_to_string(&opened).ok());
    pty.until(page.trim());
    let authority = page.trim().strip_prefix("http://").unwrap();
    std::net::TcpStream::connect(authority.trim_end_matches('/')).unwrap();
    pty.type_in("\u{3}");
    let (code, told) = pty.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("stopping: the running game is aborted"), "{told}");
    assert!(told.contains("demo, standings so far:") || told.contains("demo: no players joined"), "{told}");
}
