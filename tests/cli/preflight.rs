//! `play` and `arena` refuse everything that `check` refuses, at once and in the same words.

use std::{fs, path::Path, process::Output};

use tempfile::TempDir;

use crate::support::{
    command::{ZEITNOT, err, out, zeitnot},
    files,
};

const CONTEST: &str =
    "[[server]]\nprotocol = 'contest'\naddress = 'tcp://localhost:1'\ntournament = 't'\nplayer = 'p'\n";
const LICHESS: &str = "[[server]]\nprotocol = 'lichess'\nurl = 'http://127.0.0.1:1'\n";
const CLASS: &str = "[[arena.tournament]]\nname = 'class'\ntime = '3+0.05'\n";

/// A folder with this configuration.
fn folder(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), config).unwrap();
    dir
}

fn run(dir: &TempDir, arguments: &[&str]) -> Output {
    zeitnot(arguments).current_dir(dir).output().unwrap()
}

/// Expects that both commands say this and end with exit code 2.
#[track_caller]
fn refused_in(dir: &TempDir, commands: [&str; 2], expected: &str) {
    for command in commands {
        let output = run(dir, &[command]);
        assert_eq!(err(&output).trim_end(), format!("error: {expected}"), "{command}");
        assert_eq!((output.status.code(), out(&output)), (Some(2), ""), "{command}");
    }
}

#[track_caller]
fn refused(config: &str, expected: &str) {
    refused_in(&folder(config), ["check", "play"], expected);
}

