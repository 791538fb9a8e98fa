//! Standings as a table of text, at most 80 columns wide.

use std::fmt::{self, Display};

use super::{Row, Standings, Tally};
use crate::format::TieBreak;

/// Columns of a terminal.
const WIDTH: usize = 80;
/// Columns of the places.
const RANK: usize = 3;

impl Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let rare = Rare::of(&rows);
        let mut lines = vec![("#".to_owned(), "player".to_owned(), self.heading(&rare))];
        lines
            .extend(rows.iter().map(|row| (row.rank.to_string(), row.name.to_string(), numbers(row, &rare))));
        let column = |at: usize| lines.iter().map(|(_, _, numbers)| numbers[at].len()).max().unwrap_or(0);
        let columns: Vec<_> = (0..lines[0].2.len()).map(column).collect();
        let taken = RANK + 1 + columns.iter().map(|column| column + 1).sum::<usize>();
        let longest = lines.iter().map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
        let width = longest.min(WIDTH.saturating_sub(taken)).max("player".len());
        for (at, (rank, name, numbers)) in lines.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(f, "{end}{rank:>RANK$} {name:width$}")?;
            if name.chars().count() > width {
                // A long name stands on a line of its own.
                write!(f, "\n{:1$}", "", RANK + 1 + width)?;
            }
            numbers.iter().zip(&columns).try_for_each(|(number, column)| write!(f, " {number:>column$}"))?;
        }
        Ok(())
    }
}

impl Standings {
    fn heading(&self, rare: &Rare) -> Vec<String> {
        let tie_breaks = self.format.tie_breaks.iter().map(|tie_break| tie_break.acronym());
        let counts = ["games", "won", "drew", "lost"].into_iter().chain(rare.of_both("forfeits", "byes"));
        ["score"].into_iter().chain(tie_breaks).chain(counts).map(str::to_owned).collect()
    }
}

/// Columns that most tournaments do not need.
struct Rare {
    forfeits: bool,
    byes: bool,
}

impl Rare {
    fn of(rows: &[Row]) -> Rare {
        Rare {
            forfeits: rows.iter().any(|row| row.tally.forfeits > 0),
            byes: rows.iter().any(|row| row.tally.byes > 0),
        }
    }

    fn of_both<T>(&self, forfeits: T, byes: T) -> impl Iterator<Item = T> {
        self.forfeits.then_some(forfeits).into_iter().chain(self.byes.then_some(byes))
    }
}

fn numbers(row: &Row, rare: &Rare) -> Vec<String> {
    let Tally { wins, draws, losses, forfeits, byes } = row.tally;
    let value = |(tie_break, value): &(TieBreak, f64)| match tie_break {
        TieBreak::Buchholz | TieBreak::BuchholzCut1 => format!("{value:.1}"),
        TieBreak::SonnebornBerger => format!("{value:.2}"),
        TieBreak::DirectEncounter | TieBreak::Wins => value.to_string(),
    };
    let counts = [row.tally.games(), wins, draws, losses].into_iter().chain(rare.of_both(forfeits, byes));
    let counts = counts.map(|count| count.to_string());
    [row.score.to_string()].into_iter().chain(row.tie_breaks.iter().map(value)).chain(counts).collect()
}
