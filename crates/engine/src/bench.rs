//! Fixed positions searched to a fixed depth. The node count identifies the engine's behaviour.

use std::{
    fmt,
    num::NonZeroUsize,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use zeitnot_rules::{GameHistory, chess::Chess};
use zeitnot_wire::uci::nodes_per_second;

use crate::{
    limits::Limits,
    memory::OutOfMemory,
    net::EvalFile,
    search::Search,
    thinker::{Thinker, think_now},
    transposition_table::TranspositionTable,
};

/// Openings, middlegames, endings and a mate, from our own games and from the perft sets.
pub const POSITIONS: [&str; 16] = [
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

/// Default depth.
pub const DEPTH: u16 = 14;
/// Default size of the transposition table.
pub const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// Result of a bench.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The same on every run and machine with the same depth, hash and evaluation.
    pub nodes: u64,
    /// Time taken.
    pub time: Duration,
}

impl fmt::Display for Measured {
    /// As OpenBench reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes {} nps", self.nodes, nodes_per_second(self.nodes, self.time))
    }
}

/// Searches every position on one thread with an empty table; reports the nodes of each, and ends where that breaks
/// off.
///
/// # Errors
/// [`OutOfMemory`] if the table is larger than the available memory.
pub fn measure(
    depth: u16,
    hash_mib: NonZeroUsize,
    eval_file: &EvalFile,
    // Not generic: the search would be compiled again in the caller's crate, and that copy measured.
    report: &mut dyn FnMut(&str, u64) -> ControlFlow<()>,
) -> Result<Measured, OutOfMemory> {
    let table = Arc::new(TranspositionTable::new(hash_mib.get())?);
    let mut search = Search::<Chess>::new(table.clone(), 1, eval_file);
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let mut measured = Measured { nodes: 0, time: Duration::ZERO };
    for fen in POSITIONS {
        table.clear();
        search.new_game();
        // A test reads all positions.
        let Ok(position) = Chess::parse(fen) else { continue };
        let game = GameHistory::new(position);
        let started_at = Instant::now();
        let (_, cost) = think_now(&mut search, &game, &limits);
        measured.time += started_at.elapsed();
        measured.nodes += cost.nodes;
        if report(fen, cost.nodes).is_break() {
            break;
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_counts_and_the_count_is_the_same_on_every_run() {
        let count = |eval_file: &EvalFile| {
            let mut positions = 0;
            let measured = measure(4, HASH_MIB, eval_file, &mut |_, nodes| {
                positions += usize::from(nodes > 0);
                ControlFlow::Continue(())
            });
            let measured = measured.unwrap();
            assert_eq!(positions, POSITIONS.len());
            measured.nodes
        };
        let (by_hand, material) = (EvalFile::HandMade, EvalFile::material());
        assert_eq!(count(&by_hand), count(&by_hand));
        // Whatever the processor: each evaluation is compared with that of plain code.
        assert_eq!(count(&material), count(&material));
        assert_ne!(count(&material), count(&by_hand));
        let first = measure(4, HASH_MIB, &by_hand, &mut |_, _| ControlFlow::Break(())).unwrap();
        assert!(first.nodes > 0 && first.nodes < count(&by_hand));
    }
}
