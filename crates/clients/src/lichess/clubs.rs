//! Teams and arena tournaments: which to be in, and when to knock at their doors.
//!
//! No I/O and no clock, as in [`super::challenges`]: [`Clubs::next`] says what is to be asked now, and what came
//! of it is told back.

use std::{
    fmt,
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use zeitnot_wire::lichess::{Form, JoinTeam, JoinTournament, TeamId, TournamentId, TournamentState};

use super::http::HttpError;

/// Who wants to be paired over the API must say so again after a minute; and that is often enough to ask.
const AGAIN: Duration = Duration::from_secs(60);
/// A tournament that begins later is not looked at before.
const LOOK_AHEAD: Duration = Duration::from_secs(600);

/// A `team` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// The last part of its address.
    pub id: TeamId,
    /// What its leaders read.
    #[serde(default)]
    pub message: Option<String>,
    /// If it has one.
    #[serde(default)]
    pub password: Option<Password>,
}

/// A `tournament` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tournament {
    /// The last part of its address.
    pub id: TournamentId,
    /// If it has one.
    #[serde(default)]
    pub password: Option<Password>,
    /// For which team, if teams play.
    #[serde(default)]
    pub team: Option<TeamId>,
    /// Is it left when we leave? Otherwise we stay in its table as one who does not come.
    #[serde(default = "yes")]
    pub withdraw: bool,
}

fn yes() -> bool {
    true
}

impl Tournament {
    /// Without a password.
    pub fn new(id: TournamentId) -> Tournament {
        Tournament { id, password: None, team: None, withdraw: true }
    }

    /// What is sent to join it, and perhaps to be paired at once.
    pub fn form(&self, pair_me_asap: bool) -> String {
        let password = self.password.as_ref().map(|password| password.0.expose_secret().to_owned());
        let team = self.team.as_ref().map(TeamId::to_string);
        JoinTournament { password, team, pair_me_asap }.to_form()
    }
}

impl Team {
    /// What is sent to join it.
    pub fn form(&self) -> String {
        let password = self.password.as_ref().map(|password| password.0.expose_secret().to_owned());
        JoinTeam { message: self.message.clone(), password }.to_form()
    }
}

/// What opens a team or a tournament, perhaps in several words; never shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Password(SecretString);

impl From<String> for Password {
    fn from(text: String) -> Password {
        Password(text.into())
    }
}

impl fmt::Display for Tournament {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        self.team.as_ref().map_or(Ok(()), |team| write!(f, " for {team}"))
    }
}

/// What is to be asked.
#[derive(Clone, Debug)]
pub(super) enum Knock {
    /// Join this team.
    Team(Team),
    /// How does this tournament stand?
    Look(TournamentId),
    /// Join it; in one that runs, to be paired.
    Join(Tournament, bool),
}

/// The teams and tournaments of an account.
#[derive(Debug)]
pub(super) struct Clubs {
    teams: Vec<Team>,
    entries: Vec<Entry>,
    /// A knock is on its way: one at a time.
    is_knocking: bool,
}

/// A tournament that is not over.
#[derive(Debug)]
struct Entry {
    tournament: Tournament,
    due: Instant,
    /// The server has us in its table.
    is_joined: bool,
    /// What it said just now: it runs, or it does not yet.
    runs: Option<bool>,
}

impl Clubs {
    pub fn new(teams: &[Team], tournaments: &[Tournament], now: Instant) -> Clubs {
        let entry = |tournament: &Tournament| Entry {
            tournament: tournament.clone(),
            due: now,
            is_joined: false,
            runs: None,
        };
        Clubs { teams: teams.to_vec(), entries: tournaments.iter().map(entry).collect(), is_knocking: false }
    }

    /// When there is something to do next.
    pub fn due(&self) -> Option<Instant> {
        if self.is_knocking {
            return None;
        }
        let first = self.entries.iter().map(|entry| entry.due).min();
        if self.teams.is_empty() { first } else { Some(Instant::now()) }
    }

    /// What is to be asked now. `is_free` says of a tournament whether we could play a game of it.
    pub fn next(&mut self, now: Instant, is_free: impl Fn(TournamentId) -> bool) -> Option<Knock> {
        if self.is_knocking {
            return None;
        }
        // Teams first: some tournaments are for their members.
        let knock = match self.teams.pop() {
            Some(team) => Some(Knock::Team(team)),
            None => self.entries.iter_mut().filter(|entry| entry.due <= now).find_map(|entry| {
                let knock = entry.knock(is_free(entry.tournament.id));
                entry.due = now + AGAIN;
                knock
            }),
        };
        self.is_knocking = knock.is_some();
        knock
    }

    /// The team has answered, whatever it was.
    pub fn done(&mut self) {
        self.is_knocking = false;
    }

