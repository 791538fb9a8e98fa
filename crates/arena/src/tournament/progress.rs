//! Progress of a tournament: whether it has begun, is paused, and lets anybody in.

use super::config::{StartKind, TournamentConfig};
use zeitnot_host::{database::Fact, live::view::TournamentState};

/// Phase of a tournament.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Players join, and leave without a trace; nobody is paired.
    Waiting,
    /// Those who are there are paired. It has no end, and seats of those who have left go to others.
    Open,
    /// Its players play until all is played; who stays away forfeits.
    Begun,
    /// All is played; results can still be corrected.
    Over,
    /// The organiser has deleted it before its beginning.
    Deleted,
}

/// Progress of a tournament. It follows from its settings and its facts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    phase: Phase,
    is_paused: bool,
    lets_late_in: bool,
    /// Number of players with which it begins by itself.
    full: Option<usize>,
}

impl Progress {
    pub(super) fn new(config: &TournamentConfig) -> Progress {
        let start = config.start();
        Progress {
            phase: if start == StartKind::AtOnce { Phase::Open } else { Phase::Waiting },
            is_paused: false,
            lets_late_in: config.late_entries,
            full: config.players.filter(|_| start == StartKind::Full),
        }
    }

    /// Takes in that so many players have a seat: the last one begins a tournament that waits for a number.
    pub(super) fn seated(&mut self, players: usize) {
        if self.phase == Phase::Waiting && self.full.is_some_and(|full| players >= full) {
            self.phase = Phase::Begun;
        }
    }

    /// Takes in that a seat is free, and so many are taken. Seats of a tournament with a number of players are freed only
    /// before its beginning, also if that number was another one then.
    pub(super) fn freed(&mut self, players: usize) {
        if self.full.is_some() {
            self.phase = Phase::Waiting;
        }
        self.seated(players);
    }

    /// Takes in what happened.
    pub(super) fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::Started => self.phase = Phase::Begun,
            Fact::Paused => self.is_paused = true,
            Fact::Resumed => self.is_paused = false,
            Fact::LateEntries { allowed } => self.lets_late_in = *allowed,
            _ => {}
        }
    }

    /// Takes in that all is played.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Over;
    }

    /// Takes in that the organiser has deleted it.
    pub(super) fn delete(&mut self) {
        self.phase = Phase::Deleted;
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.phase == Phase::Deleted
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.phase == Phase::Waiting
    }

    /// Returns whether whoever is there is paired, without an end.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns whether it is played by those who are in it, to its end.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self.phase, Phase::Begun | Phase::Over)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns whether players are paired, and whoever stays away may forfeit.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Begun) && !self.is_paused
    }

    pub(super) fn lets_late_in(&self) -> bool {
        self.lets_late_in
    }

    /// State for the page.
    pub(super) fn state(&self) -> TournamentState {
        match self.phase {
            Phase::Over | Phase::Deleted => TournamentState::Complete,
            _ if self.is_paused => TournamentState::Paused,
            Phase::Waiting => TournamentState::Waiting,
            Phase::Open | Phase::Begun => TournamentState::Running,
        }
    }
}
