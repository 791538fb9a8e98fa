//! The games of a match in their order: who meets whom, from which opening, with which colours.

use zeitnot_rules::{Color, GameResult};

/// Which entries meet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first meets everybody else.
    Gauntlet,
}

/// Games of a match. Each round has one opening, which all pairings play with both colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pairings: Vec<[usize; 2]>,
    /// Games of each pairing.
    games: usize,
}

/// One game of a schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fixture {
    /// Number from 0 in the order of the schedule.
    pub number: usize,
    pub pairing: usize,
    /// Both entries, the first of the pairing first.
    pub entries: [usize; 2],
    /// Number of the opening, from 0.
    pub round: usize,
    /// 0, or 1 for the return game, in which the colours are reversed.
    pub half: usize,
}

impl Fixture {
    pub fn entry(&self, color: Color) -> usize {
        self.entries[self.side(color)]
    }

    /// Which of both entries plays this color, 0 or 1.
    pub fn side(&self, color: Color) -> usize {
        usize::from(color != Color::White) ^ self.half
    }

    /// Half points of the first entry with this result.
    pub fn halves(&self, result: GameResult) -> u8 {
        match result {
            GameResult::Draw => 1,
            GameResult::Won(winner) if self.side(winner) == 0 => 2,
            GameResult::Won(_) => 0,
        }
    }

    /// Number of the game among those of its pairing, from 0: 2n and 2n + 1 have the same opening.
    pub fn of_pairing(&self) -> usize {
        2 * self.round + self.half
    }
}

impl Schedule {
    /// Creates a schedule with this many games of each pairing.
    pub fn new(format: Format, entries: usize, games: usize) -> Schedule {
        let firsts = match format {
            Format::RoundRobin => 0..entries,
            Format::Gauntlet => 0..entries.min(1),
        };
        let pairings = firsts.flat_map(|first| (first + 1..entries).map(move |second| [first, second]));
        Schedule { pairings: pairings.collect(), games }
    }

    /// Returns the pairings, each as two entries.
    pub fn pairings(&self) -> &[[usize; 2]] {
        &self.pairings
    }

    pub fn games(&self) -> usize {
        self.pairings.len().saturating_mul(self.games)
    }

    /// Returns a game by its number; `None` after the last one.
    pub fn fixture(&self, number: usize) -> Option<Fixture> {
        let pairings = self.pairings.len();
        if number >= self.games() {
            return None;
        }
        let (round, rest) = (number / (2 * pairings), number % (2 * pairings));
        // The last round of an odd number of games has no return games.
        let (pairing, half) = if 2 * round + 1 < self.games { (rest / 2, rest % 2) } else { (rest, 0) };
        Some(Fixture { number, pairing, entries: self.pairings[pairing], round, half })
    }

    /// Finds a game by its pairing and its number among the games of that; `None` if it is not on the schedule.
    pub fn find(&self, pairing: usize, game: usize) -> Option<Fixture> {
        if pairing >= self.pairings.len() || game >= self.games {
            return None;
        }
        let (round, half) = (game / 2, game % 2);
        let before = 2 * round * self.pairings.len();
        let number = if 2 * round + 1 < self.games { before + 2 * pairing + half } else { before + pairing };
        self.fixture(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_engines_play_pairs_of_games() {
        let schedule = Schedule::new(Format::RoundRobin, 2, 5);
        let games: Vec<_> = (0..).map_while(|number| schedule.fixture(number)).collect();
        let rounds: Vec<_> =
            games.iter().map(|game| (game.round, game.half, game.entry(Color::White))).collect();
        assert_eq!(rounds, [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]);
        assert!(games.iter().all(|game| game.of_pairing() == game.number && game.pairing == 0));
        assert_eq!(games[1].side(Color::Black), 0);
    }

    #[test]
    fn all_pairings_play_an_opening_before_the_next_comes() {
        for (format, pairings) in [(Format::RoundRobin, 6), (Format::Gauntlet, 3)] {
            for per_pairing in [1, 4, 7] {
                let schedule = Schedule::new(format, 4, per_pairing);
                let games: Vec<_> = (0..).map_while(|number| schedule.fixture(number)).collect();
                assert_eq!((games.len(), schedule.games()), (pairings * per_pairing, pairings * per_pairing));
                assert!(games.is_sorted_by_key(|game| game.round));
                for (pairing, entries) in schedule.pairings().iter().enumerate() {
                    let theirs: Vec<_> = games.iter().filter(|game| game.pairing == pairing).collect();
                    assert!(theirs.iter().all(|game| game.entries == *entries));
                    let numbers: Vec<_> = theirs.iter().map(|game| game.of_pairing()).collect();
                    assert_eq!(numbers, (0..per_pairing).collect::<Vec<_>>());
                }
                for game in games {
                    assert_eq!(schedule.find(game.pairing, game.of_pairing()), Some(game));
                }
                assert_eq!((schedule.find(0, per_pairing), schedule.find(pairings, 0)), (None, None));
            }
        }
        assert_eq!(Schedule::new(Format::Gauntlet, 3, 2).pairings(), [[0, 1], [0, 2]]);
    }
}
