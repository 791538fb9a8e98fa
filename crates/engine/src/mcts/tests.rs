//! Tests of both policies: mates, draws, limits, reuse of the tree.

use std::{
    ops::ControlFlow,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use zeitnot_rules::{Game, Packed, chess::Chess};

use super::*;
use crate::{Best, Limits, Progress, Score, thinker::think_watched};

fn line(fen: &str) -> GameHistory<Chess> {
    GameHistory::new(Chess::parse(fen).unwrap())
}

fn iterations(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

fn think(thinker: &mut dyn Thinker<Chess>, line: &GameHistory<Chess>, limits: &Limits) -> (Best, Report) {
    let watch = |progress: &Progress<Chess>| {
        assert!(progress.best_move_share <= 1000 && progress.hashfull <= 1000 && progress.depth > 0);
        let mut position = line.now().clone();
        assert!(!progress.pv.is_empty());
        for &mv in &progress.pv {
            assert!(position.moves().contains(&mv));
            position.play(mv);
        }
        ControlFlow::Continue(())
    };
    think_watched(thinker, line, limits, &StopFlag::default(), &watch)
}

fn strong() -> Puct<Chess> {
    Puct::new(16, 1)
}

fn text(line: &GameHistory<Chess>, mv: Packed) -> String {
    line.now().write(line.now().unpack(mv).unwrap()).to_string()
}

fn play(line: &mut GameHistory<Chess>, text: &str) {
    line.play(line.now().read(text).unwrap());
}

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1";

#[test]
fn both_forms_find_a_mate_in_one() {
    let line = line(MATE_IN_ONE);
    let (best, report) = think(&mut strong(), &line, &iterations(2000));
    assert_eq!((text(&line, best.mv).as_str(), best.score), ("a1a8", Score::mate_in(1)));
    assert!(report.nodes < 2000 && best.depth > 0, "a mate ends the search: {report:?}");
    let (best, report) = think(&mut Uct::<Chess>::new(16, 1), &line, &iterations(3000));
    assert_eq!((text(&line, best.mv).as_str(), report.nodes), ("a1a8", 3000));
}

#[test]
fn the_strong_form_proves_mates_in_two() {
    let problems = include_str!("../../../../tests/data/mate-in-2.epd").lines().step_by(8);
    let (mut all, mut found) = (0, 0);
    for problem in problems {
        let line = line(&(problem.split(" bm ").next().unwrap_or_default().to_owned() + " 0 1"));
        let (best, _) = think(&mut strong(), &line, &iterations(20_000));
        all += 1;
        found += usize::from(best.score.mate_moves().is_some_and(|moves| moves > 0));
    }
    assert!(all == 25 && found >= 10, "{found} of {all}");
}

#[test]
fn takes_a_queen_that_hangs_and_keeps_its_own() {
    let hanging = line("rnb1kbnr/pppp1ppp/8/4p1q1/4P3/3P4/PPP2PPP/RNBQKBNR w KQkq - 1 3");
    let (best, _) = think(&mut strong(), &hanging, &iterations(2000));
    assert_eq!(text(&hanging, best.mv), "c1g5");
    assert!(best.score > Score::cp(400) && !best.score.is_mate(), "{}", best.score);
}

#[test]
fn a_line_that_goes_on_keeps_its_tree() {
    let mut line = GameHistory::new(Chess::start());
    let mut thinker = strong();
    let (best, _) = think(&mut thinker, &line, &iterations(5000));
    assert_eq!(thinker.tree.root().visits(), 5000);
    let ours = thinker.tree.best(thinker.tree.root()).unwrap();
    assert_eq!(ours.mv(), best.mv);
    let reply = thinker.tree.best(ours).unwrap();
    let (mv, known) = (reply.mv(), reply.visits());
    assert!(known > 50, "{known}");
    line.play(line.now().unpack(best.mv).unwrap());
    line.play(line.now().unpack(mv).unwrap());
    think(&mut thinker, &line, &iterations(100));
    assert_eq!(thinker.tree.root().visits(), known + 100);
    // The same position once more, as after pondering; then one that has nothing to do with it.
    think(&mut thinker, &line, &iterations(100));
    assert_eq!(thinker.tree.root().visits(), known + 200);
    think(&mut thinker, &GameHistory::new(Chess::start()), &iterations(100));
    assert_eq!(thinker.tree.root().visits(), 100);
    thinker.new_game();
    think(&mut thinker, &GameHistory::new(Chess::start()), &iterations(100));
    assert_eq!(thinker.tree.root().visits(), 100);
}

#[test]
fn a_full_tree_is_searched_on() {
    for thinker in [&mut Puct::<Chess>::with_nodes(1000, 1), &mut Puct::with_nodes(0, 2)] {
        let mut line = GameHistory::new(Chess::start());
        for mv in ["e2e4", "e7e5", "g1f3", "b8c6"] {
            let (_, report) = think(thinker, &line, &iterations(3000));
            assert_eq!(report.nodes, 3000);
            assert!(thinker.tree.len() <= 1000 && thinker.tree.is_full());
            play(&mut line, mv);
        }
    }
}

#[test]
fn ends_at_the_hard_limit_and_at_the_flag() {
    let start = GameHistory::new(Chess::start());
    for thinker in [&mut Puct::<Chess>::new(16, 1) as &mut dyn Thinker<Chess>, &mut Uct::<Chess>::new(16, 2)]
    {
        let began = Instant::now();
        let limits = Limits { hard: Some(began + Duration::from_millis(200)), ..Limits::default() };
        let (best, report) = think(thinker, &start, &limits);
        assert!(report.nodes > 0 && best.depth > 0 && start.now().unpack(best.mv).is_some());
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());

        let stop = StopFlag::default();
        let mut think = || {
            let watch = |_: &_| ControlFlow::Continue(());
            think_watched(thinker, &start, &Limits::default(), &stop, &watch)
        };
        let (best, _) = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                stop.stop();
            });
            think()
        });
        assert!(start.now().unpack(best.mv).is_some());
        let (best, report) = think();
        assert_eq!(report.nodes, 0);
        assert!(start.now().unpack(best.mv).is_some());
    }
}

