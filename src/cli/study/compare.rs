//! Comparison of algorithms on the same positions and depths.

use std::{borrow::Cow, ops::RangeInclusive, time::Duration};

use zeitnot_engine::textbook::{Algorithm, Analysis, Evaluation, Options, analyse_with};
use zeitnot_rules::{Game, chess::Chess};

use super::findings::Row;
use crate::cli::progress::Work;

#[derive(Copy, Clone, Debug)]
pub(super) struct Contestant {
    pub name: &'static str,
    pub algorithm: Algorithm,
    pub options: Options,
    /// Maximum depth, as deeper searches take too long.
    pub deepest: u16,
    /// Results of course reports by depth.
    pub reports: &'static [(u16, &'static str)],
}

impl From<Algorithm> for Contestant {
    fn from(algorithm: Algorithm) -> Self {
        let name = algorithm.name();
        let options = algorithm.options();
        Contestant { name, algorithm, options, deepest: u16::MAX, reports: &[] }
    }
}

impl Contestant {
    fn report(&self, depth: u16) -> &'static str {
        self.reports.iter().find(|(at, _)| *at == depth).map_or("", |(_, report)| report)
    }
}

pub(super) struct Subject<'p> {
    pub name: String,
    /// If several, the table shows their average.
    pub positions: Cow<'p, [Chess]>,
    pub evaluation: Evaluation,
}

type Studies = Vec<Analysis<<Chess as Game>::Move>>;

/// Runs each algorithm on each position at each depth, and compares all with the first that reaches the depth. Ends
/// early, with whole rows, when it is stopped.
pub(super) fn compare(
    subject: &Subject<'_>,
    contestants: &[Contestant],
    depths: RangeInclusive<u16>,
    work: &Work,
) -> Vec<Row> {
    let runs: Vec<_> = depths
        .flat_map(|depth| contestants.iter().map(move |contestant| (depth, contestant)))
        .filter(|(depth, contestant)| *depth <= contestant.deepest)
        .collect();
    work.bar.inc_length((runs.len() * subject.positions.len()) as u64);

    let mut rows = Vec::new();
    let mut first: Option<(u16, &Contestant, Studies)> = None;
    for (depth, contestant) in runs {
        work.bar.set_message(format!("{}, depth {depth}", contestant.name));
        let options = Options { evaluation: subject.evaluation, ..contestant.options };
        let study = |position| {
            let study = analyse_with(contestant.algorithm, &options, position, depth);
            work.bar.inc(1);
            study
        };
        let positions = subject.positions.iter().take_while(|_| !work.is_stopped());
        let studies: Studies = positions.map(study).collect();
        if studies.len() < subject.positions.len() {
            // An average of fewer positions would be taken for one of all.
            break;
        }
        let mut row = summary(subject, contestant, depth, &studies);
        match &first {
            Some((at, reference, theirs)) if *at == depth => {
                row.finding = agreement(&studies, theirs, reference.name);
            }
            _ => first = Some((depth, contestant, studies.clone())),
        }
        if studies.len() > 1 {
            rows.extend(subject.positions.iter().zip(&studies).map(|(position, study)| Row {
                position: position.print(),
                detail: true,
                ..single(position, contestant, depth, study)
            }));
        }
        rows.push(row);
    }
    rows
}

/// Average of several positions, or the result of one.
fn summary(subject: &Subject<'_>, contestant: &Contestant, depth: u16, studies: &Studies) -> Row {
    let row = match (&subject.positions[..], &studies[..]) {
        ([position], [study]) => single(position, contestant, depth, study),
        _ => {
            let count = studies.len().max(1);
            let nodes: u64 = studies.iter().map(|study| study.nodes).sum();
            let time: Duration = studies.iter().map(|study| study.time).sum();
            Row {
                who: contestant.name.into(),
                depth: Some(depth),
                nodes: Some(nodes / count as u64),
                time: Some(time.div_f64(count as f64)),
                ..Row::default()
            }
        }
    };
    Row { position: subject.name.clone(), report: contestant.report(depth).into(), ..row }
}

fn single(
    position: &Chess,
    contestant: &Contestant,
    depth: u16,
    study: &Analysis<<Chess as Game>::Move>,
) -> Row {
    Row {
        who: contestant.name.into(),
        depth: Some(depth),
        nodes: Some(study.nodes),
        time: Some(study.time),
        mv: study.mv.map_or_else(String::new, |mv| position.write(mv).to_string()),
        value: study.value.to_string(),
        ..Row::default()
    }
}

/// Describes how often two algorithms agree.
fn agreement(ours: &Studies, theirs: &Studies, name: &str) -> String {
    let both = || ours.iter().zip(theirs);
    let values = both().filter(|(our, their)| our.value == their.value).count();
    let moves = both().filter(|(our, their)| our.mv == their.mv).count();
    match (ours.len(), values, moves) {
        (1, 1, 1) => format!("same value and move as {name}"),
        (1, 1, _) => format!("same value as {name}"),
        (1, _, 1) => format!("same move as {name}"),
        (1, ..) => format!("unlike {name}"),
        (all, ..) => format!("value {values}/{all}, move {moves}/{all} as {name}"),
    }
}
