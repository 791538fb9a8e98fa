//! The answer to a request for a move: from a source that knows it, from a search, or at the deadline.

use std::ops::ControlFlow;

use tokio::sync::mpsc::error::TrySendError;

use zeitnot_engine::{Best, Limits, driver::SearchEnd, time::Budget};
use zeitnot_rules::{GameResult, MoveText, Packed};
use zeitnot_seat::{Action, Clocks, Eval, EvalScore, Turn};

use super::{HeldAnswer, Player, Wake};
use crate::{
    policy::GameStage,
    request::{MoveRequest, PendingAnswer},
    search::{self, ActiveSearch, IterationResult, SearchBudget, SearchUpdate},
    sources::{LookupAnswer, LookupRequest, LookupState, SourceLookup},
    status::{MoveOrigin, ThoughtStatus},
};

impl Player {
    /// Answers at once where the move is known, and starts a search where it is not.
    pub(super) fn on_request(&mut self, request: MoveRequest) {
        self.request = Some(request);
        self.held = None;
        (self.ponder, self.lookup) = (None, SourceLookup::default());
        let mut moves = self.board.legal_moves();
        let all = moves.len();
        moves.retain(|mv| !self.refused.contains(mv));
        match moves.as_slice() {
            [] => {
                tracing::error!(game = %self.info.id, "a move is requested, but we know none: resigning");
                self.give_up(Action::Resign { turn: request.turn });
            }
            [only] => self.answer(Best::unsearched(*only), MoveOrigin::Forced),
            _ if self.refused.is_empty() && self.look_up(&request) => {}
            some if self.lookup.choice().is_empty() => self.think(request, some, some.len() < all),
            _ => {
                let choice = self.lookup.choice().to_vec();
                self.think(request, &choice, true);
            }
        }
    }

    /// Searches the position, or continues with the search while pondering. It has more time where games were lost from
    /// this position.
    fn think(&mut self, mut request: MoveRequest, moves: &[Packed], is_restricted: bool) {
        let position = self.board.position();
        let losses = self.context.cache.losses(position.game, position.key);
        request.budget = request.budget.extended(losses.time_factor());
        self.request = Some(request);
        if !is_restricted && self.continue_search(&request) {
            return;
        }
        match moves.first() {
            Some(&first) if request.budget.is_instant() => {
                let fallback = self.board.fallback_move();
                let mv = if moves.contains(&fallback) { fallback } else { first };
                self.answer(Best::unsearched(mv), MoveOrigin::Instant);
            }
            _ if is_restricted => self.start_search(&request, moves.to_vec(), None),
            _ => self.start_search(&request, Vec::new(), self.lookup.hint),
        }
    }

    /// Records the clocks. Where the server has changed ours while we think, the limits follow it.
    pub(super) fn on_clocks(&mut self, clocks: Clocks) {
        let to_move = self.board.position().to_move;
        self.clock.read(clocks, to_move);
        let Some(before) = self.request.filter(|_| to_move == self.info.side) else { return };
        let Some(request) = self.clock.changed(&before, clocks) else { return };
        let left = clocks.left[self.info.side];
        let hard = request.budget.hard;
        tracing::debug!(game = %self.info.id, ?left, ?hard, "the server has changed our clock");
        self.request = Some(request);
        self.limit_search(&request, self.origin_after(SearchEnd::Finished));
    }

    /// Gives the search the time of the request, and plays its move if that is used up.
    fn limit_search(&mut self, request: &MoveRequest, origin: MoveOrigin) {
        let Some(search) = self.search.take() else { return };
        match search.set_budget(request.budget) {
            ControlFlow::Break(()) if !self.lookup.is_waiting() => {
                self.finish(&search, request.budget, origin);
            }
            _ => self.search = Some(search),
        }
    }

    /// Looks the position up in all sources; returns whether that answered the request at once.
    fn look_up(&mut self, request: &MoveRequest) -> bool {
        let asked = LookupRequest {
            side: self.info.side,
            left: request.clocks.map(|clocks| clocks.left[self.info.side]),
            time: request.budget.soft,
            nodes: self.nodes(request),
            pondered: self.has_pondered(),
        };
        self.lookup = SourceLookup::start(&self.context.sources, &self.context.cache, &*self.board, &asked);
        self.play_found()
    }

    /// Plays the move that a source knows, once no source that goes before it is waited for; returns whether there was
    /// one.
    fn play_found(&mut self) -> bool {
        let LookupState::Found(best, origin) = self.lookup.state() else { return false };
        self.answer(best, origin);
        true
    }

    /// Returns the nodes that a search has in the time for this move.
    fn nodes(&self, request: &MoveRequest) -> u64 {
        self.context.load.nodes_in(request.budget.soft)
    }

