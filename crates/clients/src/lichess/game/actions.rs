//! Requests other than moves: resigning, aborting, claiming, takebacks. Each runs as a task of its own.

use std::time::Duration;

use backon::Retryable;
use tracing::{debug, info};
use zeitnot_wire::lichess::GameId;

use crate::{
    backoff::Reconnect,
    lichess::{Http, HttpError, RequestKind, Tasks, site::Site},
};

/// Attempts at one request that may be given up, and the delays between them.
const ATTEMPTS: usize = 5;
/// Attempts at a resignation, in the course of an hour.
const RESIGNATIONS: usize = 250;
const DELAYS: Reconnect = Reconnect {
    min_delay: Duration::from_secs(1),
    max_delay: Duration::from_secs(16),
    stable_after: Duration::MAX,
};

/// A request other than a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum GameAction {
    Resign,
    Abort,
    ClaimVictory,
    ClaimDraw,
    AcceptTakeback,
    DeclineTakeback,
    /// Half the time, for more points in a tournament.
    Berserk,
}

impl GameAction {
    /// Returns whether a site has a route for it.
    fn is_on(self, site: Site) -> bool {
        site == Site::Lichess || matches!(self, GameAction::Resign | GameAction::Abort)
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            GameAction::Resign => "resign",
            GameAction::Abort => "abort",
            GameAction::ClaimVictory => "claim-victory",
            GameAction::ClaimDraw => "claim-draw",
            GameAction::AcceptTakeback => "takeback/yes",
            GameAction::DeclineTakeback => "takeback/no",
            GameAction::Berserk => "berserk",
        }
    }

    /// Returns the action in words, such as "claim victory".
    pub(crate) fn words(self) -> &'static str {
        match self {
            GameAction::Resign => "resign",
            GameAction::Abort => "abort the game",
            GameAction::ClaimVictory => "claim victory",
            GameAction::ClaimDraw => "claim a draw",
            GameAction::AcceptTakeback => "accept the takeback",
            GameAction::DeclineTakeback => "decline the takeback",
            GameAction::Berserk => "go berserk",
        }
    }

    /// Accepting a takeback twice would propose another.
    fn is_idempotent(self) -> bool {
        self != GameAction::AcceptTakeback
    }

    /// A resignation is repeated until it is answered, as nobody makes a move in its place, or the clock has long run out.
    fn max_attempts(self) -> usize {
        if self == GameAction::Resign { RESIGNATIONS } else { ATTEMPTS }
    }

    pub(crate) fn is_claim(self) -> bool {
        matches!(self, GameAction::ClaimVictory | GameAction::ClaimDraw)
    }
}

/// Sends the request, with further attempts where it may succeed later.
pub(crate) async fn perform(http: &Http, id: GameId, action: GameAction) -> Result<(), HttpError> {
    let path = &format!("api/bot/game/{id}/{}", action.path());
    (|| http.post(RequestKind::Game, path, None))
        .retry(DELAYS.delays().take(action.max_attempts() - 1))
        .when(|error| action.is_idempotent() && error.is_transient())
        .notify(|error, delay| debug!("{path}: {error}; trying again in {:.0} s", delay.as_secs_f64()))
        .await
}

/// The requests of one game that are under way.
#[derive(Debug)]
pub(crate) struct GameActions {
    http: Http,
    id: GameId,
    pub(crate) tasks: Tasks<(GameAction, Result<(), HttpError>)>,
}

impl GameActions {
    pub(crate) fn new(http: Http, id: GameId) -> GameActions {
        GameActions { http, id, tasks: Tasks::default() }
    }

    /// Sends a request, unless the same one is under way: the server may tell its reason again and again.
    pub(crate) fn spawn(&mut self, action: GameAction) {
        if !action.is_on(self.http.site()) {
            return debug!("{}: the site does not have it", action.path());
        }
        if self.tasks.any(|(running, _)| *running == action) {
            return debug!("the request to {} is already under way", action.words());
        }
        info!("asking the server to {}", action.words());
        let http = self.http.clone();
        let id = self.id;
        let if_crashed = (action, Err(HttpError::crashed()));
        self.tasks.spawn(async move { (action, perform(&http, id, action).await) }, if_crashed);
    }
}
