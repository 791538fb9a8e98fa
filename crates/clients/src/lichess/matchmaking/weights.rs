//! Weights of what is proposed at random: `{ "180+2" = 3, "60+1" = 1 }`.

use std::{borrow::Cow, collections::BTreeMap, fmt, slice};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use zeitnot_rules::TimeControl as Clock;
use zeitnot_settings::{JsonSchema, Schema, SchemaGenerator};
use zeitnot_wire::lichess::{
    VariantKey,
    clocks::{BOT_CLOCKS, is_offered},
};

use crate::lichess::challenges::filter::playable_variants;

/// Games that can be proposed, each with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights<T>(Vec<(T, u32)>);

/// Part of a proposal.
pub trait Proposed: fmt::Display + Sized {
    /// Reads it, or returns why it cannot be proposed.
    fn read(text: &str) -> Result<Self, String>;
}

impl Proposed for Clock {
    fn read(text: &str) -> Result<Clock, String> {
        let clock = text.parse().map_err(|error: <Clock as std::str::FromStr>::Err| error.to_string())?;
        match is_offered(clock) {
            true => Ok(clock),
            false => Err(format!("{text} is not a clock that Lichess has for bots: {BOT_CLOCKS}")),
        }
    }
}

impl Proposed for VariantKey {
    fn read(text: &str) -> Result<VariantKey, String> {
        let all = proposable_variants();
        let known = || all.iter().map(VariantKey::as_str).collect::<Vec<_>>().join(", ");
        let found = all.iter().find(|variant| variant.as_str() == text);
        found.cloned().ok_or_else(|| format!("'{text}' is not a variant that we propose; known: {}", known()))
    }
}

/// Returns the variants that can be proposed. There are no positions to begin from.
pub(crate) fn proposable_variants() -> Vec<VariantKey> {
    playable_variants().into_iter().filter(|variant| *variant != VariantKey::FromPosition).collect()
}

impl<T> Weights<T> {
    pub(super) fn of(only: T) -> Weights<T> {
        Weights(vec![(only, 1)])
    }

    pub(super) fn iter(&self) -> slice::Iter<'_, (T, u32)> {
        self.0.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there are weights, but none above zero.
    pub(super) fn are_zero(&self) -> bool {
        !self.is_empty() && self.iter().all(|(_, weight)| *weight == 0)
    }
}

impl<T: Proposed> fmt::Display for Weights<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.iter().map(|(one, _)| one.to_string()).collect();
        f.write_str(&words.join(", "))
    }
}

impl<'de, T: Proposed> Deserialize<'de> for Weights<T> {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        let table = BTreeMap::<String, u32>::deserialize(table)?.into_iter();
        let read = |(text, weight): (String, u32)| Ok((T::read(&text).map_err(D::Error::custom)?, weight));
        table.map(read).collect::<Result<_, _>>().map(Weights)
    }
}

impl<T: Proposed> Serialize for Weights<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|(one, weight)| (one.to_string(), weight)))
    }
}

impl<T> JsonSchema for Weights<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Weights".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, u32>::json_schema(generator)
    }
}
