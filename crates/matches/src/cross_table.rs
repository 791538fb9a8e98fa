//! Standings and cross table of a match of more than two engines.

use std::{cmp::Reverse, fmt::Write as _};

use crate::{pentanomial::Pentanomial, schedule::Schedule, tally::Tally};

/// Score of an engine against all others, or against one.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Score {
    games: usize,
    halves: usize,
    pairs: Pentanomial,
}

/// Columns of a row before its cells.
const HEAD: usize = 4;
/// Columns of a cell.
const CELL: usize = 7;
/// Columns of a name.
const MAX_NAME: usize = 24;

/// Scores by rank.
#[derive(Clone, Debug)]
pub struct CrossTable<'t> {
    names: Vec<&'t str>,
    schedule: &'t Schedule,
    tallies: &'t [Tally],
    /// Engines, the best first.
    ranked: Vec<usize>,
}

impl<'t> CrossTable<'t> {
    pub(crate) fn new(names: Vec<&'t str>, schedule: &'t Schedule, tallies: &'t [Tally]) -> CrossTable<'t> {
        let mut table = CrossTable { ranked: (0..names.len()).collect(), names, schedule, tallies };
        let mut ranked = std::mem::take(&mut table.ranked);
        ranked.sort_by_key(|&entry| {
            let Score { games, halves, .. } = table.total(entry);
            Reverse((halves * 1_000_000).checked_div(games).unwrap_or(0))
        });
        table.ranked = ranked;
        table
    }

    /// The first three in one line.
    pub(crate) fn summary(&self) -> String {
        let places = self.ranked.iter().take(3).map(|&entry| {
            let Score { games, halves, .. } = self.total(entry);
            format!("{} {}/{games}", self.names[entry], points(halves))
        });
        places.collect::<Vec<_>>().join(", ")
    }

    /// Score against one, or all that one has met.
    fn score(&self, entry: usize, opponent: Option<usize>) -> Score {
        let of_pairing = |(pairing, tally): (&[usize; 2], &Tally)| {
            let [first, second] = *pairing;
            let (other, is_first) = if first == entry { (second, true) } else { (first, false) };
            if (first != entry && second != entry) || opponent.is_some_and(|wanted| wanted != other) {
                return Score::default();
            }
            let (games, halves, pairs) = (tally.games(), tally.halves(), tally.pairs());
            match is_first {
                true => Score { games, halves, pairs },
                false => Score { games, halves: 2 * games - halves, pairs: pairs.reversed() },
            }
        };
        let scores: Vec<_> = self.schedule.pairings().iter().zip(self.tallies).map(of_pairing).collect();
        Score {
            games: scores.iter().map(|score| score.games).sum(),
            halves: scores.iter().map(|score| score.halves).sum(),
            pairs: scores.iter().map(|score| score.pairs).sum(),
        }
    }

    fn total(&self, entry: usize) -> Score {
        self.score(entry, None)
    }

    /// Standings: points, and the Elo difference to the opponents met with its 95 % interval.
    pub fn standings(&self) -> String {
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, MAX_NAME);
        let mut text = format!("  #  {:<width$}  games  points       %  Elo (95 %)\n", "engine");
        for (rank, &entry) in self.ranked.iter().enumerate() {
            let Score { games, halves, pairs } = self.total(entry);
            let name: String = self.names[entry].chars().take(width).collect();
            let share = 50.0 * halves as f64 / games.max(1) as f64;
            let elo = pairs.elo().map_or_else(|| "–".to_owned(), |elo| format!("{elo:.0}"));
            let points = points(halves);
            let _ = writeln!(
                text,
                "{:>3}  {name:<width$}  {games:>5}  {points:>6}  {share:>6.1}  {elo}",
                rank + 1
            );
        }
        text
    }

    /// Points of each against each, by rank, in as many blocks of columns as the width needs.
    pub fn points(&self, width: usize) -> String {
        let columns = (width.saturating_sub(HEAD) / CELL).max(1);
        let ranks: Vec<_> = self.ranked.iter().enumerate().collect();
        let mut text = String::new();
        for (at, block) in ranks.chunks(columns).enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let heads: String = block.iter().map(|(rank, _)| format!("{:>CELL$}", rank + 1)).collect();
            let _ = writeln!(text, "{:HEAD$}{heads}", "");
            for &(rank, &entry) in &ranks {
                let cells: String = block.iter().map(|(_, other)| self.cell(entry, **other)).collect();
                let _ = writeln!(text, "{:>3} {cells}", rank + 1);
            }
        }
        text
    }

    fn cell(&self, entry: usize, opponent: usize) -> String {
        let score = self.score(entry, Some(opponent));
        let text = match score.games {
            _ if entry == opponent => "–".to_owned(),
            0 => String::new(),
            _ => points(score.halves),
        };
        format!("{text:>CELL$}")
    }
}

/// Formats half points.
fn points(halves: usize) -> String {
    format!("{}{}", halves / 2, if halves.is_multiple_of(2) { "" } else { ".5" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Format;

    fn tally(halves: &[u8]) -> Tally {
        let mut tally = Tally::default();
        halves.iter().enumerate().for_each(|(game, halves)| tally.record(game, *halves));
        tally
    }

    #[test]
    fn engines_are_ranked_by_their_share() {
        let schedule = Schedule::new(Format::RoundRobin, 3, 4);
        let tallies = [tally(&[2, 1, 2, 2]), tally(&[0, 1, 1, 0]), tally(&[0, 0, 0])];
        let table = CrossTable::new(vec!["one", "two", "the third"], &schedule, &tallies);
        assert_eq!(table.summary(), "the third 6/7, one 4.5/8, two 0.5/7");
        let standings =
            "  #  engine     games  points       %  Elo (95 %)\n  1  the third      7       6    85.7";
        assert!(table.standings().starts_with(standings), "{}", table.standings());
        let expected = "          1      2      3\n  1       –      3      3\n  2       1      –    3.5\n";
        assert!(table.points(80).starts_with(expected), "{}", table.points(80));
    }

    #[test]
    fn the_table_fits_the_width() {
        let schedule = Schedule::new(Format::Gauntlet, 20, 2);
        let tallies = vec![tally(&[2, 1]); 19];
        let names: Vec<_> = (0..20).map(|_| "a name that is rather long for a table").collect();
        let table = CrossTable::new(names, &schedule, &tallies);
        for text in [table.points(80), table.standings()] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        assert_eq!(table.points(80).lines().count(), 2 * 21 + 1, "two blocks");
        assert_eq!(table.points(usize::MAX).lines().count(), 21);
    }
}
