//! Strength for people: an Elo number, reached by few nodes and by moves that are misjudged now and then.
//!
//! The levels are the fixed points, with measured ratings: see docs/playing.md.
//!
//! Source: Stockfish's options `UCI_LimitStrength` and `UCI_Elo`.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use zeitnot_rules::Game;
use zeitnot_settings::{JsonSchema, schemars};

use crate::{
    decision::Best,
    limits::Limits,
    ratings::{RATINGS, Rating},
    thinker::{Progress, Report, Task, Thinker},
};

/// Strength as an Elo number, on the scale of CCRL's blitz list as Stockfish 16 was fitted to it. Numbers beyond the ratings
/// of the first and the last level are those levels.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "u16")]
#[schemars(extend("minimum" = Elo::MIN.0, "maximum" = Elo::MAX.0))]
pub struct Elo(u16);

impl Elo {
    /// As strong as the weakest level.
    pub const MIN: Elo = Elo(700);
    /// As strong as the strongest level, below full strength.
    pub const MAX: Elo = Elo(2900);

    /// The number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number that is no [`Elo`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("an Elo of {} to {} is possible", Elo::MIN, Elo::MAX)]
pub struct NoElo;

impl TryFrom<u16> for Elo {
    type Error = NoElo;

    fn try_from(elo: u16) -> Result<Elo, NoElo> {
        if (Elo::MIN.0..=Elo::MAX.0).contains(&elo) { Ok(Elo(elo)) } else { Err(NoElo) }
    }
}

/// Level for people and classes, from 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// Number of levels.
    pub const COUNT: u8 = LEVELS.len() as u8;

    /// All levels, the weakest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (1..=Level::COUNT).map(Level)
    }

    /// Returns the level of this number, if there is one.
    pub fn new(number: u8) -> Option<Level> {
        Level::all().find(|level| level.0 == number)
    }

    /// Returns the measured rating.
    pub(crate) fn rating(self) -> Rating {
        level_rating(usize::from(self.0) - 1)
    }

    /// Returns the strength that is exactly this level.
    pub fn elo(self) -> Elo {
        Elo(self.rating().elo.unsigned_abs())
    }
}

/// Definition of a level.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Definition {
    /// Nodes of each move, for each line.
    nodes: f64,
    /// Best moves among which it chooses.
    lines: f64,
    /// Centipawns by which a move is misjudged at worst.
    error: f64,
}

const fn level(nodes: f64, lines: f64, error: f64) -> Definition {
    Definition { nodes, lines, error }
}

/// From weak to strong; what lies between two of them is interpolated, nodes by their logarithm.
const LEVELS: [Definition; 8] = [
    level(60.0, 10.0, 5_000.0),
    level(60.0, 5.0, 3_000.0),
    level(125.0, 4.0, 800.0),
    level(425.0, 4.0, 285.0),
    level(625.0, 4.0, 200.0),
    level(1_500.0, 4.0, 140.0),
    level(8_000.0, 4.0, 75.0),
    level(400_000.0, 1.0, 0.0),
];

/// The rating of a level, counted from 0.
const fn level_rating(at: usize) -> Rating {
    RATINGS[RATINGS.len() - LEVELS.len() + at]
}

/// Limits of a strength.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handicap {
    nodes: u64,
    lines: NonZeroU16,
    error: i32,
}

impl From<Elo> for Handicap {
    fn from(Elo(elo): Elo) -> Handicap {
        let rating = |at: usize| f64::from(level_rating(at).elo);
        let upper =
            (1..LEVELS.len() - 1).find(|&at| rating(at) >= f64::from(elo)).unwrap_or(LEVELS.len() - 1);
        let (low, high) = (LEVELS[upper - 1], LEVELS[upper]);
        let share = (f64::from(elo) - rating(upper - 1)) / (rating(upper) - rating(upper - 1));
        let between = |low: f64, high: f64| low + (high - low) * share.clamp(0.0, 1.0);
        let lines = between(low.lines, high.lines).round();
        Handicap {
            nodes: (between(low.nodes.ln(), high.nodes.ln()).exp() * lines).round() as u64,
            lines: NonZeroU16::new(lines as u16).unwrap_or(NonZeroU16::MIN),
            error: between(low.error, high.error).round() as i32,
        }
    }
}

/// A thinker that plays at a strength: it searches little, and chooses among the best moves as if it could not tell
/// them apart.
pub(crate) struct Weakened<G: Game> {
    thinker: Box<dyn Thinker<G>>,
    handicap: Handicap,
    random: fastrand::Rng,
}

impl<G: Game> Weakened<G> {
    pub(crate) fn new(thinker: Box<dyn Thinker<G>>, elo: Elo) -> Self {
        Weakened { thinker, handicap: elo.into(), random: fastrand::Rng::new() }
    }

    /// Chooses among the lines, best first. What decides the game is misjudged only where the search does not see it.
    fn choose(&mut self, lines: &[Best]) -> Option<Best> {
        let best = lines.first().filter(|best| best.score.is_decisive());
        // Most moves are judged well, some badly.
        let error = (f64::from(self.handicap.error) * self.random.f64().powi(2)).round() as i32;
        let open = lines.iter().filter(|line| !line.score.is_decisive());
        best.or_else(|| open.max_by_key(|line| line.score.get() + self.random.i32(0..=error))).copied()
    }
}

