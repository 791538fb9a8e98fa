//! One game: from events to actions, always before the deadline.
//!
//! The player owns the board and the clocks of its game. It never waits for the search: while one runs, it goes on
//! receiving events, and at the hard limit it sends the move in the [`Decision`](zeitnot_engine::Decision).

use std::{sync::Arc, time::Instant};

use tokio::{select, sync::mpsc};

use zeitnot_engine::{Best, Score};
use zeitnot_net::wait::{or_never, until};
use zeitnot_rules::{GameResult, Packed};
use zeitnot_seat::{Action, Event, GameInfo, Turn};

use crate::{
    board::{Board, BoardChange},
    cache::PlayedMove,
    clock::GameClock,
    context::BotContext,
    metrics::GameMetrics,
    policy::DrawResignPolicy,
    ponder::Ponder,
    request::MoveRequest,
    search::{ActiveSearch, SearchUpdate},
    sources::{LookupAnswer, SourceLookup},
    status::{GameLine, GameStatus, MoveOrigin, ThoughtStatus},
};

mod learn;
mod turn;

pub(crate) struct Player {
    info: GameInfo,
    context: BotContext,
    board: Box<dyn Board>,
    clock: GameClock,
    metrics: GameMetrics,
    policy: DrawResignPolicy,
    /// The request that is not answered yet.
    request: Option<MoveRequest>,
    search: Option<ActiveSearch>,
    /// The answer to the request, if it is held back.
    held: Option<HeldAnswer>,
    /// Lookup of the position in other sources, beside the search.
    lookup: SourceLookup,
    ponder: Option<Ponder>,
    /// Our move and the reply to it that the last search expects.
    expected: Option<(Packed, Packed)>,
    /// Our answer in this position, until the server confirms it.
    answered: Option<Packed>,
    /// Answers in this position that the server refused.
    refused: Vec<Packed>,
    /// Our moves so far, of which the result may teach something.
    played: Vec<PlayedMove>,
    /// As game records write it.
    last_move: Option<String>,
    /// The moves as reported.
    line: Arc<GameLine>,
    /// Moves that the server did not tell.
    unseen: usize,
    /// Origin of our last move.
    origin: Option<MoveOrigin>,
    /// Score and depth of our last search.
    eval: Option<(Score, u16)>,
    thought: Option<ThoughtStatus>,
    actions: mpsc::Sender<Action>,
}

/// An answer that is held back, as if we were thinking.
struct HeldAnswer {
    best: Best,
    origin: MoveOrigin,
    until: Instant,
}

/// Event of a player's own making, beside those of the protocol.
enum Wake {
    HardLimit,
    Held,
    Search(SearchUpdate),
    Ponder(SearchUpdate),
    Lookup(LookupAnswer),
}

impl Player {
    pub(crate) fn new(
        info: GameInfo,
        board: Box<dyn Board>,
        context: BotContext,
        actions: mpsc::Sender<Action>,
    ) -> Self {
        let line = GameLine {
            server: info.server.clone(),
            kind: info.game,
            start: info.start.clone(),
            time_control: info.time_control,
            moves: Vec::new(),
        };
        Player {
            line: Arc::new(line),
            clock: GameClock::new(&info, &context),
            metrics: GameMetrics::new(&info),
            policy: DrawResignPolicy::new(context.config.draw, context.config.resign, info.details),
            info,
            context,
            board,
            request: None,
            search: None,
            held: None,
            lookup: SourceLookup::default(),
            ponder: None,
            expected: None,
            answered: None,
            refused: Vec::new(),
            played: Vec::new(),
            last_move: None,
            unseen: 0,
            origin: None,
            eval: None,
            thought: None,
            actions,
        }
    }

