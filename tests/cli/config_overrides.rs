//! Keys of the configuration on the command line.

use std::time::Duration;

use zeitnot::cli::config::{Config, Overrides};

use crate::support::command::{err, out, zeitnot};

const CONFIG: &str = "[engine]\nhash_mib = 64\n[bot]\nmove_overhead = '50ms'\n[[server]]\nprotocol = 'contest'\n\
    address = 'tcp://localhost:8000'\ntournament = 'class'\nplayer = 'first'\n";

fn with(set: &[&str], player: Option<&str>) -> Result<Config, Vec<String>> {
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { set, player: player.map(str::to_owned) };
    let errors =
        |errors: zeitnot::cli::config::ConfigErrors| errors.iter().map(ToString::to_string).collect();
    Config::parse_with("c.toml", CONFIG, &overrides).map_err(errors)
}

#[test]
fn any_key_can_be_set_by_its_path() {
    let set = with(
        &[
            "engine.hash_mib=7",
            "engine.kind=mtd-f",
            "bot.move_overhead=1s 5ms",
            "cache.file=",
            "log.level='debug'",
            "server[0].player=second",
            "server[0].address=ws://localhost:1/a=b",
            "server[1].protocol=imcs",
            "server[1] = { protocol = 'tuc', player = 'third' }",
            "arena.tcp=127.0.0.1:1",
            "arena.tournament[0].name=class",
            "arena.tournament[0].time=3+0.05",
            "engines.a b.command=a",
            "engines.\"c.d\".command=c",
            "engines.\"c.d\".options.'Move Overhead'=10",
            "bot.sources=[\"book\", \"cache\"]",
            "bot.book.files[0]=a.bin",
            "bot.book.files[1]=b.bin",
        ],
        None,
    )
    .unwrap();
    assert_eq!((set.engine.hash_mib.get(), set.engine.kind.to_string()), (7, "mtd-f".to_owned()));
    assert_eq!(set.bot.move_overhead, Duration::from_millis(1005));
    assert_eq!(set.cache.file.as_os_str(), "");
    assert_eq!(set.log.to_string(), "for people, debug");
    assert_eq!(set.bot.book.files.len(), 2);
    assert_eq!(set.engines.keys().collect::<Vec<_>>(), ["a b", "c.d"]);
    assert_eq!(set.arena.tournament[0].name.as_str(), "class");
    let servers: Vec<_> = set.servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers[0], "contest: play in tournament class as second at ws://localhost:1/a=b");
    assert!(servers[1].starts_with("tuc: play 1 game(s) of TUC-Chess"), "{servers:?}");
    // The last one counts.
    assert_eq!(with(&["engine.hash_mib=7", "engine.hash_mib=8"], None).unwrap().engine.hash_mib.get(), 8);
}

#[test]
fn mistakes_name_the_option_and_the_key() {
    for (set, expected) in [
        ("engine.hash_mib=x", "--set engine.hash_mib: expected a whole number from 1, got \"x\""),
        (
            "engine.hash=5",
            "--set engine.hash: unknown key `hash` (did you mean `hash_mib`?); known here: `kind`, `hash_mib`, `threads`, `depth`, `evaluation`, `elo`, `syzygy`, `eval_file`, `limits`",
        ),
        (
            "server[0].player=alice smith",
            "--set server[0].player: expected a name of 1 to 49 characters without a space, got \"alice smith\"",
        ),
        (
            "server[0].player=42",
            "--set server[0].player: expected text in quotes, such as \"zeitnot\", got a number",
        ),
        (
            "server[1].player=bob",
            "--set server[1].protocol: is missing; known: contest, tuc, imcs, cerveau, lichess",
        ),
        ("server[2].player=bob", "--set server: has no [2]: the next one is [1]"),
        (
            "server.player=bob",
            "--set server: is a list: say which one by its number from 0, as in server[0].player",
        ),
        ("engine[0].kind=mcts", "--set engine: is not a list"),
        ("engine.hash_mib.x=1", "--set engine.hash_mib: is not a table"),
        ("hash", "--set hash: expected KEY=VALUE, as in engine.hash_mib=256"),
        ("=5", "--set expected a path, as in engine.hash_mib or server[0].player"),
        ("engine..kind=5", "--set engine..kind: expected a path, as in engine.hash_mib or server[0].player"),
        (
            "server[x].player=5",
            "--set server[x].player: expected a path, as in engine.hash_mib or server[0].player",
        ),
        ("bot.draw={moves='x'}", "--set bot.draw.moves: expected a whole number, got \"x\""),
        (
            "bot.min_lag=9s",
            "--set bot.min_lag: min_lag (9s) is above max_lag (2s): lower min_lag, or raise max_lag",
        ),
        (
            "server[0].token=hush",
            "c.toml:5: server[0]: a token can only be sent to a ws:// address: change the address, or remove the token",
        ),
    ] {
        assert_eq!(with(&[set], None).unwrap_err(), [expected], "{set}");
    }
    let broken = with(&["bot.sources=[\"book\""], None).unwrap_err();
    assert!(broken[0].starts_with("--set bot.sources: "), "{broken:?}");
    // Nothing is smuggled in, and two mistakes are two.
    assert!(with(&["engine.kind=mcts\nthreads=2"], None).is_err());
    assert_eq!(with(&["engine.hash=1", "engine.hash_mib=x"], None).unwrap_err().len(), 2);
}

#[test]
fn secrets_are_not_repeated() {
    for set in
        ["server[0].token=hush hush", "server[0].token=4711", "server[0].token", "server[0].token=[\"hush"]
    {
        let told = with(&["server[0].address=ws://localhost:1", set], None).unwrap_err().concat();
        assert!(!told.contains("hush") && !told.contains("4711"), "{told}");
    }
}

#[test]
fn a_player_is_named_on_all_servers() {
    let set = [
        "server[1]={protocol='imcs', address='tcp://localhost:1', user='a', password='b'}",
        "server[2].protocol=lichess",
    ];
    let config = with(&set, Some("se\"cond")).unwrap_err();
    assert_eq!(config.len(), 1, "{config:?}");
    assert!(config[0].starts_with("--player server[1].user: expected a name"), "{config:?}");
    let config = with(&set, Some("42")).unwrap();
    let servers: Vec<_> = config.servers.iter().map(ToString::to_string).collect();
    assert!(servers[0].contains("as 42 at") && servers[1].contains("as 42 at"), "{servers:?}");
    let alone = with(&["server=[]", "server[0].protocol=lichess"], Some("second")).unwrap_err();
    assert!(alone[0].starts_with("--player second: no [[server]] table takes a name"), "{alone:?}");
}

/// By one mechanism in each command that reads a configuration.
#[test]
fn every_command_takes_keys() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), CONFIG).unwrap();
    let told = "error: --set engine.hash: unknown key `hash`";
    for command in [
        &["check"][..],
        &["play"],
        &["arena"],
        &["lichess", "check"],
        &["match", "--engine", "a", "--engine", "zeitnot"],
    ] {
        let output = zeitnot(command).args(["--set", "engine.hash=1"]).current_dir(&dir).output().unwrap();
        assert!(err(&output).starts_with(told) && output.status.code() == Some(2), "{command:?}: {output:?}");
        assert_eq!(err(&output).lines().count(), 1);
    }
    let set = ["check", "--set", "engine.hash_mib=7", "--set", "cache.file="];
    let check = zeitnot(&set).current_dir(&dir).output().unwrap();
    assert!(out(&check).contains("hash 7 MiB") && out(&check).contains("nothing on the disk"), "{check:?}");
}
