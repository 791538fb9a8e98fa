//! `zeitnot bench arena-attack` as its user sees it: the table.

use crate::support::command::{out, zeitnot};

#[test]
fn each_attack_has_a_row_and_honest_players_lose_nothing_on_time() {
    let output = zeitnot(&["bench", "arena-attack", "--attack", "users", "--seconds", "1"]).output().unwrap();
    let table = out(&output);
    let rows: Vec<_> = table.lines().skip(2).collect();
    assert_eq!(rows.len(), 1, "{table}{output:?}");
    let columns: Vec<Vec<&str>> = rows[0].split('|').map(|part| part.split_whitespace().collect()).collect();
    assert_eq!(columns[0][0], "users", "{table}");
    // On a busy machine the delays say nothing.
    let number = |part: usize, at: usize| columns[part][at].parse::<u32>().unwrap();
    assert!(number(0, 1) > 0 && number(1, 0) > 0 && number(2, 0) > 0, "{table}");
    assert_eq!(columns[3], ["0", "0"], "lost or broken: {table}");
}
