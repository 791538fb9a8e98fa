//! `zeitnot match` with sound and faulty engines.

#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Output, Stdio},
};

use zeitnot_testing::{LONG, has_engine, send_signal, wait_for};

use crate::support::{
    arena::tags,
    command::{ZEITNOT, err, out, zeitnot},
    files,
};

/// Plays a match; the last argument is split at spaces.
fn play(folder: &Path, engines: [&str; 2], arguments: &str) -> Output {
    let [first, second] = engines;
    let mut command = zeitnot(&["match", "--engine", first, "--engine", second]);
    command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap()
}

/// Output of a match that ended well.
fn told(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    out(output)
}

/// Row of the report.
fn row<'t>(told: &'t str, head: &str) -> &'t str {
    let line = told.lines().rfind(|line| line.starts_with(&format!("  {head}")));
    line.unwrap_or_else(|| panic!("no {head} in {told}"))[17..].trim()
}

/// Our engine as a process, with a small table.
fn process() -> String {
    format!("{ZEITNOT} uci option.Hash=1")
}

/// Writes a UCI engine that plays a move when it is tried at the usual start, and in a game, which never begins there,
/// runs these commands at `go` and `stop`.
fn fake(folder: &Path, name: &str, go: &str, stop: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
        while read -r line; do case "$line" in
            uci) echo id name {name}; echo uciok;;
            isready) echo readyok;;
            *startpos) game=;;
            *fen*) game=1;;
            go*) if [ "$game" ]; then {go}
                else echo 'info depth 1 score cp 5 pv e2e4'; echo bestmove e2e4; fi;;
            stop) {stop};;
            quit) exit;;
        esac; done"#
    );
    files::write(folder.join(name), script, 0o755);
    format!("./{name}")
}

#[test]
fn two_processes_play_pairs_of_games_that_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let engines = [format!("{} name=one", process()), format!("{} 'name=the other'", process())];
    let arguments = "--games 6 --nodes 300 --concurrency 2 --pgn games/all.pgn --verbose";
    let output = play(folder.path(), [&engines[0], &engines[1]], arguments);
    let told = told(&output);
    assert!(told.starts_with("one – the other: 300 nodes a move, built-in openings ("), "{told}");
    assert!(told.contains("one – the other, 6 games of 300 nodes a move"), "{told}");
    for failing in ["time forfeits", "illegal moves", "crashes", "restarts"] {
        assert_eq!(row(told, failing), "0 of one, 0 of the other");
    }
    let pairs = row(told, "pairs").split(']').next().unwrap().trim_start_matches('[').split(", ");
    assert_eq!(pairs.map(|count| count.parse::<u32>().unwrap()).sum::<u32>(), 3);

    let pgn = fs::read_to_string(folder.path().join("games/all.pgn")).unwrap();
    let mut games: Vec<_> =
        tags(&pgn, "Round").into_iter().zip(tags(&pgn, "White")).zip(tags(&pgn, "FEN")).collect();
    games.sort();
    assert_eq!(games.len(), 6);
    for pair in games.chunks(2) {
        assert_eq!((pair[0].0.1, pair[1].0.1), ("one", "the other"), "colours alternate");
        assert_eq!(pair[0].1, pair[1].1, "from the same opening");
    }
    assert!(pgn.contains("[%eval ") && !pgn.contains("[%clk "), "nodes know no clock");
}

