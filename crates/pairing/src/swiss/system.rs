//! Swiss tournament: round after round, each paired when the last one is over.

use std::collections::BTreeSet;

use zeitnot_rules::{ByColor, Color, GameResult};

use super::{Acceleration, Round, color_between, pair};
use crate::{
    card::{self, Card, Cell, SeatNo},
    format::AccelerationKind,
    name::Name,
    pairing_system::{Bye, NotNow, OpenRound, Pairing, PairingSystem, Past},
};

/// Rounds so far, and the games of the present one.
#[derive(Clone, Debug)]
pub(crate) struct Swiss {
    rounds: usize,
    accelerated: Option<AccelerationKind>,
    /// Virtual points, of those who were there in the first round.
    acceleration: Option<Acceleration>,
    /// Finished rounds.
    played: usize,
    /// Results by seat: of the finished rounds, and of the present one as far as there are any.
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
    pub(crate) fn new(rounds: usize, accelerated: Option<AccelerationKind>) -> Self {
        Swiss {
            rounds,
            accelerated,
            acceleration: None,
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

    fn pairing_round(&self) -> Round {
        Round { played: self.played, rounds: self.rounds, initial: Color::White }
    }

    /// Enters the result of an open game; returns whether there was one.
    fn enter_result(&mut self, seats: ByColor<SeatNo>, result: GameResult, is_played: bool) -> bool {
        let Some(at) = self.open.iter().position(|pairing| pairing.seats == seats) else { return false };
        self.open.swap_remove(at);
        for color in Color::BOTH {
            self.cards[seats[color].0].0.push(Cell::game(seats[!color], color, result, is_played));
        }
        if self.open.is_empty() {
            self.played += 1;
        }
        true
    }

    /// The two results of a game in its round.
    fn cells(&mut self, Past { pairing, round, .. }: Past) -> Option<ByColor<&mut Cell>> {
        let at = (round as usize).checked_sub(1)?;
        let [white, black] = pairing.seats.0;
        let is_against =
            |cell: &Cell, other| matches!(cell, Cell::Game { opponent, .. } if *opponent == other);
        let [one, two] = self.cards.get_disjoint_mut([white.0, black.0]).ok()?;
        let [one, two] = [(one, black), (two, white)]
            .map(|(card, other)| card.0.get_mut(at).filter(|cell| is_against(cell, other)));
        Some(ByColor([one?, two?]))
    }

    /// The opponent of a player who waits in the present round; `None` for the one who has the bye.
    fn waits_for(&self, seat: SeatNo) -> Result<Option<SeatNo>, NotNow> {
        if let Some(pairing) = self.open_game(seat) {
            return Ok(Some(pairing.seats[!pairing.color_of(seat)]));
        }
        let has_bye = self.cards.get(seat.0).and_then(|card| card.0.get(self.played))
            == Some(&Cell::Bye(card::Bye::Allocated));
        let is_here = !self.open.is_empty() && !self.withdrawn.contains(&seat);
        if has_bye && is_here { Ok(None) } else { Err(NotNow::NotWaiting) }
    }

    /// Moves the bye of the present round.
    fn move_bye(&mut self, from: SeatNo, to: SeatNo) {
        self.cards[from.0].0.pop();
        self.cards[to.0].0.push(Cell::Bye(card::Bye::Allocated));
        let round = self.number();
        self.byes.push(Bye { seat: from, round, is_revoked: true });
        self.byes.push(Bye { seat: to, round, is_revoked: false });
    }
}

impl PairingSystem for Swiss {
    fn enter(&mut self, seat: SeatNo, _name: &Name) {
        self.seated.insert(seat);
    }

    /// A late one comes into the next round.
    fn takes_late_entries(&self) -> bool {
        !self.is_exhausted && self.played + usize::from(!self.open.is_empty()) < self.rounds
    }

    fn begin_round(&mut self) -> Option<u32> {
        if !self.open.is_empty() || self.is_over() {
            return None;
        }
        let places = self.seated.last().map_or(0, |seat| seat.0 + 1);
        self.cards.resize_with(places, || Card(vec![Cell::Bye(card::Bye::Zero); self.played]));
        let players: Vec<_> = self.seated.difference(&self.withdrawn).copied().collect();
        let new = || Acceleration::new(self.accelerated, self.seated.len(), self.rounds);
        let acceleration = self.acceleration.get_or_insert_with(new);
        let round = Round { played: self.played, rounds: self.rounds, initial: Color::White };
        let paired = if players.len() > 1 { pair(&self.cards, &players, round, acceleration) } else { None };
        let Some(pairing) = paired else {
            let (round, rounds) = (self.played + 1, self.rounds);
            tracing::warn!("round {round} of {rounds} cannot be paired: the tournament ends");
            self.is_exhausted = true;
            return None;
        };
        let opening = self.played as u64;
        self.open = pairing.games.iter().map(|seats| Pairing { seats: ByColor(*seats), opening }).collect();
        let round = self.number();
        self.byes.extend(pairing.bye.map(|seat| Bye { seat, round, is_revoked: false }));
        for (place, card) in self.cards.iter_mut().enumerate() {
            let seat = SeatNo(place);
            if pairing.bye == Some(seat) {
                card.0.push(Cell::Bye(card::Bye::Allocated));
            } else if !players.contains(&seat) {
                card.0.push(Cell::Bye(card::Bye::Zero));
            }
        }
        Some(round)
    }

    fn round(&self) -> Option<u32> {
        Some(self.number())
    }

    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        let are_free = |pairing: &&Pairing| pairing.seats.0.iter().all(|seat| free.contains(seat));
        self.open.iter().filter(are_free).copied().collect()
    }

    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.enter_result(pairing.seats, result, true)
    }