impl<G: Game> Thinker<G> for Weakened<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        let nodes = self.handicap.nodes;
        let asked = task.limits.multipv.unwrap_or(NonZeroU16::MIN);
        let limits = Limits {
            nodes: Some(task.limits.nodes.map_or(nodes, |limit| limit.min(nodes))),
            // Helpers would change the strength.
            threads: Some(NonZeroUsize::MIN),
            multipv: Some(asked.max(self.handicap.lines)),
            ..task.limits.clone()
        };
        // Lines of the last iteration.
        let lines = Mutex::new(Vec::new());
        let watch = |progress: &Progress<G>| {
            if let Some(&mv) = progress.pv.first() {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if progress.multipv == 1 {
                    lines.clear();
                }
                let mv = task.game.now().pack(mv);
                lines.push(Best { mv, score: progress.score, depth: progress.depth });
            }
            // Only the lines that were asked for are reported.
            if progress.multipv > asked.get() { ControlFlow::Continue(()) } else { (task.watch)(progress) }
        };
        let report = self.thinker.think(&Task { limits: &limits, watch: &watch, ..*task });
        // Without errors, the search's own choice remains, perhaps from an iteration that it did not finish.
        if self.handicap.error > 0
            && let Some(chosen) = self.choose(&lines.into_inner().unwrap_or_else(PoisonError::into_inner))
        {
            task.best.publish(chosen);
        }
        report
    }

    fn new_game(&mut self) {
        self.thinker.new_game();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use zeitnot_rules::{GameHistory, Packed, chess::Chess};

    use super::*;
    use crate::{
        Config, EngineFactory, Score, StopFlag, random::RandomMover, think_now, thinker::think_watched,
    };

    fn elo(number: u16) -> Elo {
        Elo::try_from(number).unwrap()
    }

    fn player(number: u16) -> Box<dyn Thinker<Chess>> {
        let config = Config { hash_mib: NonZeroUsize::MIN, elo: Some(elo(number)), ..Config::default() };
        EngineFactory::new(&config).unwrap().thinker()
    }

    #[test]
    fn the_stronger_see_more_and_err_less() {
        let all: Vec<Handicap> = (Elo::MIN.0..=Elo::MAX.0).map(|number| elo(number).into()).collect();
        let each = |handicap: &Handicap| handicap.nodes / u64::from(handicap.lines.get());
        for pair in all.windows(2) {
            let [weak, strong] = [&pair[0], &pair[1]];
            assert!(each(weak) <= each(strong) + 1 && weak.error >= strong.error, "{pair:?}");
            assert!(weak.lines >= strong.lines, "{pair:?}");
        }
        for (level, Definition { nodes, lines, error }) in Level::all().zip(LEVELS) {
            let handicap = Handicap::from(level.elo());
            let found = (handicap.nodes as f64, f64::from(handicap.lines.get()), f64::from(handicap.error));
            assert_eq!(found, (nodes * lines, lines, error), "{level:?}");
        }
        // `elo` interpolates between two neighbouring ratings.
        assert!(Level::all().map(Level::elo).is_sorted_by(|weak, strong| weak < strong), "not in order");
        // `scripts/measure-ratings` sets the levels of an earlier version by `UCI_Elo`.
        assert!(Level::all().all(|level| (Elo::MIN..=Elo::MAX).contains(&level.elo())), "widen the range");
        assert_eq!((Level::new(0), Level::new(Level::COUNT + 1)), (None, None));
        assert_eq!(Elo::try_from(Elo::MIN.0 - 1), Err(NoElo));
        assert_eq!(Elo::try_from(Elo::MAX.0 + 1), Err(NoElo));
    }

    #[test]
    fn the_weak_vary_and_keep_to_their_nodes() {
        let game = GameHistory::new(Chess::start());
        let mut weak = player(Elo::MIN.0);
        let mut played = HashSet::new();
        for _ in 0..40 {
            let (best, report) = think_now(&mut *weak, &game, &Limits::default());
            assert!(game.now().unpack(best.mv).is_some());
            assert!(report.nodes <= Handicap::from(Elo::MIN).nodes, "{}", report.nodes);
            played.insert(best.mv);
        }
        assert!(played.len() > 2, "{played:?}");
        let (_, report) = think_now(&mut *weak, &game, &Limits { nodes: Some(1), ..Limits::default() });
        assert!(report.nodes <= 1);
    }

    fn line(number: u16, score: Score) -> Best {
        Best { mv: Packed(number), score, depth: 1 }
    }

    #[test]
    fn what_is_seen_to_decide_the_game_is_never_misjudged() {
        let mut weak = Weakened::<Chess>::new(Box::new(RandomMover), Elo::MIN);
        let (mate, mated) = (Score::mate_in(1), Score::mated_in(2));
        let open = [line(1, Score::cp(10)), line(2, Score::cp(0)), line(3, mated)];
        let mut chosen = HashSet::new();
        for _ in 0..200 {
            assert_eq!(weak.choose(&[line(1, mate), line(2, Score::cp(5000))]).unwrap().mv, Packed(1));
            assert_eq!(weak.choose(&[line(1, mated), line(2, Score::mated_in(0))]).unwrap().mv, Packed(1));
            chosen.insert(weak.choose(&open).unwrap().mv.0);
        }
        assert_eq!(chosen, HashSet::from([1, 2]));
        assert_eq!(weak.choose(&[]), None);
    }

    #[test]
    fn only_the_lines_that_were_asked_for_are_reported() {
        let game = GameHistory::new(Chess::start());
        let told = Mutex::new(HashSet::new());
        let watch = |progress: &Progress<Chess>| {
            told.lock().unwrap().insert(progress.multipv);
            ControlFlow::Continue(())
        };
        let limits = Limits { multipv: NonZeroU16::new(2), ..Limits::default() };
        think_watched(&mut *player(1600), &game, &limits, &StopFlag::default(), &watch);
        assert_eq!(told.into_inner().unwrap(), HashSet::from([1, 2]));
    }
}
