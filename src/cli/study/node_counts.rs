//! Node counts of course reports that Zeitnot reproduces exactly, except for the root.

use std::{ops::RangeInclusive, time::Instant};

use zeitnot_engine::textbook::{Algorithm, analyse};
use zeitnot_rules::chess::Chess;

use super::{
    experiments::HORIZON,
    findings::{Row, grouped},
};
use crate::cli::{CliError, progress::Work};

/// Plain minimax without a table, as a report counted it.
struct NodeCount {
    report: &'static str,
    fen: &'static str,
    /// Depths whose nodes the report adds up.
    depths: RangeInclusive<u16>,
    nodes: u64,
}

/// Both reports count calls of their max and min functions below the root, and we count the root as well.
const COUNTS: [NodeCount; 3] = [
    NodeCount {
        report: "CS76, first position",
        fen: "rnbqkb1r/pppppppp/7n/8/2P1P3/8/PP1P1PPP/RNBQKBNR b KQkq - 0 2",
        depths: 4..=4,
        nodes: 398_854,
    },
    NodeCount {
        report: "CS76, second position",
        fen: "1rbqkbnr/ppppppp1/7p/nB6/P7/2P1PN2/1P1P1PPP/RNBQK2R b KQk - 0 5",
        depths: 4..=4,
        nodes: 370_001,
    },
    NodeCount { report: "Chess_Solver, horizon", fen: HORIZON, depths: 1..=4, nodes: 2_920_414 },
];

pub(super) fn cs76(work: &Work) -> Result<Vec<Row>, CliError> {
    work.bar.inc_length(COUNTS.len() as u64);
    COUNTS.iter().take_while(|_| !work.is_stopped()).map(|count| row(count, work)).collect()
}

fn row(count: &NodeCount, work: &Work) -> Result<Row, CliError> {
    work.bar.set_message(count.report);
    let position = Chess::parse(count.fen)?;
    let began = Instant::now();
    let nodes = count.depths.clone().map(|depth| analyse(Algorithm::Minimax, &position, depth).nodes).sum();
    work.bar.inc(1);
    Ok(Row {
        position: count.report.into(),
        who: Algorithm::Minimax.to_string(),
        depth: Some(*count.depths.end()),
        nodes: Some(nodes),
        time: Some(began.elapsed()),
        finding: difference(count, nodes),
        report: grouped(count.nodes).into(),
        ..Row::default()
    })
}

/// Says why our count is not the report's.
fn difference(count: &NodeCount, nodes: u64) -> String {
    let searches = count.depths.len() as u64;
    match (nodes.checked_sub(count.nodes), searches) {
        (Some(1), 1) => "1 more: the root".into(),
        (Some(more), _) if more == searches => format!("{more} more: the root at each of {searches} depths"),
        _ => "not the report's count".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indicatif::ProgressBar;

    use super::*;

    #[test]
    fn counts_are_those_of_the_reports_and_the_roots() {
        let rows = cs76(&Work { bar: ProgressBar::hidden(), stop: Arc::default() }).unwrap();
        let told = rows.iter().map(|row| (row.report.as_ref(), row.nodes.unwrap(), row.finding.as_str()));
        assert_eq!(
            Vec::from_iter(told),
            [
                ("398,854", 398_855, "1 more: the root"),
                ("370,001", 370_002, "1 more: the root"),
                ("2,920,414", 2_920_418, "4 more: the root at each of 4 depths"),
            ]
        );
    }
}
