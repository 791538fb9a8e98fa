//! `zeitnot-measure overhead`: measures the time that a client of the Lichess Bot API adds to its search, and its memory.
//!
//! [`opponent`] plays through the scripted server, which shares no code with our client; [`Client`] is the program
//! as a process of its own. Another client can be measured in its place.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tokio::time::timeout;
use zeitnot_bot::network;

use crate::{
    client::{self, Client},
    output::{Error, failed, print_row, quantile},
    stop,
};

mod opponent;

use opponent::{Opponent, Seen};

/// Measure what the Lichess client adds to the time that it thinks
///
/// A small server of the Bot API plays games against the program `zeitnot`, a process of its own, and measures the
/// time from the request for a move to its arrival, less the configured time for thinking. An answer before that time
/// has no overhead, and is also counted as early. Without a time for thinking, the program plays random moves at once;
/// with one, all games search for that long at each move, at the same time. Memory is that of the program without
/// games, of the first game, and of each further one.
///
/// The program is the one that `cargo build --release` has made beside this one, or that of --zeitnot.
///
/// With --listen another client is measured in the same way: point it to the address, with the token `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure overhead                                the usual table
  zeitnot-measure overhead --games 16 --think 100ms         one line of it
  zeitnot-measure overhead --set cache.memory_mib=16        with a cache
  zeitnot-measure overhead --listen 127.0.0.1:8080          wait for another client, and measure it

Ctrl-C ends it after the present row.")]
pub(crate) struct Args {
    /// Games at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    games: Option<u8>,
    /// Time for the client to think about each move
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    think: Option<Duration>,
    /// Moves to measure per row
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..))]
    moves: u32,
    /// Set a key of the client's configuration, as `zeitnot play --set` does; can be given several times
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "listen")]
    set: Vec<String>,
    /// The program, by default `zeitnot` in the folder of this one
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    zeitnot: Option<PathBuf>,
    /// Start no client; wait for one at this address
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

#[derive(Copy, Clone, Debug)]
struct Row {
    games: u8,
    think: Duration,
}

const DEFAULT_ROWS: [Row; 4] = [
    Row { games: 1, think: Duration::ZERO },
    Row { games: 1, think: Duration::from_millis(100) },
    Row { games: 16, think: Duration::ZERO },
    Row { games: 16, think: Duration::from_millis(100) },
];
/// Time after which a silent client is given up.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause before the memory is measured.
const SETTLE: Duration = Duration::from_secs(1);
/// Moves of the first game before the others start, which are not counted: it then has all the memory it needs.
const WARM_UP_MOVES: usize = 40;

const HEADER: &str = "\
games  think     moves | over p50 ms     p90     p99     max | early refused | ready ms  idle MiB    own  first  further
-----------------------+-------------------------------------+---------------+------------------------------------------";

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let program = if args.listen.is_none() { Some(client::program(args.zeitnot.as_deref())?) } else { None };
    let rows = match (args.games, args.think, args.listen) {
        (None, None, None) => DEFAULT_ROWS.to_vec(),
        (games, think, _) => vec![Row { games: games.unwrap_or(1), think: think.unwrap_or_default() }],
    };
    HEADER.lines().try_for_each(print_row)?;
    let stop = stop::flag()?;
    for row in rows {
        if stop.is_raised() {
            break;
        }
        print_row(&measure(row, args, program.as_deref())?.line(row))?;
    }
    Ok(())
}

#[derive(Clone, Debug, Default)]
struct Measured {
    /// Overhead of each answer, sorted; zero for an early one.
    over: Vec<Duration>,
    /// Answers before the time for thinking was over: the search was certain, or the timer fired a little early.
    early: usize,
    refused: usize,
    /// Time from the start of the program to its event stream.
    ready: Option<Duration>,
    /// Memory in bytes: before the first game, the program's own part of that, with one game, with all games.
    idle: Option<u64>,
    own: Option<u64>,
    one: Option<u64>,
    full: Option<u64>,
}

fn measure(row: Row, args: &Args, program: Option<&Path>) -> Result<Measured, Error> {
    let address = args.listen.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
    let listener = TcpListener::bind(address).map_err(failed("cannot listen"))?;
    let address = listener.local_addr().map_err(failed("cannot listen"))?;
    let began = Instant::now();
    // It starts here, as it would inherit the priority of the server's thread.
    let client = match program {
        Some(program) => Some(
            Client::start(program, address, row.games, row.think, &args.set)
                .map_err(failed("cannot start a client"))?,
        ),
        None => {
            print_row(&format!("waiting for a client at http://{address}"))?;
            None
        }
    };
    let moves = args.moves as usize;
    network::run(move |_| async move {
        let opponent = Opponent::start(listener).map_err(failed("cannot listen"))?;
        play_row(opponent, client, began, row, moves).await
    })?
}

async fn play_row(
    mut opponent: Opponent,
    client: Option<Client>,
    began: Instant,
    row: Row,
    moves: usize,
) -> Result<Measured, Error> {
    // A client of somebody else's may be a while in coming.
    let first = match client {
        None => opponent.next().await,
        Some(_) => next(&mut opponent).await?,
    };
    let ready = match first {
        Seen::Ready(at) if client.is_some() => Some(at.saturating_duration_since(began)),
        _ => None,
    };
    let _ = timeout(SETTLE, async {
        loop {
            opponent.next().await;
        }
    })
    .await;
    let memory = || client.as_ref().and_then(Client::memory);
    let idle = memory();
    let own = client.as_ref().and_then(Client::own_memory);
    opponent.begin_game();
    play(&mut opponent, row, WARM_UP_MOVES).await?;
    let one = memory();
    for _ in 1..row.games {
        opponent.begin_game();
    }
    let measured = play(&mut opponent, row, moves).await?;
    Ok(Measured { ready, idle, own, one, full: memory(), ..measured })
}

/// Measures this many answers.
async fn play(opponent: &mut Opponent, row: Row, moves: usize) -> Result<Measured, Error> {
    let mut measured = Measured::default();
    while measured.over.len() < moves {
        match next(opponent).await? {
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

/// The next action of a client that is there.
async fn next(opponent: &mut Opponent) -> Result<Seen, Error> {
    let next = timeout(CLIENT_TIMEOUT, opponent.next()).await;
    next.map_err(failed("the client does not play"))
}

impl Measured {
    fn line(&self, Row { games, think }: Row) -> String {
        let at = |part| quantile(&self.over, part).unwrap_or_default();
        let mib = |bytes: Option<u64>| {
            bytes.map_or_else(|| "–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)))
        };
        let ready = self.ready.map_or_else(|| "–".to_owned(), |ready| ready.as_millis().to_string());
        let first = self.one.zip(self.idle).map(|(one, idle)| one.saturating_sub(idle));
        let others = self.full.zip(self.one).map(|(full, one)| full.saturating_sub(one));
        let further = others.and_then(|others| others.checked_div(u64::from(games) - 1));
        format!(
            "{games:>5}  {:<8} {:>6} | {:>11.2} {:>7.2} {:>7.2} {:>7.2} | {:>5} {:>7} | {ready:>8}  {:>8}  {:>5}  {:>5}  {:>7}",
            humantime::format_duration(think).to_string(),
            self.over.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            self.early,
            self.refused,
            mib(self.idle),
            mib(self.own),
            mib(first),
            mib(further),
        )
    }
}
