//! One of the two engines of a match.

use std::{
    marker::PhantomData,
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
    Best, Clocks, Decision, EngineFactory, Limits, PlayVisitor, Playable, Progress, StopFlag, Task,
    driver::{SearchEnd, SearchEvent, SearchRequest, SearchThread},
    syzygy::Tablebases,
    time::{Budget, Clock, Reserve},
    with_game,
};
use zeitnot_external::{Fault, MatchEngine, Reply};
use zeitnot_rules::{ByColor, DynGame, GameHistory, GameKind, Packed};

use crate::entry::{Effort, Entry, EntryEngine, MatchError};
use zeitnot_referee::Opinion;

/// Of a fixed time per move, at most one part in this many is kept as a margin.
const OVERHEAD_DIVISOR: u32 = 8;

/// Engine that plays game after game. Its methods may block for as long as its process does.
pub(crate) trait Player: Send {
    /// Prepares for a new game, in a new process if `restart` is set.
    fn prepare(&mut self, restart: bool) -> Result<(), Fault>;

    /// Starts to think; returns what stops it, and its result.
    fn think(self: Box<Self>, request: &Request<'_>) -> (Arc<StopFlag>, Thinking);
}

pub(crate) struct Request<'g> {
    pub(crate) game: &'g DynGame,
    /// The clocks …
    pub(crate) left: ByColor<Duration>,
    /// … at this instant.
    pub(crate) asked_at: Instant,
}

pub(crate) struct Thought {
    pub(crate) reply: Reply,
    /// The move; meaningless where there is none.
    pub(crate) text: String,
    pub(crate) opinion: Option<Opinion>,
    /// When it was read.
    pub(crate) read_at: Instant,
}

/// The player with its result; after a panic there is neither.
pub(crate) type Returned = Result<(Box<dyn Player>, Result<Thought, Fault>), Crashed>;

type Thinking = Pin<Box<dyn Future<Output = Returned> + Send>>;

/// A player panicked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Crashed {
    #[error("has crashed")]
    Search,
    #[error("has crashed: {0}")]
    Task(#[from] JoinError),
}

/// Creates the player of an entry. Each of our own engines has a table of its own.
pub(crate) fn open(entry: &Entry, variant: GameKind) -> Result<Box<dyn Player>, MatchError> {
    with_game(variant, Open(entry))
}

struct Open<'e>(&'e Entry);

impl PlayVisitor for Open<'_> {
    type Out = Result<Box<dyn Player>, MatchError>;

    fn visit<G: Playable>(self, _start: G) -> Self::Out {
        let effort = self.0.effort;
        Ok(match &self.0.engine {
            EntryEngine::Own { config, overhead } => {
                let endgames = Tablebases::open(&config.syzygy)?;
                let factory = EngineFactory::new(config)?.with_endgames(endgames, &config.syzygy);
                let thread = SearchThread::<G>::new(factory.clone());
                Box::new(Own { thread, factory, overhead: *overhead, effort })
            }
            EntryEngine::External(program) => {
                let engine = MatchEngine::new(program.clone());
                Box::new(External::<G> { engine, effort, game: PhantomData })
            }
        })
    }
}

struct Own<G: Playable> {
    thread: SearchThread<G>,
    factory: EngineFactory,
    overhead: Duration,
    effort: Effort,
}

impl<G: Playable> Player for Own<G> {
    fn prepare(&mut self, _restart: bool) -> Result<(), Fault> {
        self.thread = SearchThread::new(self.factory.clone());
        Ok(())
    }

    fn think(mut self: Box<Self>, request: &Request<'_>) -> (Arc<StopFlag>, Thinking) {
        let Some(game) = request.game.history::<G>() else { return other_game() };
        let (to_player, mut ended) = mpsc::channel(1);
        let (position, request) = (game.now().clone(), self.request(game, request));
        let handle = self.thread.search(request, move |event| {
            if let SearchEvent::Ended(end) = event {
                let _ = to_player.try_send((end, Instant::now()));
            }
        });
        let stop = handle.stop_flag();
        let thinking = async move {
            match ended.recv().await {
                Some((SearchEnd::Panicked, _)) | None => Err(Crashed::Search),
                Some((_, read_at)) => {
                    let thought = thought(&position, handle.best(), Reply::Move, read_at);
                    Ok((self as Box<dyn Player>, Ok(thought)))
                }
            }
        };
        (stop, Box::pin(thinking))
    }
}

impl<G: Playable> Own<G> {
    /// Our own engine follows a budget.
    fn request(&self, game: &GameHistory<G>, request: &Request<'_>) -> SearchRequest<G> {
        let &Request { left, asked_at, .. } = request;
        let budget = match self.effort {
            Effort::Clock(time_control) => {
                let left = left[game.now().side_to_move()];
                let clock = Clock { left, increment: time_control.increment, moves_to_go: None };
                Some(clock.budget(Reserve { lag: self.overhead, measured: true }))
            }
            Effort::Time(time) => Some(Budget::exactly(time - self.overhead.min(time / OVERHEAD_DIVISOR))),
            Effort::Nodes(_) | Effort::Depth(_) => None,
        };
        let hard = budget.map(|budget| asked_at + budget.hard);
        SearchRequest {
            game: game.clone(),
            limits: Limits { hard, clocks: None, move_time: None, ..limits(self.effort, request) },
            fallback: self.factory.fallback_move(game.now()),
            started_at: asked_at,
            budget,
        }
    }
}

struct External<G> {
    engine: MatchEngine,
    effort: Effort,
    game: PhantomData<G>,
}

impl<G: Playable> Player for External<G> {
    fn prepare(&mut self, restart: bool) -> Result<(), Fault> {
        if restart {
            self.engine.leave();
        }
        self.engine.prepare()
    }

    fn think(mut self: Box<Self>, request: &Request<'_>) -> (Arc<StopFlag>, Thinking) {
        let Some(game) = request.game.history::<G>().cloned() else { return other_game() };
        let (stop, limits) = (Arc::new(StopFlag::default()), limits(self.effort, request));
        let flag = stop.clone();
        let thinking = spawn_blocking(move || {
            let (best, watch) = (Decision::new(Packed::NONE), |_: &Progress<G>| ControlFlow::Continue(()));
            let task = Task { game: &game, limits: &limits, best: &best, stop: &flag, watch: &watch };
            let answer = self.engine.think(&task);
            let thought = answer.map(|answer| thought(game.now(), best.read(), answer.reply, answer.read_at));
            (self as Box<dyn Player>, thought)
        });
        (stop, Box::pin(async { Ok(thinking.await?) }))
    }
}

/// The openings of a match are all of its variant.
fn other_game() -> (Arc<StopFlag>, Thinking) {
    (Arc::default(), Box::pin(async { Err(Crashed::Search) }))
}

/// External engines manage their time. They are stopped only by the end of the game.
fn limits(effort: Effort, request: &Request<'_>) -> Limits {
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

fn thought<G: Playable>(now: &G, best: Best, reply: Reply, read_at: Instant) -> Thought {
    let text = now.unpack(best.mv).map_or_else(|| "(none)".to_owned(), |mv| now.write(mv).to_string());
    let opinion = (best.depth > 0).then_some(Opinion { score: best.score.into(), depth: best.depth });
    Thought { reply, text, opinion, read_at }
}
