//! Swiss tournament: round after round, each paired when the last one is over.
//!
//! The state follows from the calls in their order: a withdrawal between two rounds pairs the next one first, so that an
//! arena that begins anew comes to the same rounds.

use std::collections::BTreeSet;

use zeitnot_rules::{ByColor, Color, GameResult};
use zeitnot_wire::trf::{self, Card, Cell, Score};

use super::{Acceleration, Round, pair};
use crate::{
    name::Name,
    tournament::pairing::{Bye, Pairing, PairingSystem, SeatNo},
};

/// Rounds so far, and the games of the present one.
#[derive(Clone, Debug)]
pub(in crate::tournament::pairing) struct Swiss {
    rounds: usize,
    is_accelerated: bool,
    /// Finished rounds.
    played: usize,
    cards: Vec<Card>,
    seated: BTreeSet<SeatNo>,
    withdrawn: BTreeSet<SeatNo>,
    /// Games of the present round without a result.
    open: Vec<Pairing>,
    byes: Vec<Bye>,
    /// No further round can be paired.
    is_exhausted: bool,
}

impl Swiss {
    pub(in crate::tournament::pairing) fn new(rounds: usize, is_accelerated: bool) -> Self {
        Swiss {
            rounds,
            is_accelerated,
            played: 0,
            cards: Vec::new(),
            seated: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            open: Vec::new(),
            byes: Vec::new(),
            is_exhausted: false,
        }
    }

    fn is_over(&self) -> bool {
        self.open.is_empty() && (self.is_exhausted || self.played >= self.rounds)
    }

    /// Number of the present round; of the last one once all is over.
    fn number(&self) -> u32 {
        u32::try_from((self.played + 1).min(self.rounds)).unwrap_or(u32::MAX)
    }

    /// Pairs the next round, if the last one is over.
    fn begin_round(&mut self) {
        if !self.open.is_empty() || self.is_over() {
            return;
        }
        let places = self.seated.last().map_or(0, |seat| seat.0 + 1);
        self.cards.resize_with(places, || Card(vec![Cell::Bye(trf::Bye::Zero); self.played]));
        let players: Vec<_> = self.seated.difference(&self.withdrawn).copied().collect();
        let acceleration = match self.is_accelerated {
            true => Acceleration::baku(self.seated.len(), self.rounds),
            false => Acceleration::default(),
        };
        let round = Round { played: self.played, rounds: self.rounds, initial: Color::White };
        let paired = if players.len() > 1 { pair(&self.cards, &players, round, &acceleration) } else { None };
        let Some(pairing) = paired else {
            tracing::warn!(
                "round {} of {} cannot be paired: the tournament ends",
                self.played + 1,
                self.rounds
            );
            self.is_exhausted = true;
            return;
        };
        let opening = self.played as u64;
        self.open = pairing.games.iter().map(|seats| Pairing { seats: ByColor(*seats), opening }).collect();
        let round = self.number();
        self.byes.extend(pairing.bye.map(|seat| Bye { seat, round }));
        for (place, card) in self.cards.iter_mut().enumerate() {
            let seat = SeatNo(place);
            if pairing.bye == Some(seat) {
                card.0.push(Cell::Bye(trf::Bye::Allocated));
            } else if !players.contains(&seat) {
                card.0.push(Cell::Bye(trf::Bye::Zero));
            }
        }
    }

    /// Enters the result of an open game; returns whether there was one.
    fn enter_result(&mut self, seats: ByColor<SeatNo>, cell: impl Fn(SeatNo, SeatNo, Color) -> Cell) -> bool {
        let Some(at) = self.open.iter().position(|pairing| pairing.seats == seats) else { return false };
        self.open.swap_remove(at);
        for color in Color::BOTH {
            let (seat, opponent) = (seats[color], seats[!color]);
            self.cards[seat.0].0.push(cell(seat, opponent, color));
        }
        if self.open.is_empty() {
            self.played += 1;
        }
        true
    }
}

