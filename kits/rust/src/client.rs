//! Plays on an arena with the functions of my_bot.rs: cargo run --release client NAME [KEY]. No need to change this file.
//!
//! The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.

use std::{
    collections::HashMap,
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use crate::guard::Guard;

const RETRY: Duration = Duration::from_secs(2); // until the next try to reach the arena

/// What the arena said on a connection.
#[derive(Default)]
struct Session {
    is_in: bool,
    last: String, // INFO
}

/// Reads settings.txt: lines `key = value`.
fn read_settings() -> io::Result<HashMap<String, String>> {
    let text = fs::read_to_string("settings.txt").map_err(|error| {
        io::Error::other(format!(
            "settings.txt: {error}; run this in the folder of the kit"
        ))
    })?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect())
}

pub fn run(name_and_key: &[&str]) -> Result<(), Box<dyn Error>> {
    let settings = read_settings()?;
    let setting = |key: &str| settings.get(key).map_or("", String::as_str);
    let name = name_and_key.first().copied().unwrap_or(setting("name"));
    let key = name_and_key.get(1).copied().unwrap_or(setting("key"));
    if name.is_empty() {
        return Err("under which name? cargo run --release client NAME [KEY], or `name = ...` in settings.txt".into());
    }
    let join = format!(
        "JOIN {} {name} {key} +moves +protocol=1",
        setting("tournament")
    )
    .replace("  ", " ");
    let arena = setting("arena");
    let mut guard = Guard::new()?;
    let mut was_in = false;
    loop {
        let mut session = Session::default();
        match TcpStream::connect(arena)
            .and_then(|connection| play(connection, &mut session, &mut guard, name, &join))
        {
            Ok(()) => println!("The arena has closed the connection."),
            Err(error) => println!(
                "Cannot reach the arena at {arena}: {error}. Is it running, and is settings.txt right?"
            ),
        }
        was_in |= session.is_in;
        let last = session.last;
        if last.ends_with("is over") {
            return Ok(());
        }
        if !last.is_empty()
            && !session.is_in
            && !(was_in && last.contains("already taken"))
            && !last.contains("try again")
        {
            return Err(format!("The arena does not let {name} in: {last}").into());
        }
        println!("Trying again in {} s; Ctrl-C stops.", RETRY.as_secs());
        thread::sleep(RETRY);
    }
}

/// Enables TCP keep-alive, so that a connection that died silently ends.
#[cfg(unix)]
fn enable_keep_alive(connection: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt::{
        set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
    };

    set_socket_keepalive(connection, true)?;
    set_tcp_keepidle(connection, Duration::from_secs(20))?;
    set_tcp_keepintvl(connection, Duration::from_secs(5))?;
    Ok(set_tcp_keepcnt(connection, 3)?)
}

#[cfg(windows)]
fn enable_keep_alive(_: &TcpStream) -> io::Result<()> {
    Ok(())
}

/// Joins and plays until the connection ends.
fn play(
    connection: TcpStream,
    session: &mut Session,
    guard: &mut Guard,
    name: &str,
    join: &str,
) -> io::Result<()> {
    connection.set_nodelay(true)?;
    enable_keep_alive(&connection)?;
    let mut arena = &connection;
    let mut send = |line: String| arena.write_all((line + "\n").as_bytes());
    let (mut kind, mut moves, mut number, mut increment) = ("chess".to_owned(), Vec::new(), 0, 0.0);
    send(join.to_owned())?;
    for line in BufReader::new(&connection).lines() {
        let line = line?;
        let words: Vec<&str> = line.splitn(7, ' ').collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let seconds = |at: usize| word(at).parse().unwrap_or(0.0);
        match word(0) {
            "INFO" => {
                session.last = line["INFO".len()..].trim().to_owned();
                session.is_in |= session.last.starts_with("You joined");
                println!("{}", session.last);
            }
            // game first second seconds increment
            "GAME_PAIRED" => {
                increment = seconds(5);
                send(format!("ACK {}", word(1)))?;
            }
            "VARIANT" => kind = word(2).to_owned(),
            "GAME_STARTED" => {
                number = 0;
                println!("Game of {kind}: {} (first) against {}", word(2), word(3));
            }
            "LEGAL_MOVES" => moves = line.split(' ').skip(2).map(str::to_owned).collect(),
            // game first second first's-seconds second's-seconds position
            "YOUR_MOVE" => {
                let (own, opponent) = if word(2) == name {
                    (seconds(4), seconds(5))
                } else {
                    (seconds(5), seconds(4))
                };
                let choice = guard.choose(&kind, word(6), own, opponent, increment, &moves);
                send(format!("MOVE {} {}", word(1), choice.text))?;
                number += 1;
                println!("Move {number}: {choice}");
                if choice.problem.is_some() {
                    guard.restart()?;
                }
            }
            "GAME_OVER" | "GAME_ABORTED" => println!("{line}"),
            _ => {} // moves of both players, clock updates, chat
        }
    }
    Ok(())
}
