//! Configurations of lichess-bot: what its table of keys does not say.

use std::path::Path;

use serde_json::Value;
use toml::{Table, Value as Toml};

use super::{
    tables::{Import, has_leaves, table_name},
    values,
};

mod matchmaking;
mod rows;

pub(super) use rows::SOURCE;

pub(super) fn convert(import: &mut Import<'_>) {
    drop_unused(import);
    defaults(import);
    engine(import);
    import.rules();
    if import.ours_at("bot.draw.moves").is_some() {
        import.set("bot.draw.min_game_length", 1);
    }
    explorer(import);
    import.messages("greeting");
    SOURCE.rows.iter().for_each(|row| import.row(row));
    books(import);
    syzygy(import);
    challenges(import);
    matchmaking::convert(import);
    reserved_games(import);
    records(import);
}

/// Drops what has no effect there: bounds beside a difference.
fn drop_unused(import: &mut Import<'_>) {
    let is_difference = |value: &Value| value.is_number() || values::is_unlimited(value);
    if import.look("matchmaking.opponent_rating_difference").is_some_and(is_difference) {
        import.take("matchmaking.opponent_min_rating");
        import.take("matchmaking.opponent_max_rating");
    }
}

/// Without a name, theirs asks for the bot's own games; ours needs the name.
fn explorer(import: &mut Import<'_>) {
    let table = "engine.online_moves.lichess_opening_explorer";
    let text = |key: &str| import.look(&format!("{table}.{key}")).and_then(Value::as_str).unwrap_or("");
    if text("source") == "player" && text("player_name").is_empty() {
        import.take(table);
        import.leave(table, "set `player_name` of [online_moves.explorer]");
    }
}

/// Their defaults that are not ours.
fn defaults(import: &mut Import<'_>) {
    import.set("server.challenge.sort_by", "best");
    import.set("server.challenge.bot.accept", false);
    import.set("server.challenge.max_simultaneous_games_per_user", 5);
}

/// The engine: a program, or ours if there is none.
fn engine(import: &mut Import<'_>) {
    let protocol = import.take_text("engine.protocol").unwrap_or_else(|| "uci".to_owned());
    let dir = import.take_text("engine.dir").unwrap_or_default();
    match import.take_text("engine.name") {
        Some(_) if !matches!(protocol.as_str(), "uci" | "xboard") => {
            let why = "only programs that speak UCI or xboard's protocol are supported";
            import.leave("engine.name", why);
            if !dir.is_empty() {
                import.leave("engine.dir", why);
            }
        }
        Some(name) => return program(import, &protocol, &dir, &name),
        None => {}
    }
    for (theirs, ours) in [("Hash", "engine.hash_mib"), ("Threads", "engine.threads")] {
        import.copy(&format!("engine.uci_options.{theirs}"), &[ours], values::positive);
    }
    go_commands(import, "uci", "engine.limits");
}

fn program(import: &mut Import<'_>, protocol: &str, dir: &str, name: &str) {
    let path = import.path(&Path::new(dir).join(name));
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let table_name = table_name(&stem);
    let mut args: Vec<Toml> = Vec::new();
    let command = match import.take_text("engine.interpreter") {
        Some(interpreter) => {
            args.extend(import.take_list("engine.interpreter_options").iter().filter_map(values::text));
            args.push(path.into());
            interpreter
        }
        None => path,
    };
    if let Some(Value::Object(options)) = import.take("engine.engine_options") {
        args.extend(options.iter().map(|(key, value)| match value {
            Value::Null => format!("--{key}").into(),
            Value::String(text) => format!("--{key}={text}").into(),
            value => format!("--{key}={value}").into(),
        }));
    }
    let table = format!("engines.{table_name}");
    import.set(&format!("{table}.command"), command);
    import.set(&format!("{table}.protocol"), protocol);
    if !args.is_empty() {
        import.set(&format!("{table}.args"), args);
    }
    if let Some(folder) = import.take_text("engine.working_dir") {
        import.set(&format!("{table}.folder"), import.path(Path::new(&folder)));
    }
    let other = if protocol == "uci" { "engine.xboard_options" } else { "engine.uci_options" };
    if import.take(other).is_some_and(|options| has_leaves(&options)) {
        import.leave(other, "the engine speaks another protocol");
    }
    go_commands(import, protocol, &format!("{table}.limits"));
    let options = import.options(&format!("engine.{protocol}_options"));
    if !options.is_empty() {
        import.set(&format!("{table}.options"), options);
    }
    let rule = Table::from_iter([("engine".to_owned(), table_name.into())]);
    import.set("bot.choose", vec![Toml::Table(rule)]);
}

