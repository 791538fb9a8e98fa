//! All routes, their documentation, and the layers that every request passes.

use std::time::Duration;

use axum::{
    BoxError, Json, Router,
    body::Bytes,
    error_handling::HandleErrorLayer,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, Uri, header},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use serde::{Deserialize, Serialize};
use tower::{ServiceBuilder, timeout::TimeoutLayer};
use tower_http::compression::CompressionLayer;
use utoipa::{
    OpenApi, ToSchema,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::view::{LiveMessage, LiveRequest};
use zeitnot_rules::GameKind;
use zeitnot_wire::printable;

use super::{
    answer::{ApiError, ErrorBody, as_json},
    assets, bot, games, live,
    security::protect,
    state::{ByOrganiser, WebState},
    tables, tournaments,
};
use crate::{
    hosts::Hosts,
    play::{PlayerMessage, TableNotice, TableState},
};

const MAX_BODY: usize = 64 * 1024;
/// Time to read a request and to answer it.
const REQUEST: Duration = Duration::from_secs(10);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Zeitnot arena",
        description = "Games and tournaments of this arena, live.",
        license(name = "GPL-3.0-or-later", identifier = "GPL-3.0-or-later")
    ),
    components(schemas(ErrorBody, LiveMessage, LiveRequest, PlayerMessage, TableNotice, TableState))
)]
struct Document;

/// Routes of the API and their documentation, with those that others have added.
fn api(others: OpenApiRouter<WebState>) -> (Router<WebState>, utoipa::openapi::OpenApi) {
    let routes = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(status))
        .merge(games::routes())
        .merge(tournaments::routes())
        .merge(tables::routes())
        .merge(bot::routes())
        .merge(live::routes())
        .merge(others);
    let (router, mut document) = routes.split_for_parts();
    let token = "The organiser's token; on the page of a bot, that of its owner.";
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(token)).build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("organiser", SecurityScheme::Http(bearer));
    (router, document)
}

/// The whole server.
pub(super) fn router(others: OpenApiRouter<WebState>, state: WebState, hosts: Hosts) -> Router {
    let (api, document) = api(others);
    let document = Bytes::from(document.to_json().unwrap_or_default());
    let timeout = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(|_: BoxError| async {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
        }))
        .layer(TimeoutLayer::new(REQUEST));
    let api = api
        .route("/api", get(|| async { ([(header::CONTENT_TYPE, "application/json")], document) }))
        .route("/api/", any(unknown))
        .route("/api/{*rest}", any(unknown))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(timeout)
        .layer(from_fn(as_json))
        .with_state(state);
    api.fallback(assets::serve).layer(CompressionLayer::new()).layer(from_fn_with_state(hosts, protect))
}

async fn unknown(uri: Uri) -> Response {
    let path = printable(uri.path(), 100);
    ApiError::missing(format!("there is no {path}: /api describes what there is")).into_response()
}

/// State of the server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct Status {
    /// Name of the program.
    program: String,
    /// Its version.
    version: String,
    /// `arena`, or `bot` for the page of a bot.
    role: String,
    /// This request carries the organiser's token.
    organiser: bool,
    /// Results of tournaments can be downloaded.
    results: bool,
    /// Games by their rules.
    kinds: Vec<String>,
}

/// Describes the server
#[utoipa::path(get, path = "/api/status", security((), ("organiser" = [])), responses((status = 200, body = Status)))]
async fn status(State(web): State<WebState>, by_organiser: Result<ByOrganiser, ApiError>) -> Json<Status> {
    Json(Status {
        program: "zeitnot".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        role: if web.bot.is_some() { "bot" } else { "arena" }.to_owned(),
        organiser: by_organiser.is_ok(),
        results: web.archive.is_kept(),
        kinds: GameKind::ALL.iter().map(|kind| kind.name().to_owned()).collect(),
    })
}
