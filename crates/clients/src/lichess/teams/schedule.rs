//! Schedule of the teams and tournaments to join. No I/O and no clock.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::Deserialize;
use zeitnot_net::secret::Secret;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::{Form, JoinTeam, JoinTournament, TeamId, TournamentId, TournamentState};

use crate::lichess::HttpError;

/// A player who is paired over the API must ask again after a minute.
const PERIOD: Duration = Duration::from_secs(60);
/// Maximum time before a tournament that has not begun is looked up again.
const MAX_LOOKAHEAD: Duration = Duration::from_secs(600);
/// Most tournaments at once, with those that are added by order.
const MAX_TOURNAMENTS: usize = 100;

/// A team to join.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// The last part of its address.
    #[schemars(with = "String", example = &"the-team")]
    pub id: TeamId,
    /// Message to its leaders.
    #[serde(default)]
    #[schemars(example = &"I am a bot.")]
    pub message: Option<String>,
    /// Its password, if it has one.
    #[serde(default, deserialize_with = "Secret::any")]
    #[schemars(with = "String", example = &"sesame")]
    pub password: Option<Secret>,
}

/// An arena tournament to play in.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tournament {
    /// The last part of its address.
    #[schemars(with = "String", example = &"abcd1234")]
    pub id: TournamentId,
    /// Its password, if it has one.
    #[serde(default, deserialize_with = "Secret::any")]
    #[schemars(with = "String", example = &"sesame")]
    pub password: Option<Secret>,
    /// Team to play for, in a battle of teams.
    #[serde(default)]
    #[schemars(with = "String", example = &"the-team")]
    pub team: Option<TeamId>,
    /// Withdraw when the program ends.
    #[serde(default = "yes")]
    pub withdraw: bool,
}

fn yes() -> bool {
    true
}

impl Tournament {
    /// Creates a tournament without a password.
    pub fn new(id: TournamentId) -> Tournament {
        Tournament { id, password: None, team: None, withdraw: true }
    }

    /// Returns the form that joins it, and asks to be paired at once.
    pub(crate) fn form(&self, pair_me_asap: bool) -> String {
        let team = self.team.as_ref().map(TeamId::to_string);
        JoinTournament { password: self.password.clone(), team, pair_me_asap }.to_form()
    }
}

impl Team {
    pub(crate) fn form(&self) -> String {
        JoinTeam { message: self.message.clone(), password: self.password.clone() }.to_form()
    }
}

impl fmt::Display for Tournament {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        self.team.as_ref().map_or(Ok(()), |team| write!(f, " for {team}"))
    }
}

/// Request that joins a team or a tournament.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub enum JoinRequest {
    /// Join a team.
    Team(Team),
    /// Look up the state of a tournament.
    LookUp(TournamentId),
    /// Join a tournament, and ask to be paired if it is running.
    Tournament(Tournament, bool),
}

/// Teams and tournaments that are still to be joined or played.
#[derive(Debug)]
pub(crate) struct Schedule {
    teams: Vec<Team>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    tournament: Tournament,
    due: Instant,
    is_joined: bool,
    /// It is running, or not, by a reply that still has to be acted upon.
    is_running: Option<bool>,
}

impl Schedule {
    pub(crate) fn new(teams: &[Team], tournaments: &[Tournament], now: Instant) -> Schedule {
        let entry = |tournament: &Tournament| Entry::new(tournament.clone(), now);
        Schedule { teams: teams.to_vec(), entries: tournaments.iter().map(entry).collect() }
    }

    /// Adds a tournament by order of the owner. Returns whether it is new, and there is room for it.
    pub(crate) fn add(&mut self, tournament: Tournament, now: Instant) -> bool {
        let is_new = self.entries.iter().all(|entry| entry.tournament.id != tournament.id);
        let is_added = is_new && self.entries.len() < MAX_TOURNAMENTS;
        if is_added {
            self.entries.push(Entry::new(tournament, now));
        }
        is_added
    }

