//! Tournament as the page shows it.

use zeitnot_pairing::standings::{Row, Standings};

use super::{config::TournamentConfig, players::Players, progress::Progress};
use zeitnot_host::live::view::{JoinLine, PlayerStanding, TournamentState, TournamentSummary};

/// Returns the view of an edition of a tournament. Without its players nobody is connected.
pub(super) fn view(
    (config, edition): (&TournamentConfig, u32),
    progress: &Progress,
    players: Option<&Players>,
    standings: &Standings,
    state: TournamentState,
    joins: &[JoinLine],
) -> TournamentSummary {
    let standing = |row: Row| {
        let player = players.and_then(|players| players.get(row.seat));
        PlayerStanding {
            present: player.is_some_and(|player| player.client.is_some()),
            withdrawn: player.map_or(row.is_withdrawn, |player| player.is_withdrawn),
            engine: config.engines.contains(&row.name),
            rating: config.person(&row.name).rating,
            standing: row.into(),
        }
    };
    TournamentSummary {
        name: config.name.to_string(),
        edition,
        kind: config.game.name().to_owned(),
        chess960: config.chess960,
        openings: config.has_openings(),
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
        correctable: true,
    }
}