/// Limits of every move. In the xboard protocol only the depth has a meaning there.
fn go_commands(import: &mut Import<'_>, protocol: &str, ours: &str) {
    let all: &[(_, _, values::Read)] = &[
        ("depth", "depth", values::depth),
        ("nodes", "nodes", values::positive),
        ("movetime", "move_time", values::millis),
    ];
    for (theirs, key, read) in if protocol == "uci" { all } else { &all[..1] } {
        let theirs = format!("engine.{protocol}_options.go_commands.{theirs}");
        import.copy(&theirs, &[&format!("{ours}.{key}")], *read);
    }
}

/// Books of chess and of variants.
fn books(import: &mut Import<'_>) {
    let files = import.take_paths("engine.polyglot.book.standard");
    if !files.is_empty() {
        import.set("bot.book.files", files);
    }
    for (game, names) in values::VARIANTS {
        let files: Vec<_> = names
            .iter()
            .flat_map(|name| import.take_paths(&format!("engine.polyglot.book.{name}")))
            .collect();
        if !files.is_empty() {
            let rule = [("files".to_owned(), files.into()), ("games".to_owned(), vec![game].into())];
            import.set("bot.books", vec![Toml::Table(Table::from_iter(rule))]);
        }
    }
}

fn syzygy(import: &mut Import<'_>) {
    let folders = import.take_paths("engine.lichess_bot_tbs.syzygy.paths");
    if !folders.is_empty() {
        import.set("bot.syzygy.folders", folders);
    }
}

fn challenges(import: &mut Import<'_>) {
    // Theirs ponders in each game.
    if import.take("engine.ponder").or_else(|| import.take("engine.uci_ponder")) == Some(Value::Bool(true)) {
        import.ponder();
    }
    if import.look("challenge.only_bot") == Some(&Value::Bool(true)) {
        import.take("challenge.only_bot");
        import.set("server.challenge.human.accept", false);
    }
    let age = "challenge.recent_bot_challenge_age";
    let most = "challenge.max_recent_bot_challenges";
    if import.look(most).is_some_and(values::is_unlimited) {
        import.take(age);
        import.take(most);
    }
    let both = import.look(age).and_then(values::seconds).zip(import.look(most).and_then(values::positive));
    if let Some((within, games)) = both {
        import.take(age);
        import.take(most);
        import.set("server.challenge.bot.max_recent_challenges", games);
        import.set("server.challenge.bot.recent_challenge_age", within);
    }
}

/// Games for humans. Theirs challenges bots even if all games are reserved, which ours refuses.
fn reserved_games(import: &mut Import<'_>) {
    let [ours, theirs] = ["server.challenge.reserved_for_humans", "challenge.games_reserved_for_humans"];
    let number = |key| import.ours_at(key).and_then(Toml::as_integer);
    let (Some(reserved), Some(games)) = (number(ours), number("server.concurrency")) else { return };
    let accepts = import.ours_at("server.challenge.human.accept").and_then(Toml::as_bool).unwrap_or(true);
    let (most, why) = if !accepts {
        (0, "no challenge of a human is accepted")
    } else if import.ours_at("server.matchmaking").is_some() {
        (games - 1, "matchmaking needs a game that is not reserved")
    } else {
        (games, "there are no more games")
    };
    if reserved > most {
        import.set(ours, most);
        import.leave(theirs, &format!("{most} instead of {reserved}: {why}"));
    }
}

fn records(import: &mut Import<'_>) {
    if let Some(folder) = import.take_text("pgn_directory") {
        import.set("server.pgn_directory", import.path(Path::new(&folder)));
        import.copy("pgn_file_grouping", &["server.pgn_file_grouping"], values::grouping);
    }
}
