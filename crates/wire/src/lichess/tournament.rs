//! Arena tournaments and teams, as far as those who play in them ask.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Form, TournamentId,
    codec::{nullable, seconds},
};

/// How a tournament stands: `GET /api/tournament/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TournamentState {
    /// Which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TournamentId>,
    /// What people call it.
    #[serde(default, deserialize_with = "nullable")]
    pub full_name: String,
    /// Has it begun?
    #[serde(default, deserialize_with = "nullable")]
    pub is_started: bool,
    /// Is it over?
    #[serde(default, deserialize_with = "nullable")]
    pub is_finished: bool,
    /// When it begins.
    #[serde(
        rename = "secondsToStart",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub to_start: Option<Duration>,
}

/// `POST /team/{id}/join`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinTeam {
    /// What its leaders read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// If it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl Form for JoinTeam {
    const NAME: &str = "joining";
}
