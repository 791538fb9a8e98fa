//! Messages of a player at a table.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Text frame of a player: exactly one of the fields, and `ply` with `move`.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PlayerMessage {
    /// Move in coordinates or as game records write it.
    #[serde(rename = "move")]
    mv: Option<String>,
    /// Plies played before the move.
    ply: Option<usize>,
    resign: Option<bool>,
    draw: Option<Word>,
    takeback: Option<Word>,
    rematch: Option<bool>,
    /// Number that comes back.
    ping: Option<u64>,
}

/// Word about something that both players must agree on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Offer,
    Accept,
    Decline,
}

/// Request of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Move {
        text: String,
        ply: usize,
    },
    Resign,
    Draw(Word),
    Takeback(Word),
    Rematch,
    /// The table panics.
    #[cfg(test)]
    Bug,
}

/// Message, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Action(Action),
    Ping(u64),
}

/// Frame that is no message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadMessage {
    #[error("not a message: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "send one of {{\"move\":…,\"ply\":…}}, {{\"resign\":true}}, {{\"draw\":\"offer\"}}, {{\"takeback\":\"offer\"}}, {{\"rematch\":true}}, {{\"ping\":…}}"
    )]
    Form,
}

impl Heard {
    pub(crate) fn parse(text: &str) -> Result<Heard, BadMessage> {
        let action = match serde_json::from_str(text)? {
            PlayerMessage {
                mv: Some(text),
                ply: Some(ply),
                resign: None,
                draw: None,
                takeback: None,
                rematch: None,
                ping: None,
            } => Action::Move { text, ply },
            PlayerMessage { mv: None, ply: None, resign, draw, takeback, rematch, ping } => {
                match (resign, draw, takeback, rematch, ping) {
                    (Some(true), None, None, None, None) => Action::Resign,
                    (None, Some(word), None, None, None) => Action::Draw(word),
                    (None, None, Some(word), None, None) => Action::Takeback(word),
                    (None, None, None, Some(true), None) => Action::Rematch,
                    (None, None, None, None, Some(number)) => return Ok(Heard::Ping(number)),
                    _ => return Err(BadMessage::Form),
                }
            }
            _ => return Err(BadMessage::Form),
        };
        Ok(Heard::Action(action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let action = |text| match Heard::parse(text).unwrap() {
            Heard::Action(action) => action,
            Heard::Ping(_) => panic!("{text}"),
        };
        assert_eq!(action(r#"{"move":"e4","ply":0}"#), Action::Move { text: "e4".into(), ply: 0 });
        assert_eq!(action(r#"{"resign":true}"#), Action::Resign);
        assert_eq!(action(r#"{"draw":"offer"}"#), Action::Draw(Word::Offer));
        assert_eq!(action(r#"{"takeback":"decline"}"#), Action::Takeback(Word::Decline));
        assert_eq!(action(r#"{"rematch":true}"#), Action::Rematch);
        assert_eq!(Heard::parse(r#"{"ping":7}"#).unwrap(), Heard::Ping(7));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"move":"e4"}"#,
            r#"{"ply":1}"#,
            r#"{"resign":false}"#,
            r#"{"resign":true,"draw":"offer"}"#,
            r#"{"draw":"maybe"}"#,
            r#"{"ping":-1}"#,
            r#"{"move":"e4","ply":0,"x":1}"#,
            r#"{"move":"e4","ply":0,"resign":true}"#,
        ] {
            assert!(Heard::parse(text).is_err(), "{text}");
        }
        let told = Heard::parse("{}").unwrap_err().to_string();
        assert!(told.starts_with(r#"send one of {"move":…,"ply":…}, {"resign":true}"#), "{told}");
    }
}
