//! Figures and outputs in the pages, computed again: those that are the same on every machine.

use std::fs;

use zeitnot_clients::lichess;
use zeitnot_engine::{BuiltIn, MEASURED, Rating};
use zeitnot_testing::LONG;

use super::page;
use crate::support::command::{err, out, zeitnot};

/// `1373706` as `1,373,706`.
fn grouped(number: &str) -> String {
    let digits = number.as_bytes().rchunks(3).rev();
    digits.map(|group| std::str::from_utf8(group).unwrap()).collect::<Vec<_>>().join(",")
}

#[track_caller]
fn shows(name: &str, text: &str) {
    assert!(page(name).contains(text), "{name} does not show this: {text}");
}

#[test(limit = LONG)]
fn the_node_count_of_bench_is_the_documented_one() {
    let bench = zeitnot(&["bench"]).output().unwrap();
    let nodes = out(&bench).lines().find_map(|line| line.split_once(" nodes ")).unwrap().0;
    shows("docs/performance.md", &format!("`zeitnot bench`: {} nodes on every run", grouped(nodes)));
}

#[test]
fn the_ratings_of_the_built_in_players_are_the_documented_ones() {
    let text = page("docs/playing.md");
    for player in BuiltIn::all() {
        let Rating { player, elo, error, games, .. } = player.rating();
        let row = text.lines().find(|line| line.starts_with(&format!("| `{player}` |"))).unwrap();
        let end =
            format!("| {} ± {error} | {} |", elo.to_string().replace('-', "−"), grouped(&games.to_string()));
        assert!(row.ends_with(&end), "docs/playing.md: expected {end} at the end of {row}");
    }
    assert!(text.contains(MEASURED));
}

#[test]
fn the_study_of_quiescence_has_the_documented_counts() {
    let study = zeitnot(&["study", "quiescence", "--depth", "2", "--format", "csv"]).output().unwrap();
    let rows: Vec<Vec<&str>> = out(&study).lines().map(|line| line.split(',').collect()).collect();
    for depth in ["1", "2"] {
        let nodes = ["without quiescence", "with quiescence"].map(|who| {
            let is_wanted = |row: &&Vec<&str>| row[1..4] == ["average of 50", who, depth];
            grouped(rows.iter().find(is_wanted).unwrap()[4])
        });
        shows("docs/study.md", &format!("| {depth} | {} | {} |", nodes[0], nodes[1]));
    }
}

#[test]
fn the_study_of_the_horizon_has_the_documented_counts() {
    let study = zeitnot(&["study", "horizon", "--depth", "3", "--format", "csv"]).output().unwrap();
    let rows: Vec<Vec<&str>> = out(&study).lines().map(|line| line.split(',').collect()).collect();
    let minus = |value: &str| value.replace('-', "−");
    for depth in ["1", "2", "3"] {
        let find = |algorithm: &str| rows.iter().find(|row| row[2] == algorithm && row[3] == depth).unwrap();
        let nodes = ["minimax", "alpha-beta", "alpha-beta-ordered", "alpha-beta-table", "mtd-f"]
            .map(|algorithm| grouped(find(algorithm)[4]));
        let first = find("minimax");
        let quiet = find("alpha-beta-quiescence");
        let row = format!(
            "| {depth} | {} | {} | {} | {} {} |",
            first[6],
            minus(first[7]),
            nodes.join(" | "),
            quiet[6],
            minus(quiet[7])
        );
        shows("docs/study.md", &row);
    }
}

#[test]
fn the_mistakes_of_the_readme_are_reported_so() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "[engine]\nhash_mb = 64\n[[server]]\nprotocol = 'contest'\naddress = 'localhost:8000'\n\
        tournament = 'class'\nplayer = 'zeitnot'\n";
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    let check = zeitnot(&["check", "--config", "wrong.toml"]).current_dir(&folder).output().unwrap();
    shows("README.md", err(&check));
}

#[test]
fn the_account_of_the_readme_is_described_so() {
    let described = lichess::Config::default().describe();
    let page = page("README.md");
    let (_, sample) = page.split_once("token: scopes bot:play\n").unwrap();
    let sample: Vec<_> = sample.split("```").next().unwrap().lines().collect();
    assert_eq!(sample.len(), described.len());
    for (line, described) in sample.iter().zip(described) {
        let (begin, end) = line.split_once('…').unwrap_or((line, ""));
        assert!(described.starts_with(begin) && described.ends_with(end), "{line}: {described}");
    }
}

#[test]
fn sets_of_positions_are_as_large_as_documented() {
    let count = |text: &str| text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    let data = |name: &str| count(&fs::read_to_string(super::home().join("tests/data").join(name)).unwrap());
    shows("README.md", &format!("openings; {} are built in", count(zeitnot_matches::openings::BALANCED)));
    let perft = (data("standard.epd"), data("chess960.epd"));
    shows("docs/performance.md", &format!("| {} standard and {} Chess960 positions", perft.0, perft.1));
    let mates = [1, 2, 3, 4].map(|moves| data(&format!("mate-in-{moves}.epd")));
    shows("docs/performance.md", &format!("{} positions, all found", mates.iter().sum::<usize>()));
    for (moves, positions) in (1..).zip(mates) {
        shows("docs/performance.md", &format!("| {moves} | {positions} |"));
    }
}
