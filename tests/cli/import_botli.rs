//! `zeitnot import` with a configuration of BotLi, and how the two bots' files are told apart.

use std::{fs, path::Path};

use zeitnot::cli::{
    config::Config,
    import::{Converted, convert},
};

use crate::support::command::{err, out, zeitnot};

const THEIRS: &str = include_str!("../data/botli.yml");

/// A converted text, which is a valid configuration.
fn converted(yaml: &str) -> Converted {
    let converted = convert(yaml, Path::new(""), None).unwrap();
    Config::parse("config.toml", &converted.text)
        .unwrap_or_else(|errors| panic!("{:?}\n{}", errors.iter().collect::<Vec<_>>(), converted.text));
    converted
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn each_key_is_converted_or_listed() {
    let converted = converted(THEIRS);
    let expected = include_str!("../data/botli.toml");
    assert_eq!(converted.text, expected, "\n{}", converted.text);
    assert_eq!(converted.token.unwrap().expose(), "lip_SecretOfTheTest");
}

/// The layouts before August 2023, with all in `engine`, and before May 2026, with one filter for all challenges.
#[test]
fn earlier_releases_are_converted_and_keys_have_the_names_of_the_file() {
    let first = converted(
        "engine:\n  dir: e\n  name: sf\n  ponder: true\n  silence_stderr: true\n  uci_options: {Hash: 32}\n\
        \u{20} polyglot: {enabled: true, selection: best_move, books: {black: , white: Main, standard: Main}}\n\
        \u{20} variants: {enabled: false, dir: e, name: fairy}\n\
        \u{20} online_moves:\n    lichess_cloud: {enabled: true, min_depth: 12, min_time: 40}\n\
        \u{20} offer_draw: {enabled: true, max_score: 14, consecutive_moves: 9, min_game_length: 36}\n\
        move_overhead_multiplier: 2.0\n\
        challenge:\n  variants: [standard]\n  time_controls: [blitz]\n  human_modes: [casual]\n  max_initial: 900\n\
        matchmaking: {initial_time: 60, increment: 1, variants: [standard, atomic], rated: false, timeout: 20, \
        multiplier: 15, max_rating_diff: 250}\n\
        books: {Main: main.bin}\n",
    );
    let left = [
        "matchmaking.multiplier (see `challenge_timeout` and `delay_after_decline` of [server.matchmaking])",
        "matchmaking: the command `matchmaking` (challenges begin at once; remove [server.matchmaking] if there are \
            to be none)",
        "move_overhead_multiplier (the lag of each game is measured)",
    ];
    let mut found = first.left;
    found.sort();
    assert_eq!(found, left);
    assert_has(
        &first.text,
        &[
            "[engines.standard]\ncommand = \"e/sf\"\n",
            "[engines.standard.options]\nHash = 32\n",
            "ponder = 1\n",
            "[bot.book]\nfiles = [\"./main.bin\"]\nselection = \"best\"\n",
            "[[bot.books]]\ncolor = \"white\"\nfiles = [\"./main.bin\"]\nselection = \"best\"\n",
            "min_depth = 12\n",
            "[bot.draw]\nmin_game_length = 36\nmoves = 9\nscore = 14\n",
            "[server.challenge.bot]\naccept = false\n",
            "[server.challenge.human]\nmax_base = \"900s\"\nmodes = [\"casual\"]\n",
            "[server.matchmaking]\ncancel_after = \"20s\"\nmodes = [\"casual\"]\nopponent_rating_difference = 250\n",
            "[server.matchmaking.clocks]\n\"60+1\" = 1\n",
            "[server.matchmaking.variants]\natomic = 1\nstandard = 1\n",
        ],
    );
    assert!(!first.text.contains("fairy"), "{}", first.text);

    let second = converted(
        "engines: {standard: {dir: e, name: sf, ponder: false, use_syzygy: false}, strange: {name: x}, bullet: {dir: e}}\n\
        syzygy: {enabled: true, paths: [t], max_pieces: 6, instant_play: false}\n\
        challenge: {variants: [atomic], time_controls: [rapid], bot_modes: [rated], human_modes: , \
        bullet_with_increment_only: true}\n",
    );
    let left =
        ["engines.strange (no game has this name)", "engines.bullet.name (expected the name of a program)"];
    assert!(left.iter().all(|left| second.left.contains(&(*left).to_owned())), "{:?}", second.left);
    assert_has(
        &second.text,
        &[
            "[server.challenge.bot]\nbullet_requires_increment = true\nmodes = [\"rated\"]\n",
            "[server.challenge.human]\naccept = false\n",
        ],
    );
    assert!(!second.text.contains("ponder") && !second.text.contains("SyzygyPath"), "{}", second.text);
}

#[test]
fn types_with_the_same_games_share_their_clocks() {
    let types = converted(
        "matchmaking:\n  delay: 60\n  types:\n    a: {tc: 1+0}\n    b: {tc: 5+0, variant: standard, rated: true}\n\
        \u{20}   c: {tc: 3+2, max_rating_diff: 100, weight: 7}\n    d: {tc: 10+0, max_rating_diff: 100, weight: 3}\n\
        \u{20}   e: {tc: 0.75+7, variant: nochess}\n",
    );
    assert_has(
        &types.text,
        &[
            // As much time with each.
            "[server.matchmaking.clocks]\n\"300+0\" = 1\n\"60+0\" = 5\n",
            "[server.matchmaking.overrides.c]\nmodes = [\"rated\"]\nopponent_rating_difference = 100\n",
            "[server.matchmaking.overrides.c.clocks]\n\"180+2\" = 7\n\"600+0\" = 3\n",
            "challenge_timeout = \"60s\"\n",
        ],
    );
    let told = "matchmaking.types.e.variant: nochess (bots cannot be challenged to it here)";
    assert!(types.left.iter().any(|left| left == told), "{:?}", types.left);
}

#[test]
fn a_file_is_of_the_bot_of_which_it_has_more_keys() {
    let bot = |yaml: &str| {
        let text = convert(yaml, Path::new(""), None).map(|converted| converted.text);
        text.map(|text| text.lines().next().unwrap_or_default().to_owned())
    };
    for (yaml, expected) in [
        (include_str!("../data/lichess-bot.yml"), "lichess-bot"),
        (THEIRS, "BotLi"),
        ("engine: {protocol: uci}\nchallenge: {concurrency: 2}", "lichess-bot"),
        ("engine: {offer_draw: {enabled: true}, resign: }\nbooks: {a: b}", "BotLi"),
    ] {
        let told = format!("# Converted from a configuration of {expected}. `zeitnot check` validates it.");
        assert_eq!(bot(yaml), Ok(told));
    }
    let neither = "is not a configuration of lichess-bot or BotLi: it has no key that only one of them knows";
    for yaml in ["token: x\nchallenge: {concurrency: 2}", "a: 1", ""] {
        assert_eq!(bot(yaml), Err(neither.to_owned()), "{yaml}");
    }
    let both = "has keys of lichess-bot (greeting) and of BotLi (messages): remove those of one";
    assert_eq!(bot("greeting: {}\nmessages: {}"), Err(both.to_owned()));
}

#[test]
fn a_file_without_a_key_that_can_be_converted_fails_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let import = |text: &str| {
        fs::write(folder.path().join("config.yml"), text).unwrap();
        zeitnot(&["import", "config.yml"]).current_dir(folder.path()).output().unwrap()
    };
    for (text, told) in [
        ("gaviota: {enabled: true}\n", "none of its keys could be converted: gaviota ("),
        ("tokens: 1\n", "is not a configuration of lichess-bot or BotLi"),
        ("greeting: {}\nmessages: {}\n", "has keys of lichess-bot (greeting) and of BotLi (messages)"),
    ] {
        let made = import(text);
        let said = err(&made);
        assert_eq!((made.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(out(&made).is_empty() && said.starts_with(&format!("error: config.yml: {told}")), "{said}");
    }
    assert!(import("gaviota: {enabled: true}\nblacklist: [Eve]\n").status.success());
}
