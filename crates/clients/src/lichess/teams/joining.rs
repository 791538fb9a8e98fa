//! Teams and tournaments are joined one at a time. No I/O and no clock.

use std::time::Instant;

use tracing::{debug, info, warn};
use zeitnot_wire::lichess::{TeamId, TournamentId, TournamentState};

use super::schedule::{Schedule, Tournament};
use crate::lichess::{
    HttpError,
    account::interface::{Effect, Request},
    advice,
};

#[derive(Debug)]
pub(crate) struct Teams {
    schedule: Schedule,
    is_asking: bool,
}

impl Teams {
    pub(crate) fn new(schedule: Schedule) -> Teams {
        Teams { schedule, is_asking: false }
    }

    /// Adds a tournament by order of the owner. Returns whether it is new, and there is room for it.
    pub(crate) fn add(&mut self, tournament: Tournament, now: Instant) -> bool {
        self.schedule.add(tournament, now)
    }

    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        if self.is_asking { None } else { self.schedule.due(now) }
    }

    /// Sends the request that is due. `is_free` tells whether a game of a tournament could be played now.
    pub(crate) fn update(
        &mut self,
        is_free: impl Fn(TournamentId) -> bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        if self.is_asking {
            return;
        }
        let Some(request) = self.schedule.next(now, is_free) else { return };
        self.is_asking = true;
        effects.push(Effect::Send(Request::Join(request)));
    }

    pub(crate) fn team(&mut self, id: &TeamId, result: Result<(), HttpError>) {
        self.is_asking = false;
        match result {
            Ok(()) => info!("joined team {id}"),
            Err(error) => warn!("cannot join team {id}: {error}{}", hint(&error, "team:write")),
        }
    }

    pub(crate) fn looked_up(
        &mut self,
        id: TournamentId,
        result: Result<TournamentState, HttpError>,
        now: Instant,
    ) {
        self.is_asking = false;
        let is_joined = self.schedule.is_joined(id);
        match result {
            Ok(state) => match self.schedule.looked_up(id, &state, now) {
                true => {}
                false if is_joined => info!("tournament {id} is over"),
                false => warn!("tournament {id} is over: it cannot be joined"),
            },
            Err(error) => {
                warn!("tournament {id}: {error}");
                self.schedule.joined(id, Err(&error));
            }
        }
    }

    pub(crate) fn joined(&mut self, id: TournamentId, result: &Result<(), HttpError>) {
        self.is_asking = false;
        match result {
            Ok(()) if self.schedule.is_joined(id) => debug!("joined tournament {id} again"),
            Ok(()) => info!("joined tournament {id}"),
            Err(error) => {
                warn!("cannot join tournament {id}: {error}{}", hint(error, "tournament:write"));
            }
        }
        self.schedule.joined(id, result.as_ref().copied());
    }

    pub(crate) fn game_ended(&mut self, id: TournamentId, now: Instant) {
        self.schedule.game_ended(id, now);
    }

    /// Withdraws from the tournaments that are to be left.
    pub(crate) fn close(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.schedule.close().into_iter().map(|id| Effect::Send(Request::Withdraw(id))));
    }
}

fn hint(error: &HttpError, scope: &str) -> String {
    match error {
        // Lichess names the scope, other servers may not.
        HttpError::Refused { status: 403, what, .. } if advice::of_refusal(what).is_empty() => {
            format!("; does the token have the scope {scope}?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sent_one_at_a_time() {
        let now = Instant::now();
        let team = toml::from_str("id = 'the-bots'").unwrap();
        let tournament = toml::from_str("id = 'abcdefgh'").unwrap();
        let mut teams = Teams::new(Schedule::new(&[team], &[tournament], now));
        let mut effects = Vec::new();
        teams.update(|_| true, now, &mut effects);
        teams.update(|_| true, now, &mut effects);
        assert!(effects.len() == 1 && teams.due(now).is_none());
        teams.team(&"the-bots".parse().unwrap(), Err(HttpError::NotFound));
        assert!(teams.due(now).is_some());
    }
}
