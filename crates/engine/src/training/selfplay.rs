//! Self-play games for training positions.

use std::{ops::ControlFlow, sync::Arc};

use zeitnot_rules::{Color, Game, GameHistory, Outcome, Tactics, chess::Chess};

use super::{Label, Record};
use crate::{
    Limits, OutOfMemory, Score, StopFlag, Thinker, TranspositionTable, search::Search, thinker::think_watched,
};

/// Node limits of a move, independent of the machine's speed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// No iteration begins after this many.
    pub soft: u64,
    /// An iteration stops at this many.
    pub hard: u64,
}

/// Random plies at the start of a game, or one more, so that either side may begin to search.
const RANDOM_PLIES: usize = 8;
/// Openings with a larger score are discarded, in centipawns.
const MAX_OPENING_SCORE: i32 = 350;
/// Adjudicated as won: centipawns, and plies in a row.
const WON: (i32, usize) = (1_200, 5);
/// Adjudicated as drawn: centipawns, plies in a row, and minimum plies of the game.
const DRAWN: (i32, usize, usize) = (8, 12, 80);
/// Games of this length are draws.
const MAX_PLIES: usize = 400;
/// Size of the transposition table in MiB.
const TABLE_MIB: usize = 8;

/// Plays games against itself.
pub struct SelfPlay {
    search: Search<Chess>,
    table: Arc<TranspositionTable>,
    effort: NodeLimits,
    random: fastrand::Rng,
}

impl SelfPlay {
    /// Creates a player that plays the same games for the same seed.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table does not fit.
    pub fn new(effort: NodeLimits, seed: u64) -> Result<Self, OutOfMemory> {
        let table = Arc::new(TranspositionTable::new(TABLE_MIB)?);
        let search = Search::new(table.clone(), 1);
        Ok(SelfPlay { search, table, effort, random: fastrand::Rng::with_seed(seed) })
    }

    /// Plays a game and returns its quiet positions with score and result. Empty if the opening is discarded, or on a
    /// stop.
    pub fn game(&mut self, stop: &StopFlag) -> Vec<Record> {
        self.table.clear();
        self.search.new_game();
        let Some(mut line) = self.opening() else { return Vec::new() };
        let (mut seen, mut adjudicator) = (Vec::new(), Adjudicator::default());
        let result = loop {
            match line.outcome() {
                Outcome::Win(side, _) => break half_points(side),
                Outcome::Draw(_) => break 1,
                Outcome::Ongoing => {}
            }
            let Some((mv, score)) = self.think(&line, stop) else { return Vec::new() };
            let position = line.now();
            let score = if position.side_to_move() == Color::White { score } else { -score };
            if seen.is_empty() && adjudicator.plies == 0 && score.get().abs() > MAX_OPENING_SCORE {
                return Vec::new();
            }
            if let Some(result) = adjudicator.decides(score) {
                break result;
            }
            // The score of a tactical position belongs to the quiet one after the captures.
            if !position.is_check() && position.gain(mv) == 0 {
                seen.push((position.clone(), score.get() as i16));
            }
            line.play(mv);
        };
        seen.iter().map(|(position, score)| Record::pack(position, Label { score: *score, result })).collect()
    }

    fn opening(&mut self) -> Option<GameHistory<Chess>> {
        let mut line = GameHistory::new(Chess::start());
        for _ in 0..RANDOM_PLIES + self.random.usize(..2) {
            line.play(self.random.choice(line.now().moves())?);
        }
        Some(line).filter(|line| !line.outcome().is_over())
    }

    /// `None` when stopped.
    fn think(
        &mut self,
        line: &GameHistory<Chess>,
        stop: &StopFlag,
    ) -> Option<(<Chess as Game>::Move, Score)> {
        let limits = Limits { nodes: Some(self.effort.hard), ..Limits::default() };
        let watch = |progress: &crate::Progress<Chess>| match progress.nodes < self.effort.soft {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let (best, _) = think_watched(&mut self.search, line, &limits, stop, &watch);
        line.now().unpack(best.mv).filter(|_| !stop.is_raised()).map(|mv| (mv, best.score))
    }
}

fn half_points(winner: Color) -> u8 {
    if winner == Color::White { 2 } else { 0 }
}

/// Adjudicates decided games.
#[derive(Default)]
struct Adjudicator {
    plies: usize,
    /// Plies in a row with White, or Black, far ahead.
    ahead: [usize; 2],
    level: usize,
}

impl Adjudicator {
    /// Adds the score of a ply, from White's point of view, and returns the result once decided.
    fn decides(&mut self, score: Score) -> Option<u8> {
        self.plies += 1;
        let cp = score.get();
        let count = |run: &mut usize, goes_on: bool| *run = if goes_on { *run + 1 } else { 0 };
        count(&mut self.ahead[0], cp >= WON.0);
        count(&mut self.ahead[1], cp <= -WON.0);
        count(&mut self.level, cp.abs() <= DRAWN.0);
        let level = self.level >= DRAWN.1 && self.plies >= DRAWN.2;
        match self.ahead {
            _ if score.is_mate() => Some(if cp > 0 { 2 } else { 0 }),
            [run, _] if run >= WON.1 => Some(2),
            [_, run] if run >= WON.1 => Some(0),
            _ if level || self.plies >= MAX_PLIES => Some(1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(seed: u64) -> Vec<Record> {
        let effort = NodeLimits { soft: 150, hard: 600 };
        let mut selfplay = SelfPlay::new(effort, seed).unwrap();
        let games = (0..).map(|_| selfplay.game(&StopFlag::default()));
        games.into_iter().find(|game| game.len() > 10).unwrap()
    }

    #[test]
    fn a_game_gives_quiet_positions_with_one_result() {
        let game = play(1);
        let mut results = Vec::new();
        for record in &game {
            let (position, label) = record.unpack().unwrap();
            assert!(!position.is_check() && !position.moves().is_empty());
            assert!(label.score.unsigned_abs() < 30_000, "a mate is no quiet position");
            results.push(label.result);
        }
        results.dedup();
        assert_eq!(results.len(), 1);
    }

    #[test]
    fn the_same_seed_plays_the_same_game_and_another_another() {
        assert_eq!(play(2), play(2));
        assert_ne!(play(2), play(3));
    }

    #[test]
    fn decided_games_are_decided() {
        let decide = |scores: &[i32]| {
            let mut adjudicator = Adjudicator::default();
            scores.iter().find_map(|&cp| adjudicator.decides(Score::cp(cp)))
        };
        assert_eq!(decide(&[1300; 5]), Some(2));
        assert_eq!(decide(&[-1300; 5]), Some(0));
        assert_eq!(decide(&[1300, 1300, 1300, 1300, 900, 1300]), None);
        assert_eq!(decide(&[0; 79]), None);
        assert_eq!(decide(&[0; 80]), Some(1));
        assert_eq!(decide(&[300; MAX_PLIES]), Some(1));
        assert_eq!(Adjudicator::default().decides(Score::mated_in(4)), Some(0));
    }

    #[test]
    fn stops_when_told() {
        let stop = StopFlag::default();
        stop.stop();
        let mut selfplay = SelfPlay::new(NodeLimits { soft: 100, hard: 400 }, 1).unwrap();
        assert!(selfplay.game(&stop).is_empty());
    }
}
