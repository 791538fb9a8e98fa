//! Endpoints about games.

use axum::{
    Json,
    extract::{Query, State},
    http::header,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::view::{Game, GameSummary};
use zeitnot_wire::printable;

use super::{
    answer::{ApiError, ErrorBody, Param},
    archive_lists::Page,
    state::WebState,
};

/// List of games.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Games {
    /// Running games, oldest first, then the latest finished ones; at most 200.
    games: Vec<GameSummary>,
    /// `before` of the next page; absent on the last page.
    older: Option<String>,
}

/// Page of a list of games.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Before {
    /// Id of a game: those that ended before it are listed, the latest first, 50 at most.
    before: Option<String>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(pgn))
}

pub(super) fn unknown(id: &str) -> ApiError {
    ApiError::missing(format!("there is no game {}: /api/games lists them", printable(id, 50)))
}

/// Lists running games, then the latest finished ones, also of earlier runs
#[utoipa::path(get, path = "/api/games", params(Before), responses((status = 200, body = Games)))]
async fn list(
    State(web): State<WebState>,
    Query(Before { before }): Query<Before>,
) -> Result<Json<Games>, ApiError> {
    if let Some(before) = before {
        let Page { rows, older } = web.archive.games(&before).await?;
        return Ok(Json(Games { games: rows, older }));
    }
    let games = web.hub.call(|hub| hub.games()).await.ok_or_else(ApiError::stopping)?;
    let older = games.last().filter(|_| web.archive.is_kept()).map(|last| last.id.clone());
    Ok(Json(Games { games, older }))
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
