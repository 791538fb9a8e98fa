//! Views of a table: what its players see, as the JSON of the web API.

use serde::Serialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use utoipa::ToSchema;
use zeitnot_host::{
    live::view::{Game, Score, Thought},
    schema,
};
use zeitnot_rules::Color;
use zeitnot_wire::uci::UciScore;

use super::search::Found;

/// State of a table for one of its players, whole, after each change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename = "state")]
pub(crate) struct TableState {
    pub(crate) game: Game,
    /// Side of the player.
    #[schema(schema_with = schema::side)]
    pub(crate) you: Color,
    /// Moves of the player, if it is their turn.
    pub(crate) legal: Vec<LegalMove>,
    /// Side that offers a draw.
    #[schema(schema_with = schema::side_or_null)]
    pub(crate) draw_offer: Option<Color>,
    /// Side that asks to take its last move back.
    #[schema(schema_with = schema::side_or_null)]
    pub(crate) takeback_offer: Option<Color>,
    /// Side that wants a rematch.
    #[schema(schema_with = schema::side_or_null)]
    pub(crate) rematch_offer: Option<Color>,
    /// Whether the opponent is connected.
    pub(crate) opponent_here: bool,
    pub(crate) can: Can,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LegalMove {
    /// Move, as the game writes it.
    #[schema(example = "e2e4")]
    pub(crate) uci: String,
    /// Notation of game records.
    #[schema(example = "e4")]
    pub(crate) san: String,
}

/// Offers that the player can make now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Can {
    pub(crate) takeback: bool,
    pub(crate) draw: bool,
    pub(crate) rematch: bool,
}

/// Other messages to a player. Not for a log: the tokens are secrets.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum TableNotice {
    /// The next game, at another table: the token of the player's seat there.
    Rematch { seat: String },
    /// Answer to `ping`.
    Pong { ping: u64 },
    /// Something was not possible.
    Error { error: String },
}

impl TableNotice {
    pub(crate) fn print(&self) -> Utf8Bytes {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// Messages to a seat: the latest of each. Not for a log: the tokens are secrets.
#[derive(Clone, Default)]
pub(crate) struct SeatView {
    pub(crate) state: Utf8Bytes,
    pub(crate) rematch: Option<Utf8Bytes>,
    /// There is no such table any more.
    pub(crate) is_closed: bool,
}

/// Returns what was found as White sees it; `None` if nothing was searched.
pub(super) fn thought(found: &Found, mover: Color) -> Option<Thought> {
    if found.depth == 0 {
        return None;
    }
    let sign = if mover == Color::White { 1 } else { -1 };
    let score = match found.score {
        UciScore::Cp(cp) => Score::Cp(sign * cp),
        UciScore::Mate(moves) => Score::Mate(sign * i32::from(moves)),
    };
    let seconds = found.time.as_secs_f64().max(0.001);
    Some(Thought {
        score,
        depth: found.depth,
        nodes: Some(found.nodes),
        nps: Some((found.nodes as f64 / seconds) as u64),
        pv: found.pv.iter().map(|(uci, _)| uci.clone()).collect(),
        origin: "search".to_owned(),
    })
}
