//! Schemas of the web API for texts that take a few values: sides, results and games.

use utoipa::openapi::{
    Object, ObjectBuilder,
    schema::{SchemaType, Type},
};
use zeitnot_rules::{Color, GameKind, GameResult};

/// Side: `white` or `black`.
pub fn side() -> Object {
    texts(Color::BOTH.map(|color| color.to_string()), false)
}

/// Side, or `null`.
pub fn side_or_null() -> Object {
    texts(Color::BOTH.map(|color| color.to_string()), true)
}

/// Result as PGN writes it; `*`: none.
pub fn result() -> Object {
    texts(results(), false)
}

/// The same, or `null`.
pub fn result_or_null() -> Object {
    texts(results(), true)
}

/// Game by its rules.
pub fn game_kind() -> Object {
    texts(GameKind::ALL.iter().map(|kind| kind.name().to_owned()), false)
}

fn results() -> impl Iterator<Item = String> {
    let known = [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
    known.map(GameResult::as_str).into_iter().chain(["*"]).map(str::to_owned)
}

fn texts(values: impl IntoIterator<Item = String>, is_nullable: bool) -> Object {
    let values = values.into_iter().map(serde_json::Value::from);
    let null = is_nullable.then_some(serde_json::Value::Null);
    let kind = match is_nullable {
        true => SchemaType::from_iter([Type::String, Type::Null]),
        false => Type::String.into(),
    };
    ObjectBuilder::new().schema_type(kind).enum_values(Some(values.chain(null))).build()
}