    /// How a tournament stands. Is it still one to play in?
    pub fn stands(&mut self, id: TournamentId, state: &TournamentState, now: Instant) -> bool {
        self.is_knocking = false;
        if state.is_finished {
            self.entries.retain(|entry| entry.tournament.id != id);
            return false;
        }
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.tournament.id == id) {
            let waits = !state.is_started && entry.is_joined;
            // One that we wait for is looked at again, not joined.
            entry.runs = (!waits).then_some(state.is_started);
            let ahead = state.to_start.unwrap_or(AGAIN).clamp(Duration::from_secs(1), LOOK_AHEAD);
            entry.due = if waits { now + ahead } else { now };
        }
        true
    }

    /// We are in, or not; one that does not want us is not asked again.
    pub fn joined(&mut self, id: TournamentId, result: Result<(), &HttpError>) {
        self.is_knocking = false;
        match result {
            Ok(()) => {
                self.entries.iter_mut().filter(|e| e.tournament.id == id).for_each(|e| e.is_joined = true)
            }
            Err(HttpError::NotFound | HttpError::Refused { .. }) => {
                self.entries.retain(|entry| entry.tournament.id != id);
            }
            Err(_) => {}
        }
    }

    /// A game of this tournament is over: we may be paired again.
    pub fn is_free_again(&mut self, id: TournamentId, now: Instant) {
        self.entries.iter_mut().filter(|entry| entry.tournament.id == id).for_each(|entry| entry.due = now);
    }

    /// We leave: which tournaments are to be told?
    pub fn leave(&mut self) -> Vec<TournamentId> {
        self.teams.clear();
        let joined = self.entries.drain(..).filter(|entry| entry.is_joined && entry.tournament.withdraw);
        joined.map(|entry| entry.tournament.id).collect()
    }
}

impl Entry {
    fn knock(&mut self, is_free: bool) -> Option<Knock> {
        match self.runs.take() {
            None => Some(Knock::Look(self.tournament.id)),
            Some(true) => is_free.then(|| Knock::Join(self.tournament.clone(), true)),
            Some(false) => Some(Knock::Join(self.tournament.clone(), false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn clubs(now: Instant) -> (Clubs, TournamentId) {
        let tournament: Tournament = toml::from_str("id = 'abcdefgh'\npassword = 'hush'").unwrap();
        let team = toml::from_str("id = 'the-bots'").unwrap();
        let id = tournament.id;
        (Clubs::new(&[team], &[tournament], now), id)
    }

    fn state(is_started: bool, is_finished: bool) -> TournamentState {
        TournamentState { is_started, is_finished, ..TournamentState::default() }
    }

    #[test]
    fn the_team_comes_first_and_who_plays_asks_each_minute() {
        let now = Instant::now();
        let (mut clubs, id) = clubs(now);
        assert!(matches!(clubs.next(now, |_| true), Some(Knock::Team(_))));
        assert!(clubs.next(now, |_| true).is_none() && clubs.due().is_none(), "one at a time");
        clubs.done();
        assert!(matches!(clubs.next(now, |_| true), Some(Knock::Look(_))));
        assert!(clubs.stands(id, &state(false, false), now));
        let Some(Knock::Join(tournament, false)) = clubs.next(now, |_| false) else { panic!() };
        assert_eq!(tournament.form(true), "pairMeAsap=true&password=hush");
        assert!(!format!("{tournament:?} {tournament}").contains("hush"));
        clubs.joined(id, Ok(()));
        // It has not begun: there is no need to join it twice.
        assert!(matches!(clubs.next(now + AGAIN, |_| true), Some(Knock::Look(_))));
        clubs.stands(
            id,
            &TournamentState { to_start: Some(30 * SECOND), ..state(false, false) },
            now + AGAIN,
        );
        assert_eq!(clubs.due(), Some(now + AGAIN + 30 * SECOND));
        let begun = now + AGAIN + 30 * SECOND;
        for _ in 0..2 {
            clubs.is_free_again(id, begun);
            assert!(matches!(clubs.next(begun, |_| true), Some(Knock::Look(_))));
            clubs.stands(id, &state(true, false), begun);
            assert!(matches!(clubs.next(begun, |_| true), Some(Knock::Join(_, true))));
            clubs.joined(id, Ok(()));
        }
        assert_eq!(clubs.leave(), [id]);
        assert!(clubs.due().is_none());
    }

    #[test]
    fn who_is_in_a_game_or_not_wanted_does_not_ask() {
        let now = Instant::now();
        let (mut clubs, id) = clubs(now);
        clubs.teams.clear();
        clubs.next(now, |_| true);
        clubs.stands(id, &state(true, false), now);
        assert!(clubs.next(now, |_| false).is_none());
        assert!(matches!(clubs.next(now + AGAIN, |_| true), Some(Knock::Look(_))));
        clubs.stands(id, &state(true, false), now + AGAIN);
        assert!(matches!(clubs.next(now + AGAIN, |_| true), Some(Knock::Join(_, true))));
        let no = HttpError::Refused { status: 400, what: "Bots are not allowed".into(), limit: None };
        clubs.joined(id, Err(&no));
        assert!(clubs.due().is_none() && clubs.leave().is_empty());
        let (mut over, id) = self::clubs(now);
        assert!(!over.stands(id, &state(false, true), now) && over.entries.is_empty());
    }
}
