//! Tests of the search: mates, draws, limits.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use zeitnot_rules::{Game, GameHistory, Packed, chess::Chess};

use super::*;
use crate::{Limits, thinker::think_watched};

/// Searches with these limits; returns the decision, the last progress and the report.
fn search(
    line: &GameHistory<Chess>,
    limits: Limits,
    threads: usize,
) -> (crate::Best, Option<Progress<Chess>>, Report) {
    let mut search =
        Search::new(Arc::new(TranspositionTable::new(4).unwrap()), threads, &EvalFile::default());
    let last = std::sync::Mutex::new(None);
    let watch = |progress: &Progress<Chess>| {
        *last.lock().unwrap() = Some(progress.clone());
        ControlFlow::Continue(())
    };
    let (best, report) = think_watched(&mut search, line, &limits, &StopFlag::default(), &watch);
    (best, last.into_inner().unwrap(), report)
}

fn line(fen: &str) -> GameHistory<Chess> {
    GameHistory::new(Chess::parse(fen).unwrap())
}

fn to_depth(depth: u16) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn best_move(fen: &str, depth: u16) -> (String, Score) {
    let line = line(fen);
    let (best, ..) = search(&line, to_depth(depth), 1);
    (line.now().write(line.now().unpack(best.mv).unwrap()).to_string(), best.score)
}

#[test]
fn finds_mates() {
    for (fen, mv, moves, depth) in [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", 1, 2),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7", 1, 2),
    ] {
        assert_eq!(best_move(fen, depth), (mv.to_owned(), Score::mate_in(2 * moves - 1)), "{fen}");
    }
}

#[test]
fn sees_stalemate_and_lack_of_material_as_draws() {
    // The last pawn falls; or Black keeps it and stalemates.
    assert_eq!(best_move("8/8/8/8/8/5k2/7p/7K w - - 0 1", 6).1, Score::ZERO);
    assert_eq!(best_move("8/8/8/8/8/2k5/1p6/1K6 b - - 0 1", 4).1, Score::ZERO);
    assert_eq!(best_move("8/8/3k4/8/8/3K4/4p3/8 w - - 0 1", 4), ("d3e2".into(), Score::ZERO));
}

#[test]
fn takes_the_perpetual_when_behind_and_avoids_it_when_ahead() {
    // White is a rook and more behind; only checks on e8 and h5 hold.
    let (_, score) = best_move("6k1/5ppp/8/8/8/8/q5PP/1r3Q1K w - - 0 1", 4);
    assert!(score < Score::ZERO);
    let mut shuffled = line("7k/8/8/8/8/8/R7/K7 w - - 0 1");
    for text in ["a2a3", "h8g8", "a3a2", "g8h8", "a2a3", "h8g8", "a3a2"] {
        let mv = shuffled.now().read(text).unwrap();
        shuffled.play(mv);
    }
    // Black repeats if he can; that is the draw he wants.
    let (best, ..) = search(&shuffled, to_depth(6), 1);
    assert_eq!(shuffled.now().unpack(best.mv), shuffled.now().read("g8h8").ok());
    assert_eq!(best.score, Score::ZERO);
}

#[test]
fn knows_the_fifty_moves() {
    // A rook ahead, but the next quiet move is the hundredth ply: a draw, unless it mates.
    assert_eq!(best_move("7k/8/8/8/8/8/R7/K7 w - - 99 80", 5).1, Score::ZERO);
    assert_eq!(best_move("7k/8/6K1/8/8/8/8/R7 w - - 99 80", 3), ("a1a8".into(), Score::mate_in(1)));
}

