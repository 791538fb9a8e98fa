//! Endpoints by which the organiser orders: start, pause, and whatever else concerns a tournament that runs.

use axum::{Extension, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::{note::Note, schema};
use zeitnot_pairing::Name;
use zeitnot_rules::{Color, GameResult};
use zeitnot_web::page::{ApiError, ApiJson, ByOrganiser, ErrorBody, Param, WebState};

use super::Tournaments;
use crate::tournament::{Command, CommandError};

/// Whether players may join after the beginning.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LateEntries {
    /// They may.
    allowed: bool,
}

/// Reason of the organiser.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NoteRequest {
    /// One line, which is shown.
    #[serde(default)]
    #[schema(min_length = 1)]
    note: Option<String>,
}

/// Two players who are to meet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PairingRequest {
    white: Name,
    black: Name,
}

/// Result that replaces the one at the board.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Correction {
    /// `1-0`, `0-1`, `1/2-1/2`, or `*`: the game does not count.
    #[schema(schema_with = schema::result)]
    result: String,
    /// One line, which is shown beside the result.
    #[schema(min_length = 1)]
    note: String,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new()
        .routes(routes!(start))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(late))
        .routes(routes!(remove))
        .routes(routes!(forfeit))
        .routes(routes!(pair))
        .routes(routes!(correct))
}

impl From<CommandError> for ApiError {
    fn from(error: CommandError) -> ApiError {
        let status = if error.is_unknown() { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
        ApiError::new(status, error.to_string())
    }
}

async fn order(
    Tournaments { registry, .. }: Tournaments,
    tournament: &str,
    command: Command,
) -> Result<StatusCode, ApiError> {
    registry.command(tournament, command).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins a tournament with the players present
#[utoipa::path(post, path = "/api/tournaments/{name}/start", security(("organiser" = [])), params(("name" = String, Path)), responses(
    (status = 204, description = "It has begun"), (status = "4XX", body = ErrorBody)))]
async fn start(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(tournaments, &name, Command::Start).await
}

/// Pauses a tournament: running games finish, and no players are paired
#[utoipa::path(post, path = "/api/tournaments/{name}/pause", security(("organiser" = [])), params(("name" = String, Path)), responses(
    (status = 204, description = "It is paused"), (status = "4XX", body = ErrorBody)))]
async fn pause(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(tournaments, &name, Command::Pause).await
}

/// Resumes a paused tournament
#[utoipa::path(post, path = "/api/tournaments/{name}/resume", security(("organiser" = [])), params(("name" = String, Path)), responses(
    (status = 204, description = "It goes on"), (status = "4XX", body = ErrorBody)))]
async fn resume(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
) -> Result<StatusCode, ApiError> {
    order(tournaments, &name, Command::Resume).await
}

/// Allows or forbids joining after the beginning
#[utoipa::path(post, path = "/api/tournaments/{name}/late", security(("organiser" = [])), params(("name" = String, Path)),
    request_body = LateEntries, responses(
        (status = 204, description = "It is so"), (status = "4XX", body = ErrorBody)))]
async fn late(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(name): Param,
    ApiJson(LateEntries { allowed }): ApiJson<LateEntries>,
) -> Result<StatusCode, ApiError> {
    order(tournaments, &name, Command::LateEntries(allowed)).await
}

/// Removes a player for good: the player loses the running game and forfeits the rest
#[utoipa::path(post, path = "/api/tournaments/{name}/players/{player}/remove", security(("organiser" = [])),
    params(("name" = String, Path), ("player" = String, Path)), request_body = NoteRequest, responses(
        (status = 204, description = "The player is out"), (status = "4XX", body = ErrorBody)))]
async fn remove(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param((tournament, player)): Param<(String, String)>,
    ApiJson(NoteRequest { note: text }): ApiJson<NoteRequest>,
) -> Result<StatusCode, ApiError> {
    let (player, note) = (name(&player)?, text.as_deref().map(note).transpose()?);
    order(tournaments, &tournament, Command::Remove { player, note }).await
}

/// Forfeits a player's current or next game
#[utoipa::path(post, path = "/api/tournaments/{name}/players/{player}/forfeit", security(("organiser" = [])),
    params(("name" = String, Path), ("player" = String, Path)), request_body = NoteRequest, responses(
        (status = 204, description = "The game is lost"), (status = "4XX", body = ErrorBody)))]
async fn forfeit(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param((tournament, player)): Param<(String, String)>,
    ApiJson(NoteRequest { note: text }): ApiJson<NoteRequest>,
) -> Result<StatusCode, ApiError> {
    let (player, note) = (name(&player)?, text.as_deref().map(note).transpose()?);
    order(tournaments, &tournament, Command::Forfeit { player, note }).await
}

/// Pairs two players by hand
#[utoipa::path(post, path = "/api/tournaments/{name}/pairings", security(("organiser" = [])), params(("name" = String, Path)),
    request_body = PairingRequest, responses(
        (status = 204, description = "They meet next"), (status = "4XX", body = ErrorBody)))]
async fn pair(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(tournament): Param,
    ApiJson(PairingRequest { white, black }): ApiJson<PairingRequest>,
) -> Result<StatusCode, ApiError> {
    order(tournaments, &tournament, Command::Pair { white, black }).await
}

/// Corrects the result of a game of a tournament
#[utoipa::path(patch, path = "/api/games/{id}", security(("organiser" = [])), params(("id" = String, Path)), request_body = Correction,
    responses((status = 204, description = "It counts so"), (status = "4XX", body = ErrorBody)))]
async fn correct(
    Extension(tournaments): Extension<Tournaments>,
    _organiser: ByOrganiser,
    Param(game): Param,
    ApiJson(Correction { result, note: text }): ApiJson<Correction>,
) -> Result<StatusCode, ApiError> {
    let result = match result.as_str() {
        "1-0" => Some(GameResult::Won(Color::White)),
        "0-1" => Some(GameResult::Won(Color::Black)),
        "1/2-1/2" => Some(GameResult::Draw),
        "*" => None,
        _ => return Err(ApiError::bad("result: expected 1-0, 0-1, 1/2-1/2 or *")),
    };
    tournaments.registry.correct(game, result, note(&text)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn name(text: &str) -> Result<Name, ApiError> {
    Name::try_from(text).map_err(|error| ApiError::bad(error.to_string()))
}

fn note(text: &str) -> Result<Note, ApiError> {
    Note::try_from(text).map_err(|error| ApiError::bad(error.to_string()))
}
