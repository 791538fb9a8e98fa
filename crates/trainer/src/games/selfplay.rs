//! Self-play games for training.

use std::{
    num::{NonZeroU64, NonZeroUsize},
    ops::ControlFlow,
    str::FromStr,
};

use zeitnot_engine::{
    Config, EngineFactory, Limits, OutOfMemory, Progress, Score, StopFlag, Thinker, net::EvalFile,
    think_watched,
};
use zeitnot_rules::{Color, Game, GameHistory, GameKind, GameResult, for_each_game};

use super::transcript::{PlayedPly, SelfPlayed, StoredGame, Transcript};

/// Plays games of one kind against itself.
pub trait SelfPlayer: Send {
    /// Plays the game of this number, which depends on nothing else but the player's settings and seed. `None` on a
    /// stop.
    fn stored_game(&mut self, number: u64, stop: &StopFlag) -> Option<StoredGame>;
}

macro_rules! self_player {
    ($($kind:ident => $start:expr),* $(,)?) => {
        /// Creates a player of a game. Players of the same limits, shard, seed and evaluation play the same games.
        ///
        /// # Errors
        /// [`OutOfMemory`] if its table does not fit.
        pub fn self_player(
            game: GameKind,
            effort: NodeLimits,
            shard: Shard,
            seed: u64,
            eval_file: &EvalFile,
        ) -> Result<Box<dyn SelfPlayer>, OutOfMemory> {
            Ok(match game { $(GameKind::$kind => Box::new(SelfPlay::new($start, effort, shard, seed, eval_file)?)),* })
        }
    };
}
for_each_game!(self_player);

/// Node limits of a move, independent of the machine's speed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// No iteration begins after this many.
    pub soft: u64,
    /// An iteration stops at this many.
    pub hard: u64,
}

/// Share of the openings: those whose key leaves `number - 1` when divided by `of`. Whatever the seeds, players of two
/// shards never begin a game with the same position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    number: u64,
    of: NonZeroU64,
}

/// Most shards: for one of them, as many openings are tried for a game.
const MAX_SHARDS: u64 = 10_000;

impl Shard {
    /// All openings.
    pub const WHOLE: Shard = Shard { number: 1, of: NonZeroU64::MIN };

    fn has<G: Game>(self, opening: &G) -> bool {
        opening.key().0 % self.of == self.number - 1
    }
}

/// The text is no share.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected I/N with I from 1 to N, and N at most {MAX_SHARDS}, as in 2/8")]
pub struct BadShard;

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Shard, BadShard> {
        let (number, of) = text.split_once('/').ok_or(BadShard)?;
        let (number, of) =
            (number.parse().map_err(|_| BadShard)?, of.parse::<NonZeroU64>().map_err(|_| BadShard)?);
        let is_one = (1..=of.get()).contains(&number) && of.get() <= MAX_SHARDS;
        if is_one { Ok(Shard { number, of }) } else { Err(BadShard) }
    }
}

/// Openings with a larger score are discarded, in centipawns.
const MAX_OPENING_SCORE: i32 = 350;
/// Adjudicated as won: centipawns, and plies in a row.
const WON: (i32, usize) = (1_200, 5);
/// Adjudicated as drawn: centipawns, plies in a row, and minimum plies of the game.
const DRAWN: (i32, usize, usize) = (8, 12, 80);
/// Searched plies of a game that is not over by then: a draw, unless the game says otherwise.
const MAX_PLIES: usize = 400;
/// Size of the transposition table in MiB: enough for small searches, and little enough for the processor's cache.
const TABLE_MIB: NonZeroUsize = NonZeroUsize::MIN;

/// Plays games against itself.
pub(crate) struct SelfPlay<G: SelfPlayed> {
    start: G,
    factory: EngineFactory,
    search: Box<dyn Thinker<G>>,
    effort: NodeLimits,
    shard: Shard,
    /// Seed of the first game; that of the next one is one more.
    first_seed: u64,
    random: fastrand::Rng,
}

