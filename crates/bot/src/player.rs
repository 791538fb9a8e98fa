//! One game: from events to actions, always before the deadline.
//!
//! The player owns the line and the clocks of its game. It never waits for the search: while one runs
//! it goes on hearing events, and at the hard limit it sends what stands in the [`Decision`] slot.
//!
//! [`Decision`]: zeitnot_engine::Decision

use std::{future::pending, ops::ControlFlow, time::Instant};

use tokio::{
    select,
    sync::mpsc::{self, error::TrySendError},
    time::sleep_until,
};

use zeitnot_engine as engine;
use zeitnot_engine::time::{Budget, Clock, Reserve};
use zeitnot_engine::{
    Best, Limits, Playable, Score,
    driver::{SearchEnd, SearchThread},
};
use zeitnot_rules::{GameHistory, MoveText, Packed};
use zeitnot_seat::{Action, Clocks, Eval, EvalScore, Event, GameInfo, Turn};

use super::{
    Answer, Equipment, How, News,
    lag::ServerLag,
    load::Place,
    policy::{Outlook, Stage},
    ponder::Ponder,
    request::{Departure, Request},
    sources::{self, Asked, Inquiry, Step},
    thought::{self, Thought, Word},
};

/// See the module's comment.
pub(super) struct Player<G: Playable> {
    info: GameInfo,
    line: GameHistory<G>,
    equipment: Equipment,
    lag: ServerLag,
    _place: Place,
    thread: SearchThread<G>,
    /// The request that is not answered yet.
    request: Option<Request>,
    thought: Option<Thought<G>>,
    /// What others know of this position is looked up; meanwhile we think.
    inquiry: Inquiry,
    /// While the opponent thinks.
    ponder: Option<Ponder<G>>,
    /// Our move and the reply to it, as the last search expects them.
    expects: Option<(G::Move, G::Move)>,
    /// The answer that is on its way.
    departure: Option<Departure>,
    clocks: Option<Clocks>,
    /// As game records write it.
    last_move: Option<String>,
    /// Where our last move came from, for those who watch …
    how: Option<How>,
    /// … and our last opinion.
    eval: Option<(Score, u16)>,
    /// What we think of a draw, and of giving up.
    outlook: Outlook,
    /// Our answer in this position, until the server says that it was played.
    answered: Option<G::Move>,
    /// Answers in this position that the server would not have.
    refused: Vec<G::Move>,
    actions: mpsc::Sender<Action>,
}

/// What wakes a player.
enum Wake {
    /// It is time to answer, search or no search.
    HardLimit,
    /// The search has something to say.
    Word(Word),
    /// So has one that runs on the opponent's time.
    Pondered(Word),
    /// Somebody who was asked knows the position, or does not.
    LookedUp(sources::News),
}

/// What there is to wait for, if it is there.
async fn maybe<F: Future>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

