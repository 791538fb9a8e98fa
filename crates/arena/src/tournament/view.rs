//! Tournament as the page shows it, told at a pace that costs its task next to nothing.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_host::live::{
    Feed, TournamentReport,
    view::{JoinLine, Standing, TieBreakValue, TournamentState, TournamentSummary},
};
use zeitnot_pairing::standings::{Row, Standings};
use zeitnot_rules::GameKind;

use super::{config::TournamentConfig, players::Players, progress::Progress};

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
    pub(super) fn publish(&mut self, live: &Feed, is_last: bool, report: impl FnOnce() -> TournamentReport) {
        let began = Instant::now();
        let is_due = self.has_changed && self.next.is_none_or(|next| began >= next);
        if !live.is_on() || !(is_due || is_last) {
            return;
        }
        self.has_changed = !live.tournament(report);
        self.next = Some(began + INTERVAL.max(began.elapsed() * PAUSE));
    }
}

/// Returns the view of an edition of a tournament. Without its players nobody is connected.
pub(super) fn view(
    (config, edition): (&TournamentConfig, u32),
    progress: &Progress,
    players: Option<&Players>,
    standings: &Standings,
    state: TournamentState,
    joins: &[JoinLine],
) -> TournamentSummary {
    let player = |row: &Row| players.and_then(|players| players.seats.get(&row.seat));
    let standing = |row: Row| Standing {
        rank: row.rank,
        present: player(&row).is_some_and(|player| player.client.is_some()),
        withdrawn: player(&row).map_or(row.is_withdrawn, |player| player.is_withdrawn),
        name: row.name.to_string(),
        score: row.score.points(),
        tie_breaks: row
            .tie_breaks
            .iter()
            .map(|(tie_break, value)| TieBreakValue { name: tie_break.name().to_owned(), value: *value })
            .collect(),
        wins: row.tally.wins,
        draws: row.tally.draws,
        losses: row.tally.losses,
        forfeits: row.tally.forfeits,
        byes: row.tally.byes,
    };
    TournamentSummary {
        name: config.name.to_string(),
        edition,
        kind: GameKind::Chess.name().to_owned(),
        time_control: config.time.to_string(),
        pairing: config.pairing.name().to_owned(),
        rounds: config.rounds,
        numbering: config.pairing.into(),
        state,
        players: standings.rows().into_iter().map(standing).collect(),
        joins: joins.to_vec(),
        start: config.start().name().to_owned(),
        seats: config.players,
        late_entries: progress.lets_late_in(),
        editable: state != TournamentState::Complete,
    }
}
