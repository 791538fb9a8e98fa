//! The score of a match, and the difference in Elo with its error.

use std::{collections::BTreeMap, fmt};

/// Of a normal distribution, 95 % lie within so many standard deviations.
const SURE: f64 = 1.96;

/// Half points of the first player, by the number of the game. Two games in a row are a pair: the same
/// opening, with both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally(BTreeMap<usize, u8>);

impl Tally {
    /// Counts a game: 2 half points for a win, 1 for a draw.
    pub fn record(&mut self, game: usize, halves: u8) {
        self.0.insert(game, halves);
    }

    fn count(&self, halves: u8) -> usize {
        self.0.values().filter(|&&those| those == halves).count()
    }

    /// The part of the points that was won.
    fn share(&self) -> f64 {
        let halves: u32 = self.0.values().map(|&halves| u32::from(halves)).sum();
        f64::from(halves) / 2.0 / self.0.len().max(1) as f64
    }

    /// The error of the share. Pairs vary less than games, as an opening may favour one side; so they are
    /// what counts.
    fn error(&self) -> Option<f64> {
        let pairs: Vec<_> = (0..self.0.len().div_ceil(2))
            .filter_map(|pair| Some(f64::from(self.0.get(&(2 * pair))? + self.0.get(&(2 * pair + 1))?) / 4.0))
            .collect();
        let count = pairs.len() as f64;
        let mean = pairs.iter().sum::<f64>() / count;
        let squares: f64 = pairs.iter().map(|pair| (pair - mean).powi(2)).sum();
        (pairs.len() > 1).then(|| SURE * (squares / (count - 1.0) / count).sqrt())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.share();
        write!(f, "+{} ={} -{}, {:.1} %", self.count(2), self.count(1), self.count(0), 100.0 * share)?;
        // Who has won or lost everything is better or worse by an amount that nobody knows.
        if share <= 0.0 || share >= 1.0 {
            return Ok(());
        }
        write!(f, ", Elo {:+.0}", 400.0 * (share / (1.0 - share)).log10())?;
        match self.error() {
            Some(error) => {
                let slope = 400.0 / std::f64::consts::LN_10 / (share * (1.0 - share));
                write!(f, " ± {:.0}", slope * error)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(halves: &[u8]) -> String {
        let mut tally = Tally::default();
        halves.iter().enumerate().for_each(|(game, &halves)| tally.record(game, halves));
        tally.to_string()
    }

    #[test]
    fn the_difference_comes_with_its_error() {
        assert_eq!(tally(&[2, 0, 1, 1]), "+1 =2 -1, 50.0 %, Elo +0 ± 0");
        assert_eq!(tally(&[2, 2, 2, 0]), "+3 =0 -1, 75.0 %, Elo +191 ± 454");
        assert_eq!(tally(&[2, 1]), "+1 =1 -0, 75.0 %, Elo +191");
        assert_eq!(tally(&[2, 2]), "+2 =0 -0, 100.0 %");
        assert_eq!(tally(&[]), "+0 =0 -0, 0.0 %");
    }
}
