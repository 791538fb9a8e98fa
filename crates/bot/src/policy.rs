//! Draws and resignations: when to offer or accept a draw, and when to resign.

use zeitnot_engine::Score;
use zeitnot_seat::{GameDetails, Opponent};
use zeitnot_settings::settings;

settings! {
    /// Conditions for offering a draw.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Draw {
        /// Largest distance of the score from zero, in centipawns, that counts as equal.
        score: u16 = 10,
        /// Number of moves in a row with an equal score; 0 disables draws.
        moves: usize = 0,
        /// Not before this move of the game.
        min_game_length: usize = 40,
        /// Not with more pieces than this on the board.
        max_pieces: usize = 32,
        /// Whether to offer and accept draws against humans.
        against_humans: bool = true,
        /// Minimum rating of the opponent; unrated opponents count as strong enough. Without it, any.
        #[schemars(example = 2300)]
        min_rating: Option<i32> = None,
    }
}

settings! {
    /// Conditions for resigning.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Resign {
        /// Distance of the score below zero, in centipawns, beyond which the game counts as lost.
        score: u16 = 1000,
        /// Number of moves in a row with a lost score; 0 disables resignation.
        moves: usize = 0,
        /// Whether to resign against humans.
        against_humans: bool = true,
        /// Minimum rating of the opponent; unrated opponents count as strong enough. Without it, any.
        #[schemars(example = 2300)]
        min_rating: Option<i32> = None,
    }
}

/// Moves of ours after which an ignored offer is repeated; servers ignore more frequent ones.
const OFFER_INTERVAL: usize = 10;

/// Decides on draws and resignation by the scores of our searches.
#[derive(Clone, Debug)]
pub(crate) struct DrawResignPolicy {
    draw: Draw,
    resign: Resign,
    /// Scores of our moves so far.
    scores: Vec<Score>,
    /// Number of scores at our last offer.
    offered_at: Option<usize>,
    /// Whether the opponent's offer stands.
    is_offered: bool,
}

/// Phase of a game, as far as the policy depends on it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct GameStage {
    /// Number of the move to be played, from 1.
    pub move_number: usize,
    /// Pieces on the board; 0 where the game does not count them.
    pub piece_count: usize,
}

impl DrawResignPolicy {
    /// Creates a policy for a game against this opponent. Conditions that exclude the opponent are turned off.
    pub(crate) fn new(mut draw: Draw, mut resign: Resign, details: GameDetails) -> Self {
        if !is_meant(details, draw.against_humans, draw.min_rating) {
            draw.moves = 0;
        }
        if !is_meant(details, resign.against_humans, resign.min_rating) {
            resign.moves = 0;
        }
        DrawResignPolicy { draw, resign, scores: Vec::new(), offered_at: None, is_offered: false }
    }

    pub(crate) fn add(&mut self, score: Score) {
        self.scores.push(score);
    }

    pub(crate) fn last_score(&self) -> Option<Score> {
        self.scores.last().copied()
    }

    /// Returns the best score of our moves so far.
    pub(crate) fn best_score(&self) -> Option<Score> {
        self.scores.iter().copied().max()
    }

    /// Records the opponent's draw offer, which stands until our next move.
    pub(crate) fn draw_offered(&mut self) {
        self.is_offered = true;
    }

    pub(crate) fn resigns(&self) -> bool {
        let margin = i32::from(self.resign.score);
        self.last(self.resign.moves).is_some_and(|scores| scores.iter().all(|s| s.get() < -margin))
    }

    /// Returns whether our move offers a draw, or accepts the opponent's. To be called once a move.
    pub(crate) fn offers_draw(&mut self, stage: GameStage) -> bool {
        if self.is_offered {
            return self.accepts_draw(stage);
        }
        let margin = i32::from(self.draw.score);
        let Some(scores) = self.scores_for_draw(stage) else { return false };
        let waited = self.offered_at.is_none_or(|at| self.scores.len() >= at + OFFER_INTERVAL);
        let offers = waited && scores.iter().all(|score| score.get().abs() <= margin);
        if offers {
            self.offered_at = Some(self.scores.len());
        }
        offers
    }

    /// Returns whether our move accepts a draw offer. Any move answers the offer.
    pub(crate) fn accepts_draw(&mut self, stage: GameStage) -> bool {
        let margin = i32::from(self.draw.score);
        let scores = self.scores_for_draw(stage).filter(|_| self.is_offered);
        let accepts = scores.is_some_and(|scores| scores.iter().all(|score| score.get() <= margin));
        self.is_offered = false;
        accepts
    }

    /// Returns the scores that decide on a draw; `None` where there is no draw at this stage.
    fn scores_for_draw(&self, stage: GameStage) -> Option<&[Score]> {
        let Draw { moves, min_game_length, max_pieces, .. } = self.draw;
        let is_due = stage.move_number >= min_game_length && stage.piece_count <= max_pieces;
        self.last(moves).filter(|_| is_due)
    }

    /// Returns the last scores; `None` if there are fewer, or the rule is off.
    fn last(&self, count: usize) -> Option<&[Score]> {
        let from = self.scores.len().checked_sub(count).filter(|_| count > 0)?;
        self.scores.get(from..)
    }
}

