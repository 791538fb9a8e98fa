//! Requests beside the games, each in a task of its own, and what their answers mean.

use std::{
    io,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tracing::{debug, warn};

use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{
    Challenge, ChallengeEnd, ChallengeId, GameId, Playing, TournamentId, TournamentState, User, UserStatus,
};

use super::{
    super::{http::HttpError, limits::Kind, lines::Lines},
    Account,
};

/// All games that the server lets an account have in its list.
const MOST_GAMES: usize = 50;
/// Before a look-up that failed is tried again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// What came of a request.
pub(super) enum Answered {
    /// A challenge that we have accepted.
    Accepted(Box<Challenge>, Result<(), HttpError>),
    /// Who plays against us in a game, if it came so far.
    Met(GameId, Option<Opponent>),
    /// Which games run?
    Playing(Result<Playing, HttpError>),
    /// Does the server see us?
    Seen(Result<Vec<UserStatus>, HttpError>),
    /// Who we are, and which bots are there.
    Around(Result<(User, Vec<User>), HttpError>),
    /// A challenge of ours, and the rest of the answer to it.
    Made(Result<(ChallengeId, Lines), HttpError>),
    /// What became of it; `None`: nobody said so.
    Concluded(ChallengeId, Option<ChallengeEnd>),
    /// What we know of opponents.
    Saved(io::Result<()>),
    /// A team.
    Member(String, Result<(), HttpError>),
    /// How a tournament stands.
    Stands(TournamentId, Result<TournamentState, HttpError>),
    /// A tournament that we want to be in.
    Joined(TournamentId, Result<(), HttpError>),
}

impl Account<'_> {
    pub(super) fn answered(&mut self, answered: Option<Answered>) -> Result<(), HttpError> {
        let Some(answered) = answered else {
            tracing::error!("a request crashed, please report it");
            return Ok(());
        };
        match answered {
            Answered::Accepted(challenge, result) => return self.accepted(&challenge, result),
            Answered::Met(id, Some(opponent)) => self.places.met(id, opponent),
            Answered::Met(_, None) => {}
            Answered::Playing(Ok(Playing { now_playing })) => {
                now_playing.iter().for_each(|game| self.start(game));
                self.sleepers.listed(&now_playing, MOST_GAMES, Instant::now());
            }
            Answered::Playing(Err(error)) => {
                let words = format_args!("cannot look for running games: {error}");
                self.table.http.tally().failed(&error, words);
                self.look(LOOK_AGAIN);
                return unless_unauthorized(error);
            }
            Answered::Seen(Ok(statuses)) => {
                let ours = statuses.iter().find(|status| status.id == self.table.me);
                self.seen(ours.is_some_and(|status| status.online));
            }
            Answered::Seen(Err(error)) => debug!("cannot look whether we are seen: {error}"),
            Answered::Around(result) => self.around(result),
            Answered::Made(result) => self.made(result),
            Answered::Concluded(id, end) => self.concluded(id, end.as_ref()),
            Answered::Saved(result) => self.saved(result),
            Answered::Member(team, result) => self.member(&team, result),
            Answered::Stands(id, result) => self.stands(id, result),
            Answered::Joined(id, result) => self.joined(id, result),
        }
        Ok(())
    }

    /// Has something done of which nothing depends.
    pub(super) fn request(&mut self, path: String, kind: Kind, form: Option<String>) {
        let http = self.table.http.clone();
        self.notes.spawn(async move {
            if let Err(error) = http.post(kind, &path, form).await {
                warn!("{path}: {error}");
            }
        });
    }

    /// Which games run? The events alone may have missed some.
    pub(super) fn look(&mut self, pause: Duration) {
        self.sleepers.look(Instant::now() + pause);
        let http = self.table.http.clone();
        self.errands.spawn(async move {
            sleep(pause).await;
            let path = format!("api/account/playing?nb={MOST_GAMES}");
            Answered::Playing(http.get(Kind::Lookup, &path).await)
        });
    }

    /// Does the server see us? This also uses the connection that moves will need.
    pub(super) fn check(&mut self) {
        let (http, path) = (self.table.http.clone(), format!("api/users/status?ids={}", self.table.me));
        self.errands.spawn(async move { Answered::Seen(http.get(Kind::Lookup, &path).await) });
    }
}

/// Of all errors this one ends the session.
pub(super) fn unless_unauthorized(error: HttpError) -> Result<(), HttpError> {
    match error {
        HttpError::Unauthorized => Err(error),
        _ => Ok(()),
    }
}
