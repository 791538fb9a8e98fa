//! Tests of the algorithms against minimax, and of the thinker's limits.

use std::{num::NonZeroU16, sync::Mutex};

use zeitnot_rules::{Game, GameHistory, Packed, Tactics, chess::Chess};

use super::*;
use crate::{Best, Decision, Progress, Report, Task, Thinker};

const MATE_IN_ONE: &str = "1K6/8/qk6/8/8/8/8/8 b - - 0 1";

/// Random positions of a course, without illegal ones.
fn positions() -> Vec<Chess> {
    let all = include_str!("../../../../src/cli/study/vinuni-50.fen");
    let legal: Vec<_> = all.lines().filter_map(|fen| Chess::parse(fen).ok()).collect();
    assert_eq!((all.lines().count(), legal.len()), (50, 50));
    legal
}

#[test]
fn with_quiescence_they_find_the_value_of_minimax_with_quiescence() {
    let options = Options { table: false, ..Algorithm::AlphaBetaQuiescence.options() };
    for position in &positions()[..20] {
        let reference = analyse_with(Algorithm::Minimax, &options, position, 2);
        let study = analyse(Algorithm::AlphaBetaQuiescence, position, 2);
        assert_eq!(study.value, reference.value, "{}", position.print());
        let closed_in = analyse_with(Algorithm::MtdF, &Algorithm::AlphaBetaQuiescence.options(), position, 2);
        assert_eq!(closed_in.value, reference.value, "{}", position.print());
    }
}

/// Positions that differ only in the fifty-move counter must not be mixed up.
#[test]
fn a_table_does_not_hide_the_fifty_moves() {
    let algorithm = Algorithm::AlphaBetaTable;
    let (mut evaluator, limits, stop) = (Default::default(), Limits::default(), StopFlag::default());
    let (options, mut table) = (algorithm.options(), SimpleTable::new());
    let mut value = |clock: u32, depth| {
        let position = Chess::parse(&format!("7k/8/8/8/8/8/R7/K7 w - - {clock} 90")).unwrap();
        let mut search =
            TreeSearch::new(algorithm, &options, &mut evaluator, Some(&mut table), &limits, &stop);
        search.deepen(&position, depth..=depth, |_, _, _| ControlFlow::Continue(())).score
    };
    assert!(value(0, 4) > Score::cp(300));
    assert!(value(60, 4) > Score::cp(300));
    assert_eq!(value(97, 4), Score::ZERO);
    assert!(value(60, 4) > Score::cp(300));
}

#[test]
fn all_find_a_mate_in_one() {
    let position = Chess::parse(MATE_IN_ONE).unwrap();
    for algorithm in Algorithm::ALL {
        let study = analyse(algorithm, &position, 3);
        assert_eq!(study.value, Score::mate_in(1), "{algorithm}");
        let mated = position.after(study.mv.unwrap());
        assert!(mated.moves().is_empty() && mated.outcome().is_over(), "{algorithm}");
    }
}

#[test]
fn where_the_game_is_over_there_is_no_move() {
    for (fen, value) in [
        ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", Score::mated_in(0)),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Score::ZERO),
    ] {
        for algorithm in Algorithm::ALL {
            let study = analyse(algorithm, &Chess::parse(fen).unwrap(), 2);
            assert_eq!((study.value, study.mv), (value, None), "{algorithm}");
        }
    }
}

#[test]
fn pruning_looks_at_less_and_keeps_what_wins_at_once() {
    let position =
        Chess::parse("r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 1").unwrap();
    let whole = analyse(Algorithm::AlphaBetaQuiescence, &position, 5);
    let pruned = analyse(Algorithm::ForwardPruning, &position, 5);
    assert!(pruned.nodes < whole.nodes, "{pruned:?} {whole:?}");
    assert!((pruned.value.get() - whole.value.get()).abs() < 100, "{pruned:?} {whole:?}");
}

/// Thinks with these limits; returns the decision, the reported depths, and the report.
fn play(algorithm: Algorithm, fen: &str, limits: &Limits, stop: &StopFlag) -> (Best, Vec<u16>, Report) {
    let line = GameHistory::new(Chess::parse(fen).unwrap());
    let best = Decision::new(line.now().pack(line.now().moves()[0]));
    let told = Mutex::new(Vec::new());
    let watch = |progress: &Progress<Chess>| {
        assert_eq!(progress.pv.first().map(|&mv| line.now().pack(mv)), Some(best.read().mv));
        told.lock().unwrap().push(progress.depth);
        ControlFlow::Continue(())
    };
    let mut player = TextbookThinker::new(algorithm, NonZeroU16::new(MAX_DEPTH).unwrap());
    let report = player.think(&Task { game: &line, limits, best: &best, stop, watch: &watch });
    assert!(line.now().unpack(best.read().mv).is_some());
    (best.read(), told.into_inner().unwrap(), report)
}