/// A game after its random moves.
struct Opening<G: Game> {
    line: GameHistory<G>,
    plies: Vec<PlayedPly<G>>,
}

impl<G: SelfPlayed> SelfPlayer for SelfPlay<G> {
    fn stored_game(&mut self, number: u64, stop: &StopFlag) -> Option<StoredGame> {
        self.random.seed(self.first_seed.wrapping_add(number));
        while !stop.is_raised() {
            if let Some(game) = self.game(stop) {
                return Some(G::store(&game));
            }
        }
        None
    }
}

impl<G: SelfPlayed> SelfPlay<G> {
    /// Creates a player whose games begin with `start`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the table does not fit.
    pub(crate) fn new(
        start: G,
        effort: NodeLimits,
        shard: Shard,
        seed: u64,
        eval_file: &EvalFile,
    ) -> Result<Self, OutOfMemory> {
        let config = Config { hash_mib: TABLE_MIB, eval_file: eval_file.clone(), ..Config::default() };
        let factory = EngineFactory::new(&config)?;
        let search = factory.thinker();
        let mut random = fastrand::Rng::with_seed(seed);
        // Far from that of another seed, so that seeds 1 and 2 do not play each other's games.
        let first_seed = random.u64(..);
        Ok(SelfPlay { start, factory, search, effort, shard, first_seed, random })
    }

    /// Plays a game. `None` if the opening is discarded, or on a stop.
    pub(crate) fn game(&mut self, stop: &StopFlag) -> Option<Transcript<G>> {
        let Opening { mut line, plies: opening } = self.opening(stop)?;
        self.factory.table().clear();
        self.search.new_game();
        let start = line.now().clone();
        let (mut plies, mut adjudicator) = (Vec::new(), Adjudicator::default());
        let result = loop {
            if let Some((result, _)) = line.outcome().result() {
                break half_points(result);
            }
            let (mv, score) = self.think(&line, stop)?;
            let score = if line.now().side_to_move() == Color::White { score } else { -score };
            if plies.is_empty() && score.get().abs() > MAX_OPENING_SCORE {
                return None;
            }
            if let Some(result) = adjudicator.decides(score) {
                break result;
            }
            if plies.len() >= MAX_PLIES {
                break half_points(line.now().leader().map_or(GameResult::Draw, GameResult::Won));
            }
            let chance = self.play(&mut line, mv);
            plies.push(PlayedPly { mv, score: score.to_bits(), chance });
        };
        Some(Transcript { opening, start, plies, result }).filter(|game| !game.plies.is_empty())
    }

    /// A random opening of this shard; `None` when stopped.
    fn opening(&mut self, stop: &StopFlag) -> Option<Opening<G>> {
        while !stop.is_raised() {
            if let Some(opening) = self.random_opening()
                && self.shard.has(opening.line.now())
                && !opening.line.outcome().is_over()
            {
                return Some(opening);
            }
        }
        None
    }

    /// `None` if the game is over before its random plies.
    fn random_opening(&mut self) -> Option<Opening<G>> {
        let mut opening = Opening { line: GameHistory::new(self.start.clone()), plies: Vec::new() };
        for _ in 0..self.random.usize(G::RANDOM_PLIES) {
            let mv = self.random.choice(opening.line.now().moves())?;
            let chance = self.play(&mut opening.line, mv);
            opening.plies.push(PlayedPly::unscored(mv, chance));
        }
        Some(opening)
    }

    /// Plays a move, and returns what chance has added.
    fn play(&mut self, line: &mut GameHistory<G>, mv: G::Move) -> u16 {
        if !G::HAS_CHANCE {
            line.play(mv);
            return 0;
        }
        let mut now = line.now().clone();
        let chance = now.play_by_chance(mv, &mut self.random);
        // No game with chance has a rule of repetition.
        *line = GameHistory::new(now);
        chance
    }

