//! Values that are written as text.

use std::{borrow::Cow, fmt::Display};

use humantime_serde::Serde;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A `Duration` as text, `50ms` or `1h 30m`: for `#[serde(with = "HumanTime")]`, which gives the schema as well.
#[derive(Debug)]
pub struct HumanTime;

impl HumanTime {
    /// Writes a duration, if there is one.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T, S: Serializer>(time: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        for<'a> Serde<&'a T>: Serialize,
    {
        humantime_serde::serialize(time, serializer)
    }

    /// Reads a duration, or an optional one.
    ///
    /// # Errors
    /// The text is no duration.
    pub fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        Serde<T>: Deserialize<'de>,
    {
        humantime_serde::deserialize(deserializer)
    }
}

impl JsonSchema for HumanTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = "^[0-9]+ *[a-zA-Zµ]+( *[0-9]+ *[a-zA-Zµ]+)*$";
        json_schema!({ "type": "string", "pattern": pattern, "x-type": "duration" })
    }
}

/// Writes a value as it is printed: for `#[serde(serialize_with = "shown")]`, so that a key's default is known.
///
/// # Errors
/// Those of the serializer.
pub fn shown<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
