//! Configurations of BotLi, also of earlier releases: what its tables of keys do not say.

use serde_json::Value;

use super::tables::Import;

mod books;
mod engines;
mod games;
mod matchmaking;
mod rows;

pub(super) use rows::SOURCE;

pub(super) fn convert(import: &mut Import<'_>) {
    accepted(import);
    import.rules();
    sources(import);
    chessdb(import);
    explorer(import);
    import.messages("messages");
    SOURCE.rows.iter().for_each(|row| import.row(row));
    engines::convert(import);
    books::convert(import);
    matchmaking::convert(import);
}

/// Opponents without a variant, a speed or a mode are not accepted. Of the modes, theirs once let the key be left out.
fn accepted(import: &mut Import<'_>) {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    for (kind, other) in [("human", "bot"), ("bot", "human")] {
        let keys = ["variants", "time_controls", "modes"];
        let paths =
            keys.iter().flat_map(|key| [format!("challenge.{key}"), format!("challenge.{kind}.{key}")]);
        let has_nothing = paths.into_iter().any(|path| import.look(&path).is_some_and(is_empty));
        let has_modes = |kind: &str| import.look(&format!("challenge.{kind}.modes")).is_some();
        if has_nothing || (has_modes(other) && !has_modes(kind)) {
            import.set(&format!("server.challenge.{kind}.accept"), false);
        }
    }
}

/// Their order of the sources of moves is by number.
fn sources(import: &mut Import<'_>) {
    let mut sources = Vec::new();
    for (table, ours, usual) in [
        ("opening_books", "book", 400),
        ("online_moves.opening_explorer", "explorer", 300),
        ("online_moves.lichess_cloud", "cloud", 200),
        ("online_moves.chessdb", "chessdb", 100),
    ] {
        let priority = import.take(&format!("{table}.priority"));
        sources.push((priority.and_then(|value| value.as_i64()).unwrap_or(usual), ours));
    }
    sources.sort_by_key(|(priority, _)| -priority);
    let first = ["cache", "syzygy", "tablebase"];
    let all: Vec<_> = first.into_iter().chain(sources.into_iter().map(|(_, source)| source)).collect();
    import.set("bot.sources", all);
}

/// Theirs plays the stored line, of any depth.
fn chessdb(import: &mut Import<'_>) {
    if import.look("online_moves.chessdb").is_some() {
        import.set("online_moves.chessdb.move_quality", "best");
        import.set("online_moves.chessdb.min_depth", 0);
    }
}

/// Without a player, theirs asks for the bot's own games; ours needs the name.
fn explorer(import: &mut Import<'_>) {
    let table = "online_moves.opening_explorer";
    if import.look(table).is_none() {
        return;
    }
    match import.take_text(&format!("{table}.player")) {
        None => {
            import.take(table);
            import.leave(table, "set `player_name` of [online_moves.explorer]");
        }
        Some(player) if player == "masters" => import.set("online_moves.explorer.source", "masters"),
        Some(player) => {
            import.set("online_moves.explorer.source", "player");
            import.set("online_moves.explorer.player_name", player);
        }
    }
}
