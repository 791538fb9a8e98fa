//! Endpoints about tournaments.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_wire::printable;

use super::{
    answer::{ApiError, ErrorBody, Param},
    results::FileKind,
    state::WebState,
};
use crate::{
    live::view::{Tournament, TournamentSummary},
    results_file::ResultsFile,
};

/// List of tournaments.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Tournaments {
    /// All, by name.
    tournaments: Vec<TournamentSummary>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(results))
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

/// Shows all results as a file: `results.csv`, `results.json`, `results.pgn` or `results.trf`
#[utoipa::path(get, path = "/api/tournaments/{name}/{file}", params(("name" = String, Path), ("file" = String, Path)),
    responses(
        (status = 200, content((String = "text/csv"), (ResultsFile = "application/json"),
            (String = "application/x-chess-pgn"), (String = "text/plain"))),
        (status = 404, body = ErrorBody)))]
async fn results(
    State(web): State<WebState>,
    Param((name, file)): Param<(String, String)>,
) -> Result<Response, ApiError> {
    let Some(kind) = FileKind::read(&file) else {
        let file = printable(&file, 50);
        let files = "results.csv, results.json, results.pgn or results.trf";
        return Err(ApiError::missing(format!("there is no {file}: {files}")));
    };
    let Some(files) = &web.results else {
        return Err(ApiError::missing("this arena keeps no database, and so no results: set arena.database"));
    };
    let body = files.answer(&name, kind).await?;
    Ok(([(header::CONTENT_TYPE, kind.content_type())], body).into_response())
}
