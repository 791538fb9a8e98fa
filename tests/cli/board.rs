//! `zeitnot board` in a real terminal.

#![cfg(target_os = "linux")]

use std::fs;
use zeitnot_testing::send_signal;

use crate::support::{
    command::{err, zeitnot},
    pty::Pty,
};

#[test]
fn a_game_is_won_on_the_board_and_another_begun() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut pty) = Pty::start(folder.path(), "board --level 1 --fen '7k/8/6K1/8/8/8/8/R7 w - - 0 1'")
    else {
        return;
    };
    pty.until("move:");
    // The rook is chosen by the cursor; then its move is typed instead.
    pty.type_in("\u{1b}[A");
    pty.type_in("Ra8\r");
    pty.until("1-0 Checkmate");
    pty.type_in("\u{e}");
    pty.until_gone("1-0");
    pty.type_in("Kg5\r");
    pty.until("zeitnot (level 1) plays K");
    pty.type_in("\u{14}");
    pty.until_gone("Kg5");
    pty.type_in("Ra8\r");
    pty.until("1-0 Checkmate");
    pty.type_in("\u{11}");
    let (code, after) = pty.end();
    assert_eq!((code, after.trim()), (Some(0), "Ra8# 1-0 Checkmate"));
}

#[test]
fn the_player_resigns_and_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut pty) = Pty::start(folder.path(), "board --level 1 --tc 600+1 --color white") else { return };
    pty.until("10:00");
    pty.type_in("e4\r");
    pty.until("zeitnot (level 1) plays ");
    pty.type_in("\u{12}");
    pty.until("Ctrl-R again to resign.");
    pty.type_in("\u{12}");
    pty.until("0-1 Resignation");
    pty.type_in("\u{11}");
    let (code, after) = pty.end();
    assert_eq!(code, Some(0), "{after:?}");
    assert!(after.trim().starts_with("e4 ") && after.trim().ends_with(" 0-1 Resignation"), "{after:?}");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let Some(pty) = Pty::start(folder.path(), "board --game minichess-imcs --level 1 --letters") else {
            return;
        };
        pty.until("move:");
        let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
        send_signal(signal, pid);
        let (code, after) = pty.end();
        assert_eq!(code, Some(0), "{after:?}");
        assert!(after.contains('*'), "the game has no result: {after:?}");
    }
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    for command in ["board", "watch"] {
        let output = zeitnot(&[command]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let told = err(&output);
        assert!(told.contains("this is not a terminal; ") && told.lines().count() == 1, "{told}");
    }
}
