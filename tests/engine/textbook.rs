//! Alpha-beta and MTD(f) on the positions of course reports: the value is
//! minimax's, and less and less is looked at to find it.

use zeitnot_engine::textbook::{Algorithm, MoveOrder, Options, analyse, analyse_with};
use zeitnot_rules::{Game, chess::Chess};

const EXACT: [Algorithm; 5] = [
    Algorithm::Minimax,
    Algorithm::AlphaBeta,
    Algorithm::AlphaBetaOrdered,
    Algorithm::AlphaBetaTable,
    Algorithm::MtdF,
];

fn positions() -> Vec<Chess> {
    let fifty = include_str!("../../src/cli/study/vinuni-50.fen").lines();
    let two = [
        "r1b1kb1r/pppp1pp1/4p3/2n5/2Q1BN1q/3P4/PP2PP2/RNB1K2R b KQkq - 0 1",
        "1K6/8/qk6/8/8/8/8/8 b - - 0 1",
    ];
    let positions: Vec<_> = fifty.chain(two).map(|fen| Chess::parse(fen).unwrap()).collect();
    assert_eq!(positions.len(), 52);
    positions
}

#[test]
fn all_exact_algorithms_find_the_value_of_minimax_with_less_and_less_work() {
    let mut nodes = [0; EXACT.len()];
    for position in positions() {
        let reference = analyse(Algorithm::Minimax, &position, 3);
        nodes[0] += reference.nodes;
        for (at, algorithm) in EXACT.into_iter().enumerate().skip(1) {
            let study = analyse(algorithm, &position, 3);
            assert_eq!(study.value, reference.value, "{algorithm} of {}", position.print());
            nodes[at] += study.nodes;
        }
    }
    let [minimax, alpha_beta, ordered, table, mtd_f] = nodes;
    assert!(minimax > alpha_beta && alpha_beta > ordered && ordered > table, "{nodes:?}");
    assert!(alpha_beta > mtd_f, "{nodes:?}");
}

/// No combination of options changes the value.
#[test]
fn order_and_table_change_no_value() {
    let orders = [None, Some(MoveOrder::Captures), Some(MoveOrder::Positional)];
    for position in positions() {
        let reference = analyse(Algorithm::Minimax, &position, 2).value;
        for algorithm in [Algorithm::AlphaBeta, Algorithm::MtdF] {
            for (order, table) in orders.into_iter().flat_map(|order| [(order, false), (order, true)]) {
                let options = Options { order, table, ..Options::default() };
                let study = analyse_with(algorithm, &options, &position, 2);
                assert_eq!(study.value, reference, "{algorithm}, {options:?}, {}", position.print());
            }
        }
    }
}
