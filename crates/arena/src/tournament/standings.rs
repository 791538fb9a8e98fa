//! Standings of a tournament: scores, with Sonneborn-Berger as the tie-break.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    path::PathBuf,
};

use zeitnot_rules::{Color, GameResult};
use zeitnot_wire::trf::Score;

use crate::name::Name;

/// Scores of all players so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standings {
    tallies: BTreeMap<Name, Tally>,
    /// Score of the first player against the second.
    won: BTreeMap<(Name, Name), Score>,
}

/// Outcome of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentSummary {
    /// Its name.
    pub name: Name,
    /// Final standings.
    pub standings: Standings,
    /// Everybody has met everybody. An open tournament is never complete.
    pub complete: bool,
    /// File of the games; `None` if there were none.
    pub pgn: Option<PathBuf>,
}

/// Counted games of one player.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games won, including forfeits of opponents and byes.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost, including forfeits.
    pub losses: u32,
    /// Games lost by absence.
    pub forfeits: u32,
}

impl Tally {
    /// Returns the number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

/// Row of the standings.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The player.
    pub name: Name,
    /// One for a win, a half for a draw.
    pub score: Score,
    /// Sum over the opponents of the score against each, times that opponent's score.
    pub sonneborn_berger: f64,
    /// Counted games.
    pub tally: Tally,
}

impl Standings {
    /// Adds a player who has not played yet.
    pub(crate) fn enter(&mut self, name: &Name) {
        self.tallies.entry(name.clone()).or_default();
    }

    /// Removes a player with all results against others, who keep their points.
    pub(crate) fn forget(&mut self, name: &Name) {
        self.tallies.remove(name);
        self.won.retain(|(winner, loser), _| winner != name && loser != name);
    }

    /// Returns the number of games of a player.
    pub(crate) fn games(&self, name: &Name) -> u32 {
        self.tallies.get(name).map_or(0, Tally::games)
    }

    /// Records a game between White and Black.
    pub(crate) fn record(&mut self, players: [&Name; 2], result: GameResult) {
        let [white, black] = players;
        match result {
            GameResult::Won(Color::White) => self.win(white, black),
            GameResult::Won(Color::Black) => self.win(black, white),
            GameResult::Draw => {
                self.tally(white).draws += 1;
                self.tally(black).draws += 1;
                self.credit(white, black, Score::DRAW);
                self.credit(black, white, Score::DRAW);
            }
        }
    }

    /// Records a point without a game.
    pub(crate) fn grant_bye(&mut self, name: &Name) {
        self.tally(name).wins += 1;
    }

    /// Records a game that was not played, because the loser was absent.
    pub(crate) fn forfeit(&mut self, loser: &Name, winner: &Name) {
        self.win(winner, loser);
        self.tally(loser).forfeits += 1;
    }

    /// Returns the rows, best first; the order does not depend on who joined when.
    pub fn rows(&self) -> Vec<Row> {
        let mut quarters = self.sonneborn_berger_quarters();
        let row = |(name, tally): (&Name, &Tally)| Row {
            name: name.clone(),
            score: score(tally),
            sonneborn_berger: quarters.remove(name).unwrap_or(0) as f64 / 4.0,
            tally: *tally,
        };
        let mut rows: Vec<_> = self.tallies.iter().map(row).collect();
        // The names decide last: the map is ordered by them, and the sort is stable.
        rows.sort_by(|a, b| {
            let by_score = b.score.cmp(&a.score);
            by_score
                .then(b.sonneborn_berger.total_cmp(&a.sonneborn_berger))
                .then(b.tally.wins.cmp(&a.tally.wins))
        });
        rows
    }

    fn win(&mut self, winner: &Name, loser: &Name) {
        self.tally(winner).wins += 1;
        self.tally(loser).losses += 1;
        self.credit(winner, loser, Score::WIN);
    }

    fn tally(&mut self, name: &Name) -> &mut Tally {
        self.tallies.entry(name.clone()).or_default()
    }

    fn credit(&mut self, name: &Name, against: &Name, score: Score) {
        *self.won.entry((name.clone(), against.clone())).or_default() += score;
    }

    /// Sums for all players with points; halves times halves are quarters.
    fn sonneborn_berger_quarters(&self) -> BTreeMap<&Name, u64> {
        let mut sums = BTreeMap::new();
        for ((winner, opponent), won) in &self.won {
            let opponents = self.tallies.get(opponent).map(score).unwrap_or_default();
            *sums.entry(winner).or_default() += u64::from(won.halves()) * u64::from(opponents.halves());
        }
        sums
    }
}

fn score(tally: &Tally) -> Score {
    Score::from_halves(2 * tally.wins + tally.draws)
}

impl Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let width = rows.iter().map(|row| row.name.as_str().chars().count()).max().unwrap_or(0).max(6);
        write!(f, "  # {:width$} {:>6} {:>7} {:>5}", "player", "score", "SB", "games")?;
        write!(f, " {:>4} {:>4} {:>4} {:>8}", "won", "drew", "lost", "forfeits")?;
        for (place, Row { name, score, sonneborn_berger, tally }) in rows.iter().enumerate() {
            let Tally { wins, draws, losses, forfeits } = tally;
            write!(f, "\n{:3} {name:width$} {score:>6} {sonneborn_berger:>7.2}", place + 1)?;
            write!(f, " {:>5} {wins:>4} {draws:>4} {losses:>4} {forfeits:>8}", tally.games())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::try_from(text).unwrap()
    }

    /// a beats b, draws c; b beats c; c beats d; d beats a; b beats d.
    fn example() -> Standings {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(name);
        let mut standings = Standings::default();
        standings.record([&a, &b], GameResult::Won(Color::White));
        standings.record([&c, &a], GameResult::Draw);
        standings.record([&b, &c], GameResult::Won(Color::White));
        standings.record([&d, &c], GameResult::Won(Color::Black));
        standings.record([&a, &d], GameResult::Won(Color::Black));
        standings.forfeit(&d, &b);
        standings
    }

    #[test]
    fn sonneborn_berger_as_by_hand() {
        let rows = example().rows();
        let short: Vec<_> =
            rows.iter().map(|r| (r.name.as_str(), r.score.points(), r.sonneborn_berger)).collect();
        // a 1.5: b's 2 + half of c's 1.5 = 2.75; b 2: c's 1.5 + d's 1 = 2.5;
        // c 1.5: d's 1 + half of a's 1.5 = 1.75; d 1: a's 1.5.
        assert_eq!(short, [("b", 2.0, 2.5), ("a", 1.5, 2.75), ("c", 1.5, 1.75), ("d", 1.0, 1.5)]);
        assert_eq!(rows[3].tally, Tally { wins: 1, draws: 0, losses: 2, forfeits: 1 });
    }

    #[test]
    fn the_table_is_aligned() {
        let table = example().to_string();
        let widths: Vec<_> = table.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [widths[0]; 5], "{table}");
        assert_eq!(table.lines().nth(2).unwrap(), "  2 a         1.5    2.75     3    1    1    1        0");
    }
}
