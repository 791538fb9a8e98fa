//! Games at the boards of a tournament, from their beginning until their ends are settled.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;
use zeitnot_pairing::{Name, Pairing, PairingSystem, SeatNo};
use zeitnot_referee::{Cause, ServerBoard};
use zeitnot_rules::{ByColor, Color, GameError};

use super::{journal::Journal, record::names, starts::Starts};
use crate::{client::Client, online_game::OnlineGame};
use zeitnot_host::{
    database::{GameEnd, GameHeader, GameRow, History},
    note::Note,
    tag::GameTag,
};

pub(super) type TournamentGame = OnlineGame<ServerBoard>;

#[derive(Debug)]
pub(super) struct Boards {
    starts: Starts,
    running: BTreeMap<GameTag, Running>,
    /// Games that began.
    begun: u32,
    broken_off: Vec<BrokenOff>,
}

#[derive(Debug)]
struct Running {
    pairing: Pairing,
    game: TournamentGame,
    /// Once it is handed over to the database.
    end: Option<GameEnd>,
    /// Note of the organiser, who has decided it.
    note: Option<Note>,
}

/// Game without a result, which is to be played again.
#[derive(Debug)]
struct BrokenOff {
    id: String,
    names: ByColor<Name>,
}

impl Boards {
    pub(super) fn new(starts: Starts) -> Boards {
        Boards { starts, running: BTreeMap::new(), begun: 0, broken_off: Vec::new() }
    }

    /// Takes in the games of before a restart.
    pub(super) fn replay(&mut self, history: &History) {
        let began = history.games.iter().filter(|game| game.end.as_ref().is_none_or(GameEnd::is_played));
        self.begun = u32::try_from(began.count()).unwrap_or(u32::MAX);
        let repeated: BTreeSet<_> =
            history.games.iter().filter_map(|game| game.header.repeats.as_deref()).collect();
        let broken_off = history.games.iter().filter(|game| {
            game.end.as_ref().is_some_and(|end| end.result.is_none()) && !repeated.contains(&*game.header.id)
        });
        broken_off.for_each(|game| self.break_off(&game.header));
    }

    /// Takes in a game without a result.
    fn break_off(&mut self, header: &GameHeader) {
        let broken_off = names(header).map(|names| BrokenOff { id: header.id.to_string(), names });
        self.broken_off.extend(broken_off);
    }

    /// Returns the id of a game without a result between these two, once: the next one repeats it.
    pub(super) fn take_broken_off(&mut self, names: &ByColor<Name>) -> Option<String> {
        let at = self.broken_off.iter().position(|game| game.names == *names)?;
        Some(self.broken_off.swap_remove(at).id)
    }

    /// Returns the number of the game that begins next, from 1.
    pub(super) fn next_number(&self) -> u32 {
        self.begun.saturating_add(1)
    }

    /// Sets up a game of that pairing.
    ///
    /// # Errors
    /// The rules refuse their own start.
    pub(super) fn set_up(&self, pairing: Pairing) -> Result<ServerBoard, GameError> {
        self.starts.board(pairing.opening)
    }

    /// Has games begin elsewhere from now on, or be another game.
    pub(super) fn begin_from(&mut self, starts: Starts) {
        self.starts = starts;
    }

    /// Takes in a game that has begun.
    pub(super) fn insert(&mut self, tag: GameTag, pairing: Pairing, game: TournamentGame) {
        self.begun = self.next_number();
        self.running.insert(tag, Running { pairing, game, end: None, note: None });
    }

    /// Shows a game to a client from now on; returns whether there is such a game.
    pub(super) fn watch(&mut self, tag: GameTag, client: Client) -> bool {
        self.running.get_mut(&tag).map(|running| running.game.watch(client)).is_some()
    }

    pub(super) fn unwatch(&mut self, tag: GameTag, client: &Client) {
        if let Some(running) = self.running.get_mut(&tag) {
            running.game.unwatch(client);
        }
    }

    /// Returns the game of that tag, and which side the seat has in it.
    pub(super) fn game(&mut self, tag: GameTag, seat: SeatNo) -> Option<(&mut TournamentGame, Color)> {
        let running = self.running.get_mut(&tag)?;
        Some((&mut running.game, running.pairing.color_of(seat)))
    }

    /// Decides a game that goes on against a player; returns whether it went on.
    pub(super) fn decide(&mut self, tag: GameTag, seat: SeatNo, note: Option<Note>) -> bool {
        let Some(running) = self.running.get_mut(&tag).filter(|running| running.end.is_none()) else {
            return false;
        };
        running.note = note;
        running.game.lose(running.pairing.color_of(seat), Cause::Organiser);
        true
    }

    /// Returns the instants at which [`Boards::tick`] has something to do.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Instant> {
        self.running.values().filter_map(|running| running.game.due())
    }

    pub(super) fn tick(&mut self, now: Instant) {
        self.running.values_mut().for_each(|running| running.game.tick(now));
    }

    pub(super) fn shut_down(&mut self) {
        self.running.values_mut().for_each(|running| running.game.shut_down());
    }

    /// Hands over the ends of the games that are over. What is paired next is based on their results.
    pub(super) fn hand_over_ends(&mut self, journal: &mut Journal, pairings: &mut dyn PairingSystem) {
        for (tag, Running { pairing, game, end, note }) in &mut self.running {
            if let Some(ended) = journal.end_game(*tag, &mut game.hosted, note.clone()) {
                let result = ended.result;
                // The pairing may panic: the result is handed over all the same.
                *end = Some(ended);
                if let Some(result) = result {
                    pairings.played(*pairing, result);
                }
            }
        }
    }

    /// Takes out a game whose end is settled, and tells its players.
    pub(super) fn conclude(&mut self, tag: GameTag) -> Option<(Pairing, TournamentGame, GameRow)> {
        let Running { pairing, mut game, end, .. } = self.running.remove(&tag)?;
        game.finish();
        let state = GameRow { end, ..game.hosted.state() };
        if state.end.as_ref().is_some_and(|end| end.result.is_none()) {
            self.break_off(&state.header);
        }
        Some((pairing, game, state))
    }

    /// Returns all games, those whose end is on its way to the disk among them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GameTag, Pairing, &TournamentGame)> {
        self.running.iter().map(|(tag, running)| (*tag, running.pairing, &running.game))
    }

    /// Returns the pairings of the games that go on.
    pub(super) fn going_on(&self) -> impl Iterator<Item = Pairing> {
        let going_on = self.running.values().filter(|running| running.end.is_none());
        going_on.map(|running| running.pairing)
    }

    pub(super) fn contains(&self, tag: GameTag) -> bool {
        self.running.contains_key(&tag)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}
