//! What the parts of a search cost, each alone; an item is one move or one position.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use divan::{Bencher, counter::ItemsCount};
use zeitnot_engine::{
    Score, TranspositionTable,
    eval::{ChessEval, Evaluator},
    transposition_table::{Bound, Entry},
};
use zeitnot_rules::{Game, Key, Packed, Tactics, chess::Chess};

fn main() {
    divan::main();
}

/// An opening, two middlegames, an endgame and a position full of promotions.
fn positions() -> Vec<Chess> {
    [
        "rnbqkb1r/pp3ppp/4pn2/2pp4/3P4/2N1PN2/PPP2PPP/R1BQKB1R w KQkq - 0 5",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        "8/5pk1/4p1p1/1p1pP2p/p2P1P1P/P1R1K1P1/1P6/2r5 b - - 0 40",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    ]
    .map(|fen| Chess::parse(fen).unwrap())
    .into()
}

fn each_position<T>(bencher: Bencher<'_, '_>, mut measured: impl FnMut(&Chess) -> T) {
    let positions = positions();
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for position in &positions {
            black_box(measured(black_box(position)));
        }
    });
}

fn each_move<T>(bencher: Bencher<'_, '_>, mut measured: impl FnMut(&Chess, <Chess as Game>::Move) -> T) {
    let pairs: Vec<_> =
        positions().into_iter().flat_map(|p| p.moves().into_iter().map(move |mv| (p.clone(), mv))).collect();
    bencher.counter(ItemsCount::new(pairs.len())).bench_local(|| {
        for (position, mv) in &pairs {
            black_box(measured(black_box(position), *mv));
        }
    });
}

#[divan::bench]
fn moves(bencher: Bencher<'_, '_>) {
    each_position(bencher, Chess::moves);
}

#[divan::bench]
fn noisy_moves(bencher: Bencher<'_, '_>) {
    each_position(bencher, Chess::noisy_moves);
}

#[divan::bench]
fn clone_and_play(bencher: Bencher<'_, '_>) {
    each_move(bencher, Chess::after);
}

#[divan::bench]
fn exchange(bencher: Bencher<'_, '_>) {
    each_move(bencher, |position, mv| position.see_ge(mv, 0));
}

#[divan::bench]
fn unpack(bencher: Bencher<'_, '_>) {
    each_move(bencher, |position, mv| position.unpack(position.pack(mv)));
}

#[divan::bench]
fn evaluation_step(bencher: Bencher<'_, '_>) {
    let mut evaluator = ChessEval::default();
    let sums = evaluator.refresh(&Chess::start());
    each_move(bencher, |position, mv| evaluator.update(&sums, position, mv));
}

#[divan::bench]
fn evaluation_score(bencher: Bencher<'_, '_>) {
    let mut evaluator = ChessEval::default();
    each_position(bencher, |position| {
        let state = evaluator.refresh(position);
        evaluator.evaluate(&state, position)
    });
}

/// Most probes of a full table of 64 MiB miss the processor's caches.
#[divan::bench]
fn table_probe(bencher: Bencher<'_, '_>) {
    const KEYS: u64 = 1 << 22;
    let key = |number: u64| Key(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let table = TranspositionTable::new(64).unwrap();
    for number in 0..KEYS {
        let entry =
            Entry { mv: Packed(1), score: Score::ZERO, eval: Score::ZERO, depth: 1, bound: Bound::Exact };
        table.store(key(number), entry);
    }
    let mut number = 0_u64;
    bencher.counter(ItemsCount::new(1000_u32)).bench_local(|| {
        for _ in 0..1000 {
            // Far from the last one each time.
            number = (number + 1_234_567) % KEYS;
            black_box(table.probe(key(number)));
        }
    });
}
