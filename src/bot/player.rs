//! One game: from events to actions, always before the deadline.
//!
//! The player owns the line and the clocks of its game. It never waits for the search: while one runs
//! it goes on hearing events, and at the hard limit it sends what stands in the [`Decision`] slot.

use std::{future::pending, sync::Arc, time::Instant};

use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    time::sleep_until,
};

use super::{Config, News, clock::Clock};
use crate::{
    engine::{
        Decision, Judged, Limits, Report, Score, StopFlag, Workshop,
        mind::{Mind, Order, Panicked},
    },
    game::Line,
    seat::{Action, Clocks, Event, GameInfo, Turn},
};

/// What every player of a bot is given.
#[derive(Clone)]
pub(super) struct Equipment {
    pub config: Config,
    pub workshop: Workshop,
    pub news: mpsc::Sender<News>,
}

/// See the module's comment.
pub(super) struct Player<G: Judged> {
    info: GameInfo,
    line: Line<G>,
    equipment: Equipment,
    mind: Mind<G>,
    thinking: Option<Thinking>,
    clocks: Option<Clocks>,
    /// As game records write it.
    last_move: Option<String>,
    /// Our last opinion, for those who watch.
    eval: Option<(Score, u16)>,
    /// Our answer in this position, until the server says that it was played.
    answered: Option<G::Move>,
    /// Answers in this position that the server would not have.
    refused: Vec<G::Move>,
    actions: mpsc::Sender<Action>,
}

/// A request for a move that is not answered yet.
struct Thinking {
    turn: Turn,
    hard: Instant,
    best: Arc<Decision>,
    stop: Arc<StopFlag>,
    done: oneshot::Receiver<Result<Report, Panicked>>,
    opinions: watch::Receiver<Option<(Score, u16)>>,
}

impl Drop for Thinking {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// What wakes a thinking player.
enum Wake {
    /// The search is over, by itself or by a panic; `None`: it could not even begin.
    Done(Option<Result<Report, Panicked>>),
    /// It is time to answer, search or no search.
    HardLimit,
    /// The search has a new opinion.
    Opinion,
}

/// Waits for the search or its deadline; for ever if nothing was asked. Cancel safe.
async fn wake(thinking: &mut Option<Thinking>) -> Wake {
    let Some(thinking) = thinking else { return pending().await };
    select! {
        biased;
        () = sleep_until(thinking.hard.into()) => Wake::HardLimit,
        report = &mut thinking.done => Wake::Done(report.ok()),
        Ok(()) = thinking.opinions.changed() => Wake::Opinion,
    }
}

impl<G: Judged> Player<G> {
    pub fn new(info: GameInfo, root: G, equipment: Equipment, actions: mpsc::Sender<Action>) -> Self {
        Player {
            info,
            line: Line::new(root),
            mind: Mind::new(equipment.workshop.clone()),
            equipment,
            thinking: None,
            clocks: None,
            last_move: None,
            eval: None,
            answered: None,
            refused: Vec::new(),
            actions,
        }
    }

    /// Plays until the game is over, or the protocol leaves its seat.
    pub async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        loop {
            select! {
                // The deadline goes before everything, also before a server that talks without end.
                biased;
                wake = wake(&mut self.thinking) => self.woken(wake),
                event = events.recv() => match event {
                    Some(Event::Ended { result }) => return self.end(result),
                    Some(event) => self.hear(event),
                    None => return,
                },
            }
        }
    }

    fn end(&self, result: String) {
        let [white, black] = &self.info.names.0;
        let plies = self.line.moves().len();
        tracing::info!(game = %self.info.id, "{white:?} – {black:?}: {result:?} ({plies} plies)");
        self.tell(Some(result));
    }

    fn hear(&mut self, event: Event) {
        let game = self.info.id.as_str();
        match event {
            Event::Moved(text) => {
                self.thinking = None;
                match self.line.now().read(text.as_str()) {
                    Ok(mv) => {
                        self.last_move = Some(self.line.now().record(mv));
                        self.line.play(mv);
                    }
                    Err(error) => {
                        tracing::warn!(game, %error, "the server told a move that does not fit our board")
                    }
                }
                self.answered = None;
                self.refused.clear();
            }
            Event::Board(text) => self.compare(&text),
            Event::YourTurn { turn, clocks } => {
                self.clocks = clocks.or(self.clocks);
                self.think(turn, clocks);
            }
            Event::ClocksRead(clocks) => self.clocks = Some(clocks),
            Event::Refused { why, .. } => {
                tracing::error!(game, server = %why, position = %self.line.now().print(), "our move was refused; choosing another");
                self.refused.extend(self.answered.take());
            }
            Event::Sent { turn, at } => tracing::trace!(game, ?turn, ?at, "answer sent"),
            Event::Ended { .. } => return,
        }
        self.tell(None);
    }

