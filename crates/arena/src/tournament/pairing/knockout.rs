//! Single elimination: the seats are the seeds, and the first ones go on without a game where players are missing to a
//! power of two. A draw is played again with the colours changed.

use std::collections::BTreeSet;

use zeitnot_rules::{ByColor, Color, GameResult};

use super::{Bye, Pairing, PairingSystem, SeatNo};
use crate::name::Name;

/// Draws after which the better seed goes on: programs that repeat themselves would play forever.
const MAX_DRAWS: u64 = 6;

/// Rounds of a knockout.
#[derive(Clone, Debug, Default)]
pub(super) struct Knockout {
    seated: BTreeSet<SeatNo>,
    withdrawn: BTreeSet<SeatNo>,
    /// Matches of the present round in the order of the tree; empty before the first round.
    matches: Vec<Match>,
    round: u64,
    byes: Vec<Bye>,
}

/// Match of the present round, the better seed first.
#[derive(Copy, Clone, Debug)]
struct Match {
    seats: [SeatNo; 2],
    draws: u64,
    winner: Option<SeatNo>,
}

impl Match {
    fn between(a: SeatNo, b: SeatNo) -> Match {
        Match { seats: [a.min(b), a.max(b)], draws: 0, winner: None }
    }

    /// The next game; the better seed begins with White.
    fn pairing(&self, round: u64) -> Pairing {
        let [better, other] = self.seats;
        let seats = if self.draws.is_multiple_of(2) { [better, other] } else { [other, better] };
        Pairing { seats: ByColor(seats), opening: round * (MAX_DRAWS + 1) + self.draws }
    }
}

impl Knockout {
    /// Begins the first round, or the next one once all matches are decided.
    fn begin_round(&mut self) {
        while self.matches.iter().all(|m| m.winner.is_some()) && self.matches.len() != 1 {
            let through: Vec<_> = match self.matches.is_empty() {
                true => self.tree(),
                false => self.matches.iter().map(|m| m.winner).collect(),
            };
            if through.iter().flatten().count() < 2 {
                return;
            }
            self.round += u64::from(!self.matches.is_empty());
            let missing = SeatNo(usize::MAX);
            let pair = |pair: &[Option<SeatNo>]| {
                Match::between(pair[0].unwrap_or(missing), pair.get(1).copied().flatten().unwrap_or(missing))
            };
            self.matches = through.chunks(2).map(pair).collect();
            let round = number(self.round);
            for m in &mut self.matches {
                let gone = |seat: &SeatNo| *seat == missing || self.withdrawn.contains(seat);
                if m.seats.iter().any(gone) {
                    // Two who are both gone leave their place to the better seed, who then meets nobody either.
                    let winner = m.seats.iter().copied().find(|seat| !gone(seat)).unwrap_or(m.seats[0]);
                    m.winner = Some(winner);
                    self.byes.extend((!gone(&winner)).then_some(Bye { seat: winner, round }));
                }
            }
        }
    }

    /// Seeds in the order in which the best can meet only in the last round.
    fn tree(&self) -> Vec<Option<SeatNo>> {
        let seats: Vec<_> = self.seated.iter().copied().collect();
        let size = seats.len().next_power_of_two();
        let mut order = vec![0];
        while order.len() < size {
            let last = 2 * order.len() - 1;
            order = order.into_iter().flat_map(|seed| [seed, last - seed]).collect();
        }
        order.into_iter().map(|seed| seats.get(seed).copied()).collect()
    }

    fn open_match(&mut self, seat: SeatNo) -> Option<&mut Match> {
        self.matches.iter_mut().find(|m| m.winner.is_none() && m.seats.contains(&seat))
    }
}

/// Number of a round for people, from 1.
fn number(round: u64) -> u32 {
    u32::try_from(round + 1).unwrap_or(u32::MAX)
}

