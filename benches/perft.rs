//! How fast the rules are: legal positions a second on one core, the last ply counted and not played.

#![allow(clippy::unwrap_used)]

use divan::{Bencher, counter::ItemsCount};
use zeitnot_rules::{chess::Chess, perft};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn main() {
    divan::main();
}

#[divan::bench(args = [5, 6], sample_count = 5, sample_size = 1)]
fn start(bencher: Bencher<'_, '_>, depth: u32) {
    count(bencher, START, depth);
}

#[divan::bench(args = [4, 5], sample_count = 5, sample_size = 1)]
fn kiwipete(bencher: Bencher<'_, '_>, depth: u32) {
    count(bencher, KIWIPETE, depth);
}

fn count(bencher: Bencher<'_, '_>, fen: &str, depth: u32) {
    let position = Chess::parse(fen).unwrap();
    bencher.counter(ItemsCount::new(perft(&position, depth))).bench_local(|| perft(&position, depth));
}
