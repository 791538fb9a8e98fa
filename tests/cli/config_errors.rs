//! Every kind of mistake in a configuration, and the line that tells it.

use std::time::Duration;

use zeitnot::cli::config::{Config, DOCUMENTED};
use zeitnot_engine::Kind;

const SERVER: &str = r#"[[server]]
protocol = "contest"
address = "tcp://localhost:8000"
tournament = "class"
player = "alice"
"#;

/// All that is wrong with this text, one mistake a line.
fn mistakes(text: &str) -> Vec<String> {
    match Config::parse("c.toml", text) {
        Ok(config) => panic!("nothing wrong with it: {config:?}"),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn tells(text: &str, expected: &str) {
    assert_eq!(mistakes(text), [expected]);
}

#[test]
fn nothing_is_a_configuration_and_so_is_the_documented_one() {
    let empty = Config::parse("c.toml", "").unwrap();
    let documented = Config::parse("config.toml", DOCUMENTED).unwrap();
    assert_eq!(empty.bot, documented.bot);
    assert_eq!(empty.engine, documented.engine);
    assert_eq!(empty.log, documented.log);
    assert!(empty.servers.is_empty());
    assert_eq!(documented.servers.len(), 1);
}

/// Keys that are commented out show their defaults, and all are known.
#[test]
fn the_documented_defaults_are_the_defaults() {
    let uncommented: String = DOCUMENTED
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(key) if key.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => key,
            Some(table) if table.starts_with('[') && table.ends_with(']') => table,
            _ => line,
        })
        .filter(|line| !line.starts_with("token"))
        .flat_map(|line| [line, "\n"])
        .collect();
    assert!(uncommented.contains("\nhash_mib = 64\n"), "{uncommented}");
    let config = Config::parse("config.toml", &uncommented).unwrap();
    let empty = Config::parse("c.toml", "").unwrap();
    // Engines and the rules that choose them have names, which nobody has by default.
    assert_eq!((config.engines.len(), config.bot.choose.len()), (2, 1));
    let bot = zeitnot_bot::Config { choose: Vec::new(), ..config.bot };
    assert_eq!((bot, config.engine, config.log), (empty.bot, empty.engine, empty.log));
    // Every protocol has its table in it.
    let names: Vec<_> = config.servers.iter().map(|server| server.to_string()).collect();
    for row in zeitnot_clients::PROTOCOLS {
        assert!(names.iter().any(|name| name.starts_with(row.name)), "no table for {}", row.name);
    }
    assert_eq!(config.arena.tuc.len(), 1);
    config.arena.check().unwrap();
}

