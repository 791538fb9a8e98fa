//! Mistakes in a configuration, and the lines that report them. Most are in `tests/data/config-errors.txt`,
//! those of keys that contradict each other in `tests/data/config-contradictions.txt`.

use std::{path::Path, time::Duration};

use zeitnot::cli::config::{Config, ConfigArgs, Overrides};
use zeitnot_engine::Kind;

const SERVER: &str = r#"[[server]]
protocol = "contest"
address = "tcp://localhost:8000"
tournament = "class"
player = "alice"
"#;

/// Mistakes of a configuration.
fn mistakes(text: &str) -> Vec<String> {
    match Config::parse("c.toml", text) {
        Ok(config) => panic!("nothing wrong with it: {config:?}"),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn each_mistake_is_reported_with_its_line_and_its_key() {
    check(include_str!("../data/config-errors.txt"));
}

#[test]
fn each_contradiction_is_reported_with_its_keys() {
    check(include_str!("../data/config-contradictions.txt"));
}

/// Each configuration has the mistakes on the lines `=> …` after it.
fn check(cases: &str) {
    let mut text = String::new();
    let mut faults = Vec::new();
    let mut lines = cases.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("=> ") else {
            text += &format!("{line}\n");
            continue;
        };
        let mut expected = vec![first];
        while let Some(more) = lines.next_if(|line| line.starts_with("=> ")) {
            expected.extend(more.strip_prefix("=> "));
        }
        let told = mistakes(&std::mem::take(&mut text));
        if told != expected {
            faults.push(format!("expected {expected:?}\ngot      {told:?}"));
        }
        lines.next();
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn endgame_tables_are_configured_for_each_engine() {
    let text = "[engine.syzygy]\nfolders = ['a', 'b']\nmin_depth = 4\n[engines.second]\nkind = 'search'\n\
        syzygy = { folders = ['c'], max_pieces = 5 }";
    let config = Config::parse("c.toml", text).unwrap();
    assert_eq!((config.engine.syzygy.folders.len(), config.engine.syzygy.min_depth), (2, 4));
    assert_eq!(config.engine.syzygy.max_pieces, 7);
}

#[test]
fn values_are_read() {
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
fn a_missing_or_unknown_protocol_is_reported_with_the_known_ones() {
    let known = zeitnot_clients::PROTOCOLS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let unknown = SERVER.replace("contest\"", "conquest\"");
    assert_eq!(
        mistakes(&unknown),
        [format!("c.toml:2: server[0].protocol: unknown protocol (did you mean `contest`?); known: {known}")]
    );
    let missing = format!("\n{SERVER}[[server]]\nplayer = 'bob'");
    assert_eq!(mistakes(&missing), [format!("c.toml:7: server[1].protocol: is missing; known: {known}")]);
}

const IMCS: &str =
    "[[server]]\nprotocol = 'imcs'\naddress = 'tcp://localhost:3589'\nuser = 'alice'\npassword = 'hush'\n";

#[test]
fn an_imcs_server_is_described() {
    let config = Config::parse("c.toml", IMCS).unwrap();
    assert_eq!(
        config.servers[0].to_string(),
        "imcs: accept and offer games as alice at tcp://localhost:3589"
    );
    let config = Config::parse("c.toml", &format!("{IMCS}[server.offer]\ntime = '10s'")).unwrap();
    assert_eq!(config.servers[0].to_string(), "imcs: offer games as alice at tcp://localhost:3589");
}

#[test]
fn a_lichess_server_is_described() {
    let table = "[[server]]\nprotocol = 'lichess'\n";
    let config = Config::parse("c.toml", &format!("{table}games = 3\ntoken = 'lip_hush'")).unwrap();
    assert_eq!(
        config.servers[0].to_string(),
        "lichess: accept challenges at https://lichess.org, at most 4 games at once, and leave after 3"
    );
}

#[test]
fn broken_syntax_is_reported_with_its_line() {
    for (text, line) in [("[engine", 1), ("[engine]\nhash_mib 64", 2), ("[bot]\n\nx = \"open", 3)] {
        let all = mistakes(text);
        assert!(all[0].starts_with(&format!("c.toml:{line}: ")), "{all:?}");
        assert!(all.iter().all(|mistake| !mistake.contains('\n')), "{all:?}");
    }
    assert!(mistakes("[bot]\n[bot]")[0].starts_with("c.toml:2: "));
}

#[test]
fn all_mistakes_are_reported_in_the_order_of_the_lines() {
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
            "server[0].tournament",
            "server[0].address",
            "server[0].player",
            "server[1].protocol",
            "zoo"
        ]
    );
    let first = Config::parse("c.toml", text).unwrap_err().to_string();
    assert!(first.ends_with("(and 8 more: zeitnot check --config c.toml)"), "{first}");
}

#[test]
fn unreadable_files_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let source = |path: &Path| ConfigArgs { config: path.into(), overrides: Overrides::default() };
    let told = |path: &Path| Config::load(&source(path)).unwrap_err().to_string();
    assert!(
        told(&dir.path().join("no.toml")).ends_with("make one with: zeitnot check --default > config.toml")
    );
    assert!(told(dir.path()).ends_with(": is a folder; name a file"));
    let large = dir.path().join("large.toml");
    std::fs::write(&large, "[a]\n".repeat(1 << 18)).unwrap();
    Config::load(&source(&large)).unwrap_err();
    std::fs::write(&large, "[a]\n".repeat((1 << 18) + 1)).unwrap();
    assert!(told(&large).ends_with("large.toml: is larger than a configuration: is it the right file?"));
    let binary = dir.path().join("binary.toml");
    std::fs::write(&binary, b"\xff\xfe").unwrap();
    assert!(told(&binary).ends_with("binary.toml: is not UTF-8 text"));
}

#[test]
fn rules_name_engines_that_exist() {
    let engines = "[engines.a]\ncommand = 'a'\n[engines.b]\nkind = 'random'\n";
    let config =
        Config::parse("c.toml", &format!("{engines}[[bot.choose]]\nengine = 'b'\ncolor = 'white'\n"));
    assert_eq!(config.unwrap().bot.choose.len(), 1);
    let wrong = mistakes("[engines.a]\ncommand = 'a'\nprotocol = 'cecp'\n");
    assert!(
        wrong[0].starts_with("c.toml:3: engines.a.protocol: expected \"uci\", \"xboard\", \"ubgi\", "),
        "{wrong:?}"
    );
    let wrong = mistakes("[engines.a]\ncommand = 'a'\n[engines.a.options]\nHash = [1]\n");
    assert!(
        wrong[0].starts_with(
            "c.toml:4: engines.a.options.Hash: expected text, a number, or true or false, got a list"
        ),
        "{wrong:?}"
    );
    let wrong = mistakes(&format!("{engines}[[bot.choose]]\nengine = 'a'\ntime_controls = ['slow']\n"));
    assert!(
        wrong[0].starts_with("c.toml:7: bot.choose[0].time_controls[0]: expected \"ultraBullet\""),
        "{wrong:?}"
    );
}

/// What a number of threads means depends on the machine.
#[test]
fn absurd_numbers_of_threads_are_reported() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let absurd = 4 * cores + 1;
    let told = format!("{absurd} threads for {cores} cores: use at most {cores} on this machine");
    for (text, place) in [
        ("[engine]\nthreads = N\n", "c.toml:2: engine.threads"),
        ("[engines.a]\nthreads = N\n", "c.toml:2: engines.a.threads"),
        ("[engines.a]\ncommand = 'a'\noptions = { Threads = N }\n", "c.toml:3: engines.a.options.Threads"),
    ] {
        assert_eq!(mistakes(&text.replace('N', &absurd.to_string())), [format!("{place}: {told}")]);
        Config::parse("c.toml", &text.replace('N', "2")).unwrap();
    }
}

