//! Pages of games and tournaments of earlier runs, from the database.

use std::{
    collections::BTreeSet,
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout},
};
use zeitnot_host::{
    database::{FoundGame, Readers, StoredOutcome, StoredTournament, Turn},
    live::{
        MAX_LISTED, stored,
        view::{GameSummary, Numbering, Tournament, TournamentSummary},
    },
};
use zeitnot_pairing::Name;

use super::{
    answer::ApiError,
    archive::{Archive, Summaries, ViewStored, is_id, turn, unreadable},
};

/// Games and tournaments of a page.
const GAMES: usize = 50;
const TOURNAMENTS: usize = 20;
/// Time for which the standings of a stored tournament are cached, and how many are. Another arena that still has the
/// tournament may correct them.
const FRESH: Duration = Duration::from_secs(600);
const MAX_FRESH: usize = 100;
/// Longest time for reading the games that are listed at the start.
const MAX_START: Duration = Duration::from_secs(5);

/// Page of a list, and the key with which the next page is asked for; `None` on the last page.
#[derive(Debug)]
pub(super) struct Page<T, K> {
    pub(super) rows: Vec<T>,
    pub(super) older: Option<K>,
}

impl<T, K> Default for Page<T, K> {
    fn default() -> Self {
        Page { rows: Vec::new(), older: None }
    }
}

impl Archive {
    /// Returns whether there is a database.
    pub(super) fn is_kept(&self) -> bool {
        self.database.is_some()
    }

    /// Returns the games that are listed at the start, the latest first. A failure is logged.
    pub(super) async fn latest(&self) -> Vec<GameSummary> {
        let latest = timeout(MAX_START, self.ended(None, MAX_LISTED)).await;
        latest.map_or(Vec::new(), |found| found.map_or(Vec::new(), |page| page.rows))
    }

    /// Returns a page of the games that ended before this game, the latest first.
    pub(super) async fn games(&self, before: &str) -> Result<Page<GameSummary, String>, ApiError> {
        if is_id(before) { self.ended(Some(before), GAMES).await } else { Ok(Page::default()) }
    }

    async fn ended(&self, before: Option<&str>, max: usize) -> Result<Page<GameSummary, String>, ApiError> {
        let Some(database) = &self.database else { return Ok(Page::default()) };
        let turn = turn(database).await?;
        let games = turn.ask(async |reader| reader.ended_games(before, max).await).await;
        let games = games.map_err(|error| unreadable(database, &error))?;
        let last = games.last().filter(|_| games.len() == max);
        let older = last.map(|(game, _)| game.header.id.to_string());
        // As for one game.
        let replay = move || (games.into_iter().filter_map(summary).collect(), turn);
        let (rows, _turn) = spawn_blocking(replay).await.map_err(|_| ApiError::stopping())?;
        Ok(Page { rows, older })
    }

    /// Finds an edition of a tournament, by default the latest.
    pub(super) async fn tournament(
        &self,
        name: &str,
        edition: Option<u32>,
    ) -> Result<Option<Tournament>, ApiError> {
        let (Some(database), Ok(name)) = (&self.database, Name::try_from(name)) else { return Ok(None) };
        let turn = turn(database).await?;
        let outcome = turn.ask(async |reader| {
            let Some(found) = reader.tournament(&name, edition).await? else { return Ok(None) };
            reader.outcome(found).await.map(Some)
        });
        let outcome = outcome.await.map_err(|error| unreadable(database, &error))?;
        let Some(outcome) = outcome else { return Ok(None) };
        view(self.view_stored, outcome, turn).await.map(Some)
    }

    /// Returns a page of tournaments, the latest first: of all, or of those before that number. Known ones, by name and
    /// edition, are left out.
    pub(super) async fn tournaments(
        &self,
        before: Option<i64>,
        known: &BTreeSet<(String, u32)>,
    ) -> Result<Page<TournamentSummary, i64>, ApiError> {
        let Some(database) = &self.database else { return Ok(Page::default()) };
        let max = known.len() + TOURNAMENTS + 1;
        let turn = turn(database).await?;
        let found = turn.ask(async |reader| reader.tournaments_before(before, max).await).await;
        let mut found = found.map_err(|error| unreadable(database, &error))?;
        drop(turn);
        found.retain(|it| !known.contains(&(it.name.to_string(), it.edition)));
        let has_more = found.len() > TOURNAMENTS;
        found.truncate(TOURNAMENTS);
        let older = found.last().filter(|_| has_more).map(|last| last.id.number());
        let mut rows = Vec::new();
        for tournament in found {
            let (name, edition) = (tournament.name.clone(), tournament.edition);
            match self.summary(database, tournament).await {
                Ok(summary) => rows.push(summary),
                Err(error) => {
                    tracing::warn!("the stored tournament {name} {edition} is not listed: {error:?}")
                }
            }
        }
        Ok(Page { rows, older })
    }

    /// Returns the standings of a tournament, which may be some minutes old.
    async fn summary(
        &self,
        database: &Readers,
        tournament: StoredTournament,
    ) -> Result<TournamentSummary, ApiError> {
        let turn = turn(database).await?;
        let id = tournament.id.number();
        if let Some(known) = self.fresh_summary(id) {
            return Ok(known);
        }
        let outcome = turn.ask(async |reader| reader.outcome(tournament.clone()).await).await;
        let outcome = outcome.map_err(|error| unreadable(database, &error))?;
        let summary = view(self.view_stored, outcome, turn).await?.summary;
        self.summaries().insert(id, (Instant::now(), summary.clone()));
        Ok(summary)
    }

    fn fresh_summary(&self, id: i64) -> Option<TournamentSummary> {
        let mut summaries = self.summaries();
        summaries.retain(|_, (read, _)| read.elapsed() < FRESH);
        if summaries.len() >= MAX_FRESH {
            summaries.clear();
        }
        summaries.get(&id).map(|(_, summary)| summary.clone())
    }

    fn summaries(&self) -> MutexGuard<'_, Summaries> {
        self.summaries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a game as lists show it. One that does not fit the rules is left out.
fn summary((game, tournament): FoundGame) -> Option<GameSummary> {
    let tournament = tournament.map(|(name, pairing)| (name, Numbering::from(pairing)));
    match stored::view(&game, tournament) {
        Ok(game) => Some(game.summary),
        Err(error) => {
            tracing::warn!("the stored game {} is not listed: {error}", game.header.id);
            None
        }
    }
}

/// Makes the view of a tournament on a thread for that.
async fn view(view_stored: ViewStored, outcome: StoredOutcome, turn: Turn) -> Result<Tournament, ApiError> {
    let name = outcome.history.tournament.name.clone();
    let viewed = spawn_blocking(move || (view_stored(&outcome), turn)).await;
    let (view, _turn) = viewed.map_err(|_| ApiError::stopping())?;
    let error = || format!("the stored tournament {name} cannot be shown: its time control cannot be read");
    view.ok_or_else(|| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error()))
}
