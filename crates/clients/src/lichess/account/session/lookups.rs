//! Look-ups of an account: running games, its token, and whether the server sees it online.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use tracing::{debug, warn};
use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{GameEvent, GameId, UserStatus};

use super::Account;
use crate::{
    lichess::{HttpError, RequestKind, Stream, account::token_check::is_revoked},
    wait::now,
};

/// Before a failed look-up is repeated.
pub(super) const LOOKUP_DELAY: Duration = Duration::from_secs(2);
/// Between two checks of a token that is good although the server refuses some requests.
const TOKEN_CHECK_PERIOD: Duration = Duration::from_secs(60);

pub(super) enum Lookup {
    /// The running games, and those without news for too long.
    Playing(Vec<GameId>, Result<Arc<Vec<GameEvent>>, HttpError>),
    /// Whether the token is revoked.
    Token(bool),
    Online(Result<Vec<UserStatus>, HttpError>),
    Opponent(GameId, Option<Opponent>),
}

impl Account<'_> {
    /// Looks up the running games: events may have been missed. Games without news are looked for in the list.
    pub(super) fn list_games(&mut self, overdue: Vec<GameId>, delay: Duration) {
        self.suspended.listing(now() + delay);
        let http = self.context.http.clone();
        self.lookups.spawn(async move {
            sleep(delay).await;
            Lookup::Playing(overdue, http.running_games().await)
        });
    }

    /// Checks the token after a 401, once at a time.
    pub(super) fn check_token(&mut self) {
        self.is_checking_token = true;
        let http = self.context.http.clone();
        self.lookups.spawn(async move {
            let is_revoked = is_revoked(&http).await;
            if !is_revoked {
                let message =
                    format_args!("the server refused a request as unauthorised, but our token is good");
                http.log().warn("requests refused although our token is good", message);
                sleep(TOKEN_CHECK_PERIOD).await;
            }
            Lookup::Token(is_revoked)
        });
    }

    /// Asks whether the server sees us online. This also keeps a connection warm.
    pub(super) fn check_online(&mut self) {
        let http = self.context.http.clone();
        let path = format!("api/users/status?ids={}", self.context.me);
        self.lookups.spawn(async move { Lookup::Online(http.get(RequestKind::Lookup, &path).await) });
    }

    pub(super) fn looked_up(&mut self, reply: Lookup) -> Result<(), HttpError> {
        match reply {
            Lookup::Playing(overdue, Ok(list)) => self.games_listed(&overdue, &list),
            Lookup::Playing(overdue, Err(error)) => {
                self.context.http.warn_failure(&error, format_args!("cannot list running games: {error}"));
                self.list_games(overdue, LOOKUP_DELAY);
            }
            Lookup::Token(true) => return Err(HttpError::Unauthorized),
            Lookup::Token(false) => self.is_checking_token = false,
            Lookup::Online(Ok(statuses)) => {
                let ours = statuses.iter().find(|status| status.id == self.context.me);
                self.seen_online(ours.is_some_and(|status| status.online));
            }
            Lookup::Online(Err(error)) => debug!("cannot check whether we are online: {error}"),
            Lookup::Opponent(id, Some(opponent)) => self.slots.set_opponent(id, opponent),
            Lookup::Opponent(_, None) => {}
        }
        Ok(())
    }

    /// Opens the event stream again if the server does not see us although it seems to be open.
    fn seen_online(&mut self, is_online: bool) {
        if is_online || now().saturating_duration_since(self.opened) < self.config.timeouts.online_check {
            return;
        }
        warn!("the server does not see us online although the event stream is open; reconnecting");
        self.opened = now();
        self.events = Stream::of_account(self.context.http.clone());
    }
}
