//! Tournament as the page shows it.

use zeitnot_pairing::standings::{Row, Standings};
use zeitnot_rules::GameKind;

use super::{config::TournamentConfig, players::Players, progress::Progress};
use zeitnot_host::live::view::{JoinLine, Standing, TieBreakValue, TournamentState, TournamentSummary};

/// Returns the view of an edition of a tournament. Without its players nobody is connected.
pub(super) fn view(
    (config, edition): (&TournamentConfig, u32),
    progress: &Progress,
    players: Option<&Players>,
    standings: &Standings,
    state: TournamentState,
    joins: &[JoinLine],
) -> TournamentSummary {
    let player = |row: &Row| players.and_then(|players| players.get(row.seat));
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
