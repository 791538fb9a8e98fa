//! The engine finds every mate of the collection, and the shortest, within a budget of nodes that is far less than two
//! seconds of a release build.

use std::{fs, path::Path};

use zeitnot_engine::{Limits, Thinker, think_now};
use zeitnot_rules::{Game, GameHistory, chess::Chess};
use zeitnot_testing::LONG;

use crate::support::engine::search_factory;

/// Two seconds at 1.5 million nodes a second, the least we promise.
const NODES: u64 = 3_000_000;

/// Nodes needed to see a mate in `moves`; `None`: not within [`NODES`].
fn solve(search: &mut dyn Thinker<Chess>, fen: &str, moves: u16) -> Option<u64> {
    let limits = Limits { mate: Some(moves), nodes: Some(NODES), ..Limits::default() };
    let line = GameHistory::new(Chess::parse(fen).unwrap());
    let (best, report) = think_now(search, &line, &limits);
    assert!(line.now().unpack(best.mv).is_some(), "{fen}: an illegal move");
    let found = best.score.mate_moves()?;
    (found > 0 && found as u16 <= moves).then_some(report.nodes)
}

/// Solves each nth position of a file.
fn solve_all(moves: u16, each: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/mate-in-{moves}.epd"));
    let factory = search_factory(16, 1);
    let mut search = factory.thinker::<Chess>();
    let mut hardest = 0;
    let mut unsolved = Vec::new();
    let text = fs::read_to_string(file).unwrap();
    for epd in text.lines().filter(|line| !line.trim().is_empty()).step_by(each) {
        let fen = epd.split(" bm ").next().unwrap();
        factory.table().clear();
        search.new_game();
        match solve(&mut *search, fen, moves) {
            Some(nodes) => hardest = hardest.max(nodes),
            None => unsolved.push(fen),
        }
    }
    println!("mates in {moves}: at most {hardest} nodes");
    assert!(unsolved.is_empty(), "{} unsolved:\n{}", unsolved.len(), unsolved.join("\n"));
}

#[test]
fn mates_in_one_and_two_are_found() {
    solve_all(1, 1);
    solve_all(2, 1);
}

#[test]
fn mates_in_three_are_found() {
    solve_all(3, 2);
}

#[test(limit = LONG)]
fn mates_in_four_are_found() {
    solve_all(4, 5);
}

#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: half a minute"]
fn all_mates_are_found() {
    (1..=4).for_each(|moves| solve_all(moves, 1));
}