#[test]
fn a_full_disk_leaves_whole_games_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    // Blocks of 512 bytes, or of 1024 under some shells; the signal at the limit would end the process.
    let small_disk = r#"trap "" XFSZ; ulimit -f 4; exec "$0" "$@""#;
    let arguments = "match --engine random --engine random --games 20 --nodes 1 --longest 8 --pgn games.pgn";
    let output = Command::new("sh")
        .args(["-c", small_disk, ZEITNOT])
        .args(arguments.split(' '))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(out(&output).contains("20 games of 1 nodes a move"), "the match goes on: {output:?}");
    let pgn = fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    let games: Vec<&str> = pgn.split_inclusive("\n\n").collect();
    let written = games.len() / 2;
    assert!((1..20).contains(&written) && games.len().is_multiple_of(2), "a torn game:\n{pgn}");
    for game in games.chunks(2) {
        // Even random moves mate now and then.
        let [result] = tags(game[0], "Result")[..] else { panic!("a torn game:\n{pgn}") };
        assert!(game[1].ends_with(&format!("{result}\n\n")), "a torn game:\n{pgn}");
    }
    let [failing, lost] = err(&output).lines().collect::<Vec<_>>()[..] else { panic!("{output:?}") };
    assert!(failing.starts_with("games.pgn: a game cannot be written: File too large"), "{failing}");
    let told = format!("error: games.pgn: games that could not be written and are lost: {}: ", 20 - written);
    assert!(lost.starts_with(&told), "{lost}");
}

#[test]
fn our_engine_plays_within_the_process_until_the_sprt_ends() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--games 400 --sprt 0 100 --depth 2";
    let output = play(folder.path(), ["zeitnot option.Hash=1", "random"], arguments);
    let told = told(&output);
    assert!(row(told, "SPRT").ends_with("at least 100 Elo"), "{told}");
    let games: usize = told
        .lines()
        .find_map(|line| line.strip_prefix("zeitnot – random, ")?.split(' ').next()?.parse().ok())
        .unwrap();
    assert!(games < 400, "the test ends it: {told}");
}

/// Output of a match of two games in which the first engine behaves like this.
fn failing(go: &str, stop: &str, arguments: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let bad = fake(folder.path(), "bad", go, stop);
    let output = play(folder.path(), [&bad, "random"], &format!("--games 2 {arguments}"));
    let told = told(&output);
    assert_eq!(row(told, "score"), "+0 =0 -2, 0.0 %", "{told}");
    told.to_owned()
}

fn failings(told: &str) -> [&str; 4] {
    ["time forfeits", "illegal moves", "crashes", "restarts"]
        .map(|head| row(told, head).strip_suffix(" of bad, 0 of random").unwrap())
}

#[test]
fn an_engine_that_crashes_loses_and_is_started_again() {
    let told = failing("exit 1", ":", "");
    assert_eq!(failings(&told), ["0", "0", "2", "2"]);
    assert!(told.contains("game 1: bad has ended by itself; it is started again\n"), "{told}");
    assert!(told.contains("game 1: bad – random 0-1 Engine failed, 0 plies\n"), "{told}");
}

#[test]
fn an_illegal_move_loses() {
    for mv in ["a1a8", "nonsense", "(none)", "0000"] {
        let told = failing(&format!("echo 'bestmove {mv}'"), ":", "");
        let [time, illegal, crashes, _] = failings(&told);
        assert_eq!([time, illegal, crashes], ["0", "2", "0"], "{told}");
    }
}

#[test]
fn invalid_output_is_skipped() {
    let garbage =
        r#"echo '{"a": [' ; echo info depth score cp; echo info pv; printf '\377\376\n'; echo bestmove a9a9"#;
    assert_eq!(failings(&failing(garbage, ":", ""))[1], "2");
}

#[test]
fn an_engine_that_is_late_loses_and_one_that_hangs_is_replaced() {
    // It answers as soon as it is told to stop, but then it is too late.
    let told = failing(":", "echo 'bestmove (none)'", "--tc 0.2+0");
    assert_eq!(failings(&told), ["2", "0", "0", "0"], "{told}");
    let told = failing("sleep 1000", ":", "--tc 0.2+0");
    assert_eq!(failings(&told), ["2", "0", "0", "2"], "{told}");
    let told = failing("sleep 1000", ":", "--nodes 100 --patience 200ms");
    assert_eq!(failings(&told), ["2", "0", "0", "2"], "{told}");
}

