//! `zeitnot watch` in a real terminal, on the games of a real arena.

#![cfg(target_os = "linux")]

use zeitnot_testing::{send_signal, until};

use crate::support::{arena::word, pty::Pty, web::with_page};

#[test]
async fn games_are_listed_and_one_is_watched_to_its_end_and_beyond() {
    let (arena, browser) = with_page("").await;
    let folder = tempfile::tempdir().unwrap();
    let Some(mut pty) = Pty::start(folder.path(), &format!("watch --server http://{}", browser.address))
    else {
        return;
    };
    until("an empty list", async || pty.screen().contains("No game has begun yet.")).await;
    let mut board = arena.game().await;
    let white = board.white.name.clone();
    until("the game", async || pty.screen().contains(&white)).await;
    pty.type_in("\r");
    until("the board", async || pty.screen().contains("♜")).await;
    board.play("f2-f3 e7-e5").await;
    until("a move", async || pty.screen().contains("e5")).await;
    board.play("g2-g4 d8-h4").await;
    until("the end", async || pty.screen().contains("0-1 Checkmate")).await;
    arena.stop().await;
    until("the arena is missed", async || pty.screen().contains("not connected to http://")).await;
    pty.type_in("q");
    assert_eq!(pty.end().0, Some(0));
}

#[test]
async fn a_game_is_watched_by_its_id() {
    let (arena, browser) = with_page("").await;
    let board = arena.game().await;
    let id = word(&board.game, 0).to_owned();
    let folder = tempfile::tempdir().unwrap();
    let Some(mut pty) =
        Pty::start(folder.path(), &format!("watch --letters --server http://{} {id}", browser.address))
    else {
        return;
    };
    until("the board", async || pty.screen().contains(&board.white.name)).await;
    pty.type_in("q");
    assert_eq!(pty.end().0, Some(0));
    let Some(pty) = Pty::start(folder.path(), &format!("watch --server http://{} nonsense", browser.address))
    else {
        return;
    };
    until("an answer", async || pty.screen().contains("no game")).await;
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    send_signal("TERM", pid);
    assert_eq!(pty.end().0, Some(0));
    arena.stop().await;
}
