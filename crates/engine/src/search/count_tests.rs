//! Tests of games that end by a count of plies: the search near that end against an exhaustive one.

use std::{ops::ControlFlow, sync::Arc};

use zeitnot_rules::{
    Game, GameHistory, Key, Margin, Outcome, Reason, Tactics,
    minichess::{MiniChess, Move, Rules},
};

use super::*;
use crate::{Decision, Limits, think_now};

/// A position with the keys of those before it.
struct Line {
    now: MiniChess,
    keys: Vec<Key>,
}

impl Line {
    fn of(game: &GameHistory<MiniChess>) -> Line {
        Line { now: game.now().clone(), keys: game.keys().to_vec() }
    }

    fn outcome(&self) -> Outcome {
        let occurrences = 1 + self.keys.iter().filter(|&&key| key == self.now.key()).count();
        match self.now.outcome() {
            outcome @ Outcome::Win(_, Reason::KingEnPrise | Reason::KingCaptured) => outcome,
            _ if occurrences >= self.now.repetition_limit() => Outcome::Draw(Reason::Repetition),
            outcome => outcome,
        }
    }

    fn after(&self, mv: Move) -> Line {
        Line { now: self.now.after(mv), keys: [&self.keys[..], &[self.now.key()]].concat() }
    }

    /// The exact score, by the rules alone.
    fn solve(&self, mut alpha: Score, beta: Score, ply: u16) -> Score {
        let outcome = self.outcome();
        if outcome.is_over() {
            return Score::from_outcome(outcome, self.now.side_to_move(), ply);
        }
        let mut moves = self.now.moves();
        moves.sort_unstable_by_key(|&mv| -self.now.gain(mv));
        let mut best = Score::NEG_INFINITE;
        for mv in moves {
            best = best.max(-self.after(mv).solve(-beta, -alpha, ply + 1));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    fn value(&self) -> Score {
        self.solve(Score::NEG_INFINITE, Score::INFINITE, 0)
    }
}

/// A score without the distance of a mate, which the search counts to the capture of the king.
fn result(score: Score) -> i32 {
    if score.is_mate() { score.get().signum() * Score::mate_in(0).get() } else { score.get() }
}

fn search() -> Search<MiniChess> {
    Search::new(Arc::new(TranspositionTable::new(4).unwrap()), 1, &EvalFile::default())
}

/// Searches all that is left of the game, and compares the score and the move with the exact ones.
fn assert_exact(game: &GameHistory<MiniChess>) {
    assert_exact_by(&mut search(), game);
}

/// The same by a search that has searched before.
fn assert_exact_by(search: &mut Search<MiniChess>, game: &GameHistory<MiniChess>) {
    let line = Line::of(game);
    let (best, _) = think_now(search, game, &Limits { depth: Some(100), ..Limits::default() });
    let exact = line.value();
    let text = format!("{} at ply {}", game.now().print(), game.now().plies());
    assert_eq!(result(best.score), result(exact), "{text}: {} for {exact}", best.score);
    let played = -line.after(game.now().unpack(best.mv).unwrap()).value();
    assert_eq!(result(played), result(exact), "{text}: the move brings {played} for {exact}");
}

fn position(text: &str, plies: u16) -> GameHistory<MiniChess> {
    GameHistory::new(MiniChess::parse(Rules::Nthu2026, text).unwrap().at_ply(plies))
}

/// Random moves that leave no king to be taken.
fn random_game(random: &mut fastrand::Rng, plies: usize) -> GameHistory<MiniChess> {
    let mut game = GameHistory::new(MiniChess::start(Rules::Nthu2026));
    while game.moves().len() < plies {
        let mut moves = game.now().moves();
        moves.retain(|mv| game.now().after(*mv).quick_outcome() == Outcome::Ongoing);
        match moves.get(random.usize(..moves.len().max(1))) {
            Some(&mv) => game.play(mv),
            None => game = GameHistory::new(MiniChess::start(Rules::Nthu2026)),
        }
    }
    game
}

#[test]
fn a_recurrence_that_cannot_become_a_repetition_is_no_draw() {
    // Nine plies before the end: a position can come twice more, not four times.
    for (text, plies) in [
        // White is ahead, and has one safe move at a time: Black can bring the position back.
        ("....k/...../...../p.p../P.P../K.P.. B", 91),
        ("k.n../p.p../P.P../...B./...../....K B", 91),
        ("k..../p.p../P.P../..n../...../..B.K B", 93),
        ("k.b../p.p../P.P../...../..N../....K W", 92),
        ("k..r./p.p../P.P../...../...../.R..K B", 93),
    ] {
        assert_exact(&position(text, plies));
    }
}

#[test]
fn near_the_end_the_search_is_exact() {
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..24 {
        let at = random_game(&mut random, 30 + round % 2);
        // The same board with less and less to play: what was found before is of no use.
        let mut search = search();
        for left in (1..=5).rev().filter(|left| left % 2 == round % 2) {
            assert_exact_by(&mut search, &GameHistory::new(at.now().at_ply(100 - left as u16)));
        }
    }
}

#[test]
fn occurrences_in_the_game_count() {
    let mut game = position("k...n/p.p../P.P../...../...../..B.K W", 86);
    let cycle = ["e1e2", "a6b6", "e2e1", "b6a6"];
    for text in cycle.into_iter().cycle().take(9) {
        game.play(game.now().read(text).unwrap());
        if game.now().plies() >= 92 {
            assert_exact(&game);
        }
    }
}

#[test]
fn the_fourth_occurrence_comes_before_the_count() {
    // Black is behind, and its last move brings the position for the fourth time.
    let mut game = position("k..../p.p../P.P../...../...../..B.K W", 88);
    for text in ["e1e2", "a6b6", "e2e1", "b6a6"].into_iter().cycle().take(11) {
        game.play(game.now().read(text).unwrap());
    }
    assert_exact(&game);
    let (best, _) = think_now(&mut search(), &game, &Limits { depth: Some(100), ..Limits::default() });
    let repeats = game.now().read("b6a6").unwrap();
    assert_eq!((game.now().unpack(best.mv), best.score), (Some(repeats), Score::ZERO));
}

#[test]
fn a_game_lost_by_count_is_lost_by_as_little_as_can_be() {
    // White is behind by two before Black's last move: it saves its queen, which a rook attacks.
    let game = position("krr.b/p..../p...p/P...P/...../..Q.K W", 98);
    let exact = Line::of(&game).value();
    assert_eq!(exact, -Score::count_win(Margin(2)));
    assert_exact(&game);
}

#[test]
fn an_unfinished_first_iteration_leaves_the_fallback_move() {
    let game = GameHistory::new(MiniChess::start(Rules::Nthu2026));
    for (nodes, mv) in game.now().moves().iter().enumerate() {
        let best = Decision::new(game.now().pack(*mv));
        let limits = Limits { nodes: Some(nodes as u64 + 1), ..Limits::default() };
        let (stop, watch) = (StopFlag::default(), |_: &Progress<MiniChess>| ControlFlow::Continue(()));
        search().think(&Task { game: &game, limits: &limits, best: &best, stop: &stop, watch: &watch });
        assert_eq!(game.now().unpack(best.read().mv), Some(*mv));
    }
}
