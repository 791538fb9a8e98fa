//! Teams and tournaments of the account: the requests that [`Clubs`] asks for.
//!
//! [`Clubs`]: super::super::clubs::Clubs

use std::time::Instant;

use tracing::{debug, info, warn};

use zeitnot_wire::lichess::{TournamentId, TournamentState};

use super::{
    super::{challenges::Place, clubs::Knock, http::HttpError, limits::Kind},
    Account,
    errands::Answered,
};

impl Account<'_> {
    /// Asks for what is to be asked now.
    pub(super) fn knock(&mut self) {
        let places = &self.places;
        let has_room = self.desk.has_room(self.running(), Place::Human);
        let is_free = |id: TournamentId| has_room && !places.plays_in(id);
        let Some(knock) = self.clubs.next(Instant::now(), is_free) else { return };
        let http = self.table.http.clone();
        self.errands.spawn(async move {
            match knock {
                Knock::Team(team) => {
                    let path = format!("team/{}/join", team.id);
                    let result = http.post(Kind::Join, &path, Some(team.form())).await;
                    Answered::Member(team.id.to_string(), result)
                }
                Knock::Look(id) => {
                    Answered::Stands(id, http.get(Kind::Lookup, &format!("api/tournament/{id}")).await)
                }
                Knock::Join(tournament, pair_me) => {
                    let path = format!("api/tournament/{}/join", tournament.id);
                    let result = http.post(Kind::Join, &path, Some(tournament.form(pair_me))).await;
                    Answered::Joined(tournament.id, result)
                }
            }
        });
    }

    pub(super) fn member(&mut self, team: &str, result: Result<(), HttpError>) {
        self.clubs.done();
        match result {
            Ok(()) => info!("in team {team}"),
            Err(error) => warn!("cannot join team {team}: {error}{}", hint(&error, "team:write")),
        }
    }

    pub(super) fn stands(&mut self, id: TournamentId, result: Result<TournamentState, HttpError>) {
        match result {
            Ok(state) => {
                if !self.clubs.stands(id, &state, Instant::now()) {
                    info!("tournament {id} is over");
                }
            }
            Err(error) => {
                warn!("tournament {id}: {error}");
                self.clubs.joined(id, Err(&error));
            }
        }
    }

    pub(super) fn joined(&mut self, id: TournamentId, result: Result<(), HttpError>) {
        match &result {
            Ok(()) => debug!("in tournament {id}"),
            Err(error) => warn!("cannot join tournament {id}: {error}{}", hint(error, "tournament:write")),
        }
        self.clubs.joined(id, result.as_ref().copied());
    }

    /// Leaves the tournaments that are to be left.
    pub(super) fn leave_halls(&mut self) {
        for id in self.clubs.leave() {
            self.request(format!("api/tournament/{id}/withdraw"), Kind::Join, None);
        }
    }
}

/// What most likely is wrong.
fn hint(error: &HttpError, scope: &str) -> String {
    match error {
        HttpError::Refused { status: 403, .. } => format!("; does the token have the scope {scope}?"),
        _ => String::new(),
    }
}
