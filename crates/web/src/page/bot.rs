//! Endpoints of a bot's page.

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::view::BotView;
use zeitnot_seat::{BlockOrder, ChallengeOrder, JoinOrder, Order, OrderError};

use super::{
    answer::{ApiError, ApiJson, ErrorBody},
    state::{ByOrganiser, WebState},
};

/// Answer to an order: what will happen.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct OrderTaken {
    /// One line.
    #[schema(example = "challenging maia1 to a game, standard 3+2, casual; the answer follows")]
    message: String,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(stop))
        .routes(routes!(challenge))
        .routes(routes!(join))
        .routes(routes!(block))
        .routes(routes!(unblock))
}

fn no_bot() -> ApiError {
    ApiError::missing("this page shows no bot: `zeitnot play` with [web] serves one that does")
}

/// Shows the state of the bot; with the token also what is for its owner only
#[utoipa::path(get, path = "/api/bot", security((), ("organiser" = [])), responses(
    (status = 200, body = BotView), (status = 404, body = ErrorBody)))]
async fn show(
    State(web): State<WebState>,
    by_organiser: Result<ByOrganiser, ApiError>,
) -> Result<Json<BotView>, ApiError> {
    let bot = web.hub.call(|hub| hub.bot()).await.ok_or_else(ApiError::stopping)?;
    let bot = bot.ok_or_else(no_bot)?;
    Ok(Json(if by_organiser.is_ok() { bot } else { bot.for_visitors() }))
}

/// Stops the bot: it takes no new games, and exits when the running ones are over
#[utoipa::path(post, path = "/api/bot/stop", security(("organiser" = [])), responses(
    (status = 202, description = "It stops"), (status = "4XX", body = ErrorBody)))]
async fn stop(State(web): State<WebState>, _organiser: ByOrganiser) -> Result<StatusCode, ApiError> {
    web.bot.as_ref().ok_or_else(no_bot)?.soon.cancel();
    Ok(StatusCode::ACCEPTED)
}

impl From<OrderError> for ApiError {
    fn from(error: OrderError) -> ApiError {
        let status = match error {
            OrderError::Invalid(_) => StatusCode::BAD_REQUEST,
            OrderError::Conflict(_) => StatusCode::CONFLICT,
        };
        ApiError::new(status, error.to_string())
    }
}

type Taken = Result<(StatusCode, Json<OrderTaken>), ApiError>;

async fn give(web: &WebState, order: Order) -> Taken {
    let message = web.bot.as_ref().ok_or_else(no_bot)?.orders.give(order).await?;
    Ok((StatusCode::ACCEPTED, Json(OrderTaken { message })))
}

/// Challenges a player; the answer follows among the bot's own challenges
#[utoipa::path(post, path = "/api/bot/challenge", security(("organiser" = [])), request_body = ChallengeOrder, responses(
    (status = 202, body = OrderTaken), (status = "4XX", body = ErrorBody)))]
async fn challenge(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    ApiJson(order): ApiJson<ChallengeOrder>,
) -> Taken {
    give(&web, Order::Challenge(order)).await
}

/// Joins a tournament; a refusal follows among the bot's errors
#[utoipa::path(post, path = "/api/bot/join", security(("organiser" = [])), request_body = JoinOrder, responses(
    (status = 202, body = OrderTaken), (status = "4XX", body = ErrorBody)))]
async fn join(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    ApiJson(order): ApiJson<JoinOrder>,
) -> Taken {
    give(&web, Order::Join(order)).await
}

/// Blocks a player until the program exits; a running game continues
#[utoipa::path(post, path = "/api/bot/block", security(("organiser" = [])), request_body = BlockOrder, responses(
    (status = 202, body = OrderTaken), (status = "4XX", body = ErrorBody)))]
async fn block(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    ApiJson(order): ApiJson<BlockOrder>,
) -> Taken {
    give(&web, Order::Block(order)).await
}

/// Unblocks a player
#[utoipa::path(post, path = "/api/bot/unblock", security(("organiser" = [])), request_body = BlockOrder, responses(
    (status = 202, body = OrderTaken), (status = "4XX", body = ErrorBody)))]
async fn unblock(
    State(web): State<WebState>,
    _organiser: ByOrganiser,
    ApiJson(order): ApiJson<BlockOrder>,
) -> Taken {
    give(&web, Order::Unblock(order)).await
}
