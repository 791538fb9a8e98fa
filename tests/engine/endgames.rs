//! Endgames whose end is known: the engine plays both sides, with few nodes for a move, and comes to that end.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use zeitnot_engine::{
    Config, Decision, EngineFactory, Limits, Progress, StopFlag, Task, Thinker, net::EvalFile, think_now,
};
use zeitnot_rules::{Color, Game, GameHistory, Outcome, chess::Chess};
use zeitnot_testing::LONG;

use crate::support::engine::search_factory;

/// Nodes for a move.
const NODES: u64 = 30_000;

fn search() -> Box<dyn Thinker<Chess>> {
    search_factory(16, 1).thinker()
}

/// Plays to the end.
fn play(fen: &str) -> Outcome {
    let mut search = search();
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut line = GameHistory::new(Chess::parse(fen).unwrap());
    while line.outcome() == Outcome::Ongoing {
        let (best, _) = think_now(&mut *search, &line, &limits);
        line.play(line.now().unpack(best.mv).unwrap());
    }
    line.outcome()
}

fn won(fen: &str) {
    let outcome = play(fen);
    assert!(matches!(outcome, Outcome::Win(Color::White, _)), "{fen}: {outcome:?}");
}

fn drawn(fen: &str) {
    let outcome = play(fen);
    assert!(matches!(outcome, Outcome::Draw(_)), "{fen}: {outcome:?}");
}

#[test]
fn queens_rooks_and_bishops_mate_a_bare_king() {
    won("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1");
    won("8/8/8/3k4/8/8/8/R3K3 w - - 0 1");
    won("8/8/8/3k4/8/8/8/2B1KB2 w - - 0 1");
}

#[test]
fn bishop_and_knight_mate_a_bare_king() {
    won("8/8/8/3k4/8/8/8/2B1K1N1 w - - 0 1");
    // From the wrong corner the king must be driven along the edge.
    won("7k/8/5K2/8/8/8/8/2B3N1 w - - 0 1");
}

#[test]
fn king_and_pawn_win_or_draw_by_the_opposition() {
    // The king before its pawn, and the opposition.
    won("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1");
    won("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1");
    won("8/8/8/1P4k1/8/8/8/K7 w - - 0 1");
    drawn("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1");
    drawn("4k3/4P3/3K4/8/8/8/8/8 w - - 0 1");
    drawn("k7/8/1K6/P7/8/8/8/8 w - - 0 1");
    drawn("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1");
}

#[test(limit = LONG)]
fn rook_and_pawn_win_by_lucena_and_draw_by_philidor() {
    // Lucena's bridge wins; Philidor's sixth rank holds.
    won("1K1k4/1P6/8/8/8/8/r7/2R5 w - - 0 1");
    drawn("4k3/8/r7/4P3/4K3/8/8/7R w - - 0 1");
    // From behind, with the king on the short side.
    drawn("6k1/R7/8/4KP2/8/8/8/5r2 w - - 0 1");
}

#[test(limit = LONG)]
fn endgames_that_cannot_be_won_are_drawn() {
    // Opposite bishops, the wrong corner, a rook against a bishop, two knights.
    drawn("8/8/3k4/3b4/3P4/3KB3/8/8 w - - 0 1");
    drawn("k7/8/8/P7/8/2B5/8/2K5 w - - 0 1");
    drawn("7k/8/5K2/8/8/8/6b1/R7 w - - 0 1");
    drawn("8/8/3k4/8/2K5/8/8/1N3N2 w - - 0 1");
}

#[test]
fn a_rook_pawn_one_step_away_holds_against_a_queen() {
    drawn("8/8/8/Q6K/8/8/p7/1k6 b - - 0 1");
}

#[test]
fn the_last_moves_before_fifty_are_not_wasted() {
    // A quiet move, and the answer to it is the hundredth ply: only the pawn may move.
    won("8/8/8/3k4/8/8/P7/R3K3 w - - 98 120");
    // Mate comes before the draw, …
    won("7k/8/6K1/8/8/8/8/R7 w - - 99 120");
    // … which the worse side waits for.
    drawn("8/8/8/3k4/8/8/P7/R3K3 b - - 99 120");
}

#[test]
fn perpetual_check_saves_a_lost_position() {
    drawn("6k1/6p1/8/7Q/8/7K/1q6/1r6 w - - 0 1");
}

/// Searches until this move is best, with a score within these bounds. Null-move pruning must not hide it: that, and not
/// the net, is on trial.
fn found(fen: &str, wanted: &str, least: i32, most: i32) {
    const MOST_NODES: u64 = 4_000_000;
    let line = GameHistory::new(Chess::parse(fen).unwrap());
    let wanted = line.now().read(wanted).unwrap();
    let seen = AtomicBool::new(false);
    let watch = |progress: &Progress<Chess>| {
        let fits = progress.pv.first() == Some(&wanted) && (least..=most).contains(&progress.score.get());
        seen.fetch_or(fits, Relaxed);
        if fits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let best = Decision::new(line.now().pack(line.now().moves()[0]));
    let limits = Limits { nodes: Some(MOST_NODES), ..Limits::default() };
    let task = Task { game: &line, limits: &limits, best: &best, stop: &StopFlag::default(), watch: &watch };
    let by_hand = Config { eval_file: EvalFile::HandMade, ..Config::default() };
    EngineFactory::new(&by_hand).unwrap().thinker().think(&task);
    assert!(seen.into_inner(), "{fen}: {:?}", best.read());
}

#[test]
fn zugzwang_is_seen_where_rooks_and_queens_are_on_the_board() {
    // The rook is given away for nothing, and Black, who may not move his own, has pawns' moves left only.
    found("8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 0 1", "e1f1", -50, 50);
    // A quiet move of the king, after which every move of Black loses something.
    found("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", "g5h6", 200, 40_000);
}

#[test]
fn zugzwang_is_seen() {
    // Whoever is to move loses the pawn, and the game.
    let black = play("8/8/8/3pK3/2kP4/8/8/8 w - - 0 1");
    assert!(matches!(black, Outcome::Win(Color::Black, _)), "{black:?}");
    won("8/8/8/3pK3/2kP4/8/8/8 b - - 0 1");
}
