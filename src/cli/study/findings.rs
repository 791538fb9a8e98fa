//! Results of the experiments as a table or as CSV.

use std::{borrow::Cow, time::Duration};

use crate::cli::table::fold;

/// Indentation of what does not fit the line of a row.
const INDENT: usize = 4;

/// One result; fields that do not apply stay empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub position: String,
    /// Algorithm, or the two players of a match.
    pub who: String,
    pub depth: Option<u16>,
    /// Positions visited, or iterations.
    pub nodes: Option<u64>,
    pub time: Option<Duration>,
    pub mv: String,
    pub value: String,
    /// Result in words.
    pub finding: String,
    /// Result of the course report.
    pub report: Cow<'static, str>,
    /// Part of an average, for CSV only.
    pub detail: bool,
}

/// Names of the columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 9] = [
    ("position", false),
    ("who", false),
    ("depth", true),
    ("nodes", true),
    ("ms", true),
    ("move", false),
    ("value", true),
    ("finding", false),
    ("report", false),
];

type Cells = [String; COLUMNS.len()];

impl Row {
    fn cells(&self, nodes: fn(u64) -> String) -> Cells {
        [
            self.position.clone(),
            self.who.clone(),
            self.depth.map_or_else(String::new, |depth| depth.to_string()),
            self.nodes.map_or_else(String::new, nodes),
            self.time.map_or_else(String::new, |time| format!("{:.2}", time.as_secs_f64() * 1e3)),
            self.mv.clone(),
            self.value.clone(),
            self.finding.clone(),
            self.report.clone().into_owned(),
        ]
    }
}

/// Formats the rows as a table without empty columns, whose lines are folded at this width.
pub(super) fn text(rows: &[Row], width: usize) -> String {
    let names = COLUMNS.map(|(name, _)| name.to_owned());
    let rows = rows.iter().filter(|row| !row.detail).map(|row| row.cells(grouped));
    let rows: Vec<_> = rows.collect();
    let used: Vec<_> = (0..COLUMNS.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
    let wide = |at: usize| rows.iter().chain([&names]).map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = used.iter().map(|&at| wide(at)).collect();
    let line = |cells: &Cells| {
        let cell = |(&at, &width): (&usize, &usize)| match COLUMNS[at] {
            (_, true) => format!("{:>width$}", cells[at]),
            (_, false) => format!("{:<width$}", cells[at]),
        };
        let cells: Vec<_> = used.iter().zip(&widths).map(cell).collect();
        fold(cells.join("  ").trim_end(), width, INDENT) + "\n"
    };
    let all = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    let rule = "-".repeat(all.min(width));
    let head = line(&names) + &rule + "\n";
    rows.iter().map(line).fold(head, |text, line| text + &line)
}

/// Header of a CSV file.
pub(super) fn csv_head() -> String {
    format!("experiment,{}\n", COLUMNS.map(|(name, _)| name).join(","))
}

/// Formats all rows as CSV, each with the name of its experiment.
pub(super) fn csv(experiment: &str, rows: &[Row]) -> String {
    let line = |row: &Row| {
        let cells = row.cells(|nodes| nodes.to_string());
        format!("{experiment},{}\n", cells.each_ref().map(|cell| quoted(cell)).join(","))
    };
    rows.iter().map(line).collect()
}

/// Quotes a cell by RFC 4180.
fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    } else {
        cell.into()
    }
}

/// Formats `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_averages_and_only_the_columns_that_are_filled() {
        let row =
            |who: &str, nodes, detail| Row { who: who.into(), nodes: Some(nodes), detail, ..Row::default() };
        let rows = [row("minimax", 1_234_567, false), row("mtd-f", 89, false), row("hidden", 1, true)];
        assert_eq!(
            text(&rows, 80),
            "who          nodes\n------------------\nminimax  1,234,567\nmtd-f           89\n"
        );
    }

    #[test]
    fn csv_has_every_row_with_every_column() {
        let row =
            Row { finding: "+1 =0, \"sure\"".into(), detail: true, nodes: Some(1000), ..Row::default() };
        assert_eq!(csv("match", &[row]), "match,,,,1000,,,,\"+1 =0, \"\"sure\"\"\",\n");
        assert_eq!(csv_head().split(',').count(), 10);
    }
}
