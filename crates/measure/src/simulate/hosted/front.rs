//! A front with one game: reports to the game what its players do, as the arena's fronts do. Mutants are planted here.

use std::{
    pin::Pin,
    task::{Context, Waker},
    time::Duration,
};

use tokio::time::Instant;
use zeitnot_host::{
    database::GameRow,
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::view::Source,
};
use zeitnot_referee::{Allowance, Cause, Ending, OfferChange, Opinion, Referee, RefereeRules, Refusal};
use zeitnot_rules::{ByColor, Color, DynGame, GameKind, GameResult, MoveText};

use super::{
    super::law::Planted,
    laws::{
        BONUS_AFTER_TAKEBACK, FORGETS_LAST, FORGETS_TAKEBACK, OTHER_CLOCK, OTHER_RESULT, OTHER_SIDE,
        SECOND_END, STALE_REQUEST_TIME, TOLD_EARLY,
    },
};

/// A game that is to be played.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) kind: GameKind,
    pub(super) start: Option<&'static str>,
    pub(super) allowances: ByColor<Allowance>,
    pub(super) rules: RefereeRules,
}

impl Setup {
    pub(super) fn board(&self) -> Option<DynGame> {
        DynGame::begin(self.kind, self.start).ok()
    }

    /// Time on both clocks at the beginning.
    pub(super) fn initial(&self) -> ByColor<Duration> {
        ByColor(self.allowances.0.map(|allowance| match allowance {
            Allowance::Game(time_control) => time_control.initial,
            Allowance::Move(time) => time,
            Allowance::Unlimited => Duration::MAX,
        }))
    }
}

/// Request of a player or the organiser.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Move(String, Option<Opinion>),
    Draw(bool),
    Takeback(bool),
    Resign,
    Abort,
    /// The opponent has been away for long enough.
    Claim(GameResult),
    /// The connection is gone, and with it the game.
    Leave,
    /// The organiser decides against this side.
    Decide,
}

/// News that both players hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Played(Color, MoveText),
    /// Number of moves that are left.
    TakenBack(usize),
    Ended(Ending),
}

type Settling = Pin<Box<dyn Future<Output = ()>>>;

pub(super) struct Front {
    pub(super) game: HostedGame<DynGame>,
    /// Wait for the end to reach the disk.
    settling: Option<Settling>,
    planted: Planted,
}

impl Front {
    /// Begins a game.
    pub(super) fn begin(setup: &Setup, board: DynGame, host: Host, planted: Planted, now: Instant) -> Front {
        let info = GameInfo::new(Source::Lichess, &board, ByColor(["alice", "bob"]));
        let referee = Referee::new(board, setup.allowances, setup.rules, now);
        let game = HostedGame::new(info, referee, host);
        let mut front = Front { game, settling: None, planted };
        front.start(now);
        front
    }

    /// Begins a game again after a kill, with its id, its moves and the clocks after them.
    pub(super) fn restore(
        setup: &Setup,
        board: DynGame,
        row: &GameRow,
        host: Host,
        planted: Planted,
        now: Instant,
    ) -> Option<Front> {
        let info = GameInfo::new(Source::Lichess, &board, ByColor(["alice", "bob"]));
        let info = GameInfo { id: row.header.id.clone(), began: row.header.began, ..info };
        let mut referee = Referee::new(board, setup.allowances, setup.rules, now);
        let mut left = setup.initial();
        let lost = usize::from(planted.is(&FORGETS_LAST));
        let kept = row.moves.iter().count().saturating_sub(lost);
        for (text, (after, spent)) in row.moves.iter().take(kept) {
            let mover = referee.turn();
            referee.replay(text, after, spent).ok()?;
            left[mover] = after.unwrap_or(left[mover]);
        }
        referee.clock.set(left);
        let game = HostedGame::new(info, referee, host);
        let mut front = Front { game, settling: None, planted };
        front.start(now);
        Some(front)
    }

    fn start(&mut self, now: Instant) {
        self.await_move(now, now);
        self.game.begin(now);
    }