    fn forfeited(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.enter_result(pairing.seats, result, false)
    }

    fn open_game(&self, seat: SeatNo) -> Option<Pairing> {
        self.open.iter().find(|pairing| pairing.seats.0.contains(&seat)).copied()
    }

    fn awaits(&self, seats: ByColor<SeatNo>) -> u32 {
        u32::from(self.open.iter().any(|pairing| pairing.seats == seats))
    }

    /// Only in the present round, or after it before the next one is paired.
    fn reopen(&mut self, past: Past) -> Result<(), NotNow> {
        let last = if self.open.is_empty() { self.played } else { self.played + 1 };
        if past.pairing.seats.0.iter().any(|seat| self.withdrawn.contains(seat)) {
            return Err(NotNow::Withdrawn);
        }
        if past.round as usize != last || self.cells(past).is_none() {
            return Err(NotNow::RoundOver);
        }
        for seat in past.pairing.seats.0 {
            self.cards[seat.0].0.pop();
        }
        self.played = last - 1;
        self.open.push(Pairing { opening: self.played as u64, ..past.pairing });
        Ok(())
    }

    /// Rounds that are paired stay as they are.
    fn rescore(&mut self, past: Past, result: GameResult) -> Result<(), NotNow> {
        let cells = self.cells(past).ok_or(NotNow::RoundOver)?;
        for (color, cell) in Color::BOTH.into_iter().zip(cells.0) {
            if let Cell::Game { opponent, is_played, .. } = *cell {
                *cell = Cell::game(opponent, color, result, is_played);
            }
        }
        Ok(())
    }

    /// Those whom the two would have met are paired with each other; the bye goes over.
    fn pair_by_hand(&mut self, seats: ByColor<SeatNo>, busy: &[Pairing]) -> Result<(), NotNow> {
        let [white, black] = seats.0;
        if busy.iter().any(|pairing| pairing.seats.0.iter().any(|seat| seats.0.contains(seat))) {
            return Err(NotNow::NotWaiting);
        }
        let others = [self.waits_for(white)?, self.waits_for(black)?];
        if self.open.iter().any(|pairing| pairing.seats == seats) {
            return Err(NotNow::PairedSo);
        }
        self.open.retain(|pairing| !pairing.seats.0.iter().any(|seat| seats.0.contains(seat)));
        let opening = self.played as u64;
        self.open.push(Pairing { seats, opening });
        match others {
            [Some(one), Some(_)] if one == black => {}
            [Some(one), Some(two)] => {
                let round = self.pairing_round();
                let acceleration = self.acceleration.clone().unwrap_or_default();
                let one_has_white =
                    color_between(&self.cards, [one, two], round, &acceleration) == Color::White;
                let seats = ByColor(if one_has_white { [one, two] } else { [two, one] });
                self.open.push(Pairing { seats, opening });
            }
            [None, Some(left)] => self.move_bye(white, left),
            [Some(left), None] => self.move_bye(black, left),
            [None, None] => {}
        }
        Ok(())
    }

    /// The game of the present round falls out; later rounds are paired without the player.
    fn withdraw(&mut self, seat: SeatNo, _players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        if self.is_over() || !self.withdrawn.insert(seat) {
            return None;
        }
        let Some(pairing) = self.open_game(seat) else { return Some(Vec::new()) };
        let winner = !pairing.color_of(seat);
        self.enter_result(pairing.seats, GameResult::Won(winner), false);
        Some(vec![(pairing.seats[winner], 1)])
    }

    /// From the next round on; those missed are byes without a point.
    fn readmit(&mut self, seat: SeatNo) -> bool {
        self.takes_late_entries() && self.withdrawn.remove(&seat)
    }

    fn exclude(&mut self, seat: SeatNo) {
        self.withdrawn.insert(seat);
    }

    fn forget(&mut self, seat: SeatNo) {
        self.seated.remove(&seat);
    }

    fn is_complete(&self) -> bool {
        self.is_over()
    }

    fn open(&self) -> Option<OpenRound> {
        Some(OpenRound { number: self.number(), pairings: self.open.clone() })
    }

