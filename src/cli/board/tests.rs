//! The board as it is drawn, and what keys do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use zeitnot_rules::{DynGame, GameKind};

use super::{
    app::{App, Wish},
    table::TableState,
    ui,
};
use crate::cli::screen::{self, terminal::Key, theme::Theme};

/// State of a table after these moves, as the arena tells it.
fn table(kind: GameKind, fen: Option<&str>, moves: &[&str], you: &str) -> TableState {
    let mut game = DynGame::begin(kind, fen).unwrap();
    let start = game.now();
    let mut plies = Vec::new();
    for text in moves {
        let mv = game.read(text).unwrap();
        let san = game.san(&mv).unwrap();
        game.play(&mv).unwrap();
        let thought = json!({"score": {"cp": 35}, "depth": 14, "nodes": 1000, "nps": 1_200_000, "pv": ["d7d5"], "origin": "search"});
        plies.push(json!({"uci": mv.as_str(), "san": san, "fen": game.now(), "spent_ms": 100, "left_ms": 59_900, "thought": thought}));
    }
    let your_turn = game.side_to_move().to_string() == you;
    let legal: Vec<Value> = game
        .legal_moves()
        .into_iter()
        .filter(|_| your_turn)
        .map(|(uci, san)| json!({"uci": uci.as_str(), "san": san}))
        .collect();
    let person = |name: &str| json!({"name": name, "rating": null, "bot": null});
    let state = json!({
        "game": {
            "id": "x", "source": "table", "kind": kind.name(), "tournament": null, "round": null,
            "white": person("Guest"), "black": person("zeitnot (level 4)"), "time_control": "60+0", "state": "running",
            "result": null, "reason": null, "fen": game.now(), "last_move": null,
            "clocks": {"white_ms": 61_000, "black_ms": 59_900, "running": game.side_to_move().to_string()},
            "ply": moves.len(), "started": "2026-11-22T20:00:00Z", "start_fen": start, "plies": plies,
        },
        "you": you, "legal": legal, "can": {"takeback": true, "draw": false, "rematch": false},
        "draw_offer": null, "opponent_here": true,
    });
    serde_json::from_value(state).unwrap()
}

fn drawn(app: &App, width: u16, height: u16, theme: Theme, now: Instant) -> Vec<String> {
    screen::drawn(width, height, |frame| ui::draw(frame, app, theme, now))
}

fn keys(app: &mut App, text: &str) -> Option<Wish> {
    text.chars().fold(None, |_, letter| app.key(if letter == '\n' { Key::Enter } else { Key::Char(letter) }))
}

