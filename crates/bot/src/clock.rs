//! Clocks of one game: the time for a move, and the lag that the next clocks show.

use std::time::{Duration, Instant};

use zeitnot_engine as engine;
use zeitnot_engine::time::{Budget, Clock, Reserve};
use zeitnot_rules::Color;
use zeitnot_seat::{Clocks, GameInfo, Turn};

use crate::{
    context::BotContext,
    lag::ServerLag,
    load::{GameGuard, Load},
    request::{MoveRequest, PendingAnswer},
    search,
    status::Answer,
};

pub(crate) struct GameClock {
    side: Color,
    /// As last read.
    clocks: Option<Clocks>,
    untimed: Budget,
    max_move_time: Duration,
    time_share: f64,
    lag: ServerLag,
    load: Load,
    _guard: GameGuard,
    /// Answer whose cost is not known yet.
    pending: Option<PendingAnswer>,
}

impl GameClock {
    pub(crate) fn new(info: &GameInfo, context: &BotContext) -> Self {
        let config = &context.config;
        GameClock {
            side: info.side,
            clocks: None,
            untimed: config.untimed(),
            max_move_time: config.max_move_time,
            time_share: config.time_share,
            lag: context.lags.server(&info.server),
            _guard: context.load.add_game(),
            load: context.load.clone(),
            pending: None,
        }
    }

    pub(crate) fn clocks(&self) -> Option<Clocks> {
        self.clocks
    }

    /// Starts our clock: sets the limits of the move that is requested.
    pub(crate) fn request(&mut self, turn: Turn, clocks: Option<Clocks>) -> MoveRequest {
        self.clocks = clocks.or(self.clocks);
        self.stopped(clocks);
        let asked_at = clocks.map_or_else(search::now, |clocks| clocks.read_at);
        MoveRequest { turn, clocks, asked_at, budget: self.budget(clocks) }
    }

    /// Records clocks that were read while `running` was to move.
    pub(crate) fn read(&mut self, clocks: Clocks, running: Color) {
        self.clocks = Some(clocks);
        if running != self.side {
            self.stopped(Some(clocks));
        }
    }

    /// Returns the time for a move by the clocks as last read.
    pub(crate) fn next_budget(&self) -> Budget {
        self.budget(self.clocks)
    }

    fn budget(&self, clocks: Option<Clocks>) -> Budget {
        let Some(clocks) = clocks else { return self.untimed };
        self.ours(clocks).budget(self.reserve()).capped(self.max_move_time)
    }

    /// Returns our clock as far as we use it.
    fn ours(&self, clocks: Clocks) -> Clock {
        // A rounded clock may show up to half a step too much.
        let left = clocks.left[self.side].saturating_sub(clocks.resolution / 2);
        Clock {
            left: left.mul_f64(self.time_share),
            increment: clocks.increment.mul_f64(self.time_share),
            moves_to_go: clocks.moves_to_go,
        }
    }

    fn reserve(&self) -> Reserve {
        let mut reserve = self.lag.reserve();
        reserve.lag += self.load.reserve();
        reserve
    }

    /// Returns the clocks for an engine that manages its time by itself; `None` where we or the server limit the time
    /// for each move.
    pub(crate) fn engine_clocks(&self, request: &MoveRequest) -> Option<engine::Clocks> {
        let clocks = request.clocks.filter(|clocks| clocks.moves_to_go != Some(1))?;
        if request.budget.hard >= self.max_move_time {
            return None;
        }
        let ours = self.ours(clocks);
        let mut left = clocks.left;
        left[self.side] = ours.left.saturating_sub(self.reserve().lag);
        let Clock { increment, moves_to_go, .. } = ours;
        Some(engine::Clocks { left, increment, moves_to_go, read_at: clocks.read_at })
    }

    pub(crate) fn answered(&mut self, answer: PendingAnswer) {
        self.pending = Some(answer);
    }

    /// Forgets the answer whose cost is not known yet.
    pub(crate) fn discard_answer(&mut self) {
        self.pending = None;
    }

    /// Records when the pending answer was written to the socket, and returns its report; `None` if it answers
    /// another request.
    pub(crate) fn sent(&mut self, turn: Turn, at: Instant, game: &str) -> Option<Answer> {
        let pending = self.pending.as_mut().filter(|pending| pending.request.turn == turn)?;
        self.lag.record_lateness(pending.sent(at));
        let MoveRequest { asked_at, budget, clocks, .. } = pending.request;
        let answer = Answer {
            game: game.to_owned(),
            side: self.side,
            ply: pending.ply,
            origin: pending.origin,
            asked_at,
            budget,
            left: clocks.map(|clocks| clocks.left[self.side]),
            sent_at: at,
        };
        self.measure_lag();
        Some(answer)
    }

    /// Records clocks that were read while ours stands still.
    fn stopped(&mut self, clocks: Option<Clocks>) {
        if let Some(pending) = &mut self.pending {
            pending.clock_stopped(clocks);
            self.measure_lag();
        }
    }

    /// Measures the server's lag once both are known, when the answer was sent and what it cost.
    fn measure_lag(&mut self) {
        if let Some(charge) = self.pending.as_ref().and_then(|pending| pending.charge(self.side)) {
            self.pending = None;
            self.lag.record(charge);
        }
    }

    pub(crate) fn lag_summary(&self) -> Vec<u8> {
        self.lag.summary()
    }
}