    /// Returns whether a tournament is joined, as far as we know.
    pub(crate) fn is_joined(&self, id: TournamentId) -> bool {
        self.entries.iter().any(|entry| entry.tournament.id == id && entry.is_joined)
    }

    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let first = self.entries.iter().map(|entry| entry.due).min();
        if self.teams.is_empty() { first } else { Some(now) }
    }

    /// Returns the next request. `is_free` tells whether a game of a tournament could be played now.
    pub(crate) fn next(
        &mut self,
        now: Instant,
        is_free: impl Fn(TournamentId) -> bool,
    ) -> Option<JoinRequest> {
        // Teams first: some tournaments are for their members.
        if let Some(team) = self.teams.pop() {
            return Some(JoinRequest::Team(team));
        }
        self.entries.iter_mut().filter(|entry| entry.due <= now).find_map(|entry| {
            entry.due = now + PERIOD;
            entry.request(is_free(entry.tournament.id))
        })
    }

    /// Notes the state of a tournament. Returns whether it can still be played.
    pub(crate) fn looked_up(&mut self, id: TournamentId, state: &TournamentState, now: Instant) -> bool {
        if state.is_finished {
            self.remove(id);
            return false;
        }
        for entry in self.entry(id) {
            // A tournament that we have joined and that has not begun is only looked up again.
            let is_waiting = !state.is_started && entry.is_joined;
            entry.is_running = (!is_waiting).then_some(state.is_started);
            let ahead = state.to_start.unwrap_or(PERIOD).clamp(Duration::from_secs(1), MAX_LOOKAHEAD);
            entry.due = if is_waiting { now + ahead } else { now };
        }
        true
    }

    /// Notes the reply of a tournament; one that refuses us is not asked again.
    pub(crate) fn joined(&mut self, id: TournamentId, result: Result<(), &HttpError>) {
        match result {
            Ok(()) => self.entry(id).for_each(|entry| entry.is_joined = true),
            Err(HttpError::NotFound | HttpError::Refused { .. }) => self.remove(id),
            Err(_) => {}
        }
    }

    /// A game of this tournament is over, so we may be paired again.
    pub(crate) fn game_ended(&mut self, id: TournamentId, now: Instant) {
        self.entry(id).for_each(|entry| entry.due = now);
    }

    /// Removes everything, and returns the tournaments to withdraw from.
    pub(crate) fn close(&mut self) -> Vec<TournamentId> {
        self.teams.clear();
        let joined = self.entries.drain(..).filter(|entry| entry.is_joined && entry.tournament.withdraw);
        joined.map(|entry| entry.tournament.id).collect()
    }

    fn entry(&mut self, id: TournamentId) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().filter(move |entry| entry.tournament.id == id)
    }

    fn remove(&mut self, id: TournamentId) {
        self.entries.retain(|entry| entry.tournament.id != id);
    }
}

impl Entry {
    fn new(tournament: Tournament, now: Instant) -> Entry {
        Entry { tournament, due: now, is_joined: false, is_running: None }
    }

    fn request(&mut self, is_free: bool) -> Option<JoinRequest> {
        match self.is_running.take() {
            None => Some(JoinRequest::LookUp(self.tournament.id)),
            Some(true) => is_free.then(|| JoinRequest::Tournament(self.tournament.clone(), true)),
            Some(false) => Some(JoinRequest::Tournament(self.tournament.clone(), false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn schedule(now: Instant) -> (Schedule, TournamentId) {
        let tournament: Tournament = toml::from_str("id = 'abcdefgh'\npassword = 'hush'").unwrap();
        let team = toml::from_str("id = 'the-bots'").unwrap();
        let id = tournament.id;
        (Schedule::new(&[team], &[tournament], now), id)
    }

    fn state(is_started: bool, is_finished: bool) -> TournamentState {
        TournamentState { is_started, is_finished, ..TournamentState::default() }
    }

    #[test]
    fn teams_come_first_and_a_running_tournament_is_asked_each_minute() {
        let now = Instant::now();
        let (mut schedule, id) = schedule(now);
        assert!(matches!(schedule.next(now, |_| true), Some(JoinRequest::Team(_))));
        assert!(matches!(schedule.next(now, |_| true), Some(JoinRequest::LookUp(_))));
        assert!(schedule.looked_up(id, &state(false, false), now));
        let Some(JoinRequest::Tournament(tournament, false)) = schedule.next(now, |_| false) else {
            panic!()
        };
        assert_eq!(tournament.form(true), "pairMeAsap=true&password=hush");
        assert!(!format!("{tournament:?} {tournament}").contains("hush"));
        schedule.joined(id, Ok(()));
        // It has not begun, and is not joined twice.
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::LookUp(_))));
        let soon = TournamentState { to_start: Some(30 * SECOND), ..state(false, false) };
        schedule.looked_up(id, &soon, now + PERIOD);
        assert_eq!(schedule.due(now), Some(now + PERIOD + 30 * SECOND));
        let begun = now + PERIOD + 30 * SECOND;
        for _ in 0..2 {
            schedule.game_ended(id, begun);
            assert!(matches!(schedule.next(begun, |_| true), Some(JoinRequest::LookUp(_))));
            schedule.looked_up(id, &state(true, false), begun);
            assert!(matches!(schedule.next(begun, |_| true), Some(JoinRequest::Tournament(_, true))));
            schedule.joined(id, Ok(()));
        }
        assert_eq!(schedule.close(), [id]);
        assert!(schedule.due(now).is_none());
    }

    #[test]
    fn no_request_during_a_game_or_after_a_refusal() {
        let now = Instant::now();
        let (mut schedule, id) = schedule(now);
        schedule.teams.clear();
        schedule.next(now, |_| true);
        schedule.looked_up(id, &state(true, false), now);
        assert!(schedule.next(now, |_| false).is_none());
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::LookUp(_))));
        schedule.looked_up(id, &state(true, false), now + PERIOD);
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::Tournament(_, true))));
        let no = HttpError::Refused { status: 400, what: "Bots are not allowed".into(), limit: None };
        schedule.joined(id, Err(&no));
        assert!(schedule.due(now).is_none() && schedule.close().is_empty());
        let (mut over, id) = self::schedule(now);
        assert!(!over.looked_up(id, &state(false, true), now) && over.entries.is_empty());
    }
}
