//! One of the two engines of a match.

use std::{
    ops::ControlFlow,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc,
    task::{JoinError, spawn_blocking},
};
use zeitnot_engine::{
    Best, Clocks, Decision, EngineFactory, Limits, Playable, Progress, StopFlag, Task,
    driver::{SearchEnd, SearchEvent, SearchRequest, SearchThread},
    external::{Fault, MatchEngine, Reply},
    syzygy::Tablebases,
    time::{Budget, Clock, Reserve},
};
use zeitnot_rules::{ByColor, Game, GameHistory, Packed};

use super::entry::{Effort, Entry, EntryEngine, MatchError};
use crate::referee::Opinion;

/// Of a fixed time per move, at most one part in this many is kept as a margin.
const OVERHEAD_DIVISOR: u32 = 8;

/// An engine, and the limits of its moves.
pub(super) struct Player<G: Playable> {
    engine: Engine<G>,
    effort: Effort,
}

enum Engine<G: Playable> {
    Own { thread: SearchThread<G>, factory: EngineFactory, overhead: Duration },
    External(MatchEngine),
}

/// A request for a move.
pub(super) struct Request<G: Game> {
    pub line: GameHistory<G>,
    /// The clocks …
    pub left: ByColor<Duration>,
    /// … at this instant.
    pub asked_at: Instant,
}

/// Result of a request.
pub(super) struct Thought {
    pub reply: Reply,
    /// The move; meaningless where there is none.
    pub text: String,
    pub opinion: Option<Opinion>,
    /// When it was read.
    pub read_at: Instant,
}

/// The player with its result; after a panic there is neither.
pub(super) type Returned<G> = Result<(Player<G>, Result<Thought, Fault>), Crashed>;

/// A request under way.
type Thinking<G> = Pin<Box<dyn Future<Output = Returned<G>> + Send>>;

/// A player panicked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Crashed {
    #[error("has crashed")]
    Search,
    #[error("has crashed: {0}")]
    Task(#[from] JoinError),
}

impl<G: Playable> Player<G> {
    /// Each of our own engines has a table of its own.
    pub async fn new(entry: &Entry) -> Result<Player<G>, MatchError> {
        let Entry { engine, effort, .. } = entry.clone();
        spawn_blocking(move || {
            let engine = match engine {
                EntryEngine::Own { config, overhead } => {
                    let endgames = Tablebases::open(&config.syzygy)?;
                    let factory = EngineFactory::new(&config)?.with_endgames(endgames, &config.syzygy);
                    Engine::Own { thread: SearchThread::new(factory.clone()), factory, overhead }
                }
                EntryEngine::External(program) => Engine::External(MatchEngine::new(program)),
            };
            Ok(Player { engine, effort })
        })
        .await?
    }

    /// Prepares for a new game, in a new process if `restart` is set.
    pub async fn prepare(mut self, restart: bool) -> Result<Result<Self, Fault>, JoinError> {
        spawn_blocking(move || {
            match &mut self.engine {
                Engine::Own { thread, factory, .. } => *thread = SearchThread::new(factory.clone()),
                Engine::External(engine) => {
                    if restart {
                        engine.leave();
                    }
                    engine.prepare()?;
                }
            }
            Ok(self)
        })
        .await
    }

    /// Starts to think; returns what stops it, and its result.
    pub fn think(self, request: Request<G>) -> (Arc<StopFlag>, Thinking<G>) {
        let Player { engine, effort } = self;
        match engine {
            Engine::Own { mut thread, factory, overhead } => {
                let (to_player, mut ended) = mpsc::channel(1);
                let search_request = own_request(effort, overhead, &factory, &request);
                let handle = thread.search(search_request, move |event| {
                    if let SearchEvent::Ended(end) = event {
                        let _ = to_player.try_send((end, Instant::now()));
                    }
                });
                let stop = handle.stop_flag();
                let player = Player { engine: Engine::Own { thread, factory, overhead }, effort };
                let thinking = async move {
                    match ended.recv().await {
                        Some((SearchEnd::Panicked, _)) | None => Err(Crashed::Search),
                        Some((_, read_at)) => {
                            Ok((player, Ok(thought(&request.line, handle.best(), Reply::Move, read_at))))
                        }
                    }
                };
                (stop, Box::pin(thinking))
            }
            Engine::External(mut engine) => {
                let stop = Arc::new(StopFlag::default());
                let flag = stop.clone();
                let thinking = async move {
                    let thinking = spawn_blocking(move || {
                        let thought = ask(&mut engine, effort, &request, &flag);
                        (Player { engine: Engine::External(engine), effort }, thought)
                    });
                    Ok(thinking.await?)
                };
                (stop, Box::pin(thinking))
            }
        }
    }
}

/// Our own engine follows a budget.
fn own_request<G: Playable>(
    effort: Effort,
    overhead: Duration,
    factory: &EngineFactory,
    request: &Request<G>,
) -> SearchRequest<G> {
    let Request { line, left, asked_at } = request;
    let budget = match effort {
        Effort::Clock(time_control) => {
            let left = left[line.now().side_to_move()];
            let clock = Clock { left, increment: time_control.increment, moves_to_go: None };
            Some(clock.budget(Reserve { lag: overhead, measured: true }))
        }
        Effort::Time(time) => Some(Budget::exactly(time - overhead.min(time / OVERHEAD_DIVISOR))),
        Effort::Nodes(_) | Effort::Depth(_) => None,
    };
    let hard = budget.map(|budget| *asked_at + budget.hard);
    SearchRequest {
        game: line.clone(),
        limits: Limits { hard, clocks: None, move_time: None, ..limits(effort, request) },
        fallback: factory.fallback_move(line.now()),
        started_at: *asked_at,
        budget,
    }
}

fn ask<G: Playable>(
    engine: &mut MatchEngine,
    effort: Effort,
    request: &Request<G>,
    stop: &StopFlag,
) -> Result<Thought, Fault> {
    let (best, limits) = (Decision::new(Packed::NONE), limits(effort, request));
    let watch = |_: &Progress<G>| ControlFlow::Continue(());
    let task = Task { game: &request.line, limits: &limits, best: &best, stop, watch: &watch };
    let answer = engine.think(&task)?;
    Ok(thought(&request.line, best.read(), answer.reply, answer.read_at))
}

/// External engines manage their time. They are stopped only by the end of the game.
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

fn thought<G: Game>(line: &GameHistory<G>, best: Best, reply: Reply, read_at: Instant) -> Thought {
    let now = line.now();
    let text = now.unpack(best.mv).map_or_else(|| "(none)".to_owned(), |mv| now.write(mv).to_string());
    let opinion = (best.depth > 0).then_some(Opinion { score: best.score.into(), depth: best.depth });
    Thought { reply, text, opinion, read_at }
}
