//! `zeitnot bench`: fixed positions to a fixed depth. Its node count is the engine's identity.
//!
//! `zeitnot bench deadline` measures whether moves are ready in time, `zeitnot bench overhead` what the Lichess
//! client adds to them.

use std::{
    io::Write,
    num::NonZeroUsize,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use zeitnot_engine::{
    Decision, Limits, OutOfMemory, StopFlag, Task, Thinker, TranspositionTable, search::Search,
};
use zeitnot_rules::{Game, GameHistory, chess::Chess};
use zeitnot_wire::uci::nodes_per_second;

use super::{CliError, network, print};

mod busy;
pub mod deadline;
pub mod overhead;

/// Openings, middlegames, endings and a mate, from our own games and from the perft sets.
const POSITIONS: [&str; 16] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "rnbqkb1r/pp3ppp/4pn2/2pp4/3P4/2N1PN2/PPP2PPP/R1BQKB1R w KQkq - 0 5",
    "r2q1rk1/pb2bppp/1pn1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 10",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "3r1rk1/p1q2ppp/1pp1pn2/4n3/2P5/1PB1P3/P1Q1BPPP/3R1RK1 w - - 0 18",
    "r1b2rk1/1p1nbppp/pq1p4/3B4/P2NP3/2N1p3/1PP3PP/R2Q1R1K w - - 0 15",
    "8/p5pp/1pk1p3/2p1P3/2P2P1P/1P2K1P1/P7/8 w - - 0 30",
    "8/5pk1/4p1p1/1p1pP2p/p2P1P1P/P1R1K1P1/1P6/2r5 b - - 0 40",
    "4r1k1/1bq2ppp/p7/1p1p4/3N4/1P2P1P1/PQ3PBP/2R3K1 b - - 0 25",
    "8/8/1p1k1p2/p1p2P2/P1P1K1P1/1P6/8/8 w - - 0 45",
    "6k1/5p1p/2Q3p1/8/3q4/6P1/5P1P/6K1 w - - 0 40",
    "1r3rk1/5ppp/p2p4/2qPn3/1p2P3/1P1B4/P3Q1PP/1R3R1K b - - 0 24",
    "8/8/8/5N2/8/p7/8/2NK3k w - - 0 1",
];

/// The depth without `--depth`.
pub const DEPTH: u16 = 14;
/// The table without `--hash`.
pub const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// Measure the engine: fixed positions to a fixed depth
///
/// The number of nodes is the same on every run and machine with the same depth and hash: it tells two
/// versions of the engine apart. The last line is `N nodes M nps`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Something else to measure
    #[command(subcommand)]
    pub what: Option<What>,
    /// Plies
    #[arg(long, default_value_t = DEPTH, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub depth: u16,
    /// Size of the transposition table
    #[arg(long, value_name = "MIB", default_value_t = HASH_MIB)]
    pub hash: NonZeroUsize,
}

/// What else can be measured.
#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Measure whether every move is ready in time
    Deadline(deadline::Args),
    /// Measure what the Lichess client adds to the time that it thinks
    Overhead(overhead::Args),
    /// Keep one core busy until the standard input ends
    #[command(hide = true)]
    Busy,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<(), CliError> {
    match &args.what {
        Some(What::Deadline(args)) => deadline::run(args),
        Some(What::Overhead(args)) => overhead::run(args),
        Some(What::Busy) => busy::run(),
        None => search(args),
    }
}

fn search(args: &Args) -> Result<(), CliError> {
    let measured = measure(args.depth, args.hash, |fen, nodes| {
        // Should nobody read it, the result below will meet the same error.
        let _ = print(|out| writeln!(out, "{nodes:>10} {fen}"));
    })?;
    print(|out| {
        writeln!(out, "depth {}, hash {} MiB, {:.2?}", args.depth, args.hash, measured.time)?;
        writeln!(out, "{} nodes {} nps", measured.nodes, measured.speed())
    })
}

/// What a bench has measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The same on every run with the same depth and hash.
    pub nodes: u64,
    /// Depends on the machine.
    pub time: Duration,
}

impl Measured {
    /// Nodes a second.
    pub fn speed(self) -> u64 {
        nodes_per_second(self.nodes, self.time)
    }
}

/// Searches every position on one thread with an empty table; `tell` hears of each.
///
/// # Errors
/// [`OutOfMemory`] if the table is larger than the memory there is.
pub fn measure(
    depth: u16,
    hash: NonZeroUsize,
    mut tell: impl FnMut(&str, u64),
) -> Result<Measured, OutOfMemory> {
    let table = Arc::new(TranspositionTable::new(hash.get())?);
    let mut search = Search::<Chess>::new(table.clone(), 1);
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let mut measured = Measured { nodes: 0, time: Duration::ZERO };
    for fen in POSITIONS {
        table.clear();
        Thinker::<Chess>::new_game(&mut search);
        // The positions stand above, and a test reads them all.
        let Ok(position) = Chess::parse(fen) else { continue };
        let Some(&first) = position.moves().first() else { continue };
        let best = Decision::new(position.pack(first));
        let line = GameHistory::new(position);
        let began = Instant::now();
        let stop = StopFlag::default();
        let report = search.think(&Task {
            line: &line,
            limits: &limits,
            best: &best,
            stop: &stop,
            watch: &|_| ControlFlow::Continue(()),
        });
        measured.time += began.elapsed();
        measured.nodes += report.nodes;
        tell(fen, report.nodes);
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_counts_and_the_count_is_the_same_on_every_run() {
        let count = || {
            let mut positions = 0;
            let measured = measure(4, HASH_MIB, |_, nodes| positions += usize::from(nodes > 0)).unwrap();
            assert_eq!(positions, POSITIONS.len());
            measured.nodes
        };
        assert_eq!(count(), count());
    }
}