impl PairingSystem for Swiss {
    fn enter(&mut self, seat: SeatNo, _name: &Name) {
        self.seated.insert(seat);
    }

    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        self.begin_round();
        let are_free = |pairing: &&Pairing| pairing.seats.0.iter().all(|seat| free.contains(seat));
        self.open.iter().filter(are_free).copied().collect()
    }

    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.begin_round();
        let score = |color| match result {
            GameResult::Won(winner) if winner == color => Score::WIN,
            GameResult::Won(_) => Score::LOSS,
            GameResult::Draw => Score::DRAW,
        };
        self.enter_result(pairing.seats, |_, opponent, color| Cell::Game {
            opponent,
            color,
            score: score(color),
        })
    }

    /// The game of the present round falls out; later rounds are paired without the player.
    fn withdraw(&mut self, seat: SeatNo, _players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        self.begin_round();
        if self.is_over() || !self.withdrawn.insert(seat) {
            return None;
        }
        let game = self.open.iter().find(|pairing| pairing.seats.0.contains(&seat)).copied();
        let Some(Pairing { seats, .. }) = game else { return Some(Vec::new()) };
        self.enter_result(seats, |own, opponent, color| Cell::Forfeit {
            opponent,
            color,
            score: if own == seat { Score::LOSS } else { Score::WIN },
        });
        let [white, black] = seats.0;
        Some(vec![(if white == seat { black } else { white }, 1)])
    }

    fn forget(&mut self, seat: SeatNo) {
        self.seated.remove(&seat);
    }

    fn is_complete(&self, _players: usize) -> bool {
        self.is_over()
    }

    fn round(&mut self) -> Option<u32> {
        self.begin_round();
        Some(self.number())
    }

    fn take_byes(&mut self) -> Vec<Bye> {
        std::mem::take(&mut self.byes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seated(players: usize, rounds: usize) -> Swiss {
        let mut swiss = Swiss::new(rounds, false);
        let name = Name::try_from("somebody").unwrap();
        (0..players).for_each(|seat| swiss.enter(SeatNo(seat), &name));
        swiss
    }

    /// A call that a tournament makes, as an arena that begins anew repeats it.
    #[derive(Clone, Copy)]
    enum Call {
        Played(Pairing, GameResult),
        Withdraw(SeatNo),
    }

    fn repeat(swiss: &mut Swiss, call: Call) {
        match call {
            Call::Played(pairing, result) => assert!(swiss.played(pairing, result)),
            Call::Withdraw(seat) => drop(swiss.withdraw(seat, &[])),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rounds_follow_each_other_and_from_the_calls(players in 4..12_usize, rounds in 1..5_usize, seed: u64) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut swiss = seated(players, rounds);
            let mut calls = Vec::new();
            while !swiss.is_complete(players) {
                let all: Vec<_> = (0..players).map(SeatNo).collect();
                let games = swiss.pair(&all);
                if games.is_empty() {
                    prop_assert!(swiss.is_complete(players));
                    break;
                }
                let call = match random.u8(..20) {
                    0 => Call::Withdraw(SeatNo(random.usize(..players))),
                    _ => {
                        let results = [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
                        Call::Played(games[random.usize(..games.len())], results[random.usize(..3)])
                    }
                };
                repeat(&mut swiss, call);
                calls.push(call);
                let mut again = seated(players, rounds);
                calls.iter().for_each(|call| repeat(&mut again, *call));
                prop_assert_eq!(again.pair(&all).len(), swiss.pair(&all).len());
                prop_assert_eq!(&again.cards, &swiss.cards);
            }
            prop_assert!(swiss.played <= rounds);
        }
    }

    #[test]
    fn a_game_waits_until_both_are_free_and_a_withdrawal_decides_it() {
        let mut swiss = seated(5, 3);
        let first = swiss.pair(&[SeatNo(0), SeatNo(2), SeatNo(1)]);
        assert_eq!(first, [Pairing { seats: ByColor([SeatNo(0), SeatNo(2)]), opening: 0 }]);
        assert_eq!(swiss.take_byes(), [Bye { seat: SeatNo(4), round: 1 }]);
        assert_eq!(swiss.withdraw(SeatNo(2), &[]), Some(vec![(SeatNo(0), 1)]));
        assert_eq!(swiss.withdraw(SeatNo(2), &[]), None);
        assert_eq!(swiss.withdraw(SeatNo(4), &[]), Some(vec![]), "who has the bye");
        assert_eq!(swiss.cards[2].0.len(), 1);
    }
}
