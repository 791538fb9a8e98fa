//! Endpoints by which the organiser creates tournaments, changes their settings, and deletes them.

use std::collections::BTreeSet;

use axum::{
    Extension, Json,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::view::{RefusalRow, Tournament};
use zeitnot_net::secret::Secret;
use zeitnot_pairing::Name;
use zeitnot_web::page::{ApiError, ApiJson, ByOrganiser, ErrorBody, Param, WebState};

use super::Tournaments;
use crate::tournament::{AccessKind, AskedAccess, ManageError, Settings, SettingsChange};

/// Bytes of the settings of a tournament, whose openings are longer than any other request.
const MAX_SETTINGS: usize = 256 * 1024;

/// Names of players who get a key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct KeysRequest {
    /// Names.
    #[schema(value_type = Vec<Name>, example = json!(["alice"]))]
    names: BTreeSet<Name>,
}

/// Keys of players. They are shown only once.
#[derive(Serialize, ToSchema)]
struct DrawnKeys {
    /// One for each name.
    keys: Vec<DrawnKey>,
}

/// Key of a player.
#[derive(Serialize, ToSchema)]
struct DrawnKey {
    /// Player.
    name: String,
    /// Secret of this player.
    key: String,
    /// Line with which the player's program joins.
    #[schema(example = "JOIN class alice 7mqwz3kkfh2xpd9e")]
    line: String,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    let with_openings = OpenApiRouter::new().routes(routes!(create)).routes(routes!(edit));
    OpenApiRouter::new()
        .merge(with_openings.layer(DefaultBodyLimit::max(MAX_SETTINGS)))
        .routes(routes!(delete))
        .routes(routes!(settings))
        .routes(routes!(keys))
        .routes(routes!(refusals))
}

/// Refusals that belong to no tournament.
#[derive(Serialize, ToSchema)]
struct Refusals {
    /// The latest last.
    refusals: Vec<RefusalRow>,
}

impl From<ManageError> for ApiError {
    fn from(error: ManageError) -> ApiError {
        let status = match &error {
            ManageError::Unknown(_) => StatusCode::NOT_FOUND,
            ManageError::Settings(_) => StatusCode::BAD_REQUEST,
            ManageError::Arena(error) if !error.is_taken() => {
                tracing::error!("a tournament is not created: {error}");
                StatusCode::INTERNAL_SERVER_ERROR
            }
            ManageError::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::CONFLICT,
        };
        // Begins with the setting that it is about, as other errors in settings do: the page shows it at that field.
        let about = match error {
            ManageError::Exists(_) | ManageError::LooksLike { .. } => "name: ",
            _ => "",
        };
        ApiError::new(status, format!("{about}{error}"))
    }
}

/// Creates a tournament
#[utoipa::path(post, path = "/api/tournaments", security(("organiser" = [])), request_body = Settings<AskedAccess>, responses(
    (status = 201, body = Tournament), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
async fn create(
    State(web): State<WebState>,
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    ApiJson(settings): ApiJson<Settings<AskedAccess>>,
) -> Result<(StatusCode, Json<Tournament>), ApiError> {
    let name = settings.config.name.to_string();
    tournaments.manager.create(settings).await?;
    Ok((StatusCode::CREATED, shown(&web, name).await?))
}

/// Changes the given settings of a tournament before its first pairing
#[utoipa::path(patch, path = "/api/tournaments/{name}", security(("organiser" = [])), params(("name" = String, Path)),
    request_body(content = ref("#/components/schemas/SettingsChange"), description = "Fields of the settings"), responses(
        (status = 200, body = Tournament), (status = "4XX", body = ErrorBody)))]
async fn edit(
    State(web): State<WebState>,
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
    ApiJson(change): ApiJson<SettingsChange>,
) -> Result<Json<Tournament>, ApiError> {
    tournaments.manager.edit(name.clone(), change).await?;
    shown(&web, name).await
}

/// Deletes a tournament before its first pairing
#[utoipa::path(delete, path = "/api/tournaments/{name}", security(("organiser" = [])), params(("name" = String, Path)), responses(
    (status = 204), (status = "4XX", body = ErrorBody)))]
async fn delete(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    tournaments.manager.delete(name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Shows the settings of a tournament, without its secrets
#[utoipa::path(get, path = "/api/tournaments/{name}/settings", security(("organiser" = [])), params(("name" = String, Path)), responses(
    (status = 200, body = Settings<AccessKind>), (status = "4XX", body = ErrorBody)))]
async fn settings(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<Json<Settings<AccessKind>>, ApiError> {
    Ok(Json(tournaments.manager.settings(name).await?))
}

/// Generates keys for players, which replace their old ones, and shows them once
#[utoipa::path(post, path = "/api/tournaments/{name}/keys", security(("organiser" = [])), params(("name" = String, Path)),
    request_body = KeysRequest, responses(
        (status = 200, body = DrawnKeys), (status = "4XX", body = ErrorBody)))]
async fn keys(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(tournament): Param,
    ApiJson(KeysRequest { names }): ApiJson<KeysRequest>,
) -> Result<Json<DrawnKeys>, ApiError> {
    let drawn = tournaments.manager.draw_keys(tournament.clone(), names).await?;
    let key = |(name, key): (Name, Secret)| DrawnKey {
        name: name.to_string(),
        key: key.expose().to_owned(),
        line: format!("JOIN {tournament} {name} {}", key.expose()),
    };
    Ok(Json(DrawnKeys { keys: drawn.into_iter().map(key).collect() }))
}

/// Lists the latest players who named an unknown tournament
#[utoipa::path(get, path = "/api/refusals", security(("organiser" = [])), responses(
    (status = 200, body = Refusals), (status = "4XX", body = ErrorBody)))]
async fn refusals(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
) -> Result<Json<Refusals>, ApiError> {
    Ok(Json(Refusals { refusals: tournaments.manager.refusals().await? }))
}

/// Returns the tournament as the page shows it.
async fn shown(web: &WebState, name: String) -> Result<Json<Tournament>, ApiError> {
    let found = web.hub.call(move |hub| hub.tournament(&name)).await.ok_or_else(ApiError::stopping)?;
    let error = "it is done, but the page is behind: look again";
    found.map(Json).ok_or_else(|| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error))
}