impl<G: Playable> Player<G> {
    pub fn new(info: GameInfo, root: G, equipment: Equipment, actions: mpsc::Sender<Action>) -> Self {
        Player {
            line: GameHistory::new(root),
            lag: equipment.lags.server(&info.server),
            _place: equipment.load.enter(),
            thread: SearchThread::started(equipment.factory.clone()),
            info,
            equipment,
            request: None,
            thought: None,
            inquiry: Inquiry::default(),
            ponder: None,
            expects: None,
            departure: None,
            clocks: None,
            last_move: None,
            how: None,
            eval: None,
            outlook: Outlook::default(),
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
                wake = self.wake() => self.woken(wake),
                event = events.recv() => match event {
                    Some(Event::Ended { result }) => return self.end(result),
                    Some(event) => self.hear(event),
                    None => return,
                },
            }
        }
    }

    /// Waits for the deadline or a search; for ever if there is neither. Cancel safe.
    async fn wake(&mut self) -> Wake {
        select! {
            biased;
            () = maybe(self.request.map(|request| sleep_until(request.alarm().into()))) => Wake::HardLimit,
            word = maybe(self.thought.as_mut().map(Thought::hear)) => Wake::Word(word),
            word = maybe(self.ponder.as_mut().map(Ponder::hear)) => Wake::Pondered(word),
            news = self.inquiry.hear() => Wake::LookedUp(news),
        }
    }

    fn end(&self, result: String) {
        let [white, black] = &self.info.names.0;
        let plies = self.line.moves().len();
        tracing::info!(game = %self.info.id, "{white:?} – {black:?}: {result:?} ({plies} plies)");
        self.equipment.cache.keep_lag(&self.info.server, self.lag.summary());
        self.tell(Some(result));
    }

    fn hear(&mut self, event: Event) {
        let game = self.info.id.as_str();
        match event {
            Event::Moved(text) => self.moved(text.as_str()),
            Event::TakenBack { plies } => self.taken_back(plies),
            Event::Board(text) => self.compare(&text),
            Event::YourTurn { turn, clocks } => {
                self.clocks = clocks.or(self.clocks);
                self.charged(clocks);
                self.asked(turn, clocks);
            }
            Event::ClocksRead(clocks) => {
                self.clocks = Some(clocks);
                if !self.is_our_move() {
                    self.charged(Some(clocks));
                }
            }
            Event::Refused { why, .. } => {
                tracing::error!(game, server = %why, position = %self.line.now().print(), "our move was refused; choosing another");
                self.refused.extend(self.answered.take());
            }
            Event::DrawOffered => self.outlook.offered(),
            Event::Sent { turn, at } => self.sent(turn, at),
            Event::Ended { .. } => return,
        }
        self.tell(None);
    }

    fn is_our_move(&self) -> bool {
        self.line.now().side_to_move() == self.info.side
    }

    fn moved(&mut self, text: &str) {
        (self.request, self.thought, self.inquiry) = (None, None, Inquiry::default());
        match self.line.now().read(text) {
            Ok(mv) => {
                self.last_move = Some(self.line.now().san(mv));
                self.line.play(mv);
                let expected = self.expects.take().filter(|(ours, _)| *ours == mv).map(|(_, reply)| reply);
                self.thought = self.ponder.take().and_then(|ponder| ponder.hit(&self.line));
                if !self.is_our_move() {
                    self.ponder(expected);
                }
            }
            Err(error) => {
                let game = self.info.id.as_str();
                tracing::warn!(game, %error, "the server told a move that does not fit our board");
            }
        }
        self.answered = None;
        self.refused.clear();
    }

    /// Back to a position that was there before, and is thought about anew; the moves until then still count.
    fn taken_back(&mut self, plies: usize) {
        (self.request, self.thought, self.inquiry, self.ponder) = (None, None, Inquiry::default(), None);
        (self.expects, self.departure, self.answered, self.last_move) = (None, None, None, None);
        self.refused.clear();
        self.outlook = Outlook::default();
        self.line.take_back(plies);
    }

    /// The server's board against ours. Where they differ the server is right, and history begins anew.
    fn compare(&mut self, text: &str) {
        match self.line.now().parse_position(text) {
            Ok(board) if board.key() == self.line.now().key() => {}
            Ok(board) if G::HAS_CHANCE => self.line.amend(board),
            Ok(board) => {
                tracing::warn!(game = %self.info.id, ours = %self.line.now().print(), server = text, "taking over the server's board");
                (self.line, self.inquiry) = (GameHistory::new(board), Inquiry::default());
                self.refused.clear();
            }
            Err(error) => tracing::warn!(game = %self.info.id, %error, "the server told an unreadable board"),
        }
    }

    /// A move is asked for: at once where it is known, by a search where it is not.
    fn asked(&mut self, turn: Turn, clocks: Option<Clocks>) {
        let request = Request {
            turn,
            clocks,
            asked_at: clocks.map_or_else(thought::now, |c| c.read_at),
            budget: self.budget(clocks),
        };
        self.request = Some(request);
        (self.ponder, self.inquiry) = (None, Inquiry::default());
        let mut moves = self.line.now().moves();
        let all = moves.len();
        moves.retain(|mv| !self.refused.contains(mv));
        match moves.as_slice() {
            [] => {
                self.request = None;
                tracing::error!(game = %self.info.id, "asked for a move where we know none: resigning");
                // Full of answers that nobody takes, it has nobody to resign to either.
                let _ = self.actions.try_send(Action::Resign { turn });
            }
            [only] => self.answer(Best::unsearched(self.line.now().pack(*only)), How::Forced),
            _ if self.refused.is_empty() && (self.look_up(&request) || self.go_on(&request)) => {}
            [first, ..] if request.budget.is_instant() => {
                let fallback_move = self.fallback_move().unwrap_or(self.line.now().pack(*first));
                self.answer(Best::unsearched(fallback_move), How::Instant);
            }
            some if some.len() < all => {
                let some = some.iter().map(|&mv| self.line.now().pack(mv)).collect();
                self.think(request, some, None);
            }
            _ => self.think(request, Vec::new(), self.inquiry.hint),
        }
    }

    /// Asks those who may know the position. Does one of them know it at once, who goes before all others?
    fn look_up(&mut self, request: &Request) -> bool {
        let asked = Asked {
            line: &self.line,
            side: self.info.side,
            left: request.clocks.map(|clocks| clocks.left[self.info.side]),
            time: request.budget.soft,
            price: self.price(request),
            pondered: self.has_thought(),
        };
        self.inquiry = Inquiry::begin(&self.equipment.library, &self.equipment.cache, &asked);
        self.heed()
    }

    /// Plays what was looked up, once nobody is waited for who goes before. Is there such a move?
    fn heed(&mut self) -> bool {
        let Step::Play(best, how) = self.inquiry.step() else { return false };
        self.answer(best, how);
        true
    }

    /// Was this very position thought about while the opponent's clock ran?
    fn has_thought(&self) -> bool {
        let here = self.line.now().key();
        self.thought.as_ref().is_some_and(|t| t.line.now().key() == here && t.is_of_use())
    }

    /// A move without a search, unless it was refused.
    fn fallback_move(&self) -> Option<Packed> {
        let now = self.line.now();
        let fallback_move = self.equipment.factory.fallback_move(now);
        now.unpack(fallback_move).filter(|mv| !self.refused.contains(mv)).map(|_| fallback_move)
    }

    /// Where this very position was thought about while the opponent's clock ran, that thought goes on.
    /// Is there such a one?
    fn go_on(&mut self, request: &Request) -> bool {
        let is_here = self.has_thought();
        let Some(mut thought) = self.thought.take().filter(|_| is_here) else { return false };
        match thought.ask(request.budget) {
            ControlFlow::Break(()) if !self.inquiry.is_waiting() => {
                self.conclude(&thought, request.budget, How::Pondered);
            }
            _ => self.thought = Some(thought),
        }
        true
    }

    /// What the clock gives us for this move.
    fn budget(&self, clocks: Option<Clocks>) -> Budget {
        let config = &self.equipment.config;
        let Some(clocks) = clocks else { return config.untimed() };
        self.clock(clocks).budget(self.reserve()).capped(config.longest_move)
    }

    /// Our clock as far as we use it.
    fn clock(&self, clocks: Clocks) -> Clock {
        self.equipment.config.time_share.of(Clock {
            // What is told in steps may be told half a step too high.
            left: clocks.left[self.info.side].saturating_sub(clocks.resolution / 2),
            increment: clocks.increment,
            moves_to_go: clocks.moves_to_go,
        })
    }

    fn reserve(&self) -> Reserve {
        let mut reserve = self.lag.reserve();
        reserve.lag += self.equipment.load.reserve();
        reserve
    }

    /// The clocks for an engine that shares out its time by itself. Where we say how long a move takes at most, or
    /// the server does, there is nothing to share out.
    fn engine_clocks(&self, request: &Request) -> Option<engine::Clocks> {
        let clocks = request.clocks.filter(|clocks| clocks.moves_to_go != Some(1))?;
        if request.budget.hard >= self.equipment.config.longest_move {
            return None;
        }
        let ours = self.clock(clocks);
        let mut left = clocks.left;
        left[self.info.side] = ours.left.saturating_sub(self.reserve().lag);
        let (increment, moves_to_go) = (ours.increment, ours.moves_to_go);
        Some(engine::Clocks { left, increment, moves_to_go, read_at: clocks.read_at })
    }

    /// The nodes that the time for this move buys.
    fn price(&self, request: &Request) -> u64 {
        self.equipment.load.price(request.budget.soft)
    }

    /// Begins to think on the opponent's time.
    fn ponder(&mut self, expected: Option<G::Move>) {
        let budget = self.budget(self.clocks);
        if self.line.outcome().is_over() || self.info.details.correspondence {
            return;
        }
        self.ponder = Ponder::begin(&mut self.thread, &self.equipment, self.line.clone(), expected, budget);
    }

    fn think(&mut self, request: Request, root_moves: Vec<Packed>, hint: Option<Packed>) {
        let first = hint
            .or_else(|| root_moves.first().copied())
            .unwrap_or_else(|| self.equipment.factory.fallback_move(self.line.now()));
        let limits = Limits {
            hard: Some(request.hard()),
            clocks: self.engine_clocks(&request),
            threads: Some(self.equipment.load.threads()),
            root_moves,
            hint,
            ..Limits::default()
        };
        let budget = Some((request.asked_at, request.budget));
        // The search before this one is told to stop first.
        self.thought = None;
        self.thought = Some(Thought::begin(&mut self.thread, self.line.clone(), limits, first, budget));
    }

    fn woken(&mut self, wake: Wake) {
        let how = match wake {
            Wake::HardLimit => How::HardLimit,
            Wake::Word(Word::Opinion) => {
                let opinion = self.thought.as_ref().and_then(Thought::opinion);
                self.eval = opinion.map(|o| (o.score, o.depth)).or(self.eval);
                return self.tell(None);
            }
            Wake::Word(Word::End(end)) => {
                if end == SearchEnd::Panicked {
                    self.report_panic();
                }
                // Somebody may know better, and there is time to hear it.
                if self.inquiry.is_waiting() && !self.is_time() {
                    return;
                }
                self.how_it_ended(end)
            }
            Wake::Pondered(word) => return self.pondered(word),
            Wake::LookedUp(news) => return self.looked_up(news),
        };
        // Before the request is there, a thought that is done waits for it.
        let Some(request) = self.request else { return };
        match self.thought.take() {
            Some(thought) => self.conclude(&thought, request.budget, how),
            // It cannot be; but an answer is owed.
            None => self
                .answer(Best::unsearched(self.equipment.factory.fallback_move(self.line.now())), How::Failed),
        }
    }

    fn how_it_ended(&self, end: SearchEnd) -> How {
        match end {
            // A search looks at the clock as well, and may be the first to see that it is time.
            SearchEnd::Finished if self.is_time() => How::HardLimit,
            SearchEnd::Finished => How::Searched,
            SearchEnd::NotStarted | SearchEnd::Panicked => How::Failed,
        }
    }

    fn is_time(&self) -> bool {
        self.request.is_some_and(|request| thought::now() >= request.hard())
    }

    /// What a search has found is learned, expected and played.
    fn conclude(&mut self, thought: &Thought<G>, budget: Budget, how: How) {
        // Where some moves were refused, it was not shown all there are.
        if self.refused.is_empty() {
            thought.teach(&self.equipment, budget);
        }
        self.expects = thought.opinion().and_then(|opinion| opinion.expects);
        self.answer(thought.best(), how);
    }

    /// Somebody was faster than the search: what is known there may spare us the rest.
    fn looked_up(&mut self, news: sources::News) {
        let Some(request) = self.request else {
            self.inquiry = Inquiry::default();
            return;
        };
        let (at, known) = match news {
            sources::News::Disk { at, found } => {
                let known = found.then(|| self.equipment.cache.known(&self.line, self.price(&request)));
                (at, known.flatten().map(|best| (best, How::Cached)))
            }
            sources::News::Online { at, source, suggestions } => {
                let best = sources::first_fit(&self.line, &suggestions);
                (at, best.map(|best| (best, How::Online(source))))
            }
        };
        self.inquiry.settle(at, known);
        if self.heed() || self.inquiry.is_waiting() {
            return;
        }
        // The search was done before, and has waited for them.
        let Some(end) = self.thought.as_ref().and_then(Thought::end) else { return };
        if let Some(thought) = self.thought.take() {
            self.conclude(&thought, request.budget, self.how_it_ended(end));
        }
    }

    fn report_panic(&self) {
        tracing::error!(game = %self.info.id, position = %self.line.now().print(), "the search panicked; its best move so far is played, and a new thinker takes over");
    }

    /// A search on the opponent's time has something to say.
    fn pondered(&mut self, word: Word) {
        let Word::End(end) = word else { return };
        let Some(mut ponder) = self.ponder.take() else { return };
        if end == SearchEnd::Panicked {
            self.report_panic();
        }
        let budget = ponder.budget();
        if let Some(thought) = ponder.next(&mut self.thread, &self.equipment) {
            thought.teach(&self.equipment, budget);
        }
        self.ponder = Some(ponder);
    }

    /// Sends this move as the answer to the open request.
    fn answer(&mut self, best: Best, how: How) {
        let Some(request) = self.request.take() else { return };
        (self.thought, self.inquiry, self.how) = (None, Inquiry::default(), Some(how));
        let now = self.line.now();
        // The slot was given a legal move, and thinkers publish legal moves; should one not, any will do.
        let Some(mv) = now.unpack(best.mv).or_else(|| now.moves().first().copied()) else { return };
        let (text, record) = (now.write(mv), now.san(mv));
        self.answered = Some(mv);
        let action = self.decide(request.turn, text, best);
        self.departure = Some(Departure::new(request, how, self.line.moves().len(), thought::now()));
        match self.actions.try_send(action) {
            Ok(()) => {}
            // Whoever ended it says why.
            Err(TrySendError::Closed(_)) => tracing::debug!(game = %self.info.id, "the connection has ended"),
            Err(TrySendError::Full(_)) => {
                tracing::error!(game = %self.info.id, "the connection does not take our move");
            }
        }
        tracing::debug!(game = %self.info.id, mv = record, score = %best.score, depth = best.depth, ?how, "answered");
    }

    /// The move, with what our policies say of the game; or the end of it.
    fn decide(&mut self, turn: Turn, mv: MoveText, best: Best) -> Action {
        if best.depth == 0 {
            // Nothing was found out about the position: no reason to change our mind.
            let offers_draw = self.outlook.agrees(&self.equipment.config.draw, self.stage());
            return Action::Play { turn, mv, offers_draw, eval: None };
        }
        self.eval = Some((best.score, best.depth));
        self.outlook.judged(best.score);
        let config = &self.equipment.config;
        // Where chance has a part in it, no game is lost before its end.
        if !G::HAS_CHANCE && self.outlook.is_hopeless(&config.resign) {
            tracing::info!(game = %self.info.id, score = %best.score, "giving up");
            return Action::Resign { turn };
        }
        let offers_draw = self.outlook.draws(&config.draw, self.stage());
        let score = match best.score.mate_moves() {
            Some(moves) => EvalScore::Mate(moves),
            None => EvalScore::Centipawns(best.score.get()),
        };
        Action::Play { turn, mv, offers_draw, eval: Some(Eval { score, depth: best.depth }) }
    }

    fn stage(&self) -> Stage {
        Stage { move_number: self.line.moves().len() / 2 + 1, men: self.line.now().piece_count() }
    }

    /// Our answer was handed to the socket.
    fn sent(&mut self, turn: Turn, at: Instant) {
        let Some(departure) = self.departure.as_mut().filter(|d| d.request.turn == turn) else { return };
        self.equipment.lags.late(departure.sent(at));
        let Request { asked_at, budget, clocks, .. } = departure.request;
        if let Some(answers) = &self.equipment.answers {
            let (game, side, how) = (self.info.id.clone(), self.info.side, departure.how);
            let (left, ply) = (clocks.map(|c| c.left[side]), departure.ply);
            let _ = answers.try_send(Answer { game, side, ply, how, asked_at, budget, left, sent_at: at });
        }
        self.settle();
    }

    /// Our clock stands still, and shows this.
    fn charged(&mut self, clocks: Option<Clocks>) {
        if let Some(departure) = &mut self.departure {
            departure.charged(clocks);
            self.settle();
        }
    }

    /// When both are known, when the answer left and what it cost, the difference is the server's lag.
    fn settle(&mut self) {
        let Some(charge) = self.departure.as_ref().and_then(|d| d.charge(self.info.side)) else { return };
        self.departure = None;
        self.lag.charge(charge);
    }

    /// Tells those who watch how the game stands; whoever is slow misses some.
    fn tell(&self, result: Option<String>) {
        let line = &self.line;
        let _ = self.equipment.news.try_send(News {
            game: self.info.id.clone(),
            side: self.info.side,
            names: self.info.names.clone(),
            // Who has days for a move has no clock that a player would know.
            clocks: self.clocks.filter(|_| !self.info.details.correspondence),
            to_move: line.now().side_to_move(),
            ply: line.moves().len(),
            last_move: self.last_move.clone(),
            eval: self.eval,
            how: self.how,
            result,
        });
    }
}