    /// Returns whether the current position was pondered.
    fn has_pondered(&self) -> bool {
        let key = self.board.position().key;
        self.search.as_ref().is_some_and(|search| search.key() == key && search.has_move())
    }

    /// Continues the search of a position that was pondered; returns whether there is one.
    fn continue_search(&mut self, request: &MoveRequest) -> bool {
        let has_pondered = self.has_pondered();
        self.search = self.search.take().filter(|_| has_pondered);
        self.limit_search(request, MoveOrigin::Pondered);
        has_pondered
    }

    fn start_search(&mut self, request: &MoveRequest, root_moves: Vec<Packed>, hint: Option<Packed>) {
        let fallback = hint.or_else(|| root_moves.first().copied());
        let limits = Limits {
            hard: Some(request.hard_limit()),
            clocks: self.clock.engine_clocks(request),
            threads: Some(self.context.load.threads()),
            root_moves,
            hint,
            ..Limits::default()
        };
        let budget = SearchBudget { started_at: request.asked_at, budget: request.budget };
        // Stops the previous search first.
        self.search = None;
        self.search = Some(self.board.search(limits, fallback, budget));
    }

    pub(super) fn on_wake(&mut self, wake: Wake) {
        let origin = match wake {
            Wake::HardLimit | Wake::Held if self.held.is_some() => return self.release(),
            Wake::HardLimit | Wake::Held => MoveOrigin::HardLimit,
            Wake::Search(SearchUpdate::Iteration) => {
                let result = self.search.as_ref().and_then(ActiveSearch::result);
                self.eval = result.as_ref().map(|result| (result.score, result.depth)).or(self.eval);
                if let Some(result) = result {
                    self.note_thought(result);
                }
                return self.report(None);
            }
            Wake::Search(SearchUpdate::Ended(end)) => {
                self.report_panic(end);
                // A source that goes before the search may still answer in time.
                if self.lookup.is_waiting() && !self.is_time() {
                    return;
                }
                self.origin_after(end)
            }
            Wake::Ponder(update) => return self.on_ponder_update(update),
            Wake::Lookup(answer) => return self.on_lookup_answer(answer),
        };
        // Without a request it was pondering, and the search waits for one.
        let Some(request) = self.request else { return };
        match self.search.take() {
            Some(search) => self.finish(&search, request.budget, origin),
            // Unreachable, but still send a legal move.
            None => self.answer(Best::unsearched(self.board.fallback_move()), MoveOrigin::Failed),
        }
    }

    fn origin_after(&self, end: SearchEnd) -> MoveOrigin {
        match end {
            // The search watches the clock as well, and may notice the hard limit first.
            SearchEnd::Finished if self.is_time() => MoveOrigin::HardLimit,
            SearchEnd::Finished => MoveOrigin::Searched,
            SearchEnd::NotStarted | SearchEnd::Panicked => MoveOrigin::Failed,
        }
    }

    fn is_time(&self) -> bool {
        self.request.is_some_and(|request| search::now() >= request.hard_limit())
    }

    fn report_panic(&self, end: SearchEnd) {
        if end == SearchEnd::Panicked {
            let game = self.info.id.as_str();
            let position = self.board.fen();
            tracing::error!(
                game,
                position,
                "the search panicked; playing its best move so far, with a new thinker"
            );
        }
    }

    fn on_ponder_update(&mut self, update: SearchUpdate) {
        let SearchUpdate::Ended(end) = update else { return };
        self.report_panic(end);
        if let Some(ponder) = &mut self.ponder {
            ponder.advance(&mut *self.board, &self.context);
        }
    }

    fn on_lookup_answer(&mut self, answer: LookupAnswer) {
        let Some(request) = self.request else {
            self.lookup = SourceLookup::default();
            return;
        };
        let nodes = self.nodes(&request);
        self.lookup.resolve(answer, &self.context.cache, &*self.board, nodes);
        if self.play_found() || self.lookup.is_waiting() {
            return;
        }
        let choice = self.lookup.choice().to_vec();
        let end = self.search.as_ref().and_then(ActiveSearch::end);
        match (end, self.search.take()) {
            // The search ended before, and waited for the sources.
            (Some(end), Some(search)) if choice.is_empty() || choice.contains(&search.best().mv) => {
                self.finish(&search, request.budget, self.origin_after(end));
            }
            (_, search) if choice.is_empty() => self.search = search,
            _ => self.start_search(&request, choice, None),
        }
    }

    /// Ends the request with an action that is no move.
    fn give_up(&mut self, action: Action) {
        (self.request, self.search, self.lookup) = (None, None, SourceLookup::default());
        // If the queue is full of untaken answers, this one would not be taken either.
        let _ = self.actions.try_send(action);
    }

