//! Conversion of the `matchmaking` table and its overrides.

use std::path::Path;

use serde_json::Value;
use toml::{Table, Value as Toml};

use zeitnot_wire::lichess::clocks::is_offered_days;

use super::super::{source::ANY_RATING, tables::Import, values};

const THEIRS: &str = "matchmaking";
const OURS: &str = "server.matchmaking";

/// Lists that are combined: an override has those of the table where it has none of its own.
#[derive(Clone)]
struct Times {
    initials: Vec<Value>,
    increments: Vec<Value>,
    days: Vec<Value>,
}

const TIMES: [&str; 3] = ["challenge_initial_time", "challenge_increment", "challenge_days"];

/// Converts what is not converted one by one.
pub(super) fn convert(import: &mut Import<'_>) {
    if import.look(THEIRS).is_none() {
        return;
    }
    let difference = format!("{OURS}.opponent_rating_difference");
    // Theirs has no limit by default.
    if import.ours_at(&difference).is_none() {
        import.set(&difference, ANY_RATING);
    }
    let [initials, increments, days] = TIMES.map(|key| import.take_list(&format!("{THEIRS}.{key}")));
    let times = Times { initials, increments, days };
    let variant = import.take_text(&format!("{THEIRS}.challenge_variant"));
    variants(import, THEIRS, OURS, variant.as_deref().unwrap_or("random"));
    clocks(import, THEIRS, OURS, &times);
    if !times.days.is_empty() {
        days_of(import, THEIRS, OURS, &times);
    }
    overrides(import, &times);
    declines(import);
}

/// Theirs is text, so ours is a new file beside it.
fn declines(import: &mut Import<'_>) {
    let key = format!("{THEIRS}.challenge_decliner_file_name");
    if let Some(file) = import.take_text(&key) {
        let file = import.path(Path::new(&format!("{file}.json")));
        import.set(&format!("{OURS}.history_file"), file);
        import.leave(&format!("{key}: names"), "`history_file` begins without those who declined so far");
    }
}

fn overrides(import: &mut Import<'_>, usual: &Times) {
    let Some(Value::Object(all)) = import.look("matchmaking.overrides").cloned() else { return };
    for (name, keys) in all {
        // Other names are reported with their keys.
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        let Some(keys) = keys.as_object().filter(|_| is_plain) else { continue };
        let theirs = format!("{THEIRS}.overrides.{name}");
        let ours = format!("{OURS}.overrides.{name}");
        let difference = "opponent_rating_difference";
        if import.look(&format!("{theirs}.{difference}")).is_some_and(Value::is_null) {
            import.set(&format!("{ours}.{difference}"), ANY_RATING);
        }
        let rows: [(_, _, values::Read); 5] = [
            (difference, difference, values::number),
            ("opponent_min_rating", "opponent_min_rating", values::number),
            ("opponent_max_rating", "opponent_max_rating", values::number),
            ("rating_preference", "rating_preference", values::rating_preference),
            ("challenge_mode", "modes", values::modes),
        ];
        for (key, our_key, read) in rows {
            import.copy(&format!("{theirs}.{key}"), &[&format!("{ours}.{our_key}")], read);
        }
        if let Some(variant) = import.take_text(&format!("{theirs}.challenge_variant")) {
            variants(import, &theirs, &ours, &variant);
        }
        let mut list = |key: &str, usual: &[Value]| {
            let path = format!("{theirs}.{key}");
            let is_there = import.look(&path).is_some();
            if is_there { import.take_list(&path) } else { usual.to_vec() }
        };
        let times = Times {
            initials: list(TIMES[0], &usual.initials),
            increments: list(TIMES[1], &usual.increments),
            days: list(TIMES[2], &usual.days),
        };
        if TIMES[..2].iter().any(|key| keys.contains_key(*key)) {
            clocks(import, &theirs, &ours, &times);
        }
        if keys.contains_key(TIMES[2]) {
            days_of(import, &theirs, &ours, &times);
        }
    }
}

/// `random` stands for all variants that are accepted.
fn variants(import: &mut Import<'_>, theirs: &str, ours: &str, variant: &str) {
    let accepted = import.ours_at("server.challenge.human.variants").and_then(Toml::as_array).cloned();
    let names = if variant == "random" { accepted.unwrap_or_default() } else { vec![variant.into()] };
    let names = names.iter().filter_map(Toml::as_str);
    let variants: Table = names.filter(|name| values::is_proposed(name)).map(weighted).collect();
    if variants.is_empty() {
        import.leave(&format!("{theirs}.challenge_variant"), "bots cannot be challenged to it here");
    } else {
        import.set(&format!("{ours}.variants"), variants);
    }
}

/// All combinations of times and increments. Without any there are only correspondence games.
fn clocks(import: &mut Import<'_>, theirs: &str, ours: &str, times: &Times) {
    let Times { initials, increments, days } = times;
    let mut clocks = Table::new();
    for (initial, increment) in initials.iter().flat_map(|i| increments.iter().map(move |plus| (i, plus))) {
        let (Some(initial), Some(increment)) = (initial.as_u64(), increment.as_u64()) else { continue };
        match values::clock(initial, increment) {
            Some(time) => clocks.extend([weighted(&time)]),
            None => {
                let key = format!("{theirs}.challenge_initial_time: {initial}+{increment}");
                import.leave(&key, "Lichess has no such clock for bots");
            }
        }
    }
    if clocks.is_empty() && days.is_empty() {
        let key = format!("{theirs}.challenge_initial_time");
        import.leave(&key, "no clock is left; the default is used");
    } else {
        import.set(&format!("{ours}.clocks"), clocks);
    }
}

fn days_of(import: &mut Import<'_>, theirs: &str, ours: &str, times: &Times) {
    let mut known: Vec<Toml> = Vec::new();
    for days in times.days.iter().filter(|days| !days.is_null()) {
        match days.as_u64().and_then(|days| u32::try_from(days).ok()).filter(|days| is_offered_days(*days)) {
            Some(days) => known.push(i64::from(days).into()),
            None => import.leave(&format!("{theirs}.challenge_days"), "Lichess has no such days for a move"),
        }
    }
    import.set(&format!("{ours}.challenge_days"), known);
}

/// Sets the weight 1.
fn weighted(key: &str) -> (String, Toml) {
    (key.to_owned(), 1.into())
}