    /// `None` when stopped.
    fn think(&mut self, line: &GameHistory<G>, stop: &StopFlag) -> Option<(G::Move, Score)> {
        let limits = Limits { nodes: Some(self.effort.hard), ..Limits::default() };
        let watch = |progress: &Progress<G>| match progress.nodes < self.effort.soft {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let (best, _) = think_watched(&mut *self.search, line, &limits, stop, &watch);
        line.now().unpack(best.mv).filter(|_| !stop.is_raised()).map(|mv| (mv, best.score))
    }
}

/// Half points of White.
fn half_points(result: GameResult) -> u8 {
    match result {
        GameResult::Won(Color::White) => 2,
        GameResult::Draw => 1,
        GameResult::Won(Color::Black) => 0,
    }
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
            _ if level => Some(1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{PlayedGame, games};
    use zeitnot_rules::chess::Chess;

    fn player(soft: u64, shard: Shard, seed: u64) -> SelfPlay<Chess> {
        let effort = NodeLimits { soft, hard: 4 * soft };
        SelfPlay::new(Chess::start(), effort, shard, seed, &EvalFile::HandMade).unwrap()
    }

    fn play(seed: u64) -> PlayedGame {
        let mut selfplay = player(150, Shard::WHOLE, seed);
        let games = (0..).map(|_| selfplay.game(&StopFlag::default()));
        let game = games.into_iter().flatten().find(|game| game.plies.len() > 10).unwrap();
        PlayedGame::from(&game)
    }

    #[test]
    fn a_game_is_kept_with_all_its_moves() {
        let game = play(1);
        let bytes = game.to_bytes();
        let record = games(&bytes).next().unwrap().unwrap();
        let plies: Vec<_> = record.plies().map(Result::unwrap).collect();
        assert_eq!(plies.len(), game.plies.len());
        assert!(plies.iter().all(|ply| !Score::from_bits(ply.score).is_mate()), "a mate score ends the game");
        let quiet = plies.iter().filter(|ply| ply.is_quiet()).count();
        assert!(quiet > plies.len() / 3 && quiet < plies.len(), "{quiet} of {}", plies.len());
    }

    #[test]
    fn the_same_seed_plays_the_same_game_and_another_another() {
        assert_eq!(play(2), play(2));
        assert_ne!(play(2), play(3));
    }

    #[test]
    fn a_game_depends_on_its_number_alone() {
        let stop = StopFlag::default();
        let numbered = |seed, numbers: &[u64]| {
            let mut selfplay = player(100, Shard::WHOLE, seed);
            numbers.iter().map(|&number| selfplay.stored_game(number, &stop).unwrap()).collect::<Vec<_>>()
        };
        let [first, second, third] = &numbered(1, &[0, 1, 2])[..] else { panic!() };
        assert_eq!(numbered(1, &[2, 0]), [third.clone(), first.clone()]);
        assert!(first != second && !numbered(2, &[0, 1]).contains(second));
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
        assert_eq!(Adjudicator::default().decides(Score::mated_in(4)), Some(0));
    }

    #[test]
    fn each_opening_belongs_to_one_shard() {
        let shards = ["1/3", "2/3", "3/3"].map(|text| text.parse::<Shard>().unwrap());
        for (at, &shard) in shards.iter().enumerate() {
            let mut selfplay = player(1, shard, 5);
            for _ in 0..20 {
                let line = selfplay.opening(&StopFlag::default()).unwrap().line;
                let owners: Vec<_> = (0..3).filter(|&at| shards[at].has(line.now())).collect();
                assert_eq!(owners, [at]);
                assert!(Shard::WHOLE.has(line.now()));
            }
        }
        for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/10001", "1/2/3"] {
            assert_eq!(text.parse::<Shard>(), Err(BadShard), "{text}");
        }
    }

    #[test]
    fn stops_when_told() {
        let stop = StopFlag::default();
        stop.stop();
        assert!(player(100, Shard::WHOLE, 1).game(&stop).is_none());
    }
}
