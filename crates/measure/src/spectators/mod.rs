//! `zeitnot-measure spectators`: measures the time from a move to the screens of those who watch it. It runs a real arena
//! with its page, games between players that move at random, and spectators on one of the games, all on loopback.
//!
//! [`player`] plays, [`spectator`] watches, [`clock`] notes when a move was sent.

use std::{net::SocketAddr, path::Path, sync::Arc, thread, time::Duration};

use tokio::{
    runtime,
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use zeitnot_arena::{self as arena, Arena};
use zeitnot_bot::network::Network;
use zeitnot_engine::{StopFlag, priority};

use crate::{
    output::{Error, failed, print_row, quantile},
    stop,
};

mod clock;
mod player;
mod spectator;

use clock::MoveClock;
use player::Player;

/// Prefix of the tournaments' names …
const CLASS: &str = "class";
/// … and players of each.
const CLASS_SIZE: u16 = 500;
/// Time for the games to begin, and for the spectators to come, after the last player.
const LEAD: Duration = Duration::from_secs(8);
/// Time between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Time between the arrivals of two players.
const ARRIVAL: Duration = Duration::from_millis(10);
/// Times from a move to the opponent, and to the screens, that 99 of 100 must keep.
const MOVE_LIMIT_MS: f64 = 20.0;
const FRAME_LIMIT_MS: f64 = 100.0;

/// Measure the time from a move to the opponent and to the screens of spectators
///
/// Runs an arena with its page on this machine, on which players move at random, and lets spectators watch one of the
/// games over the live WebSocket. The times are those from a player's move, before it is written, to the opponent's
/// line with it, in all games, and to the frame with it, after a spectator has read it. Players and spectators run in
/// this process, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure spectators                             500 spectators, 64 games
  zeitnot-measure spectators --games 1000 --spectators 1 --think 2000
                                                         many games at once
  zeitnot-measure spectators & zeitnot-measure deadline --quick
                                                         do they delay anybody's moves?

Exit code: 0 if p99 is at most 20 ms to opponents and 100 ms to spectators, or after Ctrl-C, otherwise 1.")]
pub(crate) struct Args {
    /// Games at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1000))]
    games: u16,
    /// Spectators of one game
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=1000))]
    spectators: u16,
    /// Time that a player takes for a move
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    think: u16,
    /// Duration, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
}

#[derive(Copy, Clone)]
struct Addresses {
    tcp: SocketAddr,
    page: SocketAddr,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let stopped = stop::flag()?;
    print_row(&format!("{} spectators of one of {} games", args.spectators, args.games))?;
    let folder = tempfile::tempdir().map_err(failed("cannot make a folder for the games"))?;
    let config: arena::Config = toml::from_str(&configuration(folder.path(), args.games))?;
    let (opened, addresses) = oneshot::channel();
    let stop = CancellationToken::new();
    let arena = {
        let stop = stop.clone();
        Network::start("arena", move |_| async move {
            let arena = Arena::bind(config).await?;
            if let (Some(tcp), Some(page)) = (arena.bound().tcp, &arena.bound().web) {
                let _ = opened.send(Addresses { tcp, page: page.listen });
            }
            arena.run(stop).await;
            Ok::<_, Error>(())
        })?
    };
    let Ok(addresses) = addresses.blocking_recv() else {
        return Err(arena.join().err().unwrap_or_else(|| "cannot start the arena".into()));
    };
    let measured = measure(args, addresses, stopped.clone());
    stop.cancel();
    arena.join()?;
    let Measured { moves, frames } = measured?;
    if frames.is_empty() && stopped.is_raised() {
        return print_row("stopped before the first frame");
    }
    let moves = show("moves", &moves)?;
    let frames = show("frames", &frames)?;
    if stopped.is_raised() || (moves <= MOVE_LIMIT_MS && frames <= FRAME_LIMIT_MS) {
        return Ok(());
    }
    Err(format!("moves came too late: p99 is {moves:.1} ms to opponents, {frames:.1} ms to spectators")
        .into())
}

/// Prints a row; returns p99 in milliseconds.
fn show(what: &str, times: &[Duration]) -> Result<f64, Error> {
    let at = |part| quantile(times, part).unwrap_or(f64::INFINITY);
    let median = at(0.5);
    let p99 = at(0.99);
    let longest = at(1.0);
    print_row(&format!("{} {what}, p50 {median:.1} ms, p99 {p99:.1} ms, max {longest:.1} ms", times.len()))?;
    Ok(p99)
}

fn configuration(folder: &Path, games: u16) -> String {
    let any = "127.0.0.1:0";
    let folder = folder.display();
    let class = |number| {
        format!(
            "[[tournament]]\nname = '{CLASS}-{number}'\ntime = '60+2'\ngames_per_pair = 1000000\n\
             pairing_interval = '500ms'\npause = '0ms'\n"
        )
    };
    let classes: String = (0..(2 * games).div_ceil(CLASS_SIZE)).map(class).collect();
    format!(
        "games = '{folder}/games'\ntcp = '{any}'\nmax_connections = 2000\nmax_connections_per_address = 2000\n\
         [web]\nlisten = '{any}'\nmax_connections = 2000\n{classes}"
    )
}

/// Waits for so long, or until the stop.
async fn wait(length: Duration, stop: &StopFlag) {
    let stopped = async {
        while !stop.is_raised() {
            sleep(LOOK).await;
        }
    };
    let _ = timeout(length, stopped).await;
}

/// Times from moves to opponents and to screens, sorted.
struct Measured {
    moves: Vec<Duration>,
    frames: Vec<Duration>,
}

/// Plays and watches on a thread of usual priority.
fn measure(args: &Args, addresses: Addresses, stop: Arc<StopFlag>) -> Result<Measured, Error> {
    let think = Duration::from_millis(args.think.into());
    let games = args.games;
    let spectators = args.spectators;
    let length = Duration::from_secs(args.seconds.into());
    let run = move || {
        priority::usual();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async move {
            let [moves, frames] = [(); 2].map(|()| MoveClock::default());
            let mut tasks = JoinSet::new();
            for number in 0..2 * games {
                // The first player's games are watched.
                let frames = (number == 0).then(|| frames.clone());
                let player = Player { number, think, moves: moves.clone(), frames };
                tasks.spawn(async move {
                    // Of too many who have said nothing yet, the arena sends the first away.
                    sleep(ARRIVAL * u32::from(number)).await;
                    player.play(addresses.tcp).await;
                });
            }
            let watchers: Vec<_> = (0..spectators)
                .map(|_| tokio::spawn(spectator::watch(addresses.page, frames.clone())))
                .collect();
            wait(ARRIVAL * u32::from(2 * games) + LEAD, &stop).await;
            moves.clear();
            frames.clear();
            wait(length, &stop).await;
            watchers.iter().for_each(tokio::task::JoinHandle::abort);
            Ok(Measured { moves: moves.take(), frames: frames.take() })
        })
    };
    let thread = thread::Builder::new().name("players".into()).spawn(run);
    let played = thread.map_err(failed("cannot start the players"))?.join();
    played.unwrap_or_else(|_| Err("the players' thread has panicked".into()))
}
