//! Plays on an arena with the functions of my_bot.rs: cargo run --release client NAME [KEY]. No need to change this file.
//!
//! The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.

use std::{
    collections::HashMap,
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Write},
    net::{TcpStream, ToSocketAddrs},
    thread,
    time::Duration,
};

use crate::guard::Guard;

const RETRY: Duration = Duration::from_secs(2); // until the next try to reach the arena
const PATIENCE: Duration = Duration::from_secs(10); // until a try fails
const CLOSED: &str = "The arena has closed the connection.";
const WRONG_PORT: &str =
    "this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)";

/// Messages of the arena on one connection.
#[derive(Default)]
struct Session {
    is_in: bool,
    last: String, // INFO
}

/// Reads settings.txt: lines `key = value`.
fn read_settings() -> Result<HashMap<String, String>, String> {
    let text = fs::read_to_string("settings.txt").map_err(|error| {
        format!("settings.txt is missing; run this in the folder of the kit ({error})")
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
    if name.is_empty() || name.contains(char::is_whitespace) || name_and_key.len() > 2 {
        return Err("under which name? cargo run --release client NAME [KEY], or `name = ...` in settings.txt; a name has no spaces".into());
    }
    let (given, tournament) = (setting("arena"), setting("tournament"));
    let join = format!("JOIN {tournament} {name} {key} +moves +protocol=1").replace("  ", " ");
    let arena = given.rsplit('/').next().unwrap_or_default(); // tcp://HOST:PORT, too
    let is_address = arena
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if !is_address || tournament.split_whitespace().count() != 1 {
        return Err(format!(
            "settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`; it has `arena = {given}` and `tournament = {tournament}`"
        )
        .into());
    }
    let mut guard = Guard::new()?;
    let mut was_in = false;
    loop {
        let mut session = Session::default();
        let problem = match connect(arena)
            .and_then(|connection| play(connection, &mut session, &mut guard, name, &join))
        {
            Ok(()) if session.last.is_empty() => {
                format!("{CLOSED} Is {arena} its TCP port (8000 by default)?")
            }
            Ok(()) => CLOSED.to_owned(),
            Err(error) => format!(
                "Cannot reach the arena at {arena}: {error}. Is it running, and is settings.txt right?"
            ),
        };
        was_in |= session.is_in;
        let last = session.last;
        let is_over = last.ends_with("is over");
        let may_retry = last.contains("try again") || was_in && last.contains("already taken");
        if !last.is_empty() && !session.is_in {
            if !is_over && !may_retry {
                return Err(format!("The arena does not let {name} in: {last}").into());
            }
            println!("{last}");
        }
        if is_over {
            return Ok(());
        }
        println!("{problem}");
        println!("Trying again in {} s; Ctrl-C stops.", RETRY.as_secs());
        thread::sleep(RETRY);
    }
}

fn connect(arena: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::other("this host has no address");
    for address in arena.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(last)
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
    let mut players = [String::new(), String::new()]; // first and second
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
                // GAME_OVER follows.
                if session.is_in && !session.last.starts_with("Game over: ") {
                    println!("{}", session.last);
                }
            }
            http if http.starts_with("HTTP/") => session.last = WRONG_PORT.to_owned(),
            // game first second seconds increment
            "GAME_PAIRED" => {
                increment = seconds(5);
                send(format!("ACK {}", word(1)))?;
            }
            "VARIANT" => kind = word(2).to_owned(),
            "GAME_STARTED" => {
                number = 0;
                players = [word(2).to_owned(), word(3).to_owned()];
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
            // game result reason
            "GAME_OVER" => {
                let reason = line.splitn(4, ' ').nth(3).unwrap_or_default();
                println!("{}: {reason}", outcome(name, &players, word(2)));
            }
            "GAME_ABORTED" => println!(
                "The game was aborted: {}",
                line["GAME_ABORTED".len()..].trim()
            ),
            _ => {} // moves of both players, clock updates, chat
        }
    }
    Ok(())
}

/// Returns how a game has ended for the player of this name.
fn outcome(name: &str, [first, second]: &[String; 2], result: &str) -> String {
    let is_first = first == name;
    let ended = match result {
        "0.5-0.5" => "drew",
        _ if (result == "1-0") == is_first => "won",
        _ => "lost",
    };
    format!(
        "{name} {ended} against {}",
        if is_first { second } else { first }
    )
}