#[test]
fn stops_at_every_limit() {
    let start = GameHistory::new(Chess::start());
    let nodes = Limits { nodes: Some(5000), ..Limits::default() };
    assert_eq!(search(&start, nodes, 1).2.nodes, 5000);

    let hard = Instant::now() + Duration::from_millis(20);
    search(&start, Limits { hard: Some(hard), ..Limits::default() }, 2);
    assert!(Instant::now() >= hard, "it was not the limit that ended it");

    let mate = Limits { mate: Some(2), ..Limits::default() };
    let (best, ..) = search(&line("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), mate, 1);
    assert_eq!(best.score.mate_moves(), Some(2));
}

#[test]
fn ends_when_the_watcher_has_heard_enough() {
    let start = GameHistory::new(Chess::start());
    let watch = |progress: &Progress<Chess>| {
        assert!(progress.best_move_share <= 1000);
        if progress.depth < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut search = Search::new(Arc::new(TranspositionTable::new(1).unwrap()), 1, &EvalFile::default());
    let (_, report) = think_watched(&mut search, &start, &Limits::default(), &StopFlag::default(), &watch);
    assert_eq!(report.depth, 4);
}

#[test]
fn a_raised_flag_leaves_a_legal_move() {
    let start = GameHistory::new(Chess::start());
    let stop = StopFlag::default();
    stop.stop();
    let mut search = Search::new(Arc::new(TranspositionTable::new(1).unwrap()), 2, &EvalFile::default());
    let watch = |_: &_| ControlFlow::Break(());
    let (best, _) = think_watched(&mut search, &start, &Limits::default(), &stop, &watch);
    assert!(start.now().unpack(best.mv).is_some());
}

#[test]
fn looks_only_at_the_moves_asked_for() {
    let start = GameHistory::new(Chess::start());
    let wanted: Vec<Packed> = ["a2a3", "h2h3"].map(|t| start.now().pack(start.now().read(t).unwrap())).into();
    let limits = Limits { root_moves: wanted.clone(), ..to_depth(5) };
    assert!(wanted.contains(&search(&start, limits, 1).0.mv));
}

#[test]
fn the_same_search_twice_is_the_same() {
    let kiwipete = line("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let nodes = || search(&kiwipete, to_depth(7), 1).2.nodes;
    assert_eq!(nodes(), nodes());
}

#[test]
fn the_principal_variation_is_playable() {
    let kiwipete = line("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let progress = search(&kiwipete, to_depth(8), 1).1.unwrap();
    assert_eq!(progress.depth, 8);
    assert!(!progress.pv.is_empty());
    let mut position = kiwipete.now().clone();
    for mv in progress.pv {
        assert!(position.moves().contains(&mv));
        position.play(mv);
    }
}

/// A search by a net that counts material, of the size whose evaluations are compared with the reference.
fn by_net(threads: usize) -> Search<Chess> {
    let table = Arc::new(TranspositionTable::new(4).unwrap());
    Search::new(table, threads, &EvalFile::material())
}

#[test]
fn a_search_by_a_net_wins_material_and_mates() {
    let mut search = by_net(1);
    for (fen, depth, mv, least) in [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 3, "a1a8", Score::mate_in(1)),
        // A fork of king and rook.
        ("2r3k1/5ppp/8/3N4/8/8/5PPP/6K1 w - - 0 1", 5, "d5e7", Score::cp(200)),
        // Chess960.
        ("rk2r3/ppppp1pp/8/8/8/6q1/PPPPP1PP/RK2R3 w EAea - 0 1", 4, "h2g3", Score::ZERO),
        ("4k3/8/8/3q4/4P3/8/8/4K2R w K - 0 1", 5, "e4d5", Score::cp(500)),
    ] {
        search.new_game();
        let line = line(fen);
        let (best, _) = crate::think_now(&mut search, &line, &to_depth(depth));
        let found = line.now().write(line.now().unpack(best.mv).unwrap()).to_string();
        assert_eq!(found, mv, "{fen}");
        assert!(best.score >= least, "{fen}: {:?}", best.score);
    }
}

#[test]
fn threads_evaluate_by_nets_of_their_own() {
    let line = line("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    // Each evaluation is compared with the reference.
    let (best, report) = crate::think_now(&mut by_net(2), &line, &to_depth(6));
    assert!(line.now().unpack(best.mv).is_some() && report.nodes > 1_000);
}