/// Returns whether conditions include an opponent. What the server does not report excludes nobody.
fn is_meant(details: GameDetails, against_humans: bool, min_rating: Option<i32>) -> bool {
    let is_kind_meant = against_humans || details.opponent != Some(Opponent::Human);
    let is_weak = min_rating.zip(details.opponent_rating).is_some_and(|(min, rating)| rating < min);
    is_kind_meant && !is_weak
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw {
        score: 10,
        moves: 3,
        min_game_length: 30,
        max_pieces: 10,
        against_humans: true,
        min_rating: None,
    };
    const RESIGN: Resign = Resign { score: 500, moves: 2, against_humans: true, min_rating: None };
    const LATE: GameStage = GameStage { move_number: 30, piece_count: 10 };

    fn policy(scores: &[Score]) -> DrawResignPolicy {
        DrawResignPolicy {
            scores: scores.to_vec(),
            ..DrawResignPolicy::new(DRAW, RESIGN, GameDetails::default())
        }
    }

    fn cp(scores: &[i32]) -> DrawResignPolicy {
        policy(&scores.iter().map(|&cp| Score::cp(cp)).collect::<Vec<_>>())
    }

    #[test]
    fn by_default_draws_are_not_offered_and_games_not_resigned() {
        let default =
            |cps: &[i32]| DrawResignPolicy { draw: Draw::default(), resign: Resign::default(), ..cp(cps) };
        let mut even = default(&[0; 50]);
        let stage = GameStage { move_number: 90, piece_count: 4 };
        assert!(!even.offers_draw(stage));
        even.draw_offered();
        assert!(!even.offers_draw(stage));
        assert!(!default(&[-3000; 50]).resigns());
    }

    #[test]
    fn opponents_may_be_excluded_by_kind_and_rating() {
        let human = Some(Opponent::Human);
        let bot = Some(Opponent::Bot);
        for (opponent, opponent_rating, against_humans, min_rating, expected) in [
            (human, Some(1500), true, None, true),
            (human, Some(2900), false, None, false),
            (bot, Some(1500), false, None, true),
            (None, None, false, Some(2300), true),
            (human, Some(2299), true, Some(2300), false),
            (bot, Some(2300), false, Some(2300), true),
            (bot, None, true, Some(2300), true),
        ] {
            let details = GameDetails { opponent, opponent_rating, ..GameDetails::default() };
            let draw = Draw { against_humans, min_rating, ..DRAW };
            let resign = Resign { against_humans, min_rating, ..RESIGN };
            let policy = |draw, resign, score| {
                let mut policy = DrawResignPolicy::new(draw, resign, details);
                (0..5).for_each(|_| policy.add(Score::cp(score)));
                policy
            };
            let mut even = policy(draw, RESIGN, 0);
            assert_eq!(even.offers_draw(LATE), expected, "{details:?}");
            even.draw_offered();
            assert_eq!(even.accepts_draw(LATE), expected, "{details:?}");
            // Each has conditions of its own.
            assert!(policy(draw, RESIGN, -900).resigns());
            assert_eq!(policy(DRAW, resign, -900).resigns(), expected, "{details:?}");
            assert!(policy(DRAW, resign, 0).offers_draw(LATE));
        }
    }

    #[test]
    fn a_draw_is_offered_after_even_scores() {
        for (scores, stage, offers) in [
            (&[400, 10, -10, 0][..], LATE, true),
            (&[11, 0, 0], LATE, false),
            (&[0, 0, -11], LATE, false),
            (&[0, 0], LATE, false),
            (&[], LATE, false),
            (&[0; 9], GameStage { move_number: 29, ..LATE }, false),
            (&[0; 9], GameStage { piece_count: 11, ..LATE }, false),
        ] {
            assert_eq!(cp(scores).offers_draw(stage), offers, "{scores:?} {stage:?}");
        }
    }

    #[test]
    fn an_offer_is_repeated_after_ten_moves() {
        let mut even = cp(&[0; 2]);
        let offers = (0..25).filter(|_| {
            even.add(Score::ZERO);
            even.offers_draw(LATE)
        });
        assert_eq!(offers.collect::<Vec<_>>(), [0, 10, 20]);
    }

    #[test]
    fn an_offer_is_accepted_when_we_stand_no_better() {
        for (scores, accepts) in
            [(&[0, 5, 10][..], true), (&[-300, -400, -500], true), (&[0, 0, 80], false), (&[-900, 0], false)]
        {
            let mut policy = cp(scores);
            policy.draw_offered();
            assert_eq!(policy.offers_draw(LATE), accepts, "{scores:?}");
        }
        // A move without a search answers it as well, and offers nothing.
        let mut even = cp(&[0; 9]);
        even.draw_offered();
        assert!(even.accepts_draw(LATE) && !even.accepts_draw(LATE));
        // It stands for one move.
        let mut worse = cp(&[-300, -400, -500]);
        worse.draw_offered();
        assert!(worse.offers_draw(LATE) && !worse.offers_draw(LATE));
    }

    #[test]
    fn only_lost_games_are_resigned() {
        for (scores, resigns) in [
            (&[Score::ZERO, Score::cp(-501), Score::cp(-600)][..], true),
            (&[Score::cp(-700), Score::mated_in(8)], true),
            (&[Score::cp(-600)], false),
            (&[Score::cp(-600), Score::cp(-500)], false),
            (&[Score::cp(-600), Score::cp(-600), Score::ZERO], false),
            (&[Score::cp(-700), Score::mate_in(9)], false),
            (&[Score::mate_in(9), Score::mate_in(7)], false),
        ] {
            assert_eq!(policy(scores).resigns(), resigns, "{scores:?}");
        }
    }
}
