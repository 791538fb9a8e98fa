//! `zeitnot bench overhead`: what a client of the Lichess Bot API adds to the time that it thinks, and what it
//! costs to have it running.
//!
//! [`server`] is a small Lichess with nothing of our client in it, [`game`] a game there; [`client`] is what is
//! measured: this program as a process of its own, or whatever else comes.

use std::{
    io::Write,
    net::SocketAddr,
    sync::mpsc::{self, Receiver},
    thread::sleep,
    time::{Duration, Instant},
};

use super::super::{CliError, print};

mod client;
mod game;
mod server;

use client::Client;
use server::{Seen, Server};

/// Measure what the Lichess client adds to the time that it thinks
///
/// A small server that speaks the Bot API plays games against this program, which runs as a process of its
/// own, and takes the time from when it asks for a move to when the move arrives. What the program was told
/// to think is taken off; an answer that is there before that counts as one that took nothing beyond it, and
/// is counted as early as well. Without a time to think it plays any move at once; with one, every game
/// searches for that long at each move, all of them at the same time. Memory is that of the program without a
/// game, what the first game adds, and what each further one does.
///
/// With --listen another client can be measured in the same way: point it to the address, with any token.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot bench overhead                                  the usual table
  zeitnot bench overhead --games 16 --think 100ms         one line of it
  zeitnot bench overhead --listen 127.0.0.1:8080          wait for another client, and measure it")]
pub struct Args {
    /// Games at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub games: Option<u8>,
    /// What the client is told to think about a move
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub think: Option<Duration>,
    /// Moves to be measured for a line
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..))]
    pub moves: u32,
    /// Start no client, and wait here for one
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
}

/// A line of the table.
#[derive(Copy, Clone, Debug)]
struct Row {
    games: u8,
    think: Duration,
}

/// What is measured if nothing is said.
const USUAL: [Row; 4] = [
    Row { games: 1, think: Duration::ZERO },
    Row { games: 1, think: Duration::from_millis(100) },
    Row { games: 16, think: Duration::ZERO },
    Row { games: 16, think: Duration::from_millis(100) },
];
/// A client that does nothing for so long is not there.
const PATIENCE: Duration = Duration::from_secs(60);
/// Memory is looked at when the client has had this long to settle.
const SETTLE: Duration = Duration::from_secs(1);
/// So many moves are played in the first game alone, and not counted: by then it has what memory it needs.
const FIRST: usize = 40;

const HEADER: &str = "\
games  think     moves | over p50 ms     p90     p99     max | early refused | ready ms  idle MiB  first  further
-----------------------+-------------------------------------+---------------+-----------------------------------";

/// Runs the command.
///
/// # Errors
/// [`CliError`] if it cannot be measured.
pub fn run(args: &Args) -> Result<(), CliError> {
    let rows = match (args.games, args.think, args.listen) {
        (None, None, None) => USUAL.to_vec(),
        (games, think, _) => vec![Row { games: games.unwrap_or(1), think: think.unwrap_or_default() }],
    };
    print(|out| writeln!(out, "{HEADER}"))?;
    for row in rows {
        let measured = measure(row, args)?;
        print(|out| writeln!(out, "{}", measured.line(row)))?;
    }
    Ok(())
}

/// What came of a line.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Beyond the time to think, in order; nothing for an answer before its time.
    over: Vec<Duration>,
    /// So many were before it: the search was sure of its move, or the alarm for it is set a little early.
    early: usize,
    refused: usize,
    /// From the start of the program to its event stream.
    ready: Option<Duration>,
    /// In bytes: before the first game, with one, and with all of them.
    idle: Option<u64>,
    one: Option<u64>,
    full: Option<u64>,
}

fn measure(row: Row, args: &Args) -> Result<Measured, CliError> {
    let io = |doing| move |source| CliError::Io { doing, source };
    let (seen, sees) = mpsc::channel();
    let address = args.listen.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
    let server = Server::start(address, seen).map_err(io("cannot listen"))?;
    let began = Instant::now();
    let client = match args.listen {
        None => Some(Client::start(server.address, row).map_err(io("cannot start a client"))?),
        Some(_) => {
            print(|out| writeln!(out, "waiting for a client at http://{}", server.address))?;
            None
        }
    };
    let ready = match wait(&sees, client.is_none())? {
        Seen::Ready(at) if client.is_some() => Some(at.saturating_duration_since(began)),
        _ => None,
    };
    sleep(SETTLE);
    let idle = client.as_ref().and_then(Client::memory);
    server.begin_game();
    play(&sees, row, FIRST)?;
    let one = client.as_ref().and_then(Client::memory);
    for _ in 1..row.games {
        server.begin_game();
    }
    let measured = play(&sees, row, args.moves as usize)?;
    let full = client.as_ref().and_then(Client::memory);
    Ok(Measured { ready, idle, one, full, ..measured })
}

/// Takes the time of so many answers.
fn play(sees: &Receiver<Seen>, row: Row, moves: usize) -> Result<Measured, CliError> {
    let mut measured = Measured::default();
    while measured.over.len() < moves {
        match wait(sees, false)? {
            Seen::Answered(took) => {
                measured.early += usize::from(took < row.think);
                measured.over.push(took.saturating_sub(row.think));
            }
            Seen::Refused => measured.refused += 1,
            Seen::Ready(_) => {}
        }
    }
    measured.over.sort_unstable();
    Ok(measured)
}

/// What comes next; a client of somebody else's may be a while in coming.
fn wait(sees: &Receiver<Seen>, for_ever: bool) -> Result<Seen, CliError> {
    let seen = match for_ever {
        true => sees.recv().ok(),
        false => sees.recv_timeout(PATIENCE).ok(),
    };
    let silent = std::io::Error::from(std::io::ErrorKind::TimedOut);
    seen.ok_or(CliError::Io { doing: "the client does not play", source: silent })
}

impl Measured {
    fn line(&self, Row { games, think }: Row) -> String {
        let at = |part: f64| {
            let at = ((self.over.len() as f64 * part).ceil() as usize).max(1) - 1;
            self.over.get(at).copied().unwrap_or_default().as_secs_f64() * 1000.0
        };
        let mib = |bytes: Option<u64>| {
            bytes.map_or_else(|| "–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)))
        };
        let ready = self.ready.map_or_else(|| "–".to_owned(), |ready| ready.as_millis().to_string());
        let first = self.one.zip(self.idle).map(|(one, idle)| one.saturating_sub(idle));
        let others = self.full.zip(self.one).map(|(full, one)| full.saturating_sub(one));
        let further = others.and_then(|others| others.checked_div(u64::from(games) - 1));
        format!(
            "{games:>5}  {:<8} {:>6} | {:>11.2} {:>7.2} {:>7.2} {:>7.2} | {:>5} {:>7} | {ready:>8}  {:>8}  {:>5}  {:>7}",
            humantime::format_duration(think).to_string(),
            self.over.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            self.early,
            self.refused,
            mib(self.idle),
            mib(first),
            mib(further),
        )
    }
}
