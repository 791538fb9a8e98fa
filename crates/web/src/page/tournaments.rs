//! Endpoints about tournaments.

use axum::{
    Json,
    extract::{Query, State},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::view::{Tournament, TournamentSummary};
use zeitnot_wire::printable;

use super::{
    answer::{ApiError, ErrorBody, Param},
    archive_lists::Page,
    state::WebState,
};

/// List of tournaments.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Tournaments {
    /// Those that are open in this run, by name, and then stored ones, the latest first, 20 at most.
    tournaments: Vec<TournamentSummary>,
    /// `before` of the next page; absent on the last page.
    older: Option<i64>,
}

/// Page of a list of tournaments.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Before {
    /// Number from `older`: stored tournaments before it are listed.
    before: Option<i64>,
}

/// Splits the name of a tournament from the number of its edition: `class 1`. Names have no spaces.
pub fn edition(tournament: &str) -> (&str, Option<u32>) {
    let with_edition = tournament.rsplit_once(' ').and_then(|(name, it)| Some((name, it.parse().ok()?)));
    with_edition.map_or((tournament, None), |(name, edition)| (name, Some(edition)))
}

/// Returns a tournament of this run, or a stored one.
pub(super) async fn find(web: &WebState, tournament: &str) -> Result<Option<Tournament>, ApiError> {
    let (name, edition) = edition(tournament);
    let key = name.to_owned();
    let found = web.hub.call(move |hub| hub.tournament(&key)).await.ok_or_else(ApiError::stopping)?;
    match found.filter(|found| edition.is_none_or(|edition| edition == found.summary.edition)) {
        Some(found) => Ok(Some(found)),
        None => web.archive.tournament(name, edition).await,
    }
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show))
}

/// Error of a tournament that is not there.
pub fn unknown_tournament(name: &str) -> ApiError {
    let name = printable(name, 50);
    ApiError::missing(format!("there is no tournament {name}: /api/tournaments lists them"))
}

/// Lists the tournaments with their standings, also those of earlier runs
#[utoipa::path(get, path = "/api/tournaments", params(Before), responses((status = 200, body = Tournaments)))]
async fn list(
    State(web): State<WebState>,
    Query(Before { before }): Query<Before>,
) -> Result<Json<Tournaments>, ApiError> {
    let mut tournaments = web.hub.call(|hub| hub.tournaments()).await.ok_or_else(ApiError::stopping)?;
    let known = tournaments.iter().map(|it| (it.name.clone(), it.edition)).collect();
    let stored = web.archive.tournaments(before, &known).await;
    if before.is_some() {
        tournaments.clear();
    } else if let Err(error) = &stored {
        tracing::warn!("the list of tournaments lacks the stored ones: {error:?}");
        return Ok(Json(Tournaments { tournaments, older: None }));
    }
    let Page { rows, older } = stored?;
    tournaments.extend(rows);
    Ok(Json(Tournaments { tournaments, older }))
}

/// Shows a tournament with its pairings; an earlier edition as `NAME EDITION`
#[utoipa::path(get, path = "/api/tournaments/{name}", params(("name" = String, Path)),
    responses((status = 200, body = Tournament), (status = 404, body = ErrorBody)))]
async fn show(State(web): State<WebState>, Param(name): Param) -> Result<Json<Tournament>, ApiError> {
    find(&web, &name).await?.map(Json).ok_or_else(|| unknown_tournament(&name))
}
