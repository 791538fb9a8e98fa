//! Plays a game against the bot without an arena: cargo run --release local [greedy|random|me]. No need to change this file.
//!
//! greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4 or Nf3.

use std::{
    collections::HashMap,
    error::Error,
    io::{self, Write},
    process,
    time::Instant,
};

use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, Move, Position, fen::Fen, san::San, uci::UciMove,
};

use crate::guard::{Guard, random};

const CLOCK: f64 = 60.0; // seconds
const INCREMENT: f64 = 0.5;

pub fn run(opponent: &str) -> Result<(), Box<dyn Error>> {
    if !["greedy", "random", "me"].contains(&opponent) {
        return Err(
            "against whom? cargo run --release local greedy, random or me; the game is chess"
                .into(),
        );
    }
    let (mut board, mut guard, mut seen, mut own) =
        (Chess::new(), Guard::new()?, HashMap::new(), CLOCK);
    let bot = Color::from_white(random(2) == 0);
    println!(
        "my_bot is {bot} ({} letters)",
        if bot.is_white() { "capital" } else { "small" }
    );
    let end = loop {
        let number = board.fullmoves();
        let m = if board.turn() == bot {
            let moves: Vec<String> = board
                .legal_moves()
                .iter()
                .map(|m| m.to_uci(CastlingMode::Standard).to_string())
                .collect();
            let began = Instant::now();
            let fen = Fen::from_position(&board, EnPassantMode::Legal).to_string();
            let choice = guard.choose("chess", &fen, own, CLOCK, INCREMENT, &moves);
            own += INCREMENT - began.elapsed().as_secs_f64();
            if choice.problem.is_some() {
                println!("Move {number}: {choice}");
                guard.restart()?;
            }
            choice.text.parse::<UciMove>()?.to_move(&board)?
        } else {
            match opponent {
                "greedy" => greedy(&board),
                "random" => board.legal_moves()[random(board.legal_moves().len())],
                _ => person(&board)?,
            }
        };
        println!(
            "\n{number}. {}{}",
            if board.turn().is_white() { "" } else { "... " },
            San::from_move(&board, m)
        );
        board.play_unchecked(m);
        println!("{:?}", board.board());
        let times = seen
            .entry(board.clone())
            .and_modify(|times| *times += 1)
            .or_insert(1);
        if let Some(end) = end_of(&board, *times) {
            break end;
        }
    };
    let winner = board.outcome().winner().map_or("a draw", |winner| {
        if winner == bot {
            "my_bot wins"
        } else {
            "my_bot loses"
        }
    });
    println!("\n{winner}: {end}");
    Ok(())
}

/// The game's end in words. `times`: how often the position has been on the board.
fn end_of(board: &Chess, times: u32) -> Option<&'static str> {
    let ends = [
        (board.is_checkmate(), "checkmate"),
        (board.is_stalemate(), "stalemate"),
        (board.is_insufficient_material(), "insufficient material"),
        (times == 3, "threefold repetition"),
        (board.halfmoves() >= 100, "fifty moves"),
    ];
    ends.iter()
        .find(|(is_so, _)| *is_so)
        .map(|(_, reason)| *reason)
}

fn greedy(board: &Chess) -> Move {
    let moves = board.legal_moves();
    let start = random(moves.len());
    let order = moves[start..].iter().chain(&moves[..start]);
    *order
        .max_by_key(|m| m.capture())
        .expect("there is a legal move")
}

fn person(board: &Chess) -> Result<Move, Box<dyn Error>> {
    loop {
        print!("Your move: ");
        io::stdout().flush()?;
        let mut text = String::new();
        if io::stdin().read_line(&mut text)? == 0 {
            println!("\nStopped.");
            process::exit(0);
        }
        let text = text.trim();
        let uci = text
            .parse::<UciMove>()
            .ok()
            .and_then(|m| m.to_move(board).ok());
        if let Some(m) = uci.or_else(|| {
            text.parse::<San>()
                .ok()
                .and_then(|san| san.to_move(board).ok())
        }) {
            return Ok(m);
        }
        let legal: Vec<String> = board
            .legal_moves()
            .iter()
            .map(|m| San::from_move(board, *m).to_string())
            .collect();
        println!("Not a legal move. Legal: {}", legal.join(" "));
    }
}