    /// Plays the move of a search, and stores its result. Where the engine has failed and nobody may play for it, the
    /// game is left.
    fn finish(&mut self, search: &ActiveSearch, budget: Budget, origin: MoveOrigin) {
        if let Some(request) = self.request.filter(|_| search.has_failed()) {
            tracing::error!(game = %self.info.id, "the engine has failed: leaving the game");
            return self.give_up(Action::Leave { turn: request.turn });
        }
        search.store(&self.context, budget);
        let result = search.result();
        self.expected = result.as_ref().and_then(|result| result.expected);
        if let Some(result) = result {
            self.metrics.searched(result.depth, result.nodes, result.time);
            self.note_thought(result);
        }
        self.answer(search.best(), origin);
    }

    /// Sends a move as the answer to the open request, now or when we seem to have thought for long enough.
    fn answer(&mut self, best: Best, origin: MoveOrigin) {
        let Some(request) = self.request else { return };
        let is_faked = self.context.config.fake_think_time && !self.info.details.correspondence;
        let until = request.earliest_answer();
        if is_faked && origin != MoveOrigin::HardLimit && search::now() < until {
            (self.search, self.lookup) = (None, SourceLookup::default());
            self.held = Some(HeldAnswer { best, origin, until });
        } else {
            self.send(best, origin);
        }
    }

    /// Notes what the search of this position has found, for viewers.
    fn note_thought(&mut self, result: IterationResult) {
        let IterationResult { score, depth, nodes, time, pv, .. } = result;
        let ply = self.board.position().plies;
        let eval = Some((score, depth));
        let effort = Some((nodes, time));
        self.thought = Some(ThoughtStatus { ply, eval, effort, pv, origin: None });
    }

    /// Notes the move that is played; a thought about it stays.
    fn note_answer(&mut self, best: Best, mv: MoveText, origin: MoveOrigin) {
        let Best { score, depth, .. } = best;
        let ply = self.board.position().plies;
        let eval = (depth > 0).then_some((score, depth));
        let about_this = |thought: &ThoughtStatus| thought.ply == ply && thought.pv.first() == Some(&mv);
        let known = self.thought.take().filter(about_this);
        let mut thought =
            known.unwrap_or(ThoughtStatus { ply, eval, effort: None, pv: vec![mv], origin: None });
        (thought.eval, thought.origin) = (eval.or(thought.eval), Some(origin));
        self.thought = Some(thought);
    }

    /// Sends the answer that is held back.
    fn release(&mut self) {
        if let Some(HeldAnswer { best, origin, .. }) = self.held.take() {
            self.send(best, origin);
        }
    }

    fn send(&mut self, best: Best, origin: MoveOrigin) {
        let Some(request) = self.request.take() else { return };
        (self.search, self.lookup, self.origin) = (None, SourceLookup::default(), Some(origin));
        // Thinkers publish legal moves; should one not, any legal move will do.
        let any = || self.board.write(*self.board.legal_moves().first()?);
        let Some(played) = self.board.write(best.mv).or_else(any) else { return };
        self.answered = Some(played.mv);
        let action = self.action(request.turn, played.text, best);
        let plies = self.board.position().plies;
        self.clock.answered(PendingAnswer::new(request, origin, plies, search::now()));
        let game = self.info.id.as_str();
        match self.actions.try_send(action) {
            Ok(()) => {}
            // The protocol reports why.
            Err(TrySendError::Closed(_)) => tracing::debug!(game, "the connection has ended"),
            Err(TrySendError::Full(_)) => tracing::error!(game, "the connection does not take our move"),
        }
        self.note_answer(best, played.text, origin);
        let game = self.info.id.as_str();
        let Best { score, depth, .. } = best;
        tracing::debug!(game, mv = played.san, %score, depth, ?origin, "answered");
    }

    /// Returns the action for a move: with or without a draw offer, or resignation instead.
    fn action(&mut self, turn: Turn, mv: MoveText, best: Best) -> Action {
        let position = self.board.position();
        let stage = GameStage { move_number: position.plies / 2 + 1, piece_count: position.piece_count };
        if best.depth == 0 {
            // Without a search there is no new score to decide by.
            let offers_draw = self.policy.accepts_draw(stage);
            return Action::Play { turn, mv, offers_draw, eval: None };
        }
        let Best { score, depth, .. } = best;
        self.eval = Some((score, depth));
        self.policy.add(score);
        // Where chance has a part, no game is lost before its end.
        if !position.has_chance && self.policy.resigns() {
            tracing::info!(game = %self.info.id, %score, "resigning");
            // Not every protocol tells us its end.
            self.learn(GameResult::Won(!self.info.side));
            return Action::Resign { turn };
        }
        let offers_draw = self.policy.offers_draw(stage);
        let score = score.mate_moves().map_or(EvalScore::Centipawns(score.get()), EvalScore::Mate);
        Action::Play { turn, mv, offers_draw, eval: Some(Eval { score, depth }) }
    }
}