    fn await_move(&mut self, read_at: Instant, now: Instant) {
        let asked = if self.planted.is(&STALE_REQUEST_TIME) { read_at } else { now };
        self.game.referee.await_move(asked);
        let turn = self.game.referee.turn();
        if self.planted.is(&OTHER_CLOCK) && self.game.referee.clock.is_running() {
            self.game.referee.clock.start(!turn, asked);
        }
    }

    /// Makes a request that was read at this instant.
    pub(super) fn act(
        &mut self,
        color: Color,
        action: &Action,
        read_at: Instant,
        now: Instant,
    ) -> Option<Heard> {
        let referee = &mut self.game.referee;
        match action {
            Action::Move(text, opinion) => return self.play(color, text, *opinion, read_at, now),
            Action::Draw(_) | Action::Takeback(_) | Action::Resign if referee.check_time(read_at) => {}
            Action::Draw(agrees) => drop(referee.draw(color, *agrees, now)),
            Action::Takeback(agrees) => return self.take_back(color, *agrees, now),
            Action::Resign => referee.lose(color, Cause::Resignation, now),
            Action::Abort if referee.can_abort() => referee.end(None, Cause::Aborted, now),
            Action::Abort => {}
            Action::Claim(result) => referee.end(Some(*result), Cause::Disconnect, now),
            Action::Leave => referee.lose(color, Cause::Disconnect, now),
            Action::Decide => referee.lose(color, Cause::Organiser, now),
        }
        None
    }

    fn play(
        &mut self,
        color: Color,
        text: &str,
        opinion: Option<Opinion>,
        read_at: Instant,
        now: Instant,
    ) -> Option<Heard> {
        let mut mover = color;
        let mut played = self.game.referee.play(mover, text, read_at, opinion);
        if self.planted.is(&OTHER_SIDE) && played == Err(Refusal::NotYourTurn) {
            mover = !color;
            played = self.game.referee.play(mover, text, read_at, opinion);
        }
        let mv = played.ok()?;
        self.await_move(read_at, now);
        self.game.moved(now);
        Some(Heard::Played(color, mv))
    }

    fn take_back(&mut self, color: Color, agrees: bool, now: Instant) -> Option<Heard> {
        if self.game.referee.takeback(color, agrees, now) != Some(OfferChange::Accepted) {
            return None;
        }
        if self.planted.is(&BONUS_AFTER_TAKEBACK) {
            let left = |color| self.game.referee.clock.left(color, now).unwrap_or(Duration::MAX);
            let left = ByColor(Color::BOTH.map(left));
            self.game
                .referee
                .clock
                .set(ByColor(left.0.map(|left| left.saturating_add(Duration::from_secs(1)))));
        }
        self.await_move(now, now);
        if !self.planted.is(&FORGETS_TAKEBACK) {
            self.game.changed(now);
        }
        Some(Heard::TakenBack(self.game.referee.plies.len()))
    }

    /// Ends the game if it is time.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.due().is_some_and(|due| now >= due) {
            self.game.referee.time_out(now);
        }
    }

    /// Returns when [`Front::tick`] has something to do.
    pub(super) fn due(&self) -> Option<Instant> {
        self.game.referee.timeout()
    }

    /// Writes the end, and tells it when it may be told.
    pub(super) fn settle(&mut self, now: Instant) -> Option<Heard> {
        let ending = self.game.referee.ending?;
        if let Some(settling) = self.game.settling() {
            self.settling = Some(Box::pin(settling));
        }
        let Some(settling) = &mut self.settling else {
            return self.planted.is(&SECOND_END).then_some(Heard::Ended(ending));
        };
        let is_settled = settling.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if !is_settled && !self.planted.is(&TOLD_EARLY) {
            return None;
        }
        self.settling = None;
        self.game.tell_end(now);
        let is_other = self.planted.is(&OTHER_RESULT);
        Some(Heard::Ended(if is_other { Ending { result: None, ..ending } } else { ending }))
    }
}
