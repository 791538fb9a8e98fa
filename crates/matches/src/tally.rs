//! Score of a match, by games and by pairs.

use std::{collections::BTreeMap, fmt};

use crate::pentanomial::Pentanomial;

/// Half points of the first player by the number of the game. Games 2n and 2n + 1 are a pair: the same opening with
/// both colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<usize, u8>);

impl Tally {
    /// Counts a game: 2 half points for a win, 1 for a draw.
    pub fn record(&mut self, game: usize, halves: u8) {
        self.0.insert(game, halves);
    }

    pub fn games(&self) -> usize {
        self.0.len()
    }

    /// Returns the first player's wins, draws and losses.
    pub fn results(&self) -> [usize; 3] {
        [2, 1, 0].map(|halves| self.0.values().filter(|&&those| those == halves).count())
    }

    /// Returns the pairs of which both games are counted.
    pub fn pairs(&self) -> Pentanomial {
        let mut pairs = Pentanomial::default();
        for (&game, halves) in self.0.iter().filter(|(game, _)| *game % 2 == 0) {
            if let Some(second) = self.0.get(&(game + 1)) {
                pairs.count(halves + second);
            }
        }
        pairs
    }

    /// Returns the first player's half points.
    pub fn halves(&self) -> usize {
        self.0.values().map(|&halves| usize::from(halves)).sum()
    }

    /// Returns the first player's share of the points.
    pub fn share(&self) -> f64 {
        self.halves() as f64 / 2.0 / self.0.len().max(1) as f64
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [won, drawn, lost] = self.results();
        write!(f, "+{won} ={drawn} -{lost}, {:.1} %", 100.0 * self.share())?;
        // Without a bounded estimate there is no Elo.
        self.pairs().elo().map_or(Ok(()), |elo| write!(f, ", Elo {elo:.0}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(halves: &[(usize, u8)]) -> Tally {
        let mut tally = Tally::default();
        halves.iter().for_each(|&(game, halves)| tally.record(game, halves));
        tally
    }

    #[test]
    fn pairs_count_when_both_games_are_there_in_whatever_order() {
        let games = tally(&[(3, 1), (0, 2), (2, 2), (1, 2), (4, 0), (7, 0), (6, 1)]);
        assert_eq!(games.pairs(), Pentanomial([0, 1, 0, 1, 1]));
        assert_eq!((games.results(), games.games()), ([3, 2, 2], 7));
    }

    #[test]
    fn the_difference_comes_with_its_error_where_there_is_one() {
        let told = |halves: &[(usize, u8)]| tally(halves).to_string();
        assert_eq!(told(&[(0, 2), (1, 0), (2, 1), (3, 1)]), "+1 =2 -1, 50.0 %, Elo +0 ± 0");
        assert_eq!(told(&[(0, 2), (1, 1)]), "+1 =1 -0, 75.0 %");
        assert_eq!(told(&[(0, 2), (1, 2), (2, 2), (3, 2)]), "+4 =0 -0, 100.0 %");
        assert_eq!(told(&[]), "+0 =0 -0, 0.0 %");
    }
}
