//! Begin and end of a match as they are printed.

use std::io::{self, Write};

use zeitnot_matches::{
    Faults, Scoreboard,
    pentanomial::Pentanomial,
    sprt::{Model, Sprt, Verdict},
    tally::Tally,
};

use crate::cli::table;

/// Columns of the head of a row.
const HEAD: usize = 17;

/// Prints the result, in lines of at most `width` columns.
pub(super) fn end(score: &Scoreboard, is_aborted: bool, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let games = score.games();
    writeln!(out)?;
    if is_aborted {
        writeln!(out, "Aborted; unfinished games do not count.")?;
    }
    if games == 0 {
        return writeln!(out, "No game was finished.");
    }
    let before = match score.resumed {
        0 => String::new(),
        resumed => format!(", {resumed} of them before"),
    };
    let elapsed = humantime::format_duration(score.elapsed());
    let title = format!("{}, {games} games of {}{before}, in {elapsed}", score.title(), score.efforts());
    writeln!(out, "{}", table::fold(&title, width, 2))?;
    let rows = match score.duel() {
        Some(tally) => duel(score, tally),
        None => {
            let table = score.cross_table();
            writeln!(out, "\n{}\n{}", table.standings(), table.points(width))?;
            several(score)
        }
    };
    let all = [
        (
            "ends",
            score.ends.iter().map(|(cause, count)| format!("{count} {cause}")).collect::<Vec<_>>().join(", "),
        ),
        ("plies a game", format!("{:.1}", score.plies as f64 / games as f64)),
    ];
    for (head, text) in rows.into_iter().chain(all).chain(faults(score)) {
        writeln!(out, "{}", table::fold(&format!("  {head:<15}{text}"), width, HEAD))?;
    }
    Ok(())
}

type Row = (&'static str, String);

fn duel(score: &Scoreboard, tally: &Tally) -> Vec<Row> {
    let pairs = tally.pairs();
    let [won, drawn, lost] = tally.results();
    let [with_white, with_black] = score.colours.map(|[won, drawn, lost]| format!("+{won} ={drawn} -{lost}"));
    let unknown = || "no bounds: more games are needed".to_owned();
    let mut rows = vec![
        ("score", format!("+{won} ={drawn} -{lost}, {:.1} %", 100.0 * tally.share())),
        ("by colour", format!("White {with_white}, Black {with_black}")),
        ("pairs", format!("{pairs} by points 0, ½, 1, 1½, 2")),
        ("Elo", pairs.elo().map_or_else(unknown, |elo| format!("{elo} (95 %)"))),
    ];
    rows.extend(pairs.normalized_elo().map(|normalized| ("normalized", format!("{normalized} (95 %)"))));
    rows.extend(pairs.superiority().map(|superiority| ("LOS", format!("{:.2} %", 100.0 * superiority))));
    rows.extend(score.sprt.map(|sprt| ("SPRT", test(sprt, pairs))));
    rows
}

fn several(score: &Scoreboard) -> Vec<Row> {
    let [white, black] = score.colours;
    // Black in the return games is the first of the pairing.
    let by_white = [white[0] + black[2], white[1] + black[1], white[2] + black[0]];
    let [won, drawn, lost] = by_white;
    vec![("White", format!("+{won} ={drawn} -{lost}"))]
}

fn test(sprt: Sprt, pairs: Pentanomial) -> String {
    let state = sprt.state(pairs);
    let Sprt { elo0, elo1, model, .. } = sprt;
    let kind = if model == Model::Normalized { "normalized Elo" } else { "Elo" };
    let verdict = match state.verdict() {
        Verdict::Open => "open".to_owned(),
        Verdict::Accepted => format!("at least {elo1} {kind}"),
        Verdict::Rejected => format!("at most {elo0} {kind}"),
    };
    format!("{state} of {elo0} against {elo1} {kind}: {verdict}")
}

/// Faults of both engines of a duel; of more, of those that have any.
fn faults(score: &Scoreboard) -> [Row; 4] {
    let of = |count: fn(&Faults) -> usize| {
        let counts =
            score.entries.iter().zip(&score.faults).map(|(entry, faults)| (&entry.name, count(faults)));
        let told = counts.filter(|(_, count)| score.duel().is_some() || *count > 0);
        let told: Vec<_> = told.map(|(name, count)| format!("{count} of {name}")).collect();
        if told.is_empty() { "none".to_owned() } else { told.join(", ") }
    };
    [
        ("time forfeits", of(|faults| faults.time)),
        ("illegal moves", of(|faults| faults.illegal)),
        ("crashes", of(|faults| faults.crashes)),
        ("restarts", of(|faults| faults.restarts)),
    ]
}
