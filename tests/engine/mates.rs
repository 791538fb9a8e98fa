//! The engine finds every mate of the collection, and the shortest, within a budget of nodes that is
//! far less than two seconds of a release build.

use std::{cell::Cell, fs, ops::ControlFlow, path::Path, sync::Arc};

use zeitnot_engine::{Decision, Limits, StopFlag, Task, Thinker, TranspositionTable, search::Search};
use zeitnot_rules::{Game, GameHistory, chess::Chess};

/// Two seconds at 1.5 million nodes a second, the least we promise.
const NODES: u64 = 3_000_000;

/// Nodes needed to see a mate in `moves`; `None`: not within [`NODES`].
fn solve(search: &mut Search<Chess>, fen: &str, moves: u16) -> Option<u64> {
    let position = Chess::parse(fen).unwrap();
    let best = Decision::new(position.pack(position.moves()[0]));
    let limits = Limits { mate: Some(moves), nodes: Some(NODES), ..Limits::default() };
    let line = GameHistory::new(position);
    let task = Task {
        game: &line,
        limits: &limits,
        best: &best,
        stop: &StopFlag::default(),
        watch: &|_| ControlFlow::Continue(()),
    };
    let report = search.think(&task);
    assert!(line.now().unpack(best.read().mv).is_some(), "{fen}: an illegal move");
    let found = best.read().score.mate_moves()?;
    (found > 0 && found as u16 <= moves).then_some(report.nodes)
}

fn solve_all(moves: u16) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/mate-in-{moves}.epd"));
    let table = Arc::new(TranspositionTable::new(16).unwrap());
    let mut search = Search::new(table.clone(), 1);
    let hardest = Cell::new(0);
    let mut unsolved = Vec::new();
    let text = fs::read_to_string(file).unwrap();
    for epd in text.lines().filter(|line| !line.trim().is_empty()) {
        let fen = epd.split(" bm ").next().unwrap();
        table.clear();
        Thinker::<Chess>::new_game(&mut search);
        match solve(&mut search, fen, moves) {
            Some(nodes) => hardest.set(hardest.get().max(nodes)),
            None => unsolved.push(fen),
        }
    }
    println!("mates in {moves}: {} positions, at most {} nodes", text.lines().count(), hardest.get());
    assert!(unsolved.is_empty(), "{} unsolved:\n{}", unsolved.len(), unsolved.join("\n"));
}

#[test]
fn in_one() {
    solve_all(1);
}

#[test]
fn in_two() {
    solve_all(2);
}

#[test]
fn in_three() {
    solve_all(3);
}

#[test]
fn in_four() {
    solve_all(4);
}
