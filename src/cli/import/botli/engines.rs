//! BotLi's engines: each has the games of its name.

use std::path::Path;

use serde_json::Value;
use toml::Value as Toml;

use super::{
    super::{
        tables::{Import, clean, table_name},
        values,
    },
    games::Games,
};

const LIMITS: [(&str, &str, values::Read); 3] = [
    ("limits.time", "limits.move_time", values::seconds),
    ("limits.depth", "limits.depth", values::depth),
    ("limits.nodes", "limits.nodes", values::positive),
];

pub(super) fn convert(import: &mut Import<'_>) {
    let tables = ["standard", "antichess", "atomic"].map(|game| (game, syzygy(import, game)));
    let Some(Value::Object(engines)) = import.take("engines") else { return };
    if engines.values().any(|engine| engine.get("ponder") == Some(&Value::Bool(true))) {
        import.ponder();
    }
    let mut rules = Vec::new();
    for (name, keys) in engines {
        // A switch of earlier releases.
        if keys.get("enabled") == Some(&Value::Bool(false)) {
            continue;
        }
        match Games::parse(&name) {
            Err(why) => import.leave(&format!("engines.{}", clean(&name)), why),
            Ok(games) => {
                let ours = table_name(&name);
                let of_games = tables.iter().filter(|(game, _)| games.tables.contains(game));
                let tables: Vec<_> = of_games.filter_map(|(_, tables)| tables.as_ref()).collect();
                if import.entry("engines", &name, keys, |import| engine(import, &ours, &tables)) {
                    rules.push((games, ours));
                }
            }
        }
    }
    rules.sort_by(|(first, _), (second, _)| first.order.cmp(&second.order));
    let rules = rules.into_iter().map(|(games, engine)| {
        let mut rule = games.conditions;
        rule.insert("engine".to_owned(), engine.into());
        Toml::Table(rule)
    });
    let rules: Vec<_> = rules.collect();
    if !rules.is_empty() {
        import.set("bot.choose", rules);
    }
}

/// Folders and pieces of tablebases that are on: for the engine, and for moves without it if `instant_play` is on.
fn syzygy(import: &mut Import<'_>, game: &str) -> Option<(Vec<Toml>, Option<Toml>)> {
    let table = format!("syzygy.{game}");
    import.take(&format!("{table}.enabled"))?;
    let folders = import.take_paths(&format!("{table}.paths"));
    let pieces = import.take(&format!("{table}.max_pieces")).as_ref().and_then(values::positive);
    if import.take(&format!("{table}.instant_play")) == Some(Value::Bool(true)) && !folders.is_empty() {
        import.set("bot.syzygy.folders", folders.clone());
        let most = [pieces.as_ref(), import.ours_at("bot.syzygy.max_pieces")]
            .map(|most| most.and_then(Toml::as_integer));
        most.into_iter()
            .flatten()
            .max()
            .into_iter()
            .for_each(|most| import.set("bot.syzygy.max_pieces", most));
    }
    Some((folders, pieces))
}

/// Converts the keys of an engine. Returns whether there is one.
fn engine(import: &mut Import<'_>, name: &str, tables: &[&(Vec<Toml>, Option<Toml>)]) -> bool {
    let dir = import.take_text("dir").unwrap_or_default();
    let Some(program) = import.take_text("name") else {
        import.leave("name", "expected the name of a program");
        return false;
    };
    let ours = format!("engines.{name}");
    import.set(&format!("{ours}.command"), import.path(&Path::new(&dir).join(program)));
    import.set(&format!("{ours}.protocol"), "uci");
    for (theirs, key, read) in LIMITS {
        import.copy(theirs, &[&format!("{ours}.{key}")], read);
    }
    // With another engine that ponders, this one does, too.
    if import.look("ponder").and_then(Value::as_bool) != Some(import.ours_at("bot.ponder").is_none()) {
        import.take("ponder");
    }
    let mut options = import.options("uci_options");
    if import.take("use_syzygy") != Some(Value::Bool(false)) && !tables.is_empty() {
        let folders: Vec<_> =
            tables.iter().flat_map(|(folders, _)| folders).filter_map(Toml::as_str).collect();
        let separator = if cfg!(windows) { ";" } else { ":" };
        options.entry("SyzygyPath").or_insert_with(|| folders.join(separator).into());
        let pieces = tables.iter().filter_map(|(_, pieces)| pieces.clone()).max_by_key(Toml::as_integer);
        pieces.into_iter().for_each(|pieces| _ = options.entry("SyzygyProbeLimit").or_insert(pieces));
    }
    if !options.is_empty() {
        import.set(&format!("{ours}.options"), options);
    }
    true
}
