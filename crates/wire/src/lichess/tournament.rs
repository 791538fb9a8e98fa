//! Arena tournaments and teams, for their players.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    TournamentId,
    codec::{nullable, seconds},
};

/// State of a tournament: `GET /api/tournament/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TournamentState {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TournamentId>,
    #[serde(default, deserialize_with = "nullable")]
    pub full_name: String,
    #[serde(default, deserialize_with = "nullable")]
    pub is_started: bool,
    #[serde(default, deserialize_with = "nullable")]
    pub is_finished: bool,
    /// Time until it begins.
    #[serde(
        rename = "secondsToStart",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub to_start: Option<Duration>,
}
