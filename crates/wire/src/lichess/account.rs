//! Accounts, their games and their tokens.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    GameEvent, PerfKey, Scope, Title, Token, UserId,
    codec::{is_default, nullable, timestamp},
};

/// Account, as in `/api/account` and in the list of online bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: UserId,
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(default, deserialize_with = "nullable")]
    pub perfs: BTreeMap<PerfKey, Perf>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub disabled: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub tos_violation: bool,
    /// Since 1970.
    #[serde(default, with = "timestamp", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Duration>,
    /// Since 1970.
    #[serde(default, with = "timestamp", skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<GameCount>,
}

impl User {
    /// Returns whether it is a bot account.
    pub fn is_bot(&self) -> bool {
        self.title == Some(Title::Bot)
    }

    /// Returns whether it is not a bot account, and cannot become one, as it has played games.
    pub fn is_unable_to_be_bot(&self) -> bool {
        !self.is_bot() && self.count.is_some_and(|count| count.all > 0)
    }

    /// Returns the rating for this kind of game.
    pub fn rating(&self, perf: &PerfKey) -> Option<i32> {
        self.perfs.get(perf).and_then(|perf| perf.rating)
    }
}

/// Number of games by result.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameCount {
    #[serde(default, deserialize_with = "nullable")]
    pub all: u32,
    #[serde(default, deserialize_with = "nullable")]
    pub rated: u32,
    #[serde(default, deserialize_with = "nullable")]
    pub win: u32,
    #[serde(default, deserialize_with = "nullable")]
    pub loss: u32,
    #[serde(default, deserialize_with = "nullable")]
    pub draw: u32,
}

/// Rating of one kind of game.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perf {
    #[serde(default, deserialize_with = "nullable")]
    pub games: u32,
    /// `None` for entries that are not ratings, such as puzzle runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rd: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prog: Option<i32>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub prov: bool,
}

/// Games in progress, the most urgent first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Playing {
    pub now_playing: Vec<GameEvent>,
}

/// Online status of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserStatus {
    pub id: UserId,
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub online: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub playing: bool,
}

/// Scopes of tokens; `None` for invalid ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenTest(pub BTreeMap<Token, Option<TokenInfo>>);

/// Owner and scopes of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    pub user_id: UserId,
    #[serde(default, deserialize_with = "nullable")]
    pub scopes: Scopes,
    /// Since 1970; `None`: never.
    #[serde(default, with = "timestamp")]
    pub expires: Option<Duration>,
}

/// Scopes, on the wire one text with commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Scopes(pub Vec<Scope>);

impl From<String> for Scopes {
    fn from(text: String) -> Scopes {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        Scopes(words.map(Scope::from).collect())
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> String {
        scopes.0.iter().map(Scope::as_str).collect::<Vec<_>>().join(",")
    }
}
