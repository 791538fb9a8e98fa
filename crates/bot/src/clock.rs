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

    /// Returns the open request with new limits, if the server has changed our clock since it was read; `None` if not.
    ///
    /// A lower clock brings both limits nearer. A higher one moves the soft limit only, as far as the hard one, which
    /// the search was started with.
    pub(crate) fn changed(&self, request: &MoveRequest, clocks: Clocks) -> Option<MoveRequest> {
        let before = request.clocks?;
        let was = before.left[self.side];
        let is = clocks.left[self.side];
        // The lag and the steps of the clock change it, too.
        let tolerance = self.reserve().lag + clocks.resolution;
        let ran = clocks.read_at.saturating_duration_since(before.read_at);
        let is_lower = is.saturating_add(ran).saturating_add(tolerance) < was;
        // Some servers repeat the clock as it stood at the request.
        let is_higher = is > was.saturating_add(tolerance);
        if !is_lower && !is_higher {
            return None;
        }
        let mut at_request = clocks;
        if is_lower {
            // The limits count from the request, and so does the time that has run since.
            let ran = clocks.read_at.saturating_duration_since(request.asked_at);
            at_request.left[self.side] = is.saturating_add(ran);
        }
        let new = self.budget(Some(at_request)).capped(request.budget.hard);
        Some(MoveRequest { clocks: Some(clocks), budget: new, ..*request })
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
        let lag = self.lag.reserve().lag;
        let answer = Answer {
            game: game.to_owned(),
            side: self.side,
            ply: pending.ply,
            origin: pending.origin,
            asked_at,
            budget,
            // They may have been read again since.
            left: clocks
                .map(|clocks| clocks.left[self.side] + clocks.read_at.saturating_duration_since(asked_at)),
            lag,
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

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use zeitnot_engine::EngineFactory;
    use zeitnot_rules::{ByColor, GameKind};

    use super::*;
    use crate::config::Config;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock() -> GameClock {
        let factory = EngineFactory::new(&engine::Config::default()).unwrap();
        let context = BotContext::new(Config::default(), factory, mpsc::channel(1).0);
        let info = GameInfo {
            id: "g".into(),
            server: "s".into(),
            game: GameKind::Chess,
            start: None,
            side: Color::White,
            names: ByColor(["a".into(), "b".into()]),
            time_control: None,
            details: Default::default(),
        };
        GameClock::new(&info, &context)
    }

    #[test]
    fn the_limits_follow_our_clock_and_the_hard_one_is_never_put_off() {
        let mut clock = clock();
        let began = Instant::now();
        let at = |seconds: u32, left: u32| Clocks {
            left: ByColor([left * SECOND, SECOND]),
            increment: Duration::ZERO,
            moves_to_go: None,
            resolution: SECOND / 100,
            read_at: began + seconds * SECOND,
        };
        let request = clock.request(Turn(1), Some(at(0, 220)));
        let same = |seconds, left| clock.changed(&request, at(seconds, left)).is_none();
        assert!(
            same(0, 220) && same(7, 213) && same(7, 220),
            "it runs, or is told as it stood at the request"
        );

        let lowered = clock.changed(&request, at(10, 100)).unwrap();
        assert_eq!(lowered.budget, clock.budget(Some(at(0, 110))));
        assert!(lowered.budget.soft < request.budget.soft && lowered.budget.hard < request.budget.hard);
        assert!(clock.changed(&lowered, at(12, 98)).is_none(), "it runs on from there");
        let again = clock.changed(&lowered, at(20, 50)).unwrap();
        assert_eq!(again.budget, clock.budget(Some(at(0, 70))));

        let raised = clock.changed(&request, at(10, 440)).unwrap();
        assert_eq!(raised.budget.soft, clock.budget(Some(at(0, 440))).soft);
        assert_eq!(raised.budget.hard, request.budget.hard);
        assert_eq!(raised.asked_at, request.asked_at);
        let raised = clock.changed(&lowered, at(11, 440)).unwrap();
        assert_eq!(raised.budget, Budget::exactly(lowered.budget.hard));
    }
}
