//! Endpoints of a bot's page.

use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    answer::{ApiError, ErrorBody},
    state::{ByOrganiser, WebState},
};
use crate::live::view::BotView;

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(show)).routes(routes!(stop))
}

fn no_bot() -> ApiError {
    ApiError::missing("this page shows no bot: `zeitnot play` with [web] serves one that does")
}

/// Shows the state of the bot
#[utoipa::path(get, path = "/api/bot", responses(
    (status = 200, body = BotView), (status = 404, body = ErrorBody)))]
async fn show(State(web): State<WebState>) -> Result<Json<BotView>, ApiError> {
    let bot = web.hub.call(|hub| hub.bot()).await.ok_or_else(ApiError::stopping)?;
    bot.map(Json).ok_or_else(no_bot)
}

/// Lets the bot take no new games, and leave when those that run are over
#[utoipa::path(post, path = "/api/bot/stop", responses(
    (status = 202, description = "It stops"), (status = "4XX", body = ErrorBody)))]
async fn stop(State(web): State<WebState>, _organiser: ByOrganiser) -> Result<StatusCode, ApiError> {
    web.bot.as_ref().ok_or_else(no_bot)?.cancel();
    Ok(StatusCode::ACCEPTED)
}