#[test]
fn a_game_fills_eighty_columns() {
    let now = Instant::now();
    let mut app = App::new(table(GameKind::Chess, None, &["e4", "c5"], "white"), now);
    keys(&mut app, "Nf");
    let lines = drawn(&app, 80, 24, Theme::Letters, now + Duration::from_secs(2));
    assert!(lines[1].starts_with("8   r   n   b   q   k   b   n   r"), "{lines:#?}");
    let all = lines.join("\n");
    for part in [
        "● zeitnot (level 4)",
        "0:59.9",
        "○ Guest",
        "0:59.0",
        "● +0.35  depth 14  1.2 Mn/s",
        // The bot's line, and what each move was worth.
        "1...d5",
        "  1. e4       +0.35   c5       +0.35",
        "move: Nf   Nf3 ⏎",
        "^T take back",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert!(all.contains('•'), "the target of the typed move is marked");
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn colours_tell_the_sides_apart_and_black_sits_below_its_own_pieces() {
    let now = Instant::now();
    let app = App::new(table(GameKind::Chess, None, &["e4"], "black"), now);
    let lines = drawn(&app, 80, 24, Theme::Colours, now);
    assert!(lines[1].starts_with("1   ♜   ♞   ♝   ♚   ♛"), "{lines:#?}");
    assert!(lines[16].trim_start().starts_with('h'), "{lines:#?}");
}

#[test]
fn squares_grow_with_the_terminal_and_leave_room_for_the_panel() {
    let now = Instant::now();
    let app = App::new(table(GameKind::Chess, None, &["e4"], "black"), now);
    // Rows of the terminal, and of the board.
    for (width, height, rows) in [(80, 24, 16), (100, 30, 24), (60, 30, 16), (140, 60, 48), (200, 60, 56)] {
        let lines = drawn(&app, width, height, Theme::Colours, now);
        let labels = &lines[rows];
        assert!(labels.trim_start().starts_with('h') && labels.contains("zeitnot"), "{width}: {lines:#?}");
        // A piece is a picture where it has the room.
        let all = lines.join("\n");
        assert_eq!((all.contains('♜'), all.contains("▀█▀")), (rows < 32, rows >= 32), "{width}: {lines:#?}");
    }
}

#[test]
fn every_game_is_drawn_at_every_size() {
    let now = Instant::now();
    for &kind in GameKind::ALL {
        let app = App::new(table(kind, None, &[], "white"), now);
        for (width, height) in [(80, 24), (200, 60), (40, 12), (20, 5), (3, 2), (1, 1)] {
            for theme in [Theme::Colours, Theme::Letters] {
                drawn(&app, width, height, theme, now);
            }
        }
    }
    let fen = "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Qpp] w KQkq - 0 1";
    let app = App::new(table(GameKind::Crazyhouse, Some(fen), &[], "white"), now);
    assert!(drawn(&app, 80, 24, Theme::Colours, now).join("\n").contains("♟♟"), "the pocket");
}

#[test]
fn moves_are_typed_completed_and_refused() {
    let now = Instant::now();
    let mut app = App::new(table(GameKind::Chess, None, &[], "white"), now);
    assert_eq!(keys(&mut app, "Nf3\n"), Some(Wish::Move("g1f3".into(), 0)));
    assert_eq!(keys(&mut app, "e5\n"), None);
    assert_eq!(app.message, "e5 is not a legal move here, nor does one begin with it.");
    assert_eq!(app.hint(), "no legal move begins with e5");
    app.key(Key::Escape);
    assert_eq!((app.input.text(), app.message.as_str()), ("", ""));
    assert_eq!(keys(&mut app, "g1\n"), None);
    assert_eq!(app.message, "Which one: Nf3, Nh3?");
    app.key(Key::Backspace);
    app.key(Key::Backspace);
    keys(&mut app, "e2e");
    app.key(Key::Tab);
    assert_eq!(app.input.text(), "e2e");
    assert_eq!(keys(&mut app, "4\n"), Some(Wish::Move("e2e4".into(), 0)));
    let mut app = App::new(table(GameKind::Chess, None, &["e4"], "white"), now);
    assert_eq!(keys(&mut app, "e5\n"), None);
    assert_eq!(app.message, "It is not your turn.");
}

#[test]
fn a_piece_is_chosen_by_the_cursor_and_then_its_target() {
    let now = Instant::now();
    let fen = "7k/4P3/8/8/8/8/8/K7 w - - 0 1";
    let mut app = App::new(table(GameKind::Chess, Some(fen), &[], "white"), now);
    assert_eq!(app.marks().cursor, None);
    app.key(Key::Up);
    let to = |app: &mut App, square: (usize, usize)| {
        for (key, count) in [(Key::Home, 1), (Key::Up, 8), (Key::Down, square.0), (Key::Right, square.1)] {
            (0..count).for_each(|_| drop(app.key(key)));
        }
        app.key(Key::Char(' '))
    };
    assert_eq!(to(&mut app, (0, 0)), None);
    assert!(app.message.starts_with("No piece of yours"), "{}", app.message);
    assert_eq!(to(&mut app, (1, 4)), None);
    assert_eq!((app.marks().selected, app.marks().targets), (Some((1, 4)), vec![(0, 4); 4]));
    // Four promotions lead there: the letter is asked for.
    assert_eq!(to(&mut app, (0, 4)), None);
    assert_eq!(app.input.text(), "e7e8");
    assert_eq!(keys(&mut app, "n\n"), Some(Wish::Move("e7e8n".into(), 0)));
    assert_eq!(to(&mut app, (7, 0)), None);
    assert_eq!(to(&mut app, (6, 1)), Some(Wish::Move("a1b2".into(), 0)));
}

#[test]
fn leaving_a_running_game_is_asked_twice() {
    let now = Instant::now();
    let mut app = App::new(table(GameKind::Chess, None, &["e4", "e5"], "white"), now);
    for (key, wish, asked) in [
        ('r', Wish::Resign, "Ctrl-R again to resign."),
        ('n', Wish::NewGame, "Ctrl-N again to leave this game for a new one."),
        ('q', Wish::Quit, "Ctrl-Q again to leave the game."),
    ] {
        assert_eq!((app.key(Key::Control(key)), app.message.as_str()), (None, asked));
        app.key(Key::Char('x'));
        assert_eq!(app.key(Key::Control(key)), None, "another key came between");
        assert_eq!(app.key(Key::Control(key)), Some(wish));
    }
    assert_eq!(app.key(Key::Control('t')), Some(Wish::TakeBack));
    assert_eq!(app.key(Key::Control('d')), None);
    let mut over = app.table.clone();
    over.game.summary.state = zeitnot_host::live::view::GamePhase::Ended;
    over.game.summary.result = Some("0-1".into());
    app.update(over, now);
    assert_eq!(app.message, "The game is over. Ctrl-N begins a new one.");
    assert_eq!(app.key(Key::Control('q')), Some(Wish::Quit));
}
