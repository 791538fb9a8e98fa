//! The requests that join teams and tournaments, one at a time.

use std::time::Instant;

use tracing::{debug, info, warn};
use zeitnot_wire::lichess::{TeamId, TournamentId, TournamentState};

use super::schedule::{JoinRequest, Schedule, Tournament};
use crate::lichess::{Background, Http, HttpError, RequestKind, Tasks, advice};

#[derive(Debug)]
pub(crate) enum Reply {
    Team(TeamId, Result<(), HttpError>),
    LookUp(TournamentId, Result<TournamentState, HttpError>),
    Tournament(TournamentId, Result<(), HttpError>),
}

#[derive(Debug)]
pub(crate) struct Teams {
    http: Http,
    schedule: Schedule,
    pub(crate) requests: Tasks<Reply>,
}

impl Teams {
    pub(crate) fn new(http: Http, schedule: Schedule) -> Teams {
        Teams { http, schedule, requests: Tasks::default() }
    }

    /// Adds a tournament by order of the owner. Returns whether it is new, and there is room for it.
    pub(crate) fn add(&mut self, tournament: Tournament) -> bool {
        self.schedule.add(tournament, Instant::now())
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        if self.requests.is_empty() { self.schedule.due(Instant::now()) } else { None }
    }

    /// Sends the request that is due. `is_free` tells whether a game of a tournament could be played now.
    pub(crate) fn update(&mut self, is_free: impl Fn(TournamentId) -> bool) {
        if !self.requests.is_empty() {
            return;
        }
        let Some(request) = self.schedule.next(Instant::now(), is_free) else { return };
        let http = self.http.clone();
        self.requests.spawn(async move {
            match request {
                JoinRequest::Team(team) => {
                    let path = format!("team/{}/join", team.id);
                    let result = http.post(RequestKind::Join, &path, Some(team.form())).await;
                    Reply::Team(team.id, result)
                }
                JoinRequest::LookUp(id) => {
                    Reply::LookUp(id, http.get(RequestKind::Lookup, &format!("api/tournament/{id}")).await)
                }
                JoinRequest::Tournament(tournament, pair_me) => {
                    let path = format!("api/tournament/{}/join", tournament.id);
                    let result = http.post(RequestKind::Join, &path, Some(tournament.form(pair_me))).await;
                    Reply::Tournament(tournament.id, result)
                }
            }
        });
    }

    pub(crate) fn handle(&mut self, reply: Reply) {
        match reply {
            Reply::Team(id, Ok(())) => info!("joined team {id}"),
            Reply::Team(id, Err(error)) => {
                warn!("cannot join team {id}: {error}{}", hint(&error, "team:write"))
            }
            Reply::LookUp(id, Ok(state)) => {
                let is_joined = self.schedule.is_joined(id);
                match self.schedule.looked_up(id, &state, Instant::now()) {
                    true => {}
                    false if is_joined => info!("tournament {id} is over"),
                    false => warn!("tournament {id} is over: it cannot be joined"),
                }
            }
            Reply::LookUp(id, Err(error)) => {
                warn!("tournament {id}: {error}");
                self.schedule.joined(id, Err(&error));
            }
            Reply::Tournament(id, result) => {
                match &result {
                    Ok(()) if self.schedule.is_joined(id) => debug!("joined tournament {id} again"),
                    Ok(()) => info!("joined tournament {id}"),
                    Err(error) => {
                        warn!("cannot join tournament {id}: {error}{}", hint(error, "tournament:write"));
                    }
                }
                self.schedule.joined(id, result.as_ref().copied());
            }
        }
    }

    pub(crate) fn game_ended(&mut self, id: TournamentId) {
        self.schedule.game_ended(id, Instant::now());
    }

    /// Withdraws from the tournaments that are to be left.
    pub(crate) fn close(&mut self, background: &mut Background) {
        for id in self.schedule.close() {
            background.post(RequestKind::Join, format!("api/tournament/{id}/withdraw"), None);
        }
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
    use zeitnot_net::http::BaseUrl;

    use super::{super::super::timeouts::Timeouts, *};

    #[test]
    async fn requests_are_sent_one_at_a_time() {
        let nowhere = BaseUrl::try_from("http://127.0.0.1:1".to_owned()).unwrap();
        let token = "lip_hush".parse().unwrap();
        let http = Http::new(&nowhere, &token, None, &Timeouts::default()).unwrap();
        let team = "id = 'the-bots'";
        let tournament = "id = 'abcdefgh'";
        let team = toml::from_str(team).unwrap();
        let tournament = toml::from_str(tournament).unwrap();
        let mut teams = Teams::new(http, Schedule::new(&[team], &[tournament], Instant::now()));
        teams.update(|_| true);
        teams.update(|_| true);
        assert!(teams.due().is_none());
        let reply = teams.requests.next().await;
        assert!(matches!(reply, Reply::Team(_, Err(_))) && teams.requests.is_empty());
        teams.handle(reply);
        assert!(teams.due().is_some());
    }
}
