//! Lessons from the result of a game about our moves in it.

use zeitnot_engine::Score;
use zeitnot_rules::{Color, GameResult};

use super::Player;
use crate::cache::Lesson;

/// Above this score we stand better.
const BETTER: Score = Score::cp(100);

impl Player {
    /// Marks our cached moves in this game by its result, once.
    pub(super) fn learn(&mut self, result: GameResult) {
        let played = std::mem::take(&mut self.played);
        let last = self.policy.last_score();
        let best = self.policy.best_score();
        let Some(lesson) = lesson(result, self.info.side, last, best) else { return };
        let marked = self.context.cache.learn(self.board.position().game, &played, lesson);
        tracing::debug!(game = %self.info.id, ?lesson, marked, of = played.len(), "learnt from the result");
    }
}

/// Returns what a result says about our moves, by our last score and our best.
fn lesson(result: GameResult, side: Color, last: Option<Score>, best: Option<Score>) -> Option<Lesson> {
    let is_better = |score: Option<Score>| score.is_some_and(|score| score > BETTER);
    match result {
        GameResult::Won(winner) if winner == side => Some(Lesson::Success),
        // The clock or the connection has lost it.
        GameResult::Won(_) if is_better(last) => None,
        GameResult::Won(_) => Some(Lesson::Failure),
        GameResult::Draw => is_better(best).then_some(Lesson::Failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_games_and_better_ones_that_were_drawn_are_learnt_from() {
        let us = Color::White;
        let won = GameResult::Won(Color::White);
        let lost = GameResult::Won(Color::Black);
        for (result, last, best, expected) in [
            (won, -300, -300, Some(Lesson::Success)),
            (lost, -900, 40, Some(Lesson::Failure)),
            (lost, 100, 100, Some(Lesson::Failure)),
            (lost, 400, 400, None),
            (GameResult::Draw, 0, 101, Some(Lesson::Failure)),
            (GameResult::Draw, 0, 100, None),
        ] {
            let scores = [last, best].map(|cp| Some(Score::cp(cp)));
            assert_eq!(lesson(result, us, scores[0], scores[1]), expected, "{result} {last} {best}");
        }
        // Without a search nothing is known of how we stood.
        assert_eq!(lesson(lost, us, None, None), Some(Lesson::Failure));
        assert_eq!(lesson(GameResult::Draw, us, None, None), None);
    }
}
