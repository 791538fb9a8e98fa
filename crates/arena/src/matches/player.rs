//! One of the two engines at its work: whatever waits here waits on a thread for that.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::{JoinError, spawn_blocking};

use zeitnot_engine::{
    Best, Clocks, Decision, Limits, Playable, Progress, StopFlag, Task, Thinker, Workshop,
    external::{Contestant, Fault, Reply},
    syzygy::Tablebases,
    time::{Budget, Clock, Pacer, Reserve},
};
use zeitnot_rules::{ByColor, Game, GameHistory, Packed};

use super::{Effort, Entry, MatchError, Who};
use crate::Opinion;

/// Of a move with its own time, no more than this part is kept in hand.
const OVERHEAD_PART: u32 = 8;

/// An engine, and what its moves may cost.
pub(super) struct Player<G: Playable> {
    hands: Hands<G>,
    effort: Effort,
}

enum Hands<G: Playable> {
    Ours { thinker: Box<dyn Thinker<G>>, workshop: Workshop, overhead: Duration },
    Theirs(Contestant),
}

/// A move, please.
pub(super) struct Request<G: Game> {
    pub line: GameHistory<G>,
    /// What the clocks show …
    pub left: ByColor<Duration>,
    /// … at this moment.
    pub asked_at: Instant,
    pub stop: Arc<StopFlag>,
}

/// What came of it.
pub(super) struct Thought {
    pub reply: Reply,
    /// The move; of no meaning where there is none.
    pub text: String,
    pub opinion: Option<Opinion>,
    /// When it was known.
    pub read_at: Instant,
}

/// Who comes back from thinking, and with what; nobody, after a panic.
pub(super) type Returned<G> = Result<(Player<G>, Result<Thought, Fault>), JoinError>;

impl<G: Playable> Player<G> {
    /// Of our engines, each has a table of its own.
    pub async fn new(entry: &Entry) -> Result<Player<G>, MatchError> {
        let Entry { who, effort, .. } = entry.clone();
        spawn_blocking(move || {
            let hands = match who {
                Who::Ours { config, overhead } => {
                    let endgames = Tablebases::open(&config.syzygy)?;
                    let workshop = Workshop::new(&config)?.asking(endgames, &config.syzygy);
                    Hands::Ours { thinker: workshop.thinker(), workshop, overhead }
                }
                Who::Theirs(program) => Hands::Theirs(Contestant::new(program)),
            };
            Ok(Player { hands, effort })
        })
        .await?
    }

    /// Is ready for a new game afterwards, in a new process if it is to have one.
    pub async fn prepare(mut self, restart: bool) -> Result<Result<Self, Fault>, JoinError> {
        spawn_blocking(move || {
            match &mut self.hands {
                Hands::Ours { thinker, .. } => thinker.new_game(),
                Hands::Theirs(contestant) => {
                    if restart {
                        contestant.leave();
                    }
                    contestant.prepare()?;
                }
            }
            Ok(self)
        })
        .await
    }

    /// Thinks on a thread of its own. At a panic the player is gone with it.
    pub async fn think(mut self, request: Request<G>) -> Returned<G> {
        spawn_blocking(move || {
            let thought = self.thought(&request);
            (self, thought)
        })
        .await
    }

    fn thought(&mut self, request: &Request<G>) -> Result<Thought, Fault> {
        let Request { line, stop, .. } = request;
        let now = line.now();
        let (best, reply, read_at) = match &mut self.hands {
            Hands::Ours { thinker, workshop, overhead } => {
                let best = Decision::new(workshop.glance(now));
                let (limits, pacer) = paced(self.effort, *overhead, request);
                let watch = |progress: &Progress<G>| pacer.hear(progress);
                thinker.think(&Task { line, limits: &limits, best: &best, stop, watch: &watch });
                (best.read(), Reply::Move, Instant::now())
            }
            Hands::Theirs(contestant) => {
                let (best, limits) = (Decision::new(Packed::NONE), limits(self.effort, request));
                let watch = |_: &Progress<G>| ControlFlow::Continue(());
                let task = Task { line, limits: &limits, best: &best, stop, watch: &watch };
                let answer = contestant.think(&task)?;
                (best.read(), answer.reply, answer.read_at)
            }
        };
        let text = now.unpack(best.mv).map_or_else(|| "(none)".to_owned(), |mv| now.write(mv).to_string());
        Ok(Thought { reply, text, opinion: opinion(best), read_at })
    }
}

/// For those who share out their time by themselves. They are never stopped but by the end of the game.
fn limits<G: Game>(effort: Effort, request: &Request<G>) -> Limits {
    let &Request { left, asked_at: read_at, .. } = request;
    match effort {
        Effort::Clock(time_control) => {
            let clocks = Clocks { left, increment: time_control.increment, moves_to_go: None, read_at };
            Limits { clocks: Some(clocks), ..Limits::default() }
        }
        Effort::Time(time) => Limits { move_time: Some(time), ..Limits::default() },
        Effort::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
        Effort::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
    }
}

/// For ours, which go by a budget.
fn paced<G: Playable>(effort: Effort, overhead: Duration, request: &Request<G>) -> (Limits, Pacer<G>) {
    let Request { line, left, asked_at, .. } = request;
    let budget = match effort {
        Effort::Clock(time_control) => {
            let left = left[line.now().side()];
            let clock = Clock { left, increment: time_control.increment, moves_to_go: None };
            Some(clock.budget(Reserve { lag: overhead, measured: true }))
        }
        Effort::Time(time) => Some(Budget::exactly(time - overhead.min(time / OVERHEAD_PART))),
        Effort::Nodes(_) | Effort::Depth(_) => None,
    };
    let hard = budget.map(|budget| *asked_at + budget.hard);
    let limits = Limits { hard, clocks: None, move_time: None, ..limits(effort, request) };
    (limits, Pacer::new(line, *asked_at, budget))
}

fn opinion(best: Best) -> Option<Opinion> {
    (best.depth > 0).then_some(Opinion { score: best.score.into(), depth: best.depth })
}