    fn take_byes(&mut self) -> Vec<Bye> {
        std::mem::take(&mut self.byes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::card::Score;

    fn seated(players: usize, rounds: usize) -> Swiss {
        let mut swiss = Swiss::new(rounds, None);
        let name = Name::try_from("somebody").unwrap();
        (0..players).for_each(|seat| swiss.enter(SeatNo(seat), &name));
        swiss
    }

    /// A call that a tournament makes, as an arena that begins anew repeats it.
    #[derive(Clone, Copy)]
    enum Call {
        Round,
        Played(Pairing, GameResult),
        Withdraw(SeatNo),
    }

    fn repeat(swiss: &mut Swiss, call: Call) {
        match call {
            Call::Round => drop(swiss.begin_round()),
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
            while !swiss.is_complete() {
                let all: Vec<_> = (0..players).map(SeatNo).collect();
                if swiss.begin_round().is_some() {
                    calls.push(Call::Round);
                }
                let games = swiss.pair(&all);
                if games.is_empty() {
                    prop_assert!(swiss.is_complete());
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
        assert_eq!(swiss.begin_round(), Some(1));
        let first = swiss.pair(&[SeatNo(0), SeatNo(2), SeatNo(1)]);
        assert_eq!(first, [Pairing { seats: ByColor([SeatNo(0), SeatNo(2)]), opening: 0 }]);
        assert_eq!(swiss.take_byes(), [Bye { seat: SeatNo(4), round: 1, is_revoked: false }]);
        assert_eq!(swiss.withdraw(SeatNo(2), &[]), Some(vec![(SeatNo(0), 1)]));
        assert_eq!(swiss.withdraw(SeatNo(2), &[]), None);
        assert_eq!(swiss.withdraw(SeatNo(4), &[]), Some(vec![]), "who has the bye");
        assert_eq!(swiss.cards[2].0.len(), 1);
    }
    fn game(white: usize, black: usize) -> ByColor<SeatNo> {
        ByColor([SeatNo(white), SeatNo(black)])
    }

    #[test]
    fn the_organiser_pairs_by_hand_and_the_others_follow() {
        let mut swiss = seated(5, 3);
        assert_eq!(swiss.pair_by_hand(game(0, 1), &[]), Err(NotNow::NotWaiting), "nothing is paired");
        swiss.begin_round();
        let seats = |swiss: &Swiss| swiss.open.iter().map(|pairing| pairing.seats).collect::<Vec<_>>();
        assert_eq!((seats(&swiss), swiss.take_byes().len()), (vec![game(0, 2), game(3, 1)], 1));
        assert_eq!(swiss.pair_by_hand(game(0, 2), &[]), Err(NotNow::PairedSo));
        let busy = [swiss.open[0]];
        assert_eq!(swiss.pair_by_hand(game(0, 1), &busy), Err(NotNow::NotWaiting));
        assert_eq!(swiss.pair_by_hand(game(0, 1), &[]), Ok(()));
        assert_eq!(seats(&swiss), [game(0, 1), game(2, 3)]);
        assert_eq!(swiss.pair_by_hand(game(1, 0), &[]), Ok(()), "the other way round");
        assert_eq!(seats(&swiss), [game(2, 3), game(1, 0)]);
        assert!(swiss.take_byes().is_empty());
        assert_eq!(swiss.pair_by_hand(game(4, 1), &[]), Ok(()));
        let bye = |seat, is_revoked| Bye { seat: SeatNo(seat), round: 1, is_revoked };
        assert_eq!(
            (seats(&swiss), swiss.take_byes()),
            (vec![game(2, 3), game(4, 1)], vec![bye(4, true), bye(0, false)])
        );
    }

    #[test]
    fn corrections_count_from_the_next_round_on_and_a_game_is_played_again_in_its_own() {
        let mut swiss = seated(4, 3);
        swiss.begin_round();
        let games = swiss.open.clone();
        let past = |at: usize| Past { pairing: games[at], round: 1, is_busy: false };
        games.iter().for_each(|game| assert!(swiss.played(*game, GameResult::Draw)));
        assert_eq!(swiss.reopen(past(0)), Ok(()));
        assert_eq!((swiss.awaits(games[0].seats), swiss.played), (1, 0));
        assert!(swiss.played(games[0], GameResult::Won(Color::White)));
        assert_eq!(swiss.rescore(past(0), GameResult::Won(Color::Black)), Ok(()));
        assert_eq!(swiss.cards[games[0].seats[Color::Black].0].score_after(1), Score::WIN);
        assert_eq!(swiss.begin_round(), Some(2));
        assert_eq!(swiss.reopen(past(1)), Err(NotNow::RoundOver));
        assert_eq!(swiss.rescore(past(1), GameResult::Won(Color::White)), Ok(()));
        // Somebody late has nothing for the rounds before and comes into the next.
        assert!(swiss.takes_late_entries());
        swiss.enter(SeatNo(4), &Name::try_from("late").unwrap());
        for game in swiss.open.clone() {
            swiss.played(game, GameResult::Draw);
        }
        assert_eq!(swiss.begin_round(), Some(3));
        assert_eq!(swiss.cards[4].0[..2], [Cell::Bye(card::Bye::Zero); 2]);
        assert_eq!(swiss.cards[4].0.get(2), Some(&Cell::Bye(card::Bye::Allocated)));
        assert!(!swiss.takes_late_entries());
    }
}