#[test]
fn an_engine_that_fails_once_plays_on() {
    let folder = tempfile::tempdir().unwrap();
    let once = fake(folder.path(), "once", "touch flag; exit 1", ":");
    let script = fs::read_to_string(folder.path().join("once")).unwrap();
    let sound = format!("#!/bin/sh\n[ -e flag ] && exec {ZEITNOT} uci\n");
    fs::write(folder.path().join("once"), script.replacen("#!/bin/sh\n", &sound, 1)).unwrap();
    let output = play(folder.path(), [&once, "random"], "--games 4 --depth 1");
    let told = told(&output);
    assert_eq!(row(told, "crashes"), "1 of once, 0 of random");
    assert_eq!(row(told, "restarts"), "1 of once, 0 of random");
}

#[test]
fn an_engine_that_cannot_be_restarted_ends_the_match_with_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let gone = fake(folder.path(), "gone", "rm gone; exit 1", ":");
    let output = play(folder.path(), [&gone, "random"], "--games 4");
    assert_eq!(output.status.code(), Some(1));
    let error = err(&output);
    assert!(error.contains("error: gone cannot be started again"), "{error}");
    assert!(out(&output).contains("score          +0 =0 -1"));
}

#[test]
fn an_interrupt_ends_the_match_with_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let one = fake(folder.path(), "sleeper", "echo $$ > pid", ":");
    let mut child = zeitnot(&["match", "--engine", &one, "--engine", "random", "--tc", "600+1"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    out.read_line(&mut text).unwrap();
    assert!(text.starts_with("sleeper – random: 600+1"), "{text}");
    // It is asked for its first move, and says nothing.
    let pid = wait_for("the engine is asked", || {
        fs::read_to_string(folder.path().join("pid")).ok().filter(|pid| pid.ends_with('\n'))
    });
    send_signal("INT", child.id());
    out.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.contains("Aborted; unfinished games do not count.\nNo game"), "{text}");
    wait_for("the engine ends", || (!Path::new(&format!("/proc/{}", pid.trim())).exists()).then_some(()));
}

#[test]
fn invalid_arguments_are_reported_before_the_match() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "[engines.mine]\nkind = 'mcts'\n").unwrap();
    fs::write(folder.path().join("bad.epd"), "8/8/8 w\n").unwrap();
    for (engines, arguments, code, said) in [
        (["zeitnot", "/nowhere/engine"], "", 1, "cannot be started"),
        (["zeitnot", "mine who=me"], "", 2, "unknown key who; known: name"),
        (["zeitnot uci", "mine"], "", 2, "without arguments"),
        (["zeitnot", "mine"], "--sprt 5 0", 2, "the lower one first"),
        (["zeitnot", "mine"], "--variant atomic", 2, "zeitnot openings --variant atomic"),
        (["zeitnot", "mine"], "--openings bad.epd", 2, "bad.epd, line 1"),
        (["zeitnot", "mine"], "--tc 1+0 --nodes 5", 2, "cannot be used with"),
        (["zeitnot", "mine"], "--pgn config.toml/x.pgn", 1, "cannot be written"),
        ([&format!("{} option.Style=5", process()), "mine"], "", 1, "has no option Style; it has: Hash"),
    ] {
        let output = play(folder.path(), engines, arguments);
        let error = err(&output);
        assert!(error.contains(said), "{engines:?} {arguments:?}: {error}");
        assert_eq!(output.status.code(), Some(code), "{error}");
    }
    let output = zeitnot(&["match", "--engine", "zeitnot"]).output().unwrap();
    assert!(err(&output).contains("give --engine once for each"));
}

