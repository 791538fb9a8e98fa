//! Endpoint about the players that the arena provides.

use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_web::page::WebState;

use crate::tournament::Engines;

/// Players that the arena provides.
#[derive(Serialize, ToSchema)]
struct ProvidedPlayers {
    /// Built-in ones first, then the engines of the configuration.
    engines: Vec<ProvidedPlayer>,
}

/// Player that the arena provides.
#[derive(Serialize, ToSchema)]
struct ProvidedPlayer {
    /// Name, as in the setting `engines` of a tournament.
    #[schema(example = "level-3")]
    name: String,
    /// Measured rating of a built-in player, in chess.
    rating: Option<i32>,
    /// Part of the program; the others are engines of the configuration.
    built_in: bool,
    /// Games that it plays, as in the setting `game` of a tournament, and `chess960`.
    #[schema(example = json!(["chess", "chess960"]))]
    games: Vec<&'static str>,
}

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Lists the players that the arena provides, for the setting `engines` of a tournament
#[utoipa::path(get, path = "/api/engines", responses((status = 200, body = ProvidedPlayers)))]
async fn list(Extension(engines): Extension<Engines>) -> Json<ProvidedPlayers> {
    let player = |(name, rating): (String, Option<i32>)| {
        let (built_in, games) = (rating.is_some(), engines.games(&name));
        ProvidedPlayer { name, rating, built_in, games }
    };
    Json(ProvidedPlayers { engines: engines.available().map(player).collect() })
}
