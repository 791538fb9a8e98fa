//! Accounts: who we are, who else is there, what is being played.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    GameEvent, GameId, PerfKey, Scope, Title, Token, UserId,
    codec::{is_default, millis, nullable},
};

/// An account: our own, or a line of the list of bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Who.
    pub id: UserId,
    /// The name as its owner writes it.
    #[serde(default, deserialize_with = "nullable")]
    pub username: String,
    /// `BOT`, or what people earn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// The ratings.
    #[serde(default, deserialize_with = "nullable")]
    pub perfs: BTreeMap<PerfKey, Perf>,
    /// Has the account been closed?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub disabled: bool,
    /// Has it broken the rules?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub tos_violation: bool,
    /// When it was made, since 1970.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Duration>,
    /// When it was last seen, since 1970.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Duration>,
    /// Where its page stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What came of its games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<GameCount>,
}

impl User {
    /// Is it a program?
    pub fn is_bot(&self) -> bool {
        self.title == Some(Title::Bot)
    }

    /// The rating for such games.
    pub fn rating(&self, perf: &PerfKey) -> Option<i32> {
        self.perfs.get(perf).and_then(|perf| perf.rating)
    }
}

/// What came of somebody's games.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameCount {
    /// All that are over.
    #[serde(default, deserialize_with = "nullable")]
    pub all: u32,
    /// The rated ones.
    #[serde(default, deserialize_with = "nullable")]
    pub rated: u32,
    /// Won.
    #[serde(default, deserialize_with = "nullable")]
    pub win: u32,
    /// Lost.
    #[serde(default, deserialize_with = "nullable")]
    pub loss: u32,
    /// Drawn.
    #[serde(default, deserialize_with = "nullable")]
    pub draw: u32,
}

/// A rating.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perf {
    /// From so many games.
    #[serde(default, deserialize_with = "nullable")]
    pub games: u32,
    /// The number; not all that is listed with the ratings is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    /// Its deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rd: Option<i32>,
    /// What it won or lost of late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prog: Option<i32>,
    /// Is it uncertain?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub prov: bool,
}

/// The games that are being played, the most urgent first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Playing {
    /// They.
    pub now_playing: Vec<GameEvent>,
}

/// Is somebody there?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserStatus {
    /// Who.
    pub id: UserId,
    /// The name as its owner writes it.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// `BOT`, or what people earn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// There?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub online: bool,
    /// In a game?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub playing: bool,
    /// In which, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playing_id: Option<GameId>,
}

/// What tokens may do; `None` for one that is not valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenTest(pub BTreeMap<Token, Option<TokenInfo>>);

/// What a token may do, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// Whose it is.
    pub user_id: UserId,
    /// What it may do.
    #[serde(default, deserialize_with = "nullable")]
    pub scopes: Scopes,
    /// When it ends, since 1970; `None` is never.
    #[serde(default, with = "millis::option")]
    pub expires: Option<Duration>,
}

/// Scopes, on the wire in one text with commas.
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
