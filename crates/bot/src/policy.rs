//! When a game is as good as over: draws to be offered or agreed to, and games to be given up.

use serde::Deserialize;

use zeitnot_engine::Score;

/// The `[bot.draw]` table: when a draw is as good as any other result.
///
/// An offer is agreed to by the same rule, and also where we stand worse than it asks.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Draw {
    /// Our score was this near to zero, in centipawns …
    pub score: u16,
    /// … for so many moves of ours in a row; 0: we never offer a draw, and agree to none.
    pub moves: usize,
    /// Not before this move of the game.
    pub from_move: usize,
    /// Not with more men than this on the board, where the game counts them.
    pub pieces: usize,
}

impl Default for Draw {
    fn default() -> Self {
        Draw { score: 10, moves: 0, from_move: 40, pieces: 32 }
    }
}

/// The `[bot.resign]` table: when a game is given up.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resign {
    /// Our score was this many centipawns below zero, or worse …
    pub score: u16,
    /// … for so many moves of ours in a row; 0: we never give up.
    pub moves: usize,
}

impl Default for Resign {
    fn default() -> Self {
        Resign { score: 1000, moves: 0 }
    }
}

/// An offer that was passed over is made again after so many moves of ours; servers take no more.
const OFFER_AGAIN: usize = 10;

/// What the game has looked like to us so far, move by move.
#[derive(Clone, Debug, Default)]
pub(super) struct Outlook {
    scores: Vec<Score>,
    /// How many scores there were when we offered a draw.
    offered_at: Option<usize>,
    /// The opponent's offer stands.
    is_offered: bool,
}

/// What the rules ask of the position.
#[derive(Copy, Clone, Debug)]
pub(super) struct Stage {
    /// Which move of the game is to be played, from 1.
    pub move_number: usize,
    /// Men on the board; 0 where the game does not count them.
    pub men: usize,
}

impl Stage {
    fn is_due(self, rule: &Draw) -> bool {
        self.move_number >= rule.from_move && self.men <= rule.pieces
    }
}

impl Outlook {
    /// A search of ours has come to this.
    pub fn judged(&mut self, score: Score) {
        self.scores.push(score);
    }

    /// The opponent offers a draw. The offer stands until we have moved.
    pub fn offered(&mut self) {
        self.is_offered = true;
    }

    /// Is it time to give up?
    pub fn is_hopeless(&self, rule: &Resign) -> bool {
        self.last(rule.moves).is_some_and(|scores| scores.iter().all(|s| s.get() < -i32::from(rule.score)))
    }

    /// Is a draw to go with the move that is played now? To be asked once a move.
    pub fn draws(&mut self, rule: &Draw, stage: Stage) -> bool {
        if self.is_offered {
            return self.agrees(rule, stage);
        }
        let margin = i32::from(rule.score);
        let Some(scores) = self.last(rule.moves).filter(|_| stage.is_due(rule)) else { return false };
        let waited = self.offered_at.is_none_or(|at| self.scores.len() >= at + OFFER_AGAIN);
        let offers = waited && scores.iter().all(|score| score.get().abs() <= margin);
        if offers {
            self.offered_at = Some(self.scores.len());
        }
        offers
    }

    /// Is a draw that was offered agreed to with the move that is played now? Any move answers the offer.
    pub fn agrees(&mut self, rule: &Draw, stage: Stage) -> bool {
        let scores = self.last(rule.moves).filter(|_| self.is_offered && stage.is_due(rule));
        let agrees = scores.is_some_and(|scores| scores.iter().all(|s| s.get() <= i32::from(rule.score)));
        self.is_offered = false;
        agrees
    }

    /// The last so many scores; `None` if there are not so many, or none are asked for.
    fn last(&self, count: usize) -> Option<&[Score]> {
        let from = self.scores.len().checked_sub(count).filter(|_| count > 0)?;
        self.scores.get(from..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { score: 10, moves: 3, from_move: 30, pieces: 10 };
    const RESIGN: Resign = Resign { score: 500, moves: 2 };
    const LATE: Stage = Stage { move_number: 30, men: 10 };

    fn outlook(scores: &[Score]) -> Outlook {
        Outlook { scores: scores.to_vec(), ..Outlook::default() }
    }

    fn cp(scores: &[i32]) -> Outlook {
        outlook(&scores.iter().map(|&cp| Score::cp(cp)).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_is_done_unless_it_is_asked_for() {
        let mut dull = cp(&[0; 50]);
        assert!(!dull.draws(&Draw::default(), Stage { move_number: 90, men: 4 }));
        dull.offered();
        assert!(!dull.draws(&Draw::default(), Stage { move_number: 90, men: 4 }));
        assert!(!cp(&[-3000; 50]).is_hopeless(&Resign::default()));
    }

    #[test]
    fn a_draw_is_offered_when_nothing_happens_any_more() {
        for (scores, offers) in [
            (&[400, 10, -10, 0][..], true),
            (&[11, 0, 0], false),
            (&[0, 0, -11], false),
            (&[0, 0], false),
            (&[], false),
        ] {
            assert_eq!(cp(scores).draws(&DRAW, LATE), offers, "{scores:?}");
        }
        assert!(!cp(&[0; 9]).draws(&DRAW, Stage { move_number: 29, ..LATE }));
        assert!(!cp(&[0; 9]).draws(&DRAW, Stage { men: 11, ..LATE }));
    }

    #[test]
    fn an_offer_is_not_repeated_at_once() {
        let mut dull = cp(&[0; 2]);
        let offers: Vec<_> = (0..25)
            .filter(|_| {
                dull.judged(Score::ZERO);
                dull.draws(&DRAW, LATE)
            })
            .collect();
        assert_eq!(offers, [0, 10, 20]);
    }

    #[test]
    fn an_offer_is_agreed_to_when_we_stand_no_better() {
        for (scores, agrees) in
            [(&[0, 5, 10][..], true), (&[-300, -400, -500], true), (&[0, 0, 80], false), (&[-900, 0], false)]
        {
            let mut outlook = cp(scores);
            outlook.offered();
            assert_eq!(outlook.draws(&DRAW, LATE), agrees, "{scores:?}");
        }
        // A move that nobody thought about answers it as well, and offers nothing.
        let mut dull = cp(&[0; 9]);
        dull.offered();
        assert!(dull.agrees(&DRAW, LATE) && !dull.agrees(&DRAW, LATE));
        // It stands for one move.
        let mut worse = cp(&[-300, -400, -500]);
        worse.offered();
        assert!(worse.draws(&DRAW, LATE) && !worse.draws(&DRAW, LATE));
    }

    #[test]
    fn only_what_is_lost_is_given_up() {
        assert!(cp(&[0, -501, -600]).is_hopeless(&RESIGN));
        assert!(outlook(&[Score::cp(-700), Score::mated_in(8)]).is_hopeless(&RESIGN));
        for alive in [
            cp(&[-600]),
            cp(&[-600, -500]),
            cp(&[-600, -600, 0]),
            outlook(&[Score::cp(-700), Score::mate_in(9)]),
            outlook(&[Score::mate_in(9), Score::mate_in(7)]),
        ] {
            assert!(!alive.is_hopeless(&RESIGN), "{alive:?}");
        }
    }
}
