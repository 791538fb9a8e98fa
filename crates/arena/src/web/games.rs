//! Endpoints about games.

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
    state::WebState,
};
use crate::live::view::{Game, GameSummary};

/// List of games.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Games {
    /// Running ones, the oldest first, and then the latest ended ones; 200 at most.
    games: Vec<GameSummary>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(pgn))
}

pub(super) fn unknown(id: &str) -> ApiError {
    ApiError::missing(format!("there is no game {}: /api/games lists them", printable(id, 50)))
}

/// Lists running games, and then the latest ended ones
#[utoipa::path(get, path = "/api/games", responses((status = 200, body = Games)))]
async fn list(State(web): State<WebState>) -> Result<Json<Games>, ApiError> {
    let games = web.hub.call(|hub| hub.games()).await.ok_or_else(ApiError::stopping)?;
    Ok(Json(Games { games }))
}

/// Shows a game with its moves, also one of an earlier run
#[utoipa::path(get, path = "/api/games/{id}", params(("id" = String, Path)),
    responses((status = 200, body = Game), (status = 404, body = ErrorBody)))]
async fn show(State(web): State<WebState>, Param(id): Param) -> Result<Json<Game>, ApiError> {
    let key = id.clone();
    let game = web.hub.call(move |hub| hub.game(&key)).await.ok_or_else(ApiError::stopping)?;
    match game {
        Some(game) => Ok(Json(game)),
        None => web.archive.find(&id).await?.ok_or_else(|| unknown(&id))?.view().await.map(Json),
    }
}

/// Shows a game as PGN
#[utoipa::path(get, path = "/api/games/{id}/pgn", params(("id" = String, Path)),
    responses((status = 200, body = String, content_type = "application/x-chess-pgn"),
        (status = 404, body = ErrorBody)))]
async fn pgn(State(web): State<WebState>, Param(id): Param) -> Result<Response, ApiError> {
    let key = id.clone();
    let pgn = web.hub.call(move |hub| hub.pgn(&key)).await.ok_or_else(ApiError::stopping)?;
    let pgn = match pgn {
        Some(pgn) => pgn,
        None => web.archive.find(&id).await?.ok_or_else(|| unknown(&id))?.pgn().await?,
    };
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn; charset=utf-8")], pgn).into_response())
}
