//! `zeitnot bench deadline` as its user sees it: the table, the exit code, and nothing left behind.

use std::{
    fs,
    process::{Output, Stdio},
};

use zeitnot_testing::wait_for;

use crate::support::command::{err, out, zeitnot};

fn deadline(arguments: &[&str]) -> Output {
    zeitnot(&["bench", "deadline"]).args(arguments).output().unwrap()
}

#[test]
fn each_cell_has_a_row_and_the_last_row_adds_them_up() {
    let arguments =
        ["--budget", "100ms", "--budget", "1+0.1", "--games", "1", "--under", "jitter", "--seconds", "2"];
    let output = deadline(&arguments);
    let table = out(&output);
    let rows: Vec<_> = table.lines().skip_while(|line| !line.starts_with("---")).skip(1).collect();
    assert_eq!(rows.len(), 3, "{table}");
    let cell = |row: &str| row.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cell(rows[0]), ["jitter", "search", "100ms", "1"], "{table}");
    assert_eq!(cell(rows[1]), ["jitter", "search", "1+0.1", "1"], "{table}");
    let moves =
        |row: &str| row.split('|').nth(1).unwrap().split_whitespace().next().unwrap().parse::<u32>().unwrap();
    assert!(moves(rows[0]) > 4 && moves(rows[1]) > 4, "{table}");
    assert_eq!(moves(rows[2]), moves(rows[0]) + moves(rows[1]), "{table}");
}

#[test]
fn budgets_too_short_to_count_never_fail_and_invalid_ones_are_refused() {
    // Below 20 ms nothing counts, however late.
    let output = deadline(&["--budget", "1ms", "--games", "1", "--under", "idle", "--seconds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = deadline(&["--budget", "tomorrow"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = deadline(&["--thinker", "stockfish"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(err(&output).contains("deaf"), "{output:?}");
}

/// Busy processes end with their standard input, which is closed when their parent is gone.
#[cfg(target_os = "linux")]
#[test]
fn a_busy_process_does_not_outlive_its_parent() {
    let mut busy = zeitnot(&["bench", "busy"]).stdin(Stdio::piped()).spawn().unwrap();
    // Its processor time is the 14th field, in hundredths of a second.
    wait_for("it is busy", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", busy.id())).unwrap();
        stat.split(' ').nth(13)?.parse::<u32>().ok().filter(|ticks| *ticks > 3)
    });
    drop(busy.stdin.take());
    wait_for("it ends", || busy.try_wait().unwrap());
}
