//! Endpoints of tables where people play, and of analysis.

use axum::{Json, extract::State, http::StatusCode, response::Response};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    answer::{ApiError, ApiJson, ErrorBody, Param},
    seat,
    socket::Upgrade,
    state::{Peer, WebState},
};
use crate::play::{Analysis, AnalysisRequest, CreatedTable, NoAnalysis, NoTable, TableRequest};

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(sit)).routes(routes!(analyse))
}

impl From<NoTable> for ApiError {
    fn from(error: NoTable) -> ApiError {
        let status = match error {
            NoTable::Bad(_) => StatusCode::BAD_REQUEST,
            NoTable::TooFast | NoTable::FullForAddress => StatusCode::TOO_MANY_REQUESTS,
            NoTable::Full | NoTable::NoRandom => StatusCode::SERVICE_UNAVAILABLE,
        };
        ApiError::new(status, error.to_string())
    }
}

impl From<NoAnalysis> for ApiError {
    fn from(error: NoAnalysis) -> ApiError {
        let status = match error {
            NoAnalysis::TooFast => StatusCode::TOO_MANY_REQUESTS,
            NoAnalysis::Busy => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        ApiError::new(status, error.to_string())
    }
}

/// Makes a table: against the bot, or against whoever opens the invitation
#[utoipa::path(post, path = "/api/tables", request_body = TableRequest, responses(
    (status = 201, body = CreatedTable), (status = "4XX", body = ErrorBody), (status = 503, body = ErrorBody)))]
async fn create(
    State(web): State<WebState>,
    peer: Peer,
    ApiJson(request): ApiJson<TableRequest>,
) -> Result<(StatusCode, Json<CreatedTable>), ApiError> {
    web.check_tables()?;
    let made = web.tables.call(move |tables| tables.create(request, peer.from)).await;
    let made = made.ok_or_else(ApiError::stopping)??;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Opens the WebSocket of a seat: text frames of `PlayerMessage` from the player, of `TableState` and `TableNotice` to
/// the player
#[utoipa::path(get, path = "/api/tables/{token}", params(("token" = String, Path)), responses(
    (status = 101, description = "WebSocket"), (status = 404, body = ErrorBody), (status = 426, body = ErrorBody)))]
async fn sit(
    State(web): State<WebState>,
    peer: Peer,
    Param(token): Param,
    upgrade: Upgrade,
) -> Result<Response, ApiError> {
    let asked = token.clone();
    let known = web.tables.call(move |tables| tables.check_seat(&asked)).await;
    known.ok_or_else(ApiError::stopping)?.map_err(|error| ApiError::missing(error.to_string()))?;
    let sockets = web.seats.clone();
    Ok(upgrade.serve(&sockets, move |socket| seat::serve(socket, web, peer, token)))
}

/// Evaluates a position for up to a second
#[utoipa::path(post, path = "/api/analysis", request_body = AnalysisRequest, responses(
    (status = 200, body = Analysis), (status = "4XX", body = ErrorBody), (status = 503, body = ErrorBody)))]
async fn analyse(
    State(web): State<WebState>,
    peer: Peer,
    ApiJson(request): ApiJson<AnalysisRequest>,
) -> Result<Json<Analysis>, ApiError> {
    web.check_tables()?;
    Ok(Json(web.analyst.analyse(request, peer.from).await?))
}
