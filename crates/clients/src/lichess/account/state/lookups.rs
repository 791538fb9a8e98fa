//! Look-ups of an account: running games, its token, and whether the server sees it online.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};
use zeitnot_wire::lichess::{GameEvent, GameId};

use super::{AccountState, DAY, Stage};
use crate::lichess::{
    HttpError,
    account::{
        game_starts::START_TIMEOUT,
        interface::{Effect, Request},
    },
    game::result::GameFinish,
    playing::{Listing, MAX_LISTED},
};

/// Time between two requests while games run, so that no move waits for a new connection.
const KEEP_WARM: Duration = Duration::from_secs(45);
/// Time between two checks of a token that is good although the server refuses some requests.
const TOKEN_CHECK_PERIOD: Duration = Duration::from_secs(60);
/// Answers in a row that say that the token is revoked. A single 401 may come from a proxy, or from a server in
/// trouble.
const MAX_REFUSALS: u32 = 8;

/// For a look-up of the running games while we leave.
const LEAVING_LOOKUP: Duration = Duration::from_secs(10);

impl AccountState {
    /// Begins the look-ups that are due.
    pub(super) fn look_up(&mut self) {
        let now = self.now;
        if now >= self.check_due() && !self.online.is_running() {
            self.checked = now;
            self.online.want(now);
        }
        if self.playing.begin(now) {
            self.send(Request::RunningGames);
        }
        if self.token.begin(now) {
            self.send(Request::Token);
        }
        if self.online.begin(now) {
            self.send(Request::Online);
        }
    }

    /// Wishes for the list of running games: events may have been missed.
    pub(super) fn list_games(&mut self, at: Instant) {
        self.suspended.listing(at);
        self.playing.want(at);
    }

    pub(super) fn stream_opened(&mut self) {
        self.opened = self.now;
        self.playing.retry();
        self.list_games(self.now);
    }

    /// Games may have ended without the stream telling it.
    pub(super) fn overdue(&mut self, games: Vec<GameId>) {
        debug!("no news for too long of {games:?}");
        self.overdue.extend(games);
        self.list_games(self.now);
    }

    pub(super) fn games_listed(&mut self, result: Result<Arc<Vec<GameEvent>>, HttpError>) {
        let list = match result {
            Ok(list) => list,
            Err(error) => {
                self.playing.failed(&error, self.now, &mut self.random);
                self.list_games(self.now);
                if self.stage == Stage::Leaving {
                    self.give_up_games();
                }
                return;
            }
        };
        self.playing.succeeded();
        for id in mem::take(&mut self.overdue) {
            if Listing::of(id, &list) == Listing::Gone && self.slots.is_running(id) {
                info!("game {id} is over, as the server no longer lists it");
                self.finish(id, GameFinish::Unlisted);
            }
        }
        list.iter().for_each(|game| self.game_started(game));
        self.suspended.listed(&list, MAX_LISTED, self.now);
    }

    /// Returns when we no longer wait for the look-up of the running games, which may be held back by the server's limits:
    /// only while we leave, and once for each look-up.
    pub(super) fn give_up_due(&self) -> Option<Instant> {
        let began = self.playing.began().filter(|_| self.stage == Stage::Leaving)?;
        Some(began + LEAVING_LOOKUP).filter(|due| *due > self.now)
    }

    /// Gives up games whose look-up takes too long.
    pub(super) fn give_up_late(&mut self) {
        if self.stage == Stage::Leaving && self.playing.is_running() && self.give_up_due().is_none() {
            self.give_up_games();
        }
    }

    /// Waits no longer for what cannot go on while the server is away: games whose clocks must have run out, and accepted
    /// challenges.
    fn give_up_games(&mut self) {
        for id in mem::take(&mut self.overdue) {
            if self.slots.is_running(id) {
                info!("game {id} is given up: its clocks must have run out, and the server does not answer");
                self.finish(id, GameFinish::Unanswered);
            }
        }
        let accepted = self.slots.expire(START_TIMEOUT, self.now);
        if accepted > 0 {
            info!("gave up {accepted} accepted challenges: the server does not answer");
        }
    }

    /// Tells a game's task how the game has ended.
    pub(super) fn finish(&mut self, id: GameId, finish: GameFinish) {
        if self.slots.is_running(id) {
            self.effects.push(Effect::Finish(id, finish));
        }
    }

    /// Checks the token after a 401.
    pub(super) fn unauthorized(&mut self) {
        if self.token.due().is_none() && !self.token.is_running() {
            info!("the server refused our token; checking whether it is still good");
            self.refusals = 0;
            self.token.want(self.now);
        }
    }

    pub(super) fn token_checked(&mut self, result: Result<(), HttpError>) {
        let now = self.now;
        match result {
            Ok(()) => {
                self.token.succeeded();
                self.token.pause(now + TOKEN_CHECK_PERIOD);
            }
            Err(HttpError::Unauthorized) if self.refusals + 1 >= MAX_REFUSALS => {
                self.leave(Err(HttpError::Unauthorized));
            }
            Err(error) => {
                let is_refused = matches!(error, HttpError::Unauthorized);
                self.refusals = if is_refused { self.refusals + 1 } else { 0 };
                self.token.failed(&error, now, &mut self.random);
                self.token.want(now);
            }
        }
    }

    pub(super) fn check_due(&self) -> Instant {
        let period = self.config.timeouts.online_check.min(DAY);
        self.checked + if self.slots.running_tasks() > 0 { KEEP_WARM.min(period) } else { period }
    }

    /// Opens the event stream again if the server does not see us although it seems to be open.
    pub(super) fn online_checked(&mut self, result: Result<bool, HttpError>) {
        let now = self.now;
        match result {
            Ok(is_online) => {
                self.online.succeeded();
                let since = now.saturating_duration_since(self.opened);
                if !is_online && since >= self.config.timeouts.online_check {
                    warn!(
                        "the server does not see us online although the event stream is open; reconnecting"
                    );
                    self.opened = now;
                    self.effects.push(Effect::ReopenStream);
                }
            }
            Err(error) => {
                debug!("cannot check whether we are online: {error}");
                self.online.failed(&error, now, &mut self.random);
            }
        }
    }
}