impl PairingSystem for Knockout {
    fn enter(&mut self, seat: SeatNo, _name: &Name) {
        self.seated.insert(seat);
    }

    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        self.begin_round();
        let open = self.matches.iter().filter(|m| m.winner.is_none());
        let ready = open.filter(|m| m.seats.iter().all(|seat| free.contains(seat)));
        ready.map(|m| m.pairing(self.round)).collect()
    }

    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.begin_round();
        let Some(m) = self.open_match(pairing.seats[Color::White]) else { return false };
        if !m.seats.contains(&pairing.seats[Color::Black]) {
            return false;
        }
        match result {
            GameResult::Won(winner) => m.winner = Some(pairing.seats[winner]),
            GameResult::Draw => {
                m.draws += 1;
                if m.draws > MAX_DRAWS {
                    let seat = m.seats[0];
                    m.winner = Some(seat);
                    self.byes.push(Bye { seat, round: number(self.round) });
                }
                return false;
            }
        }
        true
    }

    fn withdraw(&mut self, seat: SeatNo, _players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        self.begin_round();
        let is_in = self.matches.iter().any(|m| match m.winner {
            Some(winner) => winner == seat,
            None => m.seats.contains(&seat),
        });
        if self.is_complete(0) || !is_in || !self.withdrawn.insert(seat) {
            return None;
        }
        let Some(m) = self.open_match(seat) else { return Some(Vec::new()) };
        let opponent = if m.seats[0] == seat { m.seats[1] } else { m.seats[0] };
        m.winner = Some(opponent);
        Some(vec![(opponent, 1)])
    }

    fn forget(&mut self, seat: SeatNo) {
        self.seated.remove(&seat);
    }

    fn is_complete(&self, _players: usize) -> bool {
        self.matches.len() == 1 && self.matches[0].winner.is_some()
    }

    fn round(&mut self) -> Option<u32> {
        self.begin_round();
        Some(number(self.round))
    }

    fn take_byes(&mut self) -> Vec<Bye> {
        std::mem::take(&mut self.byes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seated(players: usize) -> Knockout {
        let mut knockout = Knockout::default();
        let name = Name::try_from("somebody").unwrap();
        (0..players).for_each(|seat| knockout.enter(SeatNo(seat), &name));
        knockout
    }

    fn games(knockout: &mut Knockout) -> Vec<[usize; 2]> {
        let all: Vec<_> = knockout.seated.iter().copied().collect();
        knockout.pair(&all).iter().map(|pairing| pairing.seats.0.map(|seat| seat.0)).collect()
    }

    fn game(white: usize, black: usize) -> Pairing {
        Pairing { seats: ByColor([SeatNo(white), SeatNo(black)]), opening: 0 }
    }

    fn bye(seat: usize, round: u32) -> Bye {
        Bye { seat: SeatNo(seat), round }
    }

    #[test]
    fn the_first_seeds_have_byes_and_meet_late() {
        let mut knockout = seated(6);
        assert_eq!(games(&mut knockout), [[3, 4], [2, 5]]);
        assert_eq!(knockout.take_byes(), [bye(0, 1), bye(1, 1)]);
        assert!(knockout.played(game(3, 4), GameResult::Won(Color::Black)));
        assert!(knockout.played(game(2, 5), GameResult::Won(Color::White)));
        assert_eq!(games(&mut knockout), [[0, 4], [1, 2]]);
        // Nobody wins a draw; it is played again with the colours changed.
        assert!(!knockout.played(game(0, 4), GameResult::Draw));
        assert_eq!(games(&mut knockout), [[4, 0], [1, 2]]);
        assert!(knockout.played(game(4, 0), GameResult::Won(Color::White)));
        assert_eq!(knockout.withdraw(SeatNo(5), &[]), None, "who is out");
        assert_eq!(knockout.withdraw(SeatNo(2), &[]), Some(vec![(SeatNo(1), 1)]));
        assert_eq!(games(&mut knockout), [[1, 4]]);
        for _ in 0..MAX_DRAWS {
            assert!(!knockout.played(game(1, 4), GameResult::Draw));
            assert!(!knockout.is_complete(6));
        }
        assert!(!knockout.played(game(1, 4), GameResult::Draw));
        assert!(knockout.is_complete(6));
        assert_eq!(knockout.take_byes(), [bye(1, 3)]);
    }

    #[test]
    fn who_is_gone_is_passed_over_in_the_next_round() {
        let mut knockout = seated(4);
        assert_eq!(games(&mut knockout), [[0, 3], [1, 2]]);
        assert!(knockout.played(game(0, 3), GameResult::Won(Color::White)));
        assert_eq!(knockout.withdraw(SeatNo(0), &[]), Some(vec![]));
        assert!(knockout.played(game(1, 2), GameResult::Won(Color::White)));
        assert_eq!(games(&mut knockout), Vec::<[usize; 2]>::new());
        assert!(knockout.is_complete(4));
        assert_eq!(knockout.take_byes(), [bye(1, 2)]);
    }
}
