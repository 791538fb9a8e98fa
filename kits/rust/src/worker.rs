//! Calls the functions of my_bot.rs: one line in, one line out. No need to change this file.
//!
//! The other commands start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields separated by
//! tabs: game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and optionally the
//! Unix time in ms at which to give up. A line out is a move, or `error: ` and the reason why there is none.

use std::{
    error::Error,
    fs::File,
    io::{self, Write},
    panic,
    sync::{
        Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use shakmaty::{CastlingMode, Chess, fen::Fen};

use crate::{guard::unix_time, my_bot};

pub const MEMORY_MIB: u64 = 1024; // of the worker, where the system can limit it; raise it if you need more

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Seconds. `own` and `opponent` are left for the game, `increment` is added after each move, and after `limit` a random move is
/// played.
#[allow(dead_code)] // until my_bot.rs uses it
#[derive(Debug)]
pub struct Clock {
    pub own: f64,
    pub opponent: f64,
    pub increment: f64,
    pub limit: f64,
}

/// A position of a game other than chess: the game's name, the position as text, and the legal moves.
#[allow(dead_code)] // until my_bot.rs uses it
#[derive(Debug)]
pub struct OtherGame {
    pub kind: String,
    pub fen: String,
    pub moves: Vec<String>,
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let mut answers = take_over_stdout()?;
    note_panics();
    for line in io::stdin().lines() {
        let fields: Vec<String> = line?.split('\t').map(str::to_owned).collect();
        let answer = answer_to(fields)?;
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}

/// Returns the pipe to the client. What the bot prints goes to stderr instead. Limits the memory, too.
#[cfg(unix)]
fn take_over_stdout() -> io::Result<File> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    use std::os::fd::AsFd;

    let answers = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    let bytes = Some(MEMORY_MIB << 20);
    setrlimit(
        Resource::As,
        Rlimit {
            current: bytes,
            maximum: bytes,
        },
    )?;
    Ok(answers.into())
}

/// Returns stdout. On Windows the bot must use eprintln! instead of println!.
#[cfg(windows)]
fn take_over_stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;

    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

fn note_panics() {
    panic::set_hook(Box::new(|info| {
        eprintln!("{info}");
        let reason = info
            .to_string()
            .lines()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" ");
        let place = info
            .location()
            .map(|at| format!(", line {} of {}", at.line(), at.file()))
            .unwrap_or_default();
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = reason + &place;
        }
    }));
}

fn answer_to(fields: Vec<String>) -> Result<String, Box<dyn Error>> {
    let seconds = |at: usize| {
        fields
            .get(at)
            .and_then(|ms| ms.parse::<f64>().ok())
            .map(|ms| ms / 1000.0)
            .ok_or("a time is missing")
    };
    let clock = Clock {
        own: seconds(2)?,
        opponent: seconds(3)?,
        increment: seconds(4)?,
        limit: seconds(6).map_or(seconds(2)?, |end| (end - unix_time()).max(0.001)),
    };
    let limit = clock.limit;
    let legal = fields
        .get(5)
        .cloned()
        .ok_or("the legal moves are missing")?;
    let (sender, choice) = mpsc::channel();
    thread::spawn(move || sender.send(choose(&fields, &clock)));
    Ok(match choice.recv_timeout(Duration::from_secs_f64(limit)) {
        Ok(chosen) if legal.split(' ').any(|m| m == chosen) => chosen,
        Ok(chosen) => format!(
            "error: choose_move returned {chosen:.60?}, which is not legal here; legal moves: {legal}"
        ),
        Err(RecvTimeoutError::Timeout) => {
            format!("error: choose_move took longer than {limit:.1} s")
        }
        Err(RecvTimeoutError::Disconnected) => {
            format!(
                "error: choose_move panicked: {}",
                LAST_PANIC
                    .lock()
                    .map(|last| last.clone())
                    .unwrap_or_default()
            )
        }
    })
}

fn choose(fields: &[String], clock: &Clock) -> String {
    let (kind, fen) = (&fields[0], &fields[1]);
    let mode = match kind.as_str() {
        "chess" => CastlingMode::Standard,
        "chess960" => CastlingMode::Chess960,
        _ => {
            let moves = fields[5].split(' ').map(str::to_owned).collect();
            return my_bot::choose_in_other_game(
                &OtherGame {
                    kind: kind.clone(),
                    fen: fen.clone(),
                    moves,
                },
                clock,
            );
        }
    };
    let board: Chess = fen
        .parse::<Fen>()
        .expect("a FEN")
        .into_position(mode)
        .expect("a position of chess");
    my_bot::choose_move(&board, clock).to_uci(mode).to_string()
}
