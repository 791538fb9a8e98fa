//! View of a tournament that only the database has: it is over, or another arena runs it.

use super::{
    config::{StartKind, TournamentConfig},
    pairing_log,
    progress::Progress,
    refusals, restore,
    settings::Settings,
    view::view,
};
use zeitnot_host::{
    database::{self, Fact, History, SettingsText, StoredOutcome},
    live::{
        TournamentReport,
        view::{Tournament, TournamentState},
    },
};

/// Returns the view; `None` if its time control is none. Nobody is connected, and it takes no orders.
pub(crate) fn stored_view(outcome: &StoredOutcome) -> Option<Tournament> {
    let StoredOutcome { history, settings, refusals } = outcome;
    let created = settings
        .as_ref()
        .and_then(|SettingsText(text)| Settings::from_stored(&history.tournament.name, text).ok());
    let standings = restore::standings(history);
    let config = match created {
        Some((config, _)) => config,
        None => configured(history, standings.rows().len())?,
    };
    let mut progress = Progress::new(&config);
    history.facts().for_each(|fact| progress.apply(fact));
    let state = match history.tournament.state {
        database::TournamentState::Running => TournamentState::Running,
        database::TournamentState::Paused => TournamentState::Paused,
        database::TournamentState::Complete => TournamentState::Complete,
    };
    let edition = (&config, history.tournament.edition);
    let mut summary = view(edition, &progress, None, &standings, state, &[]);
    (summary.editable, summary.correctable) = (false, false);
    // The program of today may be another one than played.
    let engines = restore::engines(history);
    for player in &mut summary.players {
        player.rating = engines.get(player.standing.name.as_str()).copied().flatten();
    }
    let ended = pairing_log::rows(history);
    let report = TournamentReport { summary, ended, open: Vec::new(), is_first: true };
    report.view(refusals.iter().map(refusals::row).collect())
}

/// Returns as much as can be told of the settings of a tournament of the configuration file, which are not stored.
fn configured(history: &History, players: usize) -> Option<TournamentConfig> {
    let tournament = &history.tournament;
    let is_started = history.facts().any(|fact| matches!(fact, Fact::Started));
    let start = match (is_started, tournament.state == database::TournamentState::Complete) {
        (true, _) => StartKind::Organiser,
        (false, true) => StartKind::Full,
        // It has no end.
        (false, false) => StartKind::AtOnce,
    };
    let format = &tournament.format;
    Some(TournamentConfig {
        game: tournament.kind,
        chess960: restore::is_chess960(&history.games),
        engines: restore::engines(history).into_keys().collect(),
        pairing: format.pairing,
        rounds: format.rounds,
        acceleration: format.acceleration,
        tie_breaks: format.tie_breaks.clone(),
        players: (start == StartKind::Full).then_some(players),
        start: Some(start),
        ..TournamentConfig::new(tournament.name.as_str(), &tournament.time_control).ok()?
    })
}
