//! BotLi's types of challenges: the first is `[server.matchmaking]`, those with other games or opponents are overrides.

use serde_json::Value;
use toml::Table;

use super::super::{
    source::ANY_RATING,
    tables::{Import, clean, table_name},
    values,
};

const OURS: &str = "server.matchmaking";

/// Settings that the challenges of a type share, apart from their clocks.
#[derive(PartialEq)]
struct Kind {
    variants: Table,
    mode: &'static str,
    /// Least, most and preferred difference of the ratings.
    ratings: [Option<i64>; 3],
}

const RATINGS: [(&str, &str); 3] = [
    ("min_rating_diff", "min_rating_difference"),
    ("max_rating_diff", "opponent_rating_difference"),
    ("target_rating_diff", "target_rating_difference"),
];

/// A type with one clock and its weight.
struct Type {
    kind: Kind,
    clock: (u64, u64),
    weight: Option<u64>,
}

pub(super) fn convert(import: &mut Import<'_>) {
    let Some(Value::Object(types)) = import.take("matchmaking.types") else { return };
    let mut kinds: Vec<(String, Kind, Vec<_>)> = Vec::new();
    for (name, keys) in types {
        let Some(next) = import.entry("matchmaking.types", &name, keys, read) else { continue };
        let clock = (next.clock, next.weight);
        match kinds.iter_mut().find(|(_, kind, _)| *kind == next.kind) {
            Some((.., clocks)) => clocks.push(clock),
            None => kinds.push((table_name(&name), next.kind, vec![clock])),
        }
    }
    if kinds.is_empty() {
        import.take("matchmaking");
        return;
    }
    import.leave(
        "matchmaking: the command `matchmaking`",
        "challenges begin at once; remove [server.matchmaking] if there are to be none",
    );
    if kinds.len() > 1 && kinds.iter().any(|(.., clocks)| clocks.iter().any(|(_, weight)| weight.is_some())) {
        import.leave(
            "matchmaking.types: weight",
            "each of [server.matchmaking.overrides] is as likely as the others",
        );
    }
    for (at, (name, kind, clocks)) in kinds.into_iter().enumerate() {
        let ours = if at == 0 { OURS.to_owned() } else { format!("{OURS}.overrides.{name}") };
        import.set(&format!("{ours}.variants"), kind.variants);
        import.set(&format!("{ours}.modes"), vec![kind.mode]);
        for ((_, key), value) in RATINGS.iter().zip(kind.ratings) {
            value.into_iter().for_each(|value| import.set(&format!("{ours}.{key}"), value));
        }
        import.set(&format!("{ours}.clocks"), weighted(&clocks));
    }
}

fn read(import: &mut Import<'_>) -> Option<Type> {
    let mut seconds = |key: &str| import.take_if(key, Value::as_u64);
    let parts = seconds("initial_time").zip(Some(seconds("increment").unwrap_or(0)));
    let tc = import.take_text("tc").unwrap_or_default();
    let clock = parts.or_else(|| values::minutes_clock(&tc));
    let is_rated = import.take_if("rated", Value::as_bool).unwrap_or(true);
    let mut ratings = RATINGS.map(|(key, _)| {
        let value = import.take_if(key, Value::as_i64);
        value.filter(|value| (1..=ANY_RATING).contains(value))
    });
    // Theirs has no limit by default.
    ratings[1].get_or_insert(ANY_RATING);
    let weight = import.take_if("weight", Value::as_u64);
    let names = import.take_list("variant");
    let mut variants = Table::new();
    for name in names.iter().filter_map(Value::as_str) {
        if values::is_proposed(name) {
            variants.insert(name.to_owned(), 1.into());
        } else {
            import.leave(&format!("variant: {}", clean(name)), "bots cannot be challenged to it here");
        }
    }
    if names.is_empty() {
        variants.insert("standard".to_owned(), 1.into());
    }
    let Some(clock) = clock.filter(|(initial, increment)| values::clock(*initial, *increment).is_some())
    else {
        let shown = parts.map_or(clean(&tc), |(initial, increment)| format!("{initial}+{increment}"));
        import.leave(&format!("tc: {shown}"), "Lichess has no such clock for bots");
        return None;
    };
    let mode = if is_rated { "rated" } else { "casual" };
    let kind = Kind { variants, mode, ratings };
    (!kind.variants.is_empty()).then_some(Type { kind, clock, weight })
}

/// Clocks with their weights. Without a weight, theirs plays as much time with each.
fn weighted(clocks: &[((u64, u64), Option<u64>)]) -> Table {
    let duration = |(initial, increment): (u64, u64)| initial + 40 * increment;
    let longest = clocks.iter().map(|(clock, _)| duration(*clock)).max().unwrap_or(1);
    let has_weights = clocks.iter().any(|(_, weight)| weight.is_some());
    let weight = |clock, weight: Option<u64>| match weight {
        Some(weight) => weight.min(1_000_000),
        None if has_weights => 1,
        None => longest / duration(clock).max(1),
    };
    let clocks = clocks.iter().map(|&(clock, own)| {
        let (initial, increment) = clock;
        (format!("{initial}+{increment}"), (weight(clock, own) as i64).into())
    });
    clocks.collect()
}
