//! Laws of the absolute criteria, in random tournaments.

use proptest::prelude::*;
use zeitnot_rules::Color;

use super::{Acceleration, Round, dutch::RoundPairing, pair};
use crate::card::{Bye, Card, Cell, Score, SeatNo};

mod report_file;

/// Tournament with withdrawals, late entries, byes, forfeits and random results.
struct Tournament {
    random: fastrand::Rng,
    cards: Vec<Card>,
    here: Vec<bool>,
    rounds: usize,
    acceleration: Acceleration,
}

impl Tournament {
    fn new(players: usize, rounds: usize, is_accelerated: bool, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        Tournament {
            cards: vec![Card::default(); players],
            here: (0..players).map(|_| random.u8(..10) > 0).collect(),
            random,
            rounds,
            acceleration: match is_accelerated {
                true => Acceleration::baku(players, rounds),
                false => Acceleration::default(),
            },
        }
    }

    /// Pairs and plays a round; `None` if there is no pairing.
    fn play(&mut self, played: usize) -> Option<RoundPairing> {
        let mut players = Vec::new();
        for (place, here) in self.here.iter_mut().enumerate() {
            // Some come late, some go.
            *here ^= self.random.u8(..40) == 0;
            if *here && self.random.u8(..30) > 0 {
                players.push(SeatNo(place));
            } else {
                let bye = if self.random.bool() { Bye::Half } else { Bye::Zero };
                self.cards[place].0.push(Cell::Bye(bye));
            }
        }
        let cards: Vec<_> = self.cards.iter().map(|card| Card(card.0[..played].to_vec())).collect();
        let round = Round { played, rounds: self.rounds, initial: Color::White };
        let pairing = pair(&cards, &players, round, &self.acceleration)?;
        for &[white, black] in &pairing.games {
            let points = self.random.u32(..3);
            let is_played = self.random.u8(..20) > 0;
            for (seat, opponent, color, halves) in
                [(white, black, Color::White, points), (black, white, Color::Black, 2 - points)]
            {
                let score = Score::from_halves(halves);
                self.cards[seat.0].0.push(Cell::Game { opponent, color, score, is_played });
            }
        }
        if let Some(bye) = pairing.bye {
            self.cards[bye.0].0.push(Cell::Bye(Bye::Allocated));
        }
        let mut paired: Vec<_> = pairing.games.iter().flatten().chain(&pairing.bye).copied().collect();
        paired.sort_unstable();
        assert_eq!(paired, players, "everybody once");
        Some(pairing)
    }
}

/// C3: within two games of each colour, and never the same one three times in a row.
fn colors_are_fair(card: &Card) -> bool {
    let colors: Vec<_> = card.games().map(|(_, color)| color).collect();
    let balance = |games: usize| {
        let whites = colors[..games].iter().filter(|color| **color == Color::White).count();
        whites.abs_diff(games - whites)
    };
    (1..=colors.len()).all(|games| balance(games) <= 2)
        && colors.windows(3).all(|three| three.iter().any(|color| *color != three[0]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nobody_meets_twice_colours_stay_fair_and_a_bye_comes_once(
        players in 2..20_usize, rounds in 1..10_usize, is_accelerated: bool, seed: u64,
    ) {
        let mut tournament = Tournament::new(players, rounds, is_accelerated, seed);
        for played in 0..rounds {
            // Few players run out of opponents.
            let Some(pairing) = tournament.play(played) else { return Ok(()) };
            for card in &tournament.cards {
                let mut met: Vec<_> = card.games().map(|(opponent, _)| opponent).collect();
                let games = met.len();
                met.sort_unstable();
                met.dedup();
                prop_assert_eq!(met.len(), games, "twice the same opponent");
                let whole = |cell: &&Cell| {
                    !matches!(cell, Cell::Game { is_played: true, .. }) && cell.score() == Score::WIN
                };
                let byes = card.0.iter().filter(|cell| matches!(cell, Cell::Bye(Bye::Allocated))).count();
                prop_assert!(byes <= 1);
                // Whoever had a point without a game has no bye after that.
                let last_bye = card.0.iter().rposition(|cell| *cell == Cell::Bye(Bye::Allocated));
                prop_assert!(last_bye.is_none_or(|at| card.0[..at].iter().filter(whole).count() == 0));
            }
            // In the last round topscorers and their opponents are excepted.
            if played + 1 < rounds {
                prop_assert!(tournament.cards.iter().all(colors_are_fair), "{pairing:?}");
            }
        }
    }
}
