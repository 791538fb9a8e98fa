//! `zeitnot match` with more than two engines, and after it was killed.

#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use zeitnot_testing::wait_for;

use crate::support::{
    arena::tags,
    command::{err, out, zeitnot},
};

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = zeitnot(&["match"]);
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

fn play(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Output of a match that ended well.
fn told(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    out(output)
}

/// Rows of the report, without the first one, which has the time.
fn report(told: &str) -> Vec<&str> {
    told.lines().filter(|line| line.starts_with("  ")).collect()
}

#[test]
fn a_killed_match_goes_on_and_loses_only_the_running_games() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.pgn");
    let engines =
        "--engine random --engine alpha-beta --depth 1 --longest 30 --concurrency 2 --pgn games.pgn";
    let pgn = || fs::read_to_string(&file).unwrap_or_default();
    let rounds =
        |pgn: &str| tags(pgn, "Round").iter().map(|&round| round.to_owned()).collect::<BTreeSet<_>>();

    let first = format!("{engines} --games 1000000 --resume");
    let mut child =
        command(folder.path(), &first).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("five games", || (tags(&pgn(), "PlyCount").len() >= 5).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    // As if the last game had been written in part.
    let before = pgn();
    let part = before.find("\n\n").unwrap() + 20;
    fs::write(&file, [&before, &before[..part]].concat()).unwrap();

    let games = rounds(&before).len() + 4;
    let rest = format!("{engines} --games {games} --resume --sprt 0 400");
    let output = play(folder.path(), &rest.replace(" --sprt 0 400", ""));
    let resumed = format!("\nresuming after {} of {games} games: +", rounds(&before).len());
    assert!(told(&output).contains(&resumed), "{output:?}");
    let after = pgn();
    assert!(after.starts_with(before.as_str()), "what was there is still there");
    let all: BTreeSet<_> = (0..games).map(|game| format!("{}.{}", game / 2 + 1, game % 2 + 1)).collect();
    assert_eq!((rounds(&after), tags(&after, "Round").len()), (all, games), "each game once");
    assert_eq!(tags(&after, "Match").into_iter().collect::<BTreeSet<_>>().len(), 1);

    // All are played: the score is the same, and nothing is added. The test of hypotheses is decided by what is there.
    let again = play(folder.path(), &rest.replace(" --sprt 0 400", ""));
    let told_rows =
        |output: &Output| report(told(output)).iter().map(|row| row.to_string()).collect::<Vec<_>>();
    assert_eq!(told_rows(&again), told_rows(&output));
    assert!(told_rows(&again).len() >= 10, "{}", told(&again));
    assert!(told(&play(folder.path(), &rest)).contains("\n  SPRT           LLR "));
    assert_eq!(pgn(), after);

    // With other settings these are games of another match.
    let output = play(folder.path(), &rest.replace("--depth 1", "--depth 2"));
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("games.pgn: holds no game of this match"), "{output:?}");
    let output = play(folder.path(), "--engine random --engine random --resume");
    assert!(err(&output).contains("--pgn <FILE>"), "{output:?}");
}

#[test]
fn more_engines_meet_in_a_round_robin_or_a_gauntlet() {
    let folder = tempfile::tempdir().unwrap();
    let engines = ["--engine", "random name=a", "--engine", "random", "--engine", "random"];
    let play = |arguments: &str| {
        let mut command = command(folder.path(), arguments);
        command.args(engines).output().unwrap()
    };
    let output = play("--games 2 --longest 10 --pgn all.pgn --concurrency 2 --report 6");
    let told_all = told(&output);
    assert!(told_all.starts_with("3 engines, 3 pairings: 5+0.05, built-in openings (600)"), "{told_all}");
    assert!(told_all.contains("\n3 engines, 3 pairings, 6 games of 5+0.05, in "), "{told_all}");
    assert!(told_all.contains("\n  #  engine    games  points       %  Elo (95 %)\n  1  "), "{told_all}");
    assert!(told_all.contains("\n          1      2      3\n  1       –"), "{told_all}");
    assert!(told_all.contains("\n6 games: ") && told_all.contains("\n  time forfeits  none\n"), "{told_all}");
    let pgn = fs::read_to_string(folder.path().join("all.pgn")).unwrap();
    let mut seats: Vec<_> = tags(&pgn, "White").into_iter().zip(tags(&pgn, "Black")).collect();
    seats.sort_unstable();
    let names = ["a", "random-2", "random-3"];
    let everybody = names.iter().flat_map(|white| names.iter().map(move |black| (*white, *black)));
    assert_eq!(seats, everybody.filter(|(white, black)| white != black).collect::<Vec<_>>());
    let fens: BTreeSet<_> = tags(&pgn, "FEN").into_iter().collect();
    assert_eq!(fens.len(), 1, "one opening for all");

    let gauntlet = play("--games 2 --longest 10 --format gauntlet --pgn one.pgn");
    assert!(told(&gauntlet).contains("3 engines, 2 pairings, 4 games"), "{gauntlet:?}");
    let pgn = fs::read_to_string(folder.path().join("one.pgn")).unwrap();
    let mut seats = tags(&pgn, "White").into_iter().zip(tags(&pgn, "Black"));
    assert!(seats.all(|(white, black)| white == "a" || black == "a"));
    let output = play("--sprt 0 5");
    assert!(err(&output).contains("--sprt compares two engines"), "{output:?}");
}
