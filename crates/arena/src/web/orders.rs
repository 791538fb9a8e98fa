//! Endpoints by which the organiser orders: start, pause, and whatever else concerns a tournament that runs.

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    answer::{ApiError, ApiJson, ErrorBody, Param},
    state::{ByOrganiser, WebState},
};
use crate::tournament::{Command, CommandError};

/// Whether players may join after the beginning.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LateEntries {
    /// They may.
    allowed: bool,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new()
        .routes(routes!(start))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(late))
}

impl From<CommandError> for ApiError {
    fn from(error: CommandError) -> ApiError {
        let status = if error.is_unknown() { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
        ApiError::new(status, error.to_string())
    }
}

async fn order(web: &WebState, tournament: &str, command: Command) -> Result<StatusCode, ApiError> {
    web.tournaments()?.0.command(tournament, command).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins a tournament with whoever is here
#[utoipa::path(post, path = "/api/tournaments/{name}/start", params(("name" = String, Path)), responses(
    (status = 204, description = "It has begun"), (status = "4XX", body = ErrorBody)))]
async fn start(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(&web, &name, Command::Start).await
}

/// Pauses a tournament: running games end, and nobody is paired
#[utoipa::path(post, path = "/api/tournaments/{name}/pause", params(("name" = String, Path)), responses(
    (status = 204, description = "It is paused"), (status = "4XX", body = ErrorBody)))]
async fn pause(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(&web, &name, Command::Pause).await
}

/// Lets a paused tournament go on
#[utoipa::path(post, path = "/api/tournaments/{name}/resume", params(("name" = String, Path)), responses(
    (status = 204, description = "It goes on"), (status = "4XX", body = ErrorBody)))]
async fn resume(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(&web, &name, Command::Resume).await
}

/// Lets players join after the beginning, or no longer
#[utoipa::path(post, path = "/api/tournaments/{name}/late", params(("name" = String, Path)),
    request_body = LateEntries, responses(
        (status = 204, description = "It is so"), (status = "4XX", body = ErrorBody)))]
async fn late(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    Param(name): Param,
    ApiJson(LateEntries { allowed }): ApiJson<LateEntries>,
) -> Result<StatusCode, ApiError> {
    order(&web, &name, Command::LateEntries(allowed)).await
}
