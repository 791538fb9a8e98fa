//! `zeitnot import` with a configuration of lichess-bot.

use std::{fs, path::Path};

use zeitnot::cli::{
    config::Config,
    import::{Converted, convert},
};

use crate::support::{
    command::{ZEITNOT, err, out, zeitnot},
    files,
};

const THEIRS: &str = include_str!("../data/lichess-bot.yml");
const SECRET: &str = "SecretOfTheTest";

fn converted(yaml: &str) -> Converted {
    convert(yaml, Path::new(""), None).unwrap()
}

/// The converted text, read as a configuration.
fn read(converted: &Converted) -> Config {
    Config::parse("config.toml", &converted.text)
        .unwrap_or_else(|errors| panic!("{:?}\n{}", errors.iter().collect::<Vec<_>>(), converted.text))
}

#[test]
fn each_key_is_converted_or_listed() {
    let converted = converted(THEIRS);
    read(&converted);
    let expected = include_str!("../data/lichess-bot.toml");
    assert_eq!(converted.text, expected, "\n{}", converted.text);
    assert_eq!(converted.token.unwrap().expose(), format!("lip_{SECRET}"));
    for line in &converted.left {
        assert!(converted.text.contains(&format!("#   {line}\n")), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn the_converted_configuration_passes_check() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir_all(here.join("old/engines")).unwrap();
    let engine = here.join("old/engines/stockfish.sh");
    files::write(&engine, format!("#!/bin/sh\nexec '{ZEITNOT}' uci\n"), 0o755);
    // The books and the tablebases are not there.
    let theirs = THEIRS.replace("polyglot:\n    enabled: true", "polyglot:");
    let theirs = theirs.replace("syzygy:\n      enabled: true", "syzygy:");
    fs::write(here.join("old/config.yml"), theirs).unwrap();
    let import = ["import", "old/config.yml", "--token-file", "lichess.token"];
    let made = zeitnot(&import).current_dir(here).output().unwrap();
    let said = err(&made);
    assert!(made.status.success(), "{said}");
    assert!(said.contains("could not be converted: engine.silence_stderr ("), "{said}");
    let text = out(&made);
    assert!(!text.contains(SECRET) && !said.contains(SECRET));
    fs::write(here.join("config.toml"), text).unwrap();
    let token = here.join("lichess.token");
    assert_eq!(fs::read_to_string(&token).unwrap(), format!("lip_{SECRET}\n"));
    assert_eq!(fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);

    let check = zeitnot(&["check"]).current_dir(here).output().unwrap();
    let said = out(&check).to_owned() + err(&check);
    assert!(check.status.success(), "{said}\n{text}");
    for line in ["config.toml is valid", "engines.stockfish: started as", "stockfish plays all games"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    // What is there is not written over.
    let again = zeitnot(&import).current_dir(here).output().unwrap();
    let said = err(&again);
    assert_eq!(again.status.code(), Some(1), "{said}");
    assert!(said.contains("lichess.token") && again.stdout.is_empty(), "{said}");
}

#[test]
fn disabled_features_stay_disabled() {
    let few = "token: x\nengine: {dir: e, name: n, polyglot: {enabled: false, book: {standard: b}}}\n\
        matchmaking:\n  challenge_timeout: 1\n  block_list: [Eve]\nchallenge: {only_bot: true}\n";
    let converted = converted(few);
    for absent in ["matchmaking", "book", "block_list", "resign", "draw", "ponder", "Could not"] {
        assert!(!converted.text.contains(absent), "{absent}\n{}", converted.text);
    }
    assert!(converted.text.contains("accept = false") && converted.left.is_empty());
    read(&converted);
    let homemade = self::converted("engine: {protocol: homemade, dir: e, name: n}");
    let why = "only programs that speak UCI or xboard's protocol are supported";
    assert_eq!(homemade.left, ["engine.name", "engine.dir"].map(|key| format!("{key} ({why})")));
    // Without an engine of theirs ours has its size.
    let own = self::converted(
        "challenge: {concurrency: 0}\nengine: {uci_options: {Hash: 256, Threads: 3, Skill: 1}}",
    );
    let config = read(&own);
    assert_eq!((config.engine.hash_mib.get(), config.engine.threads.get()), (256, 3));
    assert_eq!(
        own.left,
        [
            "challenge.concurrency (this value is not supported)",
            "engine.uci_options.Skill (there is no such key here)"
        ]
    );
}

/// Values of the file that newcomers copy.
#[test]
fn default_values_are_not_listed() {
    let sources = "engine:\n  dir: e\n  name: n\n  debug: False\n  online_moves:\n\
        \u{20}   lichess_cloud_analysis: {enabled: true, max_time: 10800}\n\
        \u{20}   lichess_opening_explorer: {enabled: true, max_time: 10800, source: masters, player_name: ''}\n\
        \u{20}   online_egtb: {enabled: true, max_time: 10800}\n";
    let same = converted(sources);
    assert_eq!(same.left, [""; 0]);
    assert_eq!(read(&same).online_moves.explorer.player_name, "");
    // Elsewhere these are wishes; and the bot's own games cannot be meant without its name.
    let others = converted(&sources.replace("10800", "600").replace("masters", "player"));
    let wanted =
        "engine.online_moves.lichess_opening_explorer (set `player_name` of [online_moves.explorer])";
    assert!(others.left.iter().any(|left| left == wanted), "{:?}", others.left);
    let why = "max_time (not supported; the source is used whatever the length of the game)";
    let told = |left: &String| left.ends_with(why);
    assert_eq!(others.left.iter().filter(|left| told(left)).count(), 2, "{:?}", others.left);
    assert!(!read(&others).online_moves.explorer.enabled);
}

#[test]
fn paths_are_relative_to_their_file() {
    let yaml = "engine: {dir: ./engines, name: a.b.exe, working_dir: work, interpreter: java, \
        interpreter_options: -jar, polyglot: {enabled: true, book: {standard: [/abs.bin, rel.bin]}}}";
    let text = convert(yaml, Path::new("../old"), None).unwrap().text;
    for line in [
        "[engines.a_b]",
        r#"args = ["-jar", "../old/engines/a.b.exe"]"#,
        r#"command = "java""#,
        r#"folder = "../old/work""#,
        r#"files = ["/abs.bin", "../old/rel.bin"]"#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // Not looked for as a shell would.
    assert!(converted("engine: {dir: '', name: zn}").text.contains(r#"command = "./zn""#));
}

#[test]
fn invalid_files_are_reported_without_their_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yml");
    let deep = format!("token: {SECRET}\nengine: {}{}", "[".repeat(1000), "]".repeat(1000));
    // Nine times nine times nine …
    let mut laughs = format!("token: {SECRET}\na: &a [x, x, x, x, x, x, x, x, x]\n");
    for (name, before) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e"), ("engine", "f")] {
        let all = vec![format!("*{before}"); 9].join(", ");
        laughs += &format!("{name}: &{name} [{all}]\n");
    }
    let long = format!("token: {SECRET}\nengine: {{}}\nx: {}", "y".repeat(300_000));
    let broken = [
        format!("token: '{SECRET}\n  - x: ["),
        format!("token: {SECRET}\ntoken: ["),
        format!("- {SECRET}"),
        String::new(),
        "engine: &a [*a]".to_owned(),
        "engine: \u{0}".to_owned(),
        deep,
        laughs,
        long,
    ];
    for text in broken {
        fs::write(&file, &text).unwrap();
        // The name that it once had.
        let made =
            zeitnot(&["import-lichess-bot", "config.yml"]).current_dir(folder.path()).output().unwrap();
        let said = err(&made);
        let shown: String = text.chars().take(60).collect();
        assert_eq!((made.status.code(), said.lines().count()), (Some(2), 1), "{shown}: {said}");
        assert!(made.stdout.is_empty() && !said.contains(SECRET), "{said}");
        assert!(said.starts_with("error: config.yml: "), "{said}");
    }
}

#[test]
fn keys_and_values_cannot_break_out_of_comments_and_strings() {
    let yaml = "engine:\n  name: 'x\"]\n\n    evil = 1'\n  dir: '\"\"\"'\n  uci_options: {\"a\\nb\": 1, c: \"d\\n[bot]\"}\n\
        \"k\\n[engine]\\nthreads = 99\": 1\nchallenge: {variants: [\"x\\n[bot]\", 7]}\n";
    let converted = converted(yaml);
    let config = read(&converted);
    assert_eq!(config.engine.threads.get(), 1);
    assert_eq!(converted.left.len(), 5, "{:?}", converted.left);
}

#[test]
fn limits_of_challenges_have_their_names_here() {
    let yaml = "engine: {}\nfake_think_time: true\nchallenge: {concurrency: 2, games_reserved_for_humans: 1, preference: bot, \
        rating_difference: 300}\n\
        matchmaking: {allow_matchmaking: true, opponent_rating_difference: 250, opponent_min_rating: 2000}";
    let converted = converted(yaml);
    read(&converted);
    for line in [
        "reserved_for_humans = 1\n",
        "[bot]\nfake_think_time = true\n",
        "preference = \"bot\"\n",
        "\nrating_difference = 300\n",
        // Their default.
        "max_simultaneous_games_per_user = 5\n",
    ] {
        assert!(converted.text.contains(line), "{line}\n{}", converted.text);
    }
    // Theirs does not heed it beside the difference.
    assert!(!converted.text.contains("opponent_min_rating"), "{}", converted.text);
    assert!(converted.left.iter().all(|left| !left.starts_with("challenge.")), "{:?}", converted.left);
}

/// Theirs challenges bots even if all games are reserved; ours would refuse that as a contradiction.
#[test]
fn no_more_games_are_reserved_than_the_rest_allows() {
    for (theirs, reserved, left) in [
        ("challenge: {concurrency: 3, games_reserved_for_humans: 3}", 3, None),
        ("challenge: {concurrency: 3, games_reserved_for_humans: 4}", 3, Some("there are no more games")),
        (
            "challenge: {concurrency: 3, games_reserved_for_humans: 3}\nmatchmaking: {allow_matchmaking: true}",
            2,
            Some("matchmaking needs a game that is not reserved"),
        ),
        (
            "challenge: {games_reserved_for_humans: 1}\nmatchmaking: {allow_matchmaking: true}",
            0,
            Some("matchmaking needs a game that is not reserved"),
        ),
        (
            "challenge: {concurrency: 2, games_reserved_for_humans: 1, only_bot: true}",
            0,
            Some("no challenge of a human is accepted"),
        ),
    ] {
        let converted = converted(&format!("engine: {{}}\n{theirs}\n"));
        read(&converted);
        let line = format!("reserved_for_humans = {reserved}\n");
        assert!(converted.text.contains(&line), "{line}\n{}", converted.text);
        let told = |left: &String| left.starts_with("challenge.games_reserved_for_humans (");
        let told = converted.left.iter().find(|left| told(left));
        assert_eq!(told.is_some(), left.is_some(), "{theirs}: {told:?}");
        let is_reason = |left: &str| told.is_some_and(|told| told.contains(left));
        assert!(left.is_none_or(is_reason), "{theirs}: {told:?}");
    }
}

/// lichess-bot ignores such a pair, or accepts no challenge at all.
#[test]
fn keys_that_contradict_each_other_are_left_out_with_a_note() {
    let yaml = "engine: {}\nchallenge: {min_base: 300, max_base: 180, min_rating: 2000, max_rating: 1000, \
        accept_bot: true}\n\
        matchmaking:\n  allow_matchmaking: true\n  overrides:\n\
        \u{20}   easy: {opponent_min_rating: 900, opponent_max_rating: 800}\n";
    let converted = converted(yaml);
    read(&converted);
    let left = [
        "server.challenge.human.min_base (left out: min_base (5m) is above max_base (3m): lower min_base, or raise max_base)",
        "server.challenge.bot.min_rating (left out: min_rating (2000) is above max_rating (1000): lower min_rating, or \
            raise max_rating)",
        "server.matchmaking.overrides.easy.opponent_min_rating (left out: opponent_min_rating (900) is above \
            opponent_max_rating (800): lower opponent_min_rating, or raise opponent_max_rating)",
    ];
    for line in left {
        assert!(converted.left.iter().any(|left| left == line), "{line}\n{:#?}", converted.left);
        assert!(converted.text.contains(&format!("#   {line}\n")), "{line}");
    }
    assert!(converted.text.contains("max_base = \"180s\"") && !converted.text.contains("min_base ="));
    // Without this list, everybody could play.
    let lists = self::converted("engine: {}\nchallenge: {block_list: [Eve], allow_list: [Eve, Bob]}\n");
    let told = "server.players.allow_list (eve is in allow_list and in block_list: remove it from one)";
    assert_eq!(lists.left, [told]);
    assert!(lists.text.contains("allow_list = [\"Eve\", \"Bob\"]"), "{}", lists.text);
}

/// lichess-bot's default file recommends `.inf` for no maximum.
#[test]
fn infinite_maxima_are_no_limits() {
    let yaml = "engine:\n  polyglot: {enabled: true, max_depth: .inf}\n\
        challenge: {max_base: .inf, max_increment: .Inf, max_days: +.inf, max_rating: .INF, rating_difference: .inf, \
        max_simultaneous_games_per_user: .inf, max_recent_bot_challenges: .inf, recent_bot_challenge_age: 60}\n\
        matchmaking:\n  allow_matchmaking: true\n  challenge_variant: standard\n  challenge_initial_time: 60\n\
        \u{20} challenge_increment: 0\n  opponent_rating_difference: .inf\n  opponent_min_rating: 2000\n\
        \u{20} overrides: {easy: {opponent_max_rating: .inf}}\n";
    let unlimited = converted(yaml);
    assert_eq!(unlimited.left, [""; 0]);
    assert_eq!(read(&unlimited).bot.book.max_ply, 10_000);
    for part in ["\nopponent_rating_difference = 4000\n", "easy]\nopponent_max_rating = 4000\n"] {
        assert!(unlimited.text.contains(part), "{part}\n{}", unlimited.text);
    }
    for key in ["max_base", "max_incr", "max_days", "max_simul", "max_recent", "min_rating", "\nrating_"] {
        assert!(!unlimited.text.contains(key), "{key}\n{}", unlimited.text);
    }
    // It is not allowed for a minimum.
    let least = converted(&yaml.replace("max_base", "min_base"));
    assert_eq!(least.left, ["challenge.min_base (this value is not supported)"]);
}

#[test]
fn games_at_once_follow_the_accounts() {
    let many =
        converted("engine: {}\nchallenge: {concurrency: 20, time_controls: [blitz, correspondence]}\n");
    assert_eq!(read(&many).bot.max_games, 22);
    assert!(!many.text.contains("max_games"), "{}", many.text);
}

#[test]
fn go_commands_become_limits() {
    let uci = "engine: {dir: e, name: lc0, uci_options: {go_commands: {nodes: 1, depth: 5, movetime: 1500, mate: 2}}}";
    let program = converted(uci);
    read(&program);
    let limits = "[engines.lc0.limits]\ndepth = 5\nmove_time = \"1500ms\"\nnodes = 1\n";
    assert!(program.text.contains(limits), "{}", program.text);
    let left = "engine.uci_options.go_commands.mate (only `nodes`, `depth` and `movetime` are supported)";
    assert_eq!(program.left, [left]);
    let ours = converted("engine: {uci_options: {go_commands: {depth: 3, nodes: 0}}}");
    assert_eq!(read(&ours).engine.limits.depth.map(u16::from), Some(3));
    assert_eq!(ours.left, ["engine.uci_options.go_commands.nodes (this value is not supported)"]);
    let xboard = converted(
        "engine: {name: gnuchess, protocol: xboard, xboard_options: {go_commands: {depth: 4, nodes: 9}}}",
    );
    read(&xboard);
    assert!(xboard.text.contains("[engines.gnuchess.limits]\ndepth = 4\n"), "{}", xboard.text);
    assert_eq!(xboard.left, ["engine.xboard_options.go_commands.nodes (only `depth` is supported)"]);
}

#[test]
fn overrides_of_matchmaking_are_converted() {
    let yaml = "engine: {}\nmatchmaking:\n  allow_matchmaking: true\n  challenge_variant: standard\n\
        \u{20} challenge_initial_time: [60, 180]\n  challenge_increment: [1]\n  rating_preference: low\n\
        \u{20} overrides:\n\
        \u{20}   easy: {challenge_variant: chess960, challenge_mode: casual, opponent_min_rating: 400,\n\
        \u{20}     opponent_rating_difference: , challenge_initial_time: 300}\n\
        \u{20}   slow: {challenge_initial_time: , challenge_increment: , challenge_days: [2, 4], evil: 1}\n";
    let converted = converted(yaml);
    read(&converted);
    for part in [
        "rating_preference = \"low\"\n",
        "[server.matchmaking.overrides.easy]\nmodes = [\"casual\"]\nopponent_min_rating = 400\n\
            opponent_rating_difference = 4000\n",
        // With the increment of the table.
        "[server.matchmaking.overrides.easy.clocks]\n\"300+1\" = 1\n",
        "[server.matchmaking.overrides.easy.variants]\nchess960 = 1\n",
        "[server.matchmaking.overrides.slow]\nchallenge_days = [2]\n",
        "[server.matchmaking.overrides.slow.clocks]\n",
    ] {
        assert!(converted.text.contains(part), "{part}\n{}", converted.text);
    }
    let left = [
        "matchmaking.overrides.slow.challenge_days (Lichess has no such days for a move)",
        "matchmaking.overrides.slow.evil (unknown keys, and overrides with an invalid name, are dropped)",
    ];
    assert_eq!(converted.left, left);
}
