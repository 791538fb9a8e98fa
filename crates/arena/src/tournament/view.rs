//! Tournament as the page shows it, told at a pace that costs its task next to nothing.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::GameKind;

use super::{config::TournamentConfig, players::Players, progress::Progress, standings::Standings};
use crate::live::{
    Feed,
    view::{JoinLine, Standing, TieBreak, TournamentState, TournamentSummary},
};

/// Shortest time between two reports.
const INTERVAL: Duration = Duration::from_millis(500);
/// A report is followed by a pause of this many times the time that it took.
const PAUSE: u32 = 100;

/// Reports the state of a tournament to the page.
#[derive(Debug)]
pub(super) struct Publisher {
    has_changed: bool,
    next: Option<Instant>,
}

impl Default for Publisher {
    fn default() -> Publisher {
        Publisher { has_changed: true, next: None }
    }
}

impl Publisher {
    pub(super) fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Returns when there is something to report.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next.filter(|_| self.has_changed)
    }

    /// Reports the state if it has changed and it is time, or if it is the last one.
    pub(super) fn publish(&mut self, live: &Feed, is_last: bool, view: impl FnOnce() -> TournamentSummary) {
        let began = Instant::now();
        let is_due = self.has_changed && self.next.is_none_or(|next| began >= next);
        if !live.is_on() || !(is_due || is_last) {
            return;
        }
        self.has_changed = !live.tournament(view());
        self.next = Some(began + INTERVAL.max(began.elapsed() * PAUSE));
    }
}

pub(super) fn view(
    config: &TournamentConfig,
    progress: &Progress,
    players: &Players,
    standings: &Standings,
    state: TournamentState,
    joins: &[JoinLine],
) -> TournamentSummary {
    let present = |name: &str| {
        players.seats.values().any(|player| player.name.as_str() == name && player.client.is_some())
    };
    let standing = |(rank, row): (u32, super::standings::Row)| Standing {
        rank,
        present: present(row.name.as_str()),
        withdrawn: players.seats.values().any(|player| player.name == row.name && player.is_withdrawn),
        name: row.name.to_string(),
        score: row.score.points(),
        tie_breaks: vec![TieBreak { name: "Sonneborn-Berger".to_owned(), value: row.sonneborn_berger }],
        wins: row.tally.wins,
        draws: row.tally.draws,
        losses: row.tally.losses,
        forfeits: row.tally.forfeits,
    };
    TournamentSummary {
        name: config.name.to_string(),
        kind: GameKind::Chess.name().to_owned(),
        time_control: config.time.to_string(),
        pairing: config.pairing.name().to_owned(),
        rounds: config.rounds,
        state,
        players: (1..).zip(standings.rows()).map(standing).collect(),
        joins: joins.to_vec(),
        start: config.start().name().to_owned(),
        seats: config.players,
        late_entries: progress.lets_late_in(),
        editable: state != TournamentState::Complete,
    }
}
