//! A database in memory for simulations, which decide when it writes, fails or hangs. What waits for it is kept as the
//! writer keeps it, and its rows follow the SQL of `write.rs`.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use time::OffsetDateTime;
use tokio::{sync::mpsc, time::Instant};
use zeitnot_pairing::format::PairingKind;

use super::{
    Database, DatabaseError, QUEUE,
    change::{Change, Corrected, Fact, GameEnd, GameRow, MoveList, Place, TournamentId, TournamentState},
    check::check,
    opening::{Opened, Opening},
    pending::Pending,
    tournaments::{History, StoredTournament},
    writer::Request,
};

/// A database with at most one tournament, and what an arena has handed over to it.
#[derive(Debug, Default)]
pub struct SimulatedDatabase {
    /// `None` while no arena runs.
    requests: Option<mpsc::Receiver<Request>>,
    pending: Pending,
    tournament: Option<StoredTournament>,
    events: BTreeMap<Place, Fact>,
    games: BTreeMap<Arc<str>, GameRow>,
}

impl SimulatedDatabase {
    /// Starts an arena on the database. What the last one has handed over and was not written is lost, and its running
    /// games are broken off.
    pub fn start(&mut self) -> Database {
        let (requests, queue) = mpsc::channel(QUEUE);
        (self.requests, self.pending) = (Some(queue), Pending::default());
        for game in self.games.values_mut() {
            game.end.get_or_insert_with(broken_off);
        }
        Database::of(requests, PathBuf::from("simulation").into())
    }

    /// Opens the tournament, or goes on with it.
    ///
    /// # Errors
    /// [`DatabaseError`] if its rows do not fit together.
    pub fn open_tournament(&mut self, opening: &Opening) -> Result<Opened, DatabaseError> {
        let Opening { name, kind, time_control, format, .. } = opening;
        let tournament = self.tournament.get_or_insert_with(|| StoredTournament {
            id: TournamentId(1),
            name: name.clone(),
            edition: 1,
            kind: *kind,
            time_control: time_control.to_string(),
            state: TournamentState::Running,
            opened: OffsetDateTime::UNIX_EPOCH,
            format: format.clone(),
        });
        tournament.format = format.clone();
        let tournament = tournament.clone();
        Ok(Opened { history: self.history(tournament)?, refusals: Vec::new() })
    }

    fn history(&self, tournament: StoredTournament) -> Result<History, DatabaseError> {
        let events: Vec<_> = self.events.iter().map(|(place, fact)| (*place, fact.clone())).collect();
        let without_moves = |game: &GameRow| GameRow { moves: MoveList::default(), ..game.clone() };
        let mut games: Vec<_> = self.games.values().map(without_moves).collect();
        // Those that count, in their order, and then the others, in the order in which they began.
        games.sort_by_key(|game| {
            let place = game.end.as_ref().and_then(|end| end.place);
            (place.is_none(), place, game.header.began)
        });
        check(tournament.format.pairing, &events, &games)?;
        Ok(History { tournament, events, games })
    }

    /// Returns the history of the tournament, if there is one.
    ///
    /// # Errors
    /// [`DatabaseError`] if its rows do not fit together.
    pub fn read(&self) -> Result<Option<History>, DatabaseError> {
        self.tournament.clone().map(|tournament| self.history(tournament)).transpose()
    }

    /// Returns all games, by their ids.
    pub fn games(&self) -> impl Iterator<Item = &GameRow> {
        self.games.values()
    }

    /// Returns the pairing system and the state of the tournament, if there is one.
    pub fn tournament(&self) -> Option<(PairingKind, TournamentState)> {
        self.tournament.as_ref().map(|tournament| (tournament.format.pairing, tournament.state))
    }

    /// Takes what was handed over. Returns whether the writer would write now: somebody waits, or it is time.
    pub fn take(&mut self, now: Instant) -> bool {
        while let Some(request) = self.requests.as_mut().and_then(|requests| requests.try_recv().ok()) {
            match request {
                Request::Write { changes, done } => self.pending.add(changes, done),
                Request::Take { reply, .. } => drop(reply.send(Ok(()))),
                // It is opened here.
                Request::Tournament { reply, .. } => drop(reply.send(Err(DatabaseError::gone()))),
            }
        }
        self.pending.is_awaited() || self.pending.is_due(now)
    }

    /// Writes what it has taken, and answers those who wait.
    pub fn write(&mut self, now: Instant) {
        for change in self.pending.changes().values().cloned().collect::<Vec<_>>() {
            self.apply(change);
        }
        self.pending.tried(true, now);
    }

    /// Fails to write what it has taken: it is kept, and those who wait are answered.
    pub fn fail(&mut self, now: Instant) {
        self.pending.tried(false, now);
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::State(_, state) => {
                self.tournament.iter_mut().for_each(|tournament| tournament.state = state);
            }
            Change::Event { place, fact, .. } => drop(self.events.entry(place).or_insert(fact)),
            Change::Game(mut game) => {
                let stored = self.games.get(&game.header.id);
                if let Some((stored, end)) = stored.zip(game.end.as_mut()) {
                    end.corrected = stored.end.as_ref().and_then(|end| end.corrected);
                }
                self.games.insert(game.header.id.clone(), game);
            }
            Change::Correction { game, result, note, .. } => {
                if let Some(end) = self.games.get_mut(&game).and_then(|game| game.end.as_mut()) {
                    (end.corrected, end.note) = (Some(Corrected(result)), Some(note));
                }
            }
            Change::Settings(..)
            | Change::Refusal(..)
            | Change::Exported(_)
            | Change::ExportFile(_)
            | Change::ExportLength(_)
            | Change::Lichess(_)
            | Change::Deletion(_) => {}
        }
    }
}

fn broken_off() -> GameEnd {
    GameEnd {
        result: None,
        reason: "The arena was interrupted".to_owned(),
        termination: "unterminated".to_owned(),
        place: None,
        at: OffsetDateTime::now_utc(),
        note: None,
        corrected: None,
    }
}