#[test]
fn openings_are_reproducible_and_played_in_variants() {
    let folder = tempfile::tempdir().unwrap();
    let make = |variant: &str, seed: &str| {
        let recipe = ["--count", "2", "--plies", "2", "--nodes", "400", "--within", "300", "--seed", seed];
        let output = zeitnot(&[&["openings", "--variant", variant], &recipe[..]].concat()).output().unwrap();
        told(&output).to_owned()
    };
    assert_eq!(make("chess960", "1"), make("chess960", "1"));
    assert_ne!(make("chess960", "1"), make("chess960", "2"));
    for (variant, rules) in [
        ("chess960", "chess"),
        ("crazyhouse", "crazyhouse"),
        ("three-check", "three-check"),
        ("gardner", "gardner"),
    ] {
        fs::write(folder.path().join("some.epd"), make(variant, "1")).unwrap();
        let arguments = format!(
            "--games 4 --nodes 100 --variant {rules} --openings some.epd --longest 40 --pgn {variant}"
        );
        let ours = format!("{} name=a", process());
        let output = play(folder.path(), [&ours, "random name=b"], &arguments);
        let told = told(&output);
        assert_eq!(row(told, "illegal moves"), "0 of a, 0 of b", "{told}");
        assert!(told.contains("a – b, 4 games"), "{told}");
    }
    let pgn = fs::read_to_string(folder.path().join("crazyhouse")).unwrap();
    assert!(pgn.contains("[Variant \"crazyhouse\"]"), "{pgn}");
}

#[test]
fn games_are_adjudicated_by_both_scores() {
    let folder = tempfile::tempdir().unwrap();
    // A queen up, and no end in sight at this depth.
    fs::write(folder.path().join("won.epd"), "3qk3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1\n").unwrap();
    let ours = ["zeitnot option.Hash=1"; 2];
    let output = play(folder.path(), ours, "--games 2 --openings won.epd --depth 2 --resign 3,300");
    let told = told(&output);
    assert_eq!(row(told, "ends"), "2 Adjudication", "{told}");
    assert_eq!(row(told, "by colour"), "White +0 =0 -1, Black +1 =0 -0");
    let output = play(folder.path(), ours, "--games 2 --depth 1 --draw 1,1,2000 --resign 1,9000");
    assert_eq!(row(self::told(&output), "plies a game"), "2.0");
}

#[test(limit = LONG)]
fn installed_engines_play() {
    let folder = tempfile::tempdir().unwrap();
    for engine in ["/usr/games/gnuchess --uci option.OwnBook=false", "/usr/games/phalanx protocol=xboard"] {
        if !has_engine(engine.split(' ').next().unwrap()) {
            continue;
        }
        let output = play(folder.path(), [engine, "zeitnot depth=1"], "--games 2 --tc 5+0.1 --longest 4");
        let told = told(&output);
        assert!(row(told, "illegal moves").starts_with("0 of"), "{told}");
        assert!(row(told, "crashes").starts_with("0 of"), "{told}");
    }
}

/// Writes a program that is asked for moves by lines of text and answers with the first legal one, or outside the usual
/// start of chess with what these commands print.
fn lines_program(folder: &Path, name: &str, answer: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
        tab=$(printf '\t')
        while IFS=$tab read -r game position time opponent increment moves; do
            case "$position" in
                rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR*) echo "${{moves%% *}}";;
                *) {answer};;
            esac
        done"#
    );
    files::write(folder.join(name), script, 0o755);
    format!("./{name} protocol=lines name=lines")
}