    /// The server's board against ours. Where they differ the server is right, and history begins anew.
    fn compare(&mut self, text: &str) {
        match G::parse(text) {
            Ok(board) if board.key() == self.line.now().key() => {}
            Ok(board) => {
                tracing::warn!(game = %self.info.id, ours = %self.line.now().print(), server = text, "taking over the server's board");
                self.line = Line::new(board);
                self.refused.clear();
            }
            Err(error) => tracing::warn!(game = %self.info.id, %error, "the server told an unreadable board"),
        }
    }

    /// Begins to think about an answer.
    fn think(&mut self, turn: Turn, clocks: Option<Clocks>) {
        self.thinking = None;
        let mut moves = self.line.now().moves();
        let all = moves.len();
        moves.retain(|mv| !self.refused.contains(mv));
        let Some(&first) = moves.first() else {
            return tracing::error!(game = %self.info.id, "asked for a move where we know none");
        };
        let now = self.line.now();
        let root_moves =
            if moves.len() < all { moves.iter().map(|&mv| now.pack(mv)).collect() } else { Vec::new() };

        let config = &self.equipment.config;
        let clock =
            clocks.map(|c| Clock { left: c.left[self.info.side], increment: c.increment, moves_to_go: None });
        let asked_at = clocks.map_or_else(Instant::now, |c| c.read_at);
        let budget = clock.map_or(config.untimed(), |c| config.time_share.of(c).budget(config.move_overhead));
        let (soft, hard) = (asked_at + budget.soft, asked_at + budget.hard);

        let (best, stop) = (Arc::new(Decision::new(now.pack(first))), Arc::new(StopFlag::default()));
        let (report, done) = oneshot::channel();
        let (opinion, opinions) = watch::channel(None);
        self.thinking = Some(Thinking { turn, hard, best: best.clone(), stop: stop.clone(), done, opinions });
        self.mind.order(Order {
            line: self.line.clone(),
            limits: Limits { soft: Some(soft), hard: Some(hard), root_moves, ..Limits::default() },
            best,
            stop,
            // Where nobody listens any more, the answer is out already.
            watch: Box::new(move |progress| {
                let _ = opinion.send(Some((progress.score, progress.depth)));
            }),
            done: Box::new(move |result| {
                let _ = report.send(result);
            }),
        });
    }

    fn woken(&mut self, wake: Wake) {
        match wake {
            Wake::Opinion => {
                self.eval = self.thinking.as_ref().and_then(|t| *t.opinions.borrow()).or(self.eval);
                self.tell(None);
            }
            Wake::HardLimit => self.answer(),
            Wake::Done(Some(Ok(_))) => self.answer(),
            Wake::Done(Some(Err(panicked))) => {
                tracing::error!(game = %self.info.id, position = %self.line.now().print(), "{panicked}");
                self.answer();
            }
            Wake::Done(None) => self.answer(),
        }
    }

    /// Sends what stands in the slot.
    fn answer(&mut self) {
        let Some(thinking) = self.thinking.take() else { return };
        let best = thinking.best.read();
        let now = self.line.now();
        // The slot was given a legal move, and thinkers publish legal moves; should one not, any will do.
        let Some(mv) = now.unpack(best.mv).or_else(|| now.moves().first().copied()) else { return };
        self.eval = Some((best.score, best.depth));
        self.answered = Some(mv);
        let action = Action::Play { turn: thinking.turn, mv: now.write(mv) };
        if self.actions.try_send(action).is_err() {
            tracing::error!(game = %self.info.id, "the connection does not take our move");
        }
        tracing::debug!(game = %self.info.id, mv = %now.record(mv), score = %best.score, depth = best.depth, "answered");
    }

    /// Tells those who watch how the game stands; whoever is slow misses some.
    fn tell(&self, result: Option<String>) {
        let line = &self.line;
        let _ = self.equipment.news.try_send(News {
            game: self.info.id.clone(),
            side: self.info.side,
            names: self.info.names.clone(),
            clocks: self.clocks,
            to_move: line.now().side(),
            ply: line.moves().len(),
            last_move: self.last_move.clone(),
            eval: self.eval,
            result,
        });
    }
}
