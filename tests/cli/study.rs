//! `zeitnot study`.

use std::{collections::BTreeMap, fs};

use zeitnot_testing::LONG;

use crate::support::command::{out, zeitnot};

fn study(args: &[&str]) -> String {
    let output = zeitnot(&["study"]).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "a bar where there is no terminal: {output:?}");
    out(&output).to_owned()
}

/// The cells of a line; quotes hold commas together.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

/// The rows of a CSV text, by the names of its columns.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines().map(cells);
    let head = lines.next().unwrap();
    lines
        .map(|cells| {
            assert_eq!(cells.len(), head.len(), "{cells:?}");
            head.iter().cloned().zip(cells).collect()
        })
        .collect()
}

#[test(limit = LONG)]
fn moves_and_values_are_those_of_the_reports() {
    let rows = rows(&study(&["horizon", "mate", "--quick", "--format", "csv"]));
    let told = |experiment: &str, depth: &str, column: &str| {
        let rows = rows.iter().filter(|row| row["experiment"] == experiment && row["depth"] == depth);
        Vec::from_iter(rows.map(|row| (row["who"].clone(), row[column].clone())))
    };
    let mates = told("mate", "2", "move");
    assert_eq!(mates.len(), 10);
    for (who, mv) in mates {
        assert_eq!(mv, "a6b7", "{who}");
    }
    // Quiescence sees more, so some of the ten may think otherwise.
    for (who, mv) in &told("horizon", "4", "move")[..5] {
        assert_eq!(mv, "h4h1", "{who}");
    }
    for depth in ["1", "2", "3", "4"] {
        let values = told("horizon", depth, "value");
        let exact =
            ["alpha-beta", "alpha-beta-ordered", "alpha-beta-positional", "alpha-beta-table", "mtd-f"];
        for (who, value) in values.iter().filter(|(who, _)| exact.contains(&who.as_str())) {
            assert_eq!(value, &values[0].1, "{who} at depth {depth}");
        }
    }
}

#[test(limit = LONG)]
fn every_experiment_writes_a_table_and_csv() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("findings.csv");
    let csv = file.to_str().unwrap();
    let text = study(&["--quick", "--csv", csv]);
    for title in [
        "All algorithms on random positions",
        "All algorithms where much depends on the depth",
        "All algorithms on a mate in one",
        "Minimax as two reports counted its nodes",
        "With and without a transposition table",
        "With and without quiescence",
        "TUC-Chess: iterations of Monte-Carlo tree search, and matches",
        "Chess: matches",
    ] {
        assert!(text.contains(&format!("{title}\n\n")), "{title} is missing in\n{text}");
    }
    let line = |words: &[&str]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(line(&["average of 10  mtd-f", "value 10/10", "as minimax"]), "{text}");
    assert!(line(&["2 games of chess", "search with 5ms against mcts with 5ms", " %"]), "{text}");
    assert!(line(&["2 games of tuc", "mcts with 5ms against alpha-beta-table at depth 4", " %"]), "{text}");
    assert!(line(&["2 games of tuc", "uct with 5ms against random", " %"]), "{text}");
    assert!(line(&["start of TUC-Chess", "25,000 to 40,000 in 6 s"]), "{text}");

    let rows = rows(&fs::read_to_string(&file).unwrap());
    let of = |experiment| rows.iter().filter(|row| row["experiment"] == experiment).count();
    // Ten algorithms on ten positions at one depth, and their averages.
    assert_eq!(of("positions"), 110);
    assert_eq!((of("mcts"), of("match")), (6, 3));
}

#[test]
fn positions_can_come_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my.fen");
    let run = |text: &str| {
        fs::write(&file, text).unwrap();
        let args = ["study", "quiescence", "--depth", "1", "--positions"];
        zeitnot(&args).arg(&file).output().unwrap()
    };
    let fine = run("# mine\n\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n");
    assert!(out(&fine).contains("average of 1  without quiescence      1"));
    for wrong in ["# none\n", "nonsense\n"] {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn the_horizon_and_the_mate_can_be_those_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my.fen");
    fs::write(&file, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n").unwrap();
    let run = |experiment| {
        zeitnot(&["study", experiment, "--depth", "1", "--positions"]).arg(&file).output().unwrap()
    };
    for experiment in ["horizon", "mate", "positions"] {
        let text = run(experiment);
        assert!(out(&text).contains("average of 1  minimax"), "{experiment}: {text:?}");
        assert!(!out(&text).contains("report"), "figures of other positions: {text:?}");
    }
    let refused = run("cs76");
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("`cs76` has positions of its own: leave out --positions or `cs76`"), "{told}");
}