    /// Plays until the game is over, or the protocol drops its seat.
    pub(crate) async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        loop {
            select! {
                // The deadline comes first, also before a server that sends without end.
                biased;
                wake = self.wake() => self.on_wake(wake),
                event = events.recv() => {
                    self.metrics.event_taken(events.len());
                    match event {
                        Some(Event::Ended { result, outcome }) => return self.on_end(result, outcome),
                        Some(event) => self.on_event(event),
                        None => return,
                    }
                }
            }
        }
    }

    /// Waits for the deadline, a search or a lookup; forever if there is none. Cancel safe.
    async fn wake(&mut self) -> Wake {
        select! {
            biased;
            () = until(self.request.map(|request| request.alarm())) => Wake::HardLimit,
            () = until(self.held.as_ref().map(|held| held.until)) => Wake::Held,
            update = or_never(self.search.as_mut().map(ActiveSearch::next)) => Wake::Search(update),
            update = or_never(self.ponder.as_mut().map(Ponder::next)) => Wake::Ponder(update),
            answer = self.lookup.next() => Wake::Lookup(answer),
        }
    }

    fn on_end(&mut self, result: String, outcome: Option<GameResult>) {
        let [white, black] = &self.info.names.0;
        let plies = self.plies();
        tracing::info!(game = %self.info.id, "{white:?} – {black:?}: {result:?} ({plies} plies)");
        self.metrics.ended(outcome, self.info.side);
        self.context.cache.store_lag(&self.info.server, self.clock.lag_summary());
        if let Some(outcome) = outcome {
            self.learn(outcome);
        }
        self.report(Some((result, outcome)));
    }

    /// Plies played, those included that nobody told us.
    fn plies(&self) -> usize {
        self.board.position().plies + self.unseen
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Moved(text) => self.on_move(text.as_str()),
            Event::MovedUnseen => self.unseen += 1,
            Event::OpponentNamed(name) => self.info.names[!self.info.side] = name,
            Event::TakenBack { plies } => self.on_takeback(plies),
            Event::Board(text) => self.on_board(&text),
            Event::YourTurn { turn, clocks } => {
                let request = self.clock.request(turn, clocks);
                self.on_request(request);
            }
            Event::ClocksRead(clocks) => self.on_clocks(clocks),
            Event::Refused { why, .. } => {
                let game = self.info.id.as_str();
                let position = self.board.fen();
                tracing::error!(game, server = %why, position, "the server refused our move; choosing another");
                self.refused.extend(self.answered.take());
            }
            Event::DrawOffered => self.policy.draw_offered(),
            Event::Sent { turn, at } => self.on_sent(turn, at),
            Event::Ended { .. } => return,
        }
        self.report(None);
    }

    fn on_move(&mut self, text: &str) {
        (self.request, self.search, self.held, self.lookup) = (None, None, None, SourceLookup::default());
        let before = self.board.position();
        match self.board.play(text) {
            Ok(played) => {
                if before.to_move == self.info.side {
                    self.played.push(PlayedMove { ply: before.plies, key: before.key, mv: played.mv });
                }
                Arc::make_mut(&mut self.line).moves.push(played.text);
                self.last_move = Some(played.san);
                let expected = self.expected.take().filter(|(ours, _)| *ours == played.mv);
                let position = self.board.position();
                self.search = self.ponder.take().and_then(|ponder| ponder.hit(position.key));
                if position.to_move != self.info.side {
                    self.start_pondering(expected.map(|(_, reply)| reply));
                }
            }
            Err(error) => {
                tracing::warn!(game = %self.info.id, %error, "the server reported a move that is not legal on our board");
            }
        }
        self.answered = None;
        self.refused.clear();
    }

    /// Returns to an earlier position, which is searched anew.
    fn on_takeback(&mut self, plies: usize) {
        (self.request, self.search, self.lookup, self.ponder) = (None, None, SourceLookup::default(), None);
        self.held = None;
        (self.expected, self.answered, self.last_move) = (None, None, None);
        self.refused.clear();
        self.clock.discard_answer();
        let config = &self.context.config;
        self.policy = DrawResignPolicy::new(config.draw, config.resign, self.info.details);
        self.board.take_back(plies);
        let moves = &mut Arc::make_mut(&mut self.line).moves;
        moves.truncate(moves.len().saturating_sub(plies));
        let left = self.board.position().plies;
        self.played.retain(|played| played.ply < left);
    }

    fn on_board(&mut self, text: &str) {
        let game = self.info.id.as_str();
        match self.board.set_position(text) {
            Ok(BoardChange::Expected) => {}
            Ok(BoardChange::Replaced(ours)) => {
                tracing::warn!(
                    game,
                    ours,
                    server = text,
                    "the server's board differs from ours; continuing from it"
                );
                let line = Arc::make_mut(&mut self.line);
                (line.start, line.moves) = (Some(text.to_owned()), Vec::new());
                (self.lookup, self.ponder) = (SourceLookup::default(), None);
                self.refused.clear();
            }
            Err(error) => tracing::warn!(game, %error, "the server sent an unreadable board"),
        }
    }

    fn on_sent(&mut self, turn: Turn, at: Instant) {
        let Some(answer) = self.clock.sent(turn, at, &self.info.id) else { return };
        self.metrics.answered(&answer);
        if let Some(answers) = &self.context.answers {
            let _ = answers.try_send(answer);
        }
    }

    fn start_pondering(&mut self, expected: Option<Packed>) {
        if !self.board.is_over() && !self.info.details.correspondence {
            let budget = self.clock.next_budget();
            self.ponder = Ponder::start(&mut *self.board, &self.context, expected, budget);
        }
    }

    /// Sends the status of the game; a slow receiver misses some.
    fn report(&self, end: Option<(String, Option<GameResult>)>) {
        let position = self.board.position();
        let (result, outcome) = end.unzip();
        let _ = self.context.status.try_send(GameStatus {
            game: self.info.id.clone(),
            side: self.info.side,
            names: self.info.names.clone(),
            // Days for a move are not a clock that a viewer would know.
            clocks: self.clock.clocks().filter(|_| !self.info.details.correspondence),
            to_move: position.to_move,
            ply: self.plies(),
            last_move: self.last_move.clone(),
            eval: self.eval,
            origin: self.origin,
            thought: self.thought.clone(),
            result,
            outcome: outcome.flatten(),
            line: self.line.clone(),
        });
    }
}