/// The protocols as errors list them.
fn protocols() -> String {
    zeitnot_clients::PROTOCOLS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

#[test]
fn endgame_tables_have_a_table_of_their_own() {
    let text = "[engine.syzygy]\nfolders = ['a', 'b']\nmin_depth = 4\n[engines.second]\nkind = 'search'\n\
        syzygy = { folders = ['c'], max_pieces = 5 }";
    let config = Config::parse("c.toml", text).unwrap();
    assert_eq!((config.engine.syzygy.folders.len(), config.engine.syzygy.min_depth), (2, 4));
    assert_eq!(config.engine.syzygy.max_pieces, 7);
    tells(
        "[engine.syzygy]\nfolders = 'a'",
        "c.toml:2: engine.syzygy.folders: expected a list in [brackets], got string \"a\"",
    );
    tells(
        "[engine]\nsyzygy = { path = 'a' }",
        "c.toml:2: engine.syzygy.path: unknown key `path`; known here: `folders`, `max_pieces`, `min_depth`",
    );
}

#[test]
fn what_stands_there_is_what_holds() {
    let text =
        format!("{SERVER}[engine]\nhash_mib = 7\n[bot]\nmove_overhead = '1s 5ms'\n[log]\nformat = 'json'");
    let config = Config::parse("c.toml", &text).unwrap();
    assert_eq!(config.engine.hash_mib.get(), 7);
    for kind in Kind::named() {
        let config = Config::parse("c.toml", &format!("[engine]\nkind = '{kind}'")).unwrap();
        assert_eq!(config.engine.kind, kind);
    }
    assert_eq!(config.bot.move_overhead, Duration::from_millis(1005));
    assert_eq!(
        config.servers[0].to_string(),
        "contest: play in tournament class as alice at tcp://localhost:8000"
    );
}

#[test]
fn unknown_keys() {
    tells(
        "\n[engine]\nhash = 5",
        "c.toml:3: engine.hash: unknown key `hash`; known here: `kind`, `hash_mib`, `threads`, `depth`, `syzygy`",
    );
    tells(
        "[engin]\n",
        "c.toml:1: engin: unknown key `engin`; known here: engine, engines, bot, online_moves, cache, log, arena, server",
    );
    tells(
        "color = 1",
        "c.toml:1: color: unknown key `color`; known here: engine, engines, bot, online_moves, cache, log, arena, server",
    );
    tells(
        &format!("{SERVER}color = 'white'"),
        "c.toml:6: server[0].color: unknown key `color`; known here: `address`, `tournament`, `player`, `token`",
    );
}

#[test]
fn wrong_types() {
    tells(
        "[engine]\n\nhash_mib = '64'",
        "c.toml:3: engine.hash_mib: expected a whole number above zero, got string \"64\"",
    );
    tells(
        "[bot]\nmax_games = 1.5",
        "c.toml:2: bot.max_games: expected a whole number, not below zero, got floating point `1.5`",
    );
    tells("engine = 5", "c.toml:1: engine: expected a table: [engine]");
    tells("[server]\nprotocol = 'contest'", "c.toml:1: server: expected double brackets: [[server]]");
    tells("server = [1]", "c.toml:1: server: expected double brackets: [[server]]");
    tells(
        &SERVER.replace("\"alice\"", "['alice']"),
        "c.toml:5: server[0].player: expected text in quotes, got sequence",
    );
}

#[test]
fn wrong_values() {
    tells(
        "[engine]\nthreads = -1",
        "c.toml:2: engine.threads: expected a whole number above zero, got integer `-1`",
    );
    tells(
        "[engine]\ndepth = 0",
        "c.toml:2: engine.depth: expected a whole number above zero, got integer `0`",
    );
    tells(
        "[engine]\nkind = 'alphabeta'",
        "c.toml:2: engine.kind: expected `search`, `mcts`, `uct`, `random`, `minimax`, `alpha-beta`, `alpha-beta-ordered`, \
         `alpha-beta-table`, `alpha-beta-quiescence`, `mtd-f`, `forward-pruning`, got string \"alphabeta\"",
    );
    tells("[log]\nformat = 'xml'", "c.toml:2: log.format: expected `human` or `json`, got `xml`");
    tells(
        "[log]\nlevel = 'inof'",
        "c.toml:2: log.level: expected error, warn, info, debug, trace or a filter such as \"info,zeitnot=debug\", got \"inof\"",
    );
    tells(
        "[bot]\nmove_overhead = '5 parsecs'",
        "c.toml:2: bot.move_overhead: expected a duration such as \"50ms\" or \"2s\", got string \"5 parsecs\"",
    );
    tells(
        "[bot]\nmove_overhead = 50",
        "c.toml:2: bot.move_overhead: expected a duration such as \"50ms\" or \"2s\", got integer `50`",
    );
    tells(
        "\n[bot]\nmin_lag = '1s'\nmax_lag = '20ms'",
        "c.toml:2: bot: min_lag (1s) is above max_lag (20ms): swap or change them",
    );
    tells(
        &SERVER.replace("tcp://localhost:8000", "localhost"),
        "c.toml:3: server[0].address: 'localhost' is not an address: expected tcp://host:port or ws://host:port/path",
    );
    tells(
        &SERVER.replace("alice", "alice smith"),
        "c.toml:5: server[0].player: expected a name of 1 to 49 characters without a space, got \"alice smith\"",
    );
    tells(
        &SERVER.replace("contest\"", "chess\""),
        &format!("c.toml:2: server[0].protocol: no protocol of ours; known: {}", protocols()),
    );
}

#[test]
fn missing_keys() {
    tells(&SERVER.replace("player = \"alice\"\n", ""), "c.toml:1: server[0].player: is missing");
    tells(
        &format!("\n{SERVER}[[server]]\nplayer = 'bob'"),
        &format!("c.toml:7: server[1].protocol: is missing; known: {}", protocols()),
    );
}

#[test]
fn tokens_are_refused_where_they_have_no_place_and_never_shown() {
    tells(
        &format!("{SERVER}token = 'hush'"),
        "c.toml:1: server[0]: a token can only be sent to a ws:// address: change the address, or remove the token",
    );
    let ws = SERVER.replace("tcp", "ws");
    for (wrong, expected) in [
        ("4711", "c.toml:6: server[0].token: expected text in quotes"),
        (
            "'hush hush'",
            "c.toml:6: server[0].token: expected a token of letters, digits and signs, here or in the environment as ZEITNOT_TOKEN",
        ),
    ] {
        tells(&format!("{ws}token = {wrong}"), expected);
    }
}

const IMCS: &str =
    "[[server]]\nprotocol = 'imcs'\naddress = 'tcp://localhost:3589'\nuser = 'alice'\npassword = 'hush'\n";

#[test]
fn imcs() {
    let config = Config::parse("c.toml", IMCS).unwrap();
    assert_eq!(
        config.servers[0].to_string(),
        "imcs: accept and offer games as alice at tcp://localhost:3589"
    );
    let config = Config::parse("c.toml", &format!("{IMCS}[server.offer]\ntime = '10s'")).unwrap();
    assert_eq!(config.servers[0].to_string(), "imcs: offer games as alice at tcp://localhost:3589");
    tells(
        &IMCS.replace("'hush'", "'hush hush'"),
        "c.toml:5: server[0].password: expected a password of letters, digits and punctuation, without a space",
    );
    tells(
        &IMCS.replace("password = 'hush'\n", ""),
        "c.toml:1: server[0]: no password: set `password`, `password_file` or the environment's ZEITNOT_IMCS_PASSWORD",
    );
    tells(
        &format!("{IMCS}[server.offer]\ncolor = 'red'"),
        "c.toml:7: server[0].offer.color: expected \"W\", \"B\" or \"?\"",
    );
    tells(
        &format!("{IMCS}[server.offer]\ntime = '1s 500ms'"),
        "c.toml:1: server[0]: offer.time must be whole seconds, from one second to a day",
    );
}

#[test]
fn lichess() {
    let table = "[[server]]\nprotocol = 'lichess'\n";
    let config = Config::parse("c.toml", &format!("{table}games = 3\ntoken = 'lip_hush'")).unwrap();
    assert_eq!(
        config.servers[0].to_string(),
        "lichess: accept challenges at https://lichess.org, at most 4 games at once, and leave after 3"
    );
    tells(
        &format!("{table}url = 'lichess.org'"),
        "c.toml:3: server[0].url: expected https://host or http://host:port, without a name, a query or a fragment in it",
    );
    tells(
        &format!("{table}token = 'hush hush'"),
        "c.toml:3: server[0].token: expected a token of letters, digits and underscores",
    );
    tells(&format!("{table}token = 4711"), "c.toml:3: server[0].token: expected text in quotes");
}

#[test]
fn broken_syntax() {
    for (text, line) in [("[engine", 1), ("[engine]\nhash_mib 64", 2), ("[bot]\n\nx = \"open", 3)] {
        let all = mistakes(text);
        assert!(all[0].starts_with(&format!("c.toml:{line}: ")), "{all:?}");
        assert!(all.iter().all(|mistake| !mistake.contains('\n')), "{all:?}");
    }
    assert!(mistakes("[bot]\n[bot]")[0].starts_with("c.toml:2: "));
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_lines() {
    let text = "[bot]\nmax_games = 'x'\nmove_overhead = 1\nmore = 1\n[engine]\nthreads = 'y'\n[[server]]\n\
                protocol = 'contest'\naddress = 'a'\nplayer = ''\n[[server]]\n[zoo]";
    let all = mistakes(text);
    let places: Vec<&str> = all.iter().map(|mistake| mistake.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        places,
        [
            "bot.max_games",
            "bot.move_overhead",
            "bot.more",
            "engine.threads",
            "server[0].address",
            "server[0].player",
            "server[1].protocol",
            "zoo"
        ]
    );
    let first = Config::parse("c.toml", text).unwrap_err().to_string();
    assert!(first.ends_with("(and 7 more: zeitnot check --config c.toml)"), "{first}");
}

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let told = |path: &std::path::Path| Config::load(path).unwrap_err().to_string();
    assert!(
        told(&dir.path().join("no.toml")).ends_with("make one with: zeitnot check --default > config.toml")
    );
    assert!(told(dir.path()).to_lowercase().contains("directory"));
    let binary = dir.path().join("binary.toml");
    std::fs::write(&binary, b"\xff\xfe").unwrap();
    assert!(told(&binary).ends_with("binary.toml: is not UTF-8 text"));
}

#[test]
fn engines_and_the_rules_that_name_them() {
    let engines = "[engines.a]\ncommand = 'a'\n[engines.b]\nkind = 'random'\n";
    let config =
        Config::parse("c.toml", &format!("{engines}[[bot.choose]]\nengine = 'b'\ncolor = 'white'\n"));
    assert_eq!(config.unwrap().bot.choose.len(), 1);
    tells(
        &format!("{engines}[[bot.choose]]\nengine = 'a'\n[[bot.choose]]\nrated = true\nengine = 'c'\n"),
        "c.toml:9: bot.choose[1].engine: no engine is called `c`; known: a, b; each has a table [engines.NAME]",
    );
    tells(
        "[[bot.choose]]\nengine = 'c'\n",
        "c.toml:2: bot.choose[0].engine: no engine is called `c`; known: none; each has a table [engines.NAME]",
    );
    tells(
        "[engines.a]\nargs = ['x']\n",
        "c.toml:1: engines.a: without `command` it is our own engine, and has no `args`, `folder`, `protocol`, \
         `start_within` or `options`",
    );
    tells(
        "[engines.a]\ncommand = 'a'\nthreads = 2\n",
        "c.toml:1: engines.a: a program has no `kind`, `hash_mib`, `threads`, `depth` or `syzygy`: set its options in \
         [engines.NAME.options]",
    );
    let wrong = mistakes("[engines.a]\ncommand = 'a'\nprotocol = 'cecp'\n");
    assert!(wrong[0].starts_with("c.toml:3: engines.a.protocol: expected `uci` or `xboard`"), "{wrong:?}");
    let wrong = mistakes("[engines.a]\ncommand = 'a'\n[engines.a.options]\nHash = [1]\n");
    assert!(wrong[0].starts_with("c.toml:4: engines.a.options.Hash: expected text of one line"), "{wrong:?}");
    let wrong = mistakes(&format!("{engines}[[bot.choose]]\nengine = 'a'\ntime_controls = ['slow']\n"));
    assert!(
        wrong[0].starts_with("c.toml:7: bot.choose[0].time_controls[0]: expected `ultraBullet`"),
        "{wrong:?}"
    );
}
