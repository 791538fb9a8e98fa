//! Changes of a game, as far as a client of chess needs them. Values of a wrong type count as unchanged.
//!
//! An array is an object with its length and the elements that have changed, by their numbers. Players are objects of
//! the game by their ids. A value that was removed is a text, `&RM`.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value, json};
use zeitnot_rules::{Color, MAX_TIME};

/// Value that was removed.
const REMOVED: &str = "&RM";
/// Key of an array's length.
const LENGTH: &str = "&LEN";
/// Longest history in plies: the rule of 50 moves ends every game before.
pub(super) const MAX_PLIES: usize = 12_000;
/// Characters of a move that are kept, more than any has.
pub(super) const MAX_MOVE: usize = 16;
/// Objects of a game that are read. The players are the only ones in chess.
pub(super) const MAX_OBJECTS: usize = 16;

/// Change of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Position.
    pub fen: Option<String>,
    /// Moves.
    pub history: Option<HistoryDelta>,
    /// Players by their ids.
    pub players: BTreeMap<String, PlayerDelta>,
}

/// Change of the moves so far: in coordinates, or in SAN if a PGN set them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryDelta {
    /// Number of moves.
    pub length: usize,
    /// New moves by their numbers, which are below the length.
    pub moves: BTreeMap<usize, String>,
}

/// Change of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PlayerDelta {
    pub color: Option<Color>,
    pub name: Option<String>,
    /// Time left when the player's clock last stopped.
    pub left: Option<Duration>,
    pub won: Option<bool>,
    pub lost: Option<bool>,
    pub reason_won: Option<String>,
    pub reason_lost: Option<String>,
}

impl Delta {
    pub(super) fn read(data: &Value) -> Delta {
        let objects = data["gameObjects"].as_object();
        let players = objects.into_iter().flatten().filter(|(_, object)| object.is_object());
        Delta {
            fen: text(&data["fen"]),
            history: HistoryDelta::read(&data["history"]),
            players: players
                .take(MAX_OBJECTS)
                .map(|(id, player)| (id.clone(), PlayerDelta::read(player)))
                .collect(),
        }
    }

    pub(super) fn print(&self) -> Value {
        let players: Map<_, _> =
            self.players.iter().map(|(id, player)| (id.clone(), player.print())).collect();
        let mut data = json!({ "gameObjects": players });
        if let Some(fen) = &self.fen {
            data["fen"] = json!(fen);
        }
        if let Some(history) = &self.history {
            data["history"] = history.print();
        }
        data
    }
}

impl HistoryDelta {
    fn read(value: &Value) -> Option<HistoryDelta> {
        let (length, elements): (_, Vec<(usize, &Value)>) = match value {
            Value::Array(list) => (Some(list.len() as u64), list.iter().enumerate().collect()),
            Value::Object(map) => {
                let numbered = map.iter().filter_map(|(key, value)| Some((key.parse().ok()?, value)));
                (value[LENGTH].as_u64(), numbered.collect())
            }
            _ => return None,
        };
        let length = usize::try_from(length?).ok().filter(|length| *length <= MAX_PLIES)?;
        let moves = elements.into_iter().filter(|(number, _)| *number < length);
        let moves = moves.filter_map(|(number, value)| Some((number, move_text(value)?))).collect();
        Some(HistoryDelta { length, moves })
    }

    fn print(&self) -> Value {
        let moves = self.moves.iter().map(|(number, mv)| (number.to_string(), json!(mv)));
        moves.chain([(LENGTH.to_owned(), json!(self.length))]).collect::<Map<_, _>>().into()
    }
}

impl PlayerDelta {
    fn read(value: &Value) -> PlayerDelta {
        let color = text(&value["color"]).map(|color| color.to_ascii_lowercase());
        PlayerDelta {
            color: color.and_then(|color| serde_json::from_value(color.into()).ok()),
            name: text(&value["name"]),
            left: nanoseconds(&value["timeRemaining"]),
            won: value["won"].as_bool(),
            lost: value["lost"].as_bool(),
            reason_won: text(&value["reasonWon"]),
            reason_lost: text(&value["reasonLost"]),
        }
    }

    fn print(&self) -> Value {
        let left = self.left.map(|left| left.as_nanos() as u64);
        let all = [
            ("color", json!(self.color)),
            ("name", json!(self.name)),
            ("timeRemaining", json!(left)),
            ("won", json!(self.won)),
            ("lost", json!(self.lost)),
            ("reasonWon", json!(self.reason_won)),
            ("reasonLost", json!(self.reason_lost)),
        ];
        let told = all.into_iter().filter(|(_, value)| !value.is_null());
        told.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| *text != REMOVED).map(str::to_owned)
}

fn move_text(value: &Value) -> Option<String> {
    Some(text(value)?.chars().take(MAX_MOVE).collect())
}

/// Reads a time. The server subtracts what a player took, even if it was too much.
fn nanoseconds(value: &Value) -> Option<Duration> {
    let whole = value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))?;
    Some(Duration::from_nanos(whole).min(MAX_TIME))
}
