//! Schedule of the teams and tournaments to join, one request at a time. No I/O and no clock.

use std::time::{Duration, Instant};

use tracing::{debug, info, warn};
use zeitnot_wire::lichess::{TeamId, TournamentId, TournamentState};

use super::tournament::{JoinRequest, Team, Tournament};
use crate::lichess::{
    HttpError,
    account::interface::{Effect, Request},
    advice,
};

/// A player who is paired over the API must ask again after a minute.
const PERIOD: Duration = Duration::from_secs(60);
/// Maximum time before a tournament that has not begun is looked up again.
const MAX_LOOKAHEAD: Duration = Duration::from_secs(600);
/// Most tournaments at once, with those that are added by order.
const MAX_TOURNAMENTS: usize = 100;

/// Teams and tournaments that are still to be joined or played.
#[derive(Debug)]
pub(crate) struct Schedule {
    teams: Vec<Team>,
    entries: Vec<Entry>,
    /// A request has no reply yet.
    is_asking: bool,
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
        Schedule { teams: teams.to_vec(), entries: tournaments.iter().map(entry).collect(), is_asking: false }
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

    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let first = self.entries.iter().map(|entry| entry.due).min();
        let due = if self.teams.is_empty() { first } else { Some(now) };
        due.filter(|_| !self.is_asking)
    }

    /// Sends the request that is due. `is_free` tells whether a game of a tournament could be played now.
    pub(crate) fn update(
        &mut self,
        is_free: impl Fn(TournamentId) -> bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_asking
            && let Some(request) = self.next(now, is_free)
        {
            self.is_asking = true;
            effects.push(Effect::Send(Request::Join(request)));
        }
    }

    fn next(&mut self, now: Instant, is_free: impl Fn(TournamentId) -> bool) -> Option<JoinRequest> {
        // Teams first: some tournaments are for their members.
        if let Some(team) = self.teams.pop() {
            return Some(JoinRequest::Team(team));
        }
        self.entries.iter_mut().filter(|entry| entry.due <= now).find_map(|entry| {
            entry.due = now + PERIOD;
            entry.request(is_free(entry.tournament.id))
        })
    }

    pub(crate) fn team_joined(&mut self, id: &TeamId, result: Result<(), HttpError>) {
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
        let state = match result {
            Ok(state) if state.is_finished => {
                match self.is_joined(id) {
                    true => info!("tournament {id} is over"),
                    false => warn!("tournament {id} is over: it cannot be joined"),
                }
                return self.remove(id);
            }
            Ok(state) => state,
            Err(error) => {
                warn!("tournament {id}: {error}");
                return self.failed(id, &error);
            }
        };
        for entry in self.entry(id) {
            // A tournament that we have joined and that has not begun is only looked up again.
            let is_waiting = !state.is_started && entry.is_joined;
            entry.is_running = (!is_waiting).then_some(state.is_started);
            let ahead = state.to_start.unwrap_or(PERIOD).clamp(Duration::from_secs(1), MAX_LOOKAHEAD);
            entry.due = if is_waiting { now + ahead } else { now };
        }
    }

    pub(crate) fn joined(&mut self, id: TournamentId, result: Result<(), HttpError>) {
        self.is_asking = false;
        match result {
            Ok(()) if self.is_joined(id) => debug!("joined tournament {id} again"),
            Ok(()) => {
                info!("joined tournament {id}");
                self.entry(id).for_each(|entry| entry.is_joined = true);
            }
            Err(error) => {
                warn!("cannot join tournament {id}: {error}{}", hint(&error, "tournament:write"));
                self.failed(id, &error);
            }
        }
    }

    /// Removes a tournament that refuses us.
    fn failed(&mut self, id: TournamentId, error: &HttpError) {
        if let HttpError::NotFound | HttpError::Refused { .. } = error {
            self.remove(id);
        }
    }

    /// A game of this tournament is over, so we may be paired again.
    pub(crate) fn game_ended(&mut self, id: TournamentId, now: Instant) {
        self.entry(id).for_each(|entry| entry.due = now);
    }

    /// Removes everything, and withdraws from the tournaments that are to be left.
    pub(crate) fn close(&mut self, effects: &mut Vec<Effect>) {
        self.teams.clear();
        let joined = self.entries.drain(..).filter(|entry| entry.is_joined && entry.tournament.withdraw);
        effects.extend(joined.map(|entry| Effect::Send(Request::Withdraw(entry.tournament.id))));
    }

    fn is_joined(&self, id: TournamentId) -> bool {
        self.entries.iter().any(|entry| entry.tournament.id == id && entry.is_joined)
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
        schedule.looked_up(id, Ok(state(false, false)), now);
        let Some(JoinRequest::Tournament(tournament, false)) = schedule.next(now, |_| false) else {
            panic!()
        };
        assert_eq!(tournament.form(true), "pairMeAsap=true&password=hush");
        assert!(!format!("{tournament:?} {tournament}").contains("hush"));
        schedule.joined(id, Ok(()));
        // It has not begun, and is not joined twice.
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::LookUp(_))));
        let soon = TournamentState { to_start: Some(30 * SECOND), ..state(false, false) };
        schedule.looked_up(id, Ok(soon), now + PERIOD);
        assert_eq!(schedule.due(now), Some(now + PERIOD + 30 * SECOND));
        let begun = now + PERIOD + 30 * SECOND;
        for _ in 0..2 {
            schedule.game_ended(id, begun);
            assert!(matches!(schedule.next(begun, |_| true), Some(JoinRequest::LookUp(_))));
            schedule.looked_up(id, Ok(state(true, false)), begun);
            assert!(matches!(schedule.next(begun, |_| true), Some(JoinRequest::Tournament(_, true))));
            schedule.joined(id, Ok(()));
        }
        let mut effects = Vec::new();
        schedule.close(&mut effects);
        assert!(matches!(effects[..], [Effect::Send(Request::Withdraw(left))] if left == id), "{effects:?}");
        assert!(schedule.due(now).is_none());
    }

    #[test]
    fn no_request_during_a_game_or_after_a_refusal() {
        let now = Instant::now();
        let (mut schedule, id) = schedule(now);
        schedule.teams.clear();
        schedule.next(now, |_| true);
        schedule.looked_up(id, Ok(state(true, false)), now);
        assert!(schedule.next(now, |_| false).is_none());
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::LookUp(_))));
        schedule.looked_up(id, Ok(state(true, false)), now + PERIOD);
        assert!(matches!(schedule.next(now + PERIOD, |_| true), Some(JoinRequest::Tournament(_, true))));
        let no = HttpError::Refused { status: 400, what: "Bots are not allowed".into(), limit: None };
        schedule.joined(id, Err(no));
        let mut effects = Vec::new();
        schedule.close(&mut effects);
        assert!(schedule.due(now).is_none() && effects.is_empty());
        let (mut over, id) = self::schedule(now);
        over.looked_up(id, Ok(state(false, true)), now);
        assert!(over.entries.is_empty());
    }

    #[test]
    fn requests_are_sent_one_at_a_time() {
        let now = Instant::now();
        let (mut schedule, _) = schedule(now);
        let mut effects = Vec::new();
        schedule.update(|_| true, now, &mut effects);
        schedule.update(|_| true, now, &mut effects);
        assert!(effects.len() == 1 && schedule.due(now).is_none());
        schedule.team_joined(&"the-bots".parse().unwrap(), Err(HttpError::NotFound));
        assert!(schedule.due(now).is_some());
    }
}