#[test]
fn ends_at_the_depth_and_when_the_watcher_has_heard_enough() {
    let start = GameHistory::new(Chess::start());
    let limits = Limits { depth: Some(3), ..Limits::default() };
    assert_eq!(think(&mut strong(), &start, &limits).1.nodes, 512);
    let heard = AtomicU64::new(0);
    let watch = |_: &Progress<Chess>| match heard.fetch_add(1, Relaxed) {
        4.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let (best, _) = think_watched(&mut strong(), &start, &Limits::default(), &StopFlag::default(), &watch);
    assert!(best.depth > 0);
    assert_eq!(heard.load(Relaxed), 5 + 1, "and once more at the end");
}

#[test]
fn looks_only_at_the_moves_asked_for() {
    let start = GameHistory::new(Chess::start());
    let wanted: Vec<Packed> = ["a2a3", "h2h3"].map(|t| start.now().pack(start.now().read(t).unwrap())).into();
    let mut thinker = strong();
    think(&mut thinker, &start, &iterations(500));
    let limits = Limits { root_moves: wanted.clone(), ..iterations(500) };
    assert!(wanted.contains(&think(&mut thinker, &start, &limits).0.mv));
    let (best, _) = think(&mut thinker, &start, &iterations(500));
    assert!(!wanted.contains(&best.mv));
}

#[test]
fn the_visits_of_two_threads_add_up() {
    let start = GameHistory::new(Chess::start());
    for thinker in [&mut Puct::<Chess>::new(16, 2), &mut Puct::new(1, 4)] {
        let (best, report) = think(thinker, &start, &iterations(20_000));
        assert!(start.now().unpack(best.mv).is_some());
        let root = thinker.tree.root();
        let below: u32 = thinker.tree.children(root).iter().map(Node::visits).sum();
        assert_eq!((report.nodes, root.visits(), below), (20_000, 20_000, 20_000));
    }
}

#[test]
fn sees_draws_by_material_stalemate_repetition_and_fifty_moves() {
    // The last pawn falls.
    let bare = line("8/8/8/8/8/5k2/7p/7K w - - 0 1");
    assert_eq!(think(&mut strong(), &bare, &iterations(2000)).0.score, Score::ZERO);
    // To hold the pawn is to stalemate.
    let stalemate = line("8/8/8/8/8/2k5/1p6/1K6 b - - 0 1");
    let (best, _) = think(&mut strong(), &stalemate, &iterations(20_000));
    assert!(best.score.get().abs() <= 10, "{}", best.score);
    let late = line("7k/8/8/8/8/8/R7/K7 w - - 99 80");
    assert_eq!(think(&mut strong(), &late, &iterations(2000)).0.score, Score::ZERO);
    let mut shuffled = line("7k/8/8/8/8/8/R7/K7 w - - 0 1");
    for text in ["a2a3", "h8g8", "a3a2", "g8h8", "a2a3", "h8g8", "a3a2"] {
        play(&mut shuffled, text);
    }
    let (best, _) = think(&mut strong(), &shuffled, &iterations(3000));
    assert_eq!(text(&shuffled, best.mv), "g8h8");
}

#[test]
fn never_publishes_an_illegal_move() {
    let mut rng = fastrand::Rng::with_seed(7);
    for game in 0..8 {
        let mut line = GameHistory::new(Chess::start());
        let mut strong = Puct::<Chess>::new(1, 1);
        let mut course = Uct::<Chess>::new(1, 1);
        while line.moves().len() < 20 && !line.outcome().is_over() {
            let thinker: &mut dyn Thinker<Chess> = if game % 4 == 0 { &mut course } else { &mut strong };
            let (best, _) = think(thinker, &line, &iterations(200));
            let best = line.now().unpack(best.mv).unwrap();
            let moves = line.now().moves();
            line.play(if rng.bool() { best } else { moves[rng.usize(..moves.len())] });
        }
    }
}
