//! Endpoints about tournaments.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    answer::{ApiError, ErrorBody, Param},
    state::WebState,
};
use crate::{
    live::view::{Tournament, TournamentSummary},
    name::printable,
};

/// List of tournaments.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Tournaments {
    /// All, by name.
    tournaments: Vec<TournamentSummary>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show))
}

pub(super) fn unknown(name: &str) -> ApiError {
    let name = printable(name, 50);
    ApiError::missing(format!("there is no tournament {name}: /api/tournaments lists them"))
}

/// Lists the tournaments with their standings
#[utoipa::path(get, path = "/api/tournaments", responses((status = 200, body = Tournaments)))]
async fn list(State(web): State<WebState>) -> Result<Json<Tournaments>, ApiError> {
    let tournaments = web.hub.call(|hub| hub.tournaments()).await.ok_or_else(ApiError::stopping)?;
    Ok(Json(Tournaments { tournaments }))
}

/// Shows a tournament with its pairings
#[utoipa::path(get, path = "/api/tournaments/{name}", params(("name" = String, Path)),
    responses((status = 200, body = Tournament), (status = 404, body = ErrorBody)))]
async fn show(State(web): State<WebState>, Param(name): Param) -> Result<Json<Tournament>, ApiError> {
    let key = name.clone();
    let found = web.hub.call(move |hub| hub.tournament(&key)).await.ok_or_else(ApiError::stopping)?;
    found.map(Json).ok_or_else(|| unknown(&name))
}