#[test]
fn players_keep_to_their_limits() {
    let start = Chess::start().print();
    let on = StopFlag::default();
    for algorithm in Algorithm::ALL {
        let began = Instant::now();
        let hard = Limits { hard: Some(began + Duration::from_millis(60)), ..Limits::default() };
        let (best, told, report) = play(algorithm, &start, &hard, &on);
        // The depth depends on the machine.
        assert!(began.elapsed() >= Duration::from_millis(60), "{algorithm} took {:?}", began.elapsed());
        assert_eq!(best.depth, report.depth, "{algorithm}");
        assert_eq!(told, Vec::from_iter(1..=report.depth));

        let nodes = Limits { nodes: Some(5000), ..Limits::default() };
        assert_eq!(play(algorithm, &start, &nodes, &on).2.nodes, 5000, "{algorithm}");

        let depth = Limits { depth: Some(2), ..Limits::default() };
        assert_eq!(play(algorithm, &start, &depth, &on).1, [1, 2], "{algorithm}");

        let mate = Limits { mate: Some(1), ..Limits::default() };
        let (best, told, _) = play(algorithm, MATE_IN_ONE, &mate, &on);
        assert_eq!((best.score, told), (Score::mate_in(1), vec![1]), "{algorithm}");
    }
}

#[test]
fn a_player_that_is_stopped_has_a_move() {
    let stop = StopFlag::default();
    stop.stop();
    for algorithm in Algorithm::ALL {
        let (best, told, report) = play(algorithm, &Chess::start().print(), &Limits::default(), &stop);
        assert_eq!((best.depth, told, report.nodes), (0, vec![], 0), "{algorithm}");
    }
}

#[test]
fn a_player_plays_only_what_is_asked_for() {
    let position = Chess::start();
    let wanted: Vec<Packed> = ["a2a3", "h2h4"].map(|mv| position.pack(position.read(mv).unwrap())).to_vec();
    for depth in [0, 3] {
        for algorithm in Algorithm::ALL {
            let nodes = if depth == 0 { Some(0) } else { None };
            let limits =
                Limits { depth: Some(depth), nodes, root_moves: wanted.clone(), ..Limits::default() };
            let (best, ..) = play(algorithm, &position.print(), &limits, &StopFlag::default());
            assert!(wanted.contains(&best.mv), "{algorithm}");
        }
    }
}

#[test]
fn checks_are_found_beyond_the_depth() {
    // The mate on the back rank is a quiet move.
    let position = Chess::parse("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1").unwrap();
    let leaf = |algorithm: Algorithm| analyse(algorithm, &position, 0).value;
    assert_eq!(leaf(Algorithm::AlphaBetaQuiescence).mate_moves(), None);
    assert_eq!(leaf(Algorithm::AlphaBetaChecks), Score::mate_in(1));
    let reference = Options { table: false, ..Algorithm::AlphaBetaChecks.options() };
    for position in &positions()[..10] {
        let minimax = analyse_with(Algorithm::Minimax, &reference, position, 2);
        let study = analyse(Algorithm::AlphaBetaChecks, position, 2);
        assert_eq!(study.value, minimax.value, "{}", position.print());
    }
}

#[test]
fn material_has_a_random_term_that_is_repeated() {
    let start = Chess::start();
    let value = |position: &Chess| evaluation::material(position).get();
    assert_eq!(value(&start), value(&Chess::start()));
    let after: Vec<_> = start.moves().iter().map(|&mv| value(&start.after(mv))).collect();
    assert!(
        after.iter().all(|value| value.abs() <= 50) && after.iter().any(|&value| value != after[0]),
        "{after:?}"
    );
    let queen_up = Chess::parse("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1").unwrap();
    assert!((-950..=-850).contains(&value(&queen_up)), "{}", value(&queen_up));
}

#[test]
fn with_material_all_exact_algorithms_find_the_value_of_minimax() {
    let with = |algorithm: Algorithm| Options { evaluation: Evaluation::Material, ..algorithm.options() };
    let study = |algorithm, position| analyse_with(algorithm, &with(algorithm), position, 2).value;
    for position in &positions()[..10] {
        let reference = study(Algorithm::Minimax, position);
        for algorithm in [Algorithm::AlphaBeta, Algorithm::AlphaBetaPositional, Algorithm::MtdF] {
            assert_eq!(study(algorithm, position), reference, "{algorithm} of {}", position.print());
        }
    }
}

#[test]
fn an_order_by_place_puts_captures_checks_and_the_centre_first() {
    let position = Chess::parse("6k1/5ppp/8/3r4/8/2N5/5PPP/Q5K1 w - - 0 1").unwrap();
    let mut moves = position.moves();
    MoveOrder::Positional.sort(&position, &mut moves, None);
    let first: Vec<_> = moves.iter().take(3).map(|&mv| position.write(mv).to_string()).collect();
    assert_eq!(first[0], "c3d5");
    assert!(position.gives_check(moves[1]), "{first:?}");
}

#[test]
fn pruning_by_ply_ends_at_ply_13() {
    let lone_kings = Chess::parse("8/8/4k3/8/8/4K3/4P3/8 w - - 0 1").unwrap();
    let study = analyse(Algorithm::ForwardPruningByPly, &lone_kings, MAX_DEPTH);
    assert_eq!(study.nodes, analyse(Algorithm::ForwardPruningByPly, &lone_kings, 13).nodes);
}