/// Returns what `check` says of a valid configuration.
#[track_caller]
fn valid(config: &str) -> String {
    let check = run(&folder(config), &["check"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    out(&check).to_owned()
}

fn secret(dir: &Path, name: &str, mode: u32) {
    files::write(dir.join(name), "lip_hush\n", mode);
}

#[test]
fn a_lichess_account_needs_a_token() {
    refused(
        LICHESS,
        "config.toml:1: server[0]: no token: set LICHESS_BOT_TOKEN, or `token_file` in its [[server]] table",
    );
    refused(
        &format!("{LICHESS}token_env = 'NO_SUCH_VARIABLE'"),
        "config.toml:1: server[0]: no token: NO_SUCH_VARIABLE, which `token_env` names, is not set in the environment",
    );
    refused(
        &format!("{LICHESS}token_file = 'a.token'"),
        "config.toml:1: server[0]: cannot read token_file a.token: No such file or directory (os error 2); it names a file \
         with the token in it",
    );
    // The token in place of its file.
    refused(
        &format!("{LICHESS}token_file = 'lip_hush'"),
        "config.toml:1: server[0]: cannot read token_file lip_…: No such file or directory (os error 2); it names a file \
         with the token in it",
    );
    let dir = folder(&format!("{LICHESS}token_file = 'a.token'"));
    secret(dir.path(), "a.token", 0o644);
    let expected = "config.toml:1: server[0]: others can read token_file a.token: chmod 600 a.token";
    refused_in(&dir, ["check", "play"], expected);
    secret(dir.path(), "a.token", 0o600);
    assert_eq!(run(&dir, &["check"]).status.code(), Some(0));
}

#[test]
fn a_file_with_a_password_or_a_key_is_private() {
    let imcs = "[[server]]\nprotocol = 'imcs'\naddress = 'tcp://localhost:1'\nuser = 'u'\n";
    for (table, key) in [(imcs, "password_file"), (CONTEST, "key_file")] {
        let dir = folder(&format!("{table}{key} = 'p'\n"));
        let refused = |why: &str| {
            let told = format!("config.toml:1: server[0]: cannot use {key} p: {why}");
            refused_in(&dir, ["check", "play"], &told);
        };
        refused("No such file or directory (os error 2)");
        secret(dir.path(), "p", 0o644);
        refused("others can read it: chmod 600 p");
        secret(dir.path(), "p", 0o600);
        let check = run(&dir, &["check"]);
        assert_eq!(check.status.code(), Some(0), "{check:?}");
        assert!(!out(&check).contains("hush"));
    }
}

#[test]
fn a_key_of_the_environment_goes_only_where_one_is_asked_for() {
    for (table, told) in [(CONTEST.to_owned(), false), (format!("{CONTEST}key = 'hush'\n"), true)] {
        let dir = folder(&table);
        let check =
            zeitnot(&["check"]).env("ZEITNOT_JOIN_KEY", "hush2").current_dir(dir.path()).output().unwrap();
        assert_eq!((check.status.code(), out(&check).contains("with a key")), (Some(0), told), "{check:?}");
    }
    let dir = folder(&format!("{CONTEST}key_file = 'p'\n"));
    let check = zeitnot(&["check"]).env("ZEITNOT_JOIN_KEY", "a b").current_dir(dir.path()).output().unwrap();
    assert!(err(&check).contains("in ZEITNOT_JOIN_KEY: expected a key"), "{check:?}");
}

#[test]
fn a_tournament_is_shown_with_its_system_and_with_who_may_join() {
    let dir = folder(&format!(
        "[arena]\ntcp = '127.0.0.1:0'\n{CLASS}pairing = 'swiss'\nrounds = 5\nplayers = 12\nkeys = 'class.keys'\n\
         [[arena.tournament]]\nname = 'open'\ntime = '60'\nopenings = 'openings.epd'\n"
    ));
    fs::write(dir.path().join("openings.epd"), "8/8/8/4k3/8/4P3/4K3/8 w - -\n").unwrap();
    let keys: String = (0..12).map(|number| format!("player{number} 7mqwz3kkfh2xpd9e\n")).collect();
    files::write(dir.path().join("class.keys"), keys, 0o600);
    let check = run(&dir, &["check"]);
    for line in [
        "arena: tournament class at 3+0.05: swiss, rounds: 5, players: 12, keys of class.keys",
        "arena: tournament open at 60+0: round-robin, games per pair: 2, openings of openings.epd, open to all",
    ] {
        assert!(out(&check).lines().any(|told| told == line), "{check:?}");
    }
}

/// What `check --default` prints needs a token and a program that plays, and nothing else.
#[test]
fn the_printed_configurations_are_accepted() {
    let program = format!("\ncommand = {ZEITNOT:?}\nargs = ['uci']");
    for user in ["lichess", "contest", "tuc", "imcs", "cerveau", "arena", "match"] {
        let printed = zeitnot(&["check", "--default", user]).output().unwrap();
        let dir = folder(&out(&printed).replace("\ncommand = \"stockfish\"", &program));
        secret(dir.path(), "lichess.token", 0o600);
        let check = run(&dir, &["check", "--config", "config.toml"]);
        assert_eq!(check.status.code(), Some(0), "{user}: {check:?}");
        assert!(out(&check).starts_with("config.toml is valid.\n"), "{user}: {check:?}");
    }
}

#[test]
fn two_tables_of_one_player_are_refused() {
    for (table, line) in [
        (CONTEST.to_owned(), 6),
        (format!("{LICHESS}token = 'lip_hush'\n"), 5),
        ("[[server]]\nprotocol = 'tuc'\nplayer = 'p'\n".to_owned(), 4),
    ] {
        let what = "server[1]: is the same player as server[0]: remove one, or change its name";
        refused(&table.repeat(2), &format!("config.toml:{line}: {what}"));
    }
    valid(&format!("{CONTEST}{}", CONTEST.replace("'p'", "'q'")));
    valid(&format!("{CONTEST}{}", CONTEST.replace("'t'", "'q'")));
    valid(&format!("{LICHESS}token = 'lip_hush'\n{LICHESS}token = 'lip_other'\n"));
}

#[test]
fn tables_beyond_the_memory_are_refused() {
    for kind in ["search", "mcts", "alpha-beta"] {
        let text = format!("{CONTEST}[engine]\nkind = '{kind}'\nhash_mib = 9999999999\n");
        let dir = folder(&text);
        for command in ["check", "play"] {
            let output = run(&dir, &[command]);
            let told =
                "error: config.toml:8: engine.hash_mib: a table of 9999999999 MiB does not fit into memory";
            assert!(err(&output).starts_with(told) && output.status.code() == Some(2), "{output:?}");
            assert!(err(&output).ends_with("; choose a smaller one\n"), "{output:?}");
        }
    }
    // Each of them fits.
    let Some(total) = zeitnot_engine::memory::total_mib() else { return };
    let text = format!("{CONTEST}[engine]\nhash_mib = {total}\n[engines.second]\nhash_mib = 64\n");
    refused(
        &text,
        &format!(
            "config.toml: the tables of [engine], [engines.second], [cache] take {} MiB together, and this machine \
             has {total} MiB: choose smaller ones",
            total + 80
        ),
    );
    // A tree for each game.
    let quarter = total / 4;
    let text = format!("{CONTEST}[engine]\nkind = 'mcts'\nhash_mib = {quarter}\n");
    refused(
        &text,
        &format!(
            "config.toml: the tables of [engine], [cache] take {} MiB together with a tree for each of 8 games, and \
             this machine has {total} MiB: choose smaller ones or a lower bot.max_games",
            8 * quarter + 16
        ),
    );
    valid(&format!("{text}[bot]\nmax_games = 2\n"));
}

#[test]
fn files_that_are_not_there_are_refused() {
    refused(
        &format!("{CONTEST}[cache]\nfile = 'nowhere/a.redb'"),
        "config.toml:7: cache.file: nowhere/a.redb cannot be made in nowhere: it does not exist; make that folder, or \
         name another file",
    );
    refused(
        &format!("{CONTEST}[cache]\nfile = '.'"),
        "config.toml:7: cache.file: . is a folder: name a file",
    );
    refused(
        &format!("{CONTEST}[engines.a]\ncommand = './nowhere'"),
        "config.toml:6: engines.a: engine a (./nowhere) cannot be started: No such file or directory (os error 2); is it \
         installed, and are `command` and `folder` right?",
    );
    refused(
        &format!("{LICHESS}token = 'lip_hush'\npgn_directory = 'config.toml'"),
        "config.toml:5: server[0].pgn_directory: config.toml cannot be a folder: config.toml is a file; name another \
         folder",
    );
    refused(
        &format!("{LICHESS}token = 'lip_hush'\n[server.matchmaking]\nhistory_file = 'nowhere/a.json'"),
        "config.toml:6: server[0].matchmaking.history_file: nowhere/a.json cannot be made in nowhere: it does not \
         exist; make that folder, or name another file",
    );
    // An arena needs no cache.
    valid(
        "[arena]\ntcp = '127.0.0.1:0'\n[[arena.tournament]]\nname = 'class'\ntime = '3'\n[cache]\nfile = 'a/b'\n",
    );
    let all = format!("{CONTEST}[cache]\nfile = 'nowhere/a.redb'\n[bot.book]\nfiles = ['nowhere.bin']\n");
    let check = run(&folder(&all), &["check"]);
    assert_eq!(err(&check).lines().count(), 2, "{check:?}");
    let play = run(&folder(&all), &["play"]);
    assert!(err(&play).ends_with(" (and 1 more: zeitnot check --config config.toml)\n"), "{play:?}");
}

#[test]
fn protocols_refuse_addresses_that_they_cannot_use() {
    for (address, expected) in [
        (
            "tcp://localhost:1",
            r#""tcp://localhost:1" is not an address: expected host:port, as in "127.0.0.1:9876""#,
        ),
        ("localhost", r#""localhost" is not an address: expected host:port, as in "127.0.0.1:9876""#),
        ("localhost:0", r#""localhost:0" is not an address: expected host:port, as in "127.0.0.1:9876""#),
    ] {
        let text = format!("[[server]]\nprotocol = 'tuc'\nplayer = 'p'\naddress = '{address}'\n");
        refused(&text, &format!("config.toml:4: server[0].address: {expected}"));
    }
    valid("[[server]]\nprotocol = 'tuc'\nplayer = 'p'\naddress = '[::1]:9876'\n");
    refused(
        "[[server]]\nprotocol = 'imcs'\naddress = 'ws://localhost:1/'\nuser = 'u'\npassword = 'p'\n",
        "config.toml:3: server[0].address: ws://localhost:1/: this protocol has TCP only: expected tcp://host:port",
    );
    refused(
        &CONTEST.replace("tcp://localhost:1", "https://localhost:1"),
        "config.toml:3: server[0].address: 'https://localhost:1' is not an address: expected tcp://host:port or \
         ws://host:port/path",
    );
}

#[test]
fn secrets_on_the_way_are_warned_of() {
    let warned = |config: &str| valid(config).lines().filter(|line| line.starts_with("warning: ")).count();
    let far = "[[server]]\nprotocol = 'lichess'\nurl = 'http://192.0.2.1'\ntoken_env = 'PATH_TOKEN'\n";
    let dir = folder(far);
    let check = zeitnot(&["check"]).current_dir(&dir).env("PATH_TOKEN", "lip_hush").output().unwrap();
    let told = "warning: server[0]: the token is sent unencrypted to http://192.0.2.1: use https://\n";
    assert!(out(&check).contains(told), "{check:?}");
    let told = valid(&format!("{LICHESS}token = 'lip_hush'\n"));
    let expected =
        "warning: server[0]: the token stands in the configuration: do not share it, or use `token_file`\n";
    assert!(told.contains(expected) && !told.contains("unencrypted") && !told.contains("hush"), "{told}");
    let contest = CONTEST.replace("tcp://localhost:1", "ws://192.0.2.1/") + "token = 'hush'\n";
    assert!(
        valid(&contest).contains("warning: server[0]: the token is sent unencrypted to ws://192.0.2.1/\n")
    );
    assert_eq!(warned(&contest.replace("192.0.2.1", "127.0.0.1")), 0);
    let lists = format!("{LICHESS}token = 'lip_hush'\n[server.players]\nblock_list_file = 'foes.txt'\n");
    assert!(
        valid(&lists).contains("warning: server[0]: players.block_list_file: foes.txt cannot be read yet: ")
    );
}

#[test]
fn every_listener_of_the_arena_is_listed() {
    let told = valid(&format!(
        "[arena]\ntcp = '127.0.0.1:8000'\nwebsocket = '127.0.0.1:8001'\n{CLASS}[arena.imcs]\n\
         listen = '127.0.0.1:3589'\n[arena.lichess]\nlisten = '127.0.0.1:9663'\n[[arena.tuc]]\n\
         address = '127.0.0.1:9876'\n[[arena.tuc]]\naddress = '127.0.0.1:9877'\n"
    ));
    let listed: Vec<_> = told.lines().filter_map(|line| line.strip_prefix("arena: ")).collect();
    assert_eq!(
        listed,
        [
            "listen on tcp://127.0.0.1:8000",
            "listen on ws://127.0.0.1:8001",
            "listen on tcp://127.0.0.1:3589 for MiniChess (IMCS)",
            "listen on http://127.0.0.1:9663 for bots that speak the Lichess API",
            "listen on udp://127.0.0.1:9876 for TUC-Chess",
            "listen on udp://127.0.0.1:9877 for TUC-Chess",
            "database games/zeitnot.db",
            "tournament class at 3+0.05: round-robin, games per pair: 2, open to all",
        ]
    );
}

/// The arena makes the folder, as it does for the default.
#[test]
fn a_database_may_be_in_a_folder_that_is_not_there_yet() {
    let told = valid(&format!("[arena]\ntcp = '127.0.0.1:0'\ndatabase = 'new/arena.db'\n{CLASS}"));
    assert!(told.contains("\narena: database new/arena.db\n"), "{told}");
}

#[cfg(not(any(feature = "postgres", feature = "redis")))]
#[test]
fn what_this_program_was_built_without_is_refused() {
    for (text, place, feature) in [
        (
            format!(
                "[arena]\ntcp = '127.0.0.1:0'\ndatabase = 'postgres://teacher:sesame@school/class'\n{CLASS}"
            ),
            "config.toml:3: arena.database: ",
            "postgres",
        ),
        (
            "[cache]\nshared = 'rediss://fleet:sesame@school'\n".into(),
            "config.toml:2: cache.shared: ",
            "redis",
        ),
    ] {
        let folder = folder(&text);
        for command in ["check", "play"] {
            let output = run(&folder, &[command]);
            let told = err(&output);
            let expected = format!("`cargo install --path . --locked --features {feature}`");
            assert!(told.contains(place) && told.contains(&expected) && !told.contains("sesame"), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}

#[cfg(feature = "postgres")]
#[test]
fn a_database_on_a_server_is_no_file_and_its_password_is_not_shown() {
    let arena = |url: &str| format!("[arena]\ntcp = '127.0.0.1:0'\ndatabase = '{url}'\n{CLASS}");
    let told = valid(&arena("postgres://teacher:sesame@192.0.2.1/class?sslmode=verify-full"));
    assert!(
        told.contains("\narena: database postgres://teacher@192.0.2.1/class?sslmode=verify-full\n"),
        "{told}"
    );
    assert!(!told.contains("sesame"));
    for (url, expected) in [
        (
            "postgres://teacher:sesame@school/class?pasword=sesame",
            "the URL has an unknown parameter; known are ",
        ),
        ("mysql://teacher:sesame@school/class", "there are only SQLite files and PostgreSQL servers"),
    ] {
        let output = run(&folder(&arena(url)), &["check"]);
        let told = err(&output);
        assert!(told.contains("config.toml:3: arena.database: ") && told.contains(expected), "{told}");
        assert!(!told.contains("sesame"), "{told}");
        let output = zeitnot(&["arena", "results", "--database", url]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains(expected) && !err(&output).contains("sesame"), "{}", err(&output));
    }
}

#[test]
fn what_the_arena_would_refuse_is_refused() {
    let arena = |text: &str, expected: &str| refused_in(&folder(text), ["check", "arena"], expected);
    arena(
        &format!("[arena]\ntcp = '127.0.0.1:8000'\nwebsocket = '0.0.0.0:8000'\n{CLASS}"),
        "config.toml:1: arena: tcp and websocket both listen on 0.0.0.0:8000: give each its own port",
    );
    arena(
        &format!("[arena]\ntcp = '127.0.0.1:0'\ngames = 'config.toml'\n{CLASS}"),
        "config.toml:3: arena.games: config.toml cannot be a folder: config.toml is a file; name another folder",
    );
    arena(
        &format!("[arena]\ntcp = '127.0.0.1:0'\n{CLASS}openings = 'nowhere.epd'\n"),
        "config.toml:1: arena: cannot read the openings nowhere.epd: No such file or directory (os error 2)",
    );
    valid("[arena.imcs]\nlisten = '127.0.0.1:0'\nusers = 'made/later/users.txt'\n");
    arena(
        "[arena.imcs]\nlisten = '127.0.0.1:0'\nusers = 'config.toml/users.txt'\n",
        "config.toml:1: arena: cannot read the users of IMCS, config.toml/users.txt: Not a directory (os error 20); correct it, or set users = \
         \"…\" in [arena.imcs] to another file",
    );
    let lichess = "[arena.lichess]\nlisten = '127.0.0.1:0'\n[[arena.lichess.account]]\nname = 'Alice'\n\
                   token_file = 'alice.token'\n";
    let dir = folder(lichess);
    secret(dir.path(), "alice.token", 0o640);
    let expected =
        "config.toml:1: arena: lichess: token_file alice.token: others can read it: chmod 600 alice.token";
    refused_in(&dir, ["check", "arena"], expected);
}

#[test]
fn a_configuration_of_another_bot_is_recognised() {
    for text in [
        include_str!("../data/lichess-bot.yml"),
        "token: \"lip_x\"\nengines:\n  a:\n    dir: \"./engines\"\n",
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.yml"), text).unwrap();
        for command in ["check", "play"] {
            let told = "error: config.yml: is a configuration of lichess-bot or BotLi; convert it: zeitnot import \
                        config.yml > config.toml\n";
            let output = run(&dir, &[command, "--config", "config.yml"]);
            assert_eq!((err(&output), output.status.code()), (told, Some(2)));
        }
    }
    // Other text, of which each line is wrong.
    let lines = "a b\n".repeat(100);
    let check = run(&folder(&lines), &["check"]);
    assert_eq!(err(&check).lines().count(), 11, "{check:?}");
    assert!(
        err(&check).ends_with("config.toml:11: and 90 more mistakes from here on: is it the right file?\n"),
        "{check:?}"
    );
}

#[test]
fn wrong_types_are_answered_with_an_example() {
    for (value, what) in [("'8000'", "an address to listen on"), ("8000", "text in quotes")] {
        let text = format!("[arena]\ntcp = {value}\n{CLASS}");
        let check = run(&folder(&text), &["check"]);
        let told = format!("error: config.toml:2: arena.tcp: expected {what}, such as \"127.0.0.1:8000\"");
        assert!(err(&check).starts_with(&told), "{check:?}");
    }
    let empty = folder("");
    for (arguments, told) in [
        (
            &["perft", "x"][..],
            "error: invalid value 'x' for '<DEPTH>': expected a number of plies from 0 to 20, as in `zeitnot perft 5`\n",
        ),
        (
            &["bench", "--depth", "x"],
            "error: invalid value 'x' for '--depth <DEPTH>': expected a whole number, such as 8\n",
        ),
        (
            &["play", "--once", "0"],
            "error: invalid value '0' for '--once <N>': expected a whole number above zero",
        ),
        (
            &["bench", "--depth", "999"],
            "error: invalid value '999' for '--depth <DEPTH>': 999 is not in 1 to 100\n",
        ),
        (
            &["lichess", "check"],
            "error: config.toml: no account on Lichess: add a table [[server]] with protocol = \"lichess\" and \
             token_file = \"lichess.token\"\n",
        ),
    ] {
        let output = run(&empty, arguments);
        assert!(err(&output).starts_with(told) && output.status.code() == Some(2), "{output:?}");
    }
}