/// Contradictions with a default, or for games that another engine leaves.
#[test]
fn keys_that_only_seem_to_contradict_each_other_are_valid() {
    let account = "[[server]]\nprotocol = 'lichess'\n";
    for text in [
        format!("[bot]\nmax_games = 2\n{account}"),
        format!("{account}correspondence.max_games = 1\n"),
        format!("{account}matchmaking = {{ clocks = {{}}, challenge_days = [3] }}\n"),
        format!("{account}challenge.bot = {{ accept = false, variants = [] }}\n"),
        "[engines.a]\ncommand = 'a'\n[engines.b]\nkind = 'mcts'\n[[bot.choose]]\nengine = 'a'\n\
         [[bot.choose]]\nengine = 'b'\n"
            .to_owned(),
        "[engines.a]\ncommand = 'stockfish'\n[engines.b]\ncommand = 'fairy'\n[[bot.choose]]\nengine = 'a'\n\
         [[bot.choose]]\nengine = 'b'\n"
            .to_owned(),
        // A book without games is for chess only.
        "[[bot.books]]\n[[bot.books]]\ngames = ['chess', 'atomic']\n".to_owned(),
        "[arena]\nmax_connections = 200\n[arena.web]\n[[arena.tournament]]\nname = 'a'\ntime = '3'\nplayers = 300\n\
         start = 'organiser'\n"
            .to_owned(),
        // The account needs no connection for players.
        "[arena]\nmax_connections = 2\n[[arena.tournament]]\nname = 'a'\ntime = '3'\nplayers = 3\n[arena.lichess]\n\
         listen = '127.0.0.1:0'\naccount = [{ name = 'bob', class = 'a' }]\n"
            .to_owned(),
    ] {
        Config::parse("c.toml", &text).unwrap();
    }
}

#[test]
fn games_at_once_follow_the_accounts() {
    let account = "[[server]]\nprotocol = 'lichess'\n";
    let max_games = |text: &str| Config::parse("c.toml", text).unwrap().bot.max_games;
    assert_eq!(max_games(account), 8);
    assert_eq!(max_games(&account.repeat(3)), 12);
    assert_eq!(
        max_games(&format!("{}challenge.bot.time_controls = ['correspondence']\n", account.repeat(3))),
        14
    );
    assert_eq!(max_games(&format!("[bot]\nmax_games = 5\n{}", account.repeat(3))), 5);
}
