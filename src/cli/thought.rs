//! Thoughts of our bots on the page of the arena they play in.

use zeitnot_bot::{GameStatus, ThoughtStatus};
use zeitnot_host::live::{
    Thoughts,
    view::{Score, Thought},
};
use zeitnot_rules::{Color, MoveText};

/// Shows what a bot thinks in one of its games.
pub(super) fn show(thoughts: &Thoughts, status: &GameStatus) {
    if let Some(thought) = &status.thought {
        thoughts.report(status.game.clone(), thought.ply, status.side, view(thought, status.side));
    }
}

/// The thought from White's point of view. A move that was known without a search has depth 0.
pub(super) fn view(thought: &ThoughtStatus, side: Color) -> Thought {
    let sign = if side == Color::White { 1 } else { -1 };
    let (score, depth) = match thought.eval {
        Some((score, depth)) => match score.mate_moves() {
            Some(moves) => (Score::Mate(sign * i32::from(moves)), depth),
            None => (Score::Cp(sign * score.get()), depth),
        },
        None => (Score::Cp(0), 0),
    };
    let speed = thought.effort.map(|(nodes, time)| (nodes as f64 / time.as_secs_f64().max(1e-6)) as u64);
    Thought {
        score,
        depth,
        nodes: thought.effort.map(|(nodes, _)| nodes),
        nps: speed,
        pv: thought.pv.iter().map(MoveText::to_string).collect(),
        origin: thought.origin.map_or("search", |origin| origin.name()).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zeitnot_bot::MoveOrigin;
    use zeitnot_engine as engine;

    use super::*;

    #[test]
    fn scores_are_those_of_white() {
        let thought = |score, origin| ThoughtStatus {
            ply: 3,
            eval: Some((score, 12)),
            effort: Some((3000, Duration::from_millis(1500))),
            pv: vec![MoveText::new("e7e5").unwrap()],
            origin,
        };
        let shown = view(&thought(engine::Score::cp(31), None), Color::Black);
        assert_eq!((shown.score, shown.depth, shown.nps), (Score::Cp(-31), 12, Some(2000)));
        assert_eq!((shown.pv.as_slice(), shown.origin.as_str()), (["e7e5".to_owned()].as_slice(), "search"));
        let mate = view(&thought(engine::Score::mated_in(4), Some(MoveOrigin::Cached)), Color::Black);
        assert_eq!((mate.score, mate.origin.as_str()), (Score::Mate(2), "cache"));
    }
}
