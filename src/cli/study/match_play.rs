//! Matches within this process, with a fixed time or depth for each move.

use std::{
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use zeitnot_engine::{
    Config, EngineFactory, Kind, Limits, OutOfMemory, Playable, Report, Thinker, textbook::Evaluation,
    think_now,
};
use zeitnot_matches::tally::Tally;
use zeitnot_rules::{Color, GameHistory, Outcome};

use crate::cli::progress::Work;

const CONCURRENCY: usize = 2;
/// Size of each player's transposition table or tree.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(64).unwrap();

#[derive(Copy, Clone, Debug)]
pub(super) struct Player {
    pub kind: Kind,
    /// That of a textbook algorithm.
    pub evaluation: Evaluation,
    pub effort: Effort,
}

/// Limit of each move.
#[derive(Copy, Clone, Debug)]
pub(super) enum Effort {
    /// None: for random moves.
    None,
    Depth(NonZeroU16),
    Time(Duration),
}

impl Player {
    /// A factory that makes such players, one thread each.
    pub(super) fn factory(&self) -> Result<EngineFactory, OutOfMemory> {
        EngineFactory::new(&Config {
            kind: self.kind,
            evaluation: self.evaluation,
            hash_mib: HASH_MIB,
            threads: NonZeroUsize::MIN,
            ..Config::default()
        })
    }

    fn limits(&self) -> Limits {
        match self.effort {
            Effort::None => Limits::default(),
            Effort::Depth(depth) => Limits { depth: Some(depth.get()), ..Limits::default() },
            Effort::Time(time) => Limits { hard: Some(Instant::now() + time), ..Limits::default() },
        }
    }

    /// Chooses a move; `None` if there is none.
    pub(super) fn choose<G: Playable>(
        &self,
        thinker: &mut dyn Thinker<G>,
        line: &GameHistory<G>,
    ) -> Option<(G::Move, Report)> {
        let position = line.now();
        let (best, report) = think_now(thinker, line, &self.limits());
        Some((position.unpack(best.mv)?, report))
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.effort {
            Effort::None => write!(f, "{}", self.kind),
            Effort::Depth(depth) => write!(f, "{} at depth {depth}", self.kind),
            Effort::Time(time) => write!(f, "{} with {}", self.kind, humantime::format_duration(time)),
        }
    }
}

pub(super) struct Match<'d, G: Playable> {
    pub players: [Player; 2],
    /// Openings, each played twice with colours reversed.
    pub openings: &'d [GameHistory<G>],
    pub games: usize,
    pub max_plies: usize,
    /// Decides games that reach it.
    pub leader: fn(&G) -> Option<Color>,
}

impl<G: Playable> Match<'_, G> {
    pub(super) fn play(&self, work: &Work) -> Result<Tally, OutOfMemory> {
        let [first, second] = &self.players;
        let factories = [first.factory()?, second.factory()?];
        let next = AtomicUsize::new(0);
        let tally = Mutex::new(Tally::default());
        let show = |tally: &Tally| work.bar.set_message(format!("{first} – {second}: {tally}"));
        show(&Tally::default());
        thread::scope(|scope| {
            for _ in 0..CONCURRENCY {
                let mut thinkers = factories.each_ref().map(|factory| factory.thinker::<G>());
                let next = &next;
                let tally = &tally;
                scope.spawn(move || {
                    loop {
                        let game = next.fetch_add(1, Ordering::Relaxed);
                        if game >= self.games {
                            break;
                        }
                        let Some(halves) = self.play_game(game, &mut thinkers, work) else { break };
                        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                        tally.record(game, halves);
                        show(&tally);
                        work.bar.inc(1);
                    }
                });
            }
        });
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Plays a game and returns the half points of the first player, who has White in every other game; `None` if it is
    /// stopped.
    fn play_game(&self, game: usize, thinkers: &mut [Box<dyn Thinker<G>>; 2], work: &Work) -> Option<u8> {
        let mut line = self.openings[game / 2 % self.openings.len()].clone();
        let ours = Color::BOTH[game % 2];
        thinkers.iter_mut().for_each(|thinker| thinker.new_game());
        while line.outcome() == Outcome::Ongoing && line.moves().len() < self.max_plies {
            if work.is_stopped() {
                return None;
            }
            let at = usize::from(line.now().side_to_move() != ours);
            let Some((mv, _)) = self.players[at].choose(&mut *thinkers[at], &line) else { break };
            line.play(mv);
        }
        let winner = match line.outcome() {
            Outcome::Win(side, _) => Some(side),
            Outcome::Draw(_) => None,
            Outcome::Ongoing => (self.leader)(line.now()),
        };
        Some(match winner {
            Some(side) if side == ours => 2,
            Some(_) => 0,
            None => 1,
        })
    }
}