#[test]
fn a_program_by_lines_of_text_plays_every_game() {
    let folder = tempfile::tempdir().unwrap();
    let engine = lines_program(folder.path(), "mine", "echo \"${moves%% *}\"");
    for (variant, rules) in [
        ("chess960", "chess"),
        ("tuc", "tuc"),
        ("minichess-imcs", "minichess-imcs"),
        ("crazyhouse", "crazyhouse"),
    ] {
        let recipe = ["openings", "--count", "1", "--plies", "2", "--nodes", "400", "--within", "1000"];
        let openings = zeitnot(&[&recipe[..], &["--variant", variant]].concat()).output().unwrap();
        fs::write(folder.path().join("some.epd"), told(&openings)).unwrap();
        let arguments =
            format!("--games 2 --variant {rules} --openings some.epd --longest 20 --pgn {variant}");
        let output = play(folder.path(), [&engine, "random name=random"], &arguments);
        for failing in ["time forfeits", "illegal moves", "crashes"] {
            assert_eq!(row(told(&output), failing), "0 of lines, 0 of random", "{output:?}");
        }
    }
    let nodes = play(folder.path(), [&engine, "random"], "--nodes 100");
    assert!(err(&nodes).contains("cannot count nodes in the lines protocol: give it a clock"), "{nodes:?}");
}

#[test]
fn a_program_that_does_not_answer_a_line_with_a_move_loses_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (answer, clock, kind, said, result) in [
        ("echo I play e4", "60", 1, "lines prints \"I play e4\" instead of a move", "Illegal move"),
        ("echo a1a8", "60", 1, "lines plays \"a1a8\", which is not a legal move", "Illegal move"),
        (
            "echo 'line 7: oops' >&2; exit 1",
            "60",
            2,
            "lines has ended by itself: line 7: oops",
            "Engine failed",
        ),
        (":", "0.5", 0, "lines has not answered in time", "Time forfeit"),
    ] {
        let bad = format!("{} tc={clock}", lines_program(folder.path(), "bad", answer));
        let output = play(folder.path(), [&bad, "random"], "--games 2 --tc 60");
        let told = told(&output);
        let counts = ["time forfeits", "illegal moves", "crashes"].map(|head| row(told, head));
        for (at, count) in counts.into_iter().enumerate() {
            assert_eq!(count, if at == kind { "2 of lines, 0 of random" } else { "0 of lines, 0 of random" });
        }
        assert!(told.contains(&format!("game 1: {said}; it is started again\n")), "{told}");
        assert!(told.to_lowercase().contains(&result.to_lowercase()), "{told}");
    }
    // Before the match.
    fs::write(folder.path().join("bad"), "#!/bin/sh\necho Hello\nexec cat > /dev/null\n").unwrap();
    let output = play(folder.path(), ["./bad protocol=lines", "random"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output).contains("engine ./bad (./bad) prints \"Hello\" instead of a move; it may"),
        "{output:?}"
    );
}

#[test]
fn engines_of_the_courses_play_minichess() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = ["openings", "--count", "1", "--plies", "2", "--nodes", "400", "--within", "1000"];
    let openings = zeitnot(&[&recipe[..], &["--variant", "minichess-2026"]].concat()).output().unwrap();
    fs::write(folder.path().join("some.epd"), told(&openings)).unwrap();
    let engine = format!("{ZEITNOT} ubgi protocol=ubgi name=ubgi");
    let files = format!("{ZEITNOT} runner protocol=files name=files");
    for (engine, limit) in [
        (&engine, "--tc 20+1"),
        (&engine, "--movetime 300ms --margin 20s"),
        (&files, "--movetime 500ms --margin 20s"),
    ] {
        let arguments = format!("--games 2 --variant minichess-2026 --openings some.epd --longest 4 {limit}");
        let output = play(folder.path(), [engine, "zeitnot depth=1 name=ours"], &arguments);
        for failing in ["time forfeits", "illegal moves", "crashes"] {
            assert!(row(told(&output), failing).ends_with(", 0 of ours"), "{output:?}");
            assert!(row(told(&output), failing).starts_with("0 of "), "{output:?}");
        }
    }
    let chess = play(folder.path(), [&engine, "random"], "");
    assert!(err(&chess).contains("does not play chess"), "{chess:?}");
    let nodes =
        play(folder.path(), [&engine, "random"], "--variant minichess-2026 --openings some.epd --nodes 9");
    assert!(err(&nodes).contains("cannot count nodes in UBGI: give it a clock"), "{nodes:?}");
}
