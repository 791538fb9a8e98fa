//! Single elimination: the seats are the seeds, and the first ones go on without a game where players are missing to a
//! power of two. A draw is played again with the colours changed.

use std::collections::BTreeSet;

use zeitnot_rules::{ByColor, GameResult};

use crate::{
    card::SeatNo,
    name::Name,
    pairing_system::{Bye, NotNow, OpenRound, Pairing, PairingSystem, Past},
};

/// Draws after which the better seed goes on: programs that repeat themselves would play forever.
const MAX_DRAWS: u64 = 6;
/// Place of a player who is missing to a power of two.
const MISSING: SeatNo = SeatNo(usize::MAX);

#[derive(Clone, Debug, Default)]
pub(super) struct Knockout {
    seated: BTreeSet<SeatNo>,
    withdrawn: BTreeSet<SeatNo>,
    /// Matches of the present round in the order of the tree; empty before the first round.
    matches: Vec<Match>,
    round: u64,
    byes: Vec<Bye>,
}

/// Match of the present round.
#[derive(Copy, Clone, Debug)]
struct Match {
    /// White in the first game comes first: the better seed, unless the organiser wants it otherwise.
    seats: [SeatNo; 2],
    draws: u64,
    winner: Option<SeatNo>,
    /// The winner has won no game of it.
    is_bye: bool,
}

impl Match {
    fn new(seats: [SeatNo; 2]) -> Match {
        Match { seats, draws: 0, winner: None, is_bye: false }
    }

    fn between(a: SeatNo, b: SeatNo) -> Match {
        Match::new([a.min(b), a.max(b)])
    }

    fn is_over(&self) -> bool {
        self.winner.is_some()
    }

    fn opponent(&self, seat: SeatNo) -> SeatNo {
        if self.seats[0] == seat { self.seats[1] } else { self.seats[0] }
    }

    /// The next game.
    fn pairing(&self, round: u64) -> Pairing {
        let [first, other] = self.seats;
        let seats = if self.draws.is_multiple_of(2) { [first, other] } else { [other, first] };
        Pairing { seats: ByColor(seats), opening: round * (MAX_DRAWS + 1) + self.draws }
    }

    /// Number of the last game, from 0, that has a result.
    fn last_game(&self) -> Option<u64> {
        match self.is_over() && !self.is_bye {
            true => Some(self.draws),
            false => self.draws.checked_sub(1),
        }
    }
}

/// Number of a round for people, from 1.
fn number(round: u64) -> u32 {
    u32::try_from(round + 1).unwrap_or(u32::MAX)
}

impl Knockout {
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

    /// The place of the match of the present round in which a player is.
    fn match_of(&self, seat: SeatNo) -> Option<usize> {
        self.matches.iter().position(|m| m.seats.contains(&seat))
    }

    fn open_match(&mut self, seats: ByColor<SeatNo>) -> Option<&mut Match> {
        self.matches.iter_mut().find(|m| !m.is_over() && seats.0.iter().all(|seat| m.seats.contains(seat)))
    }

    /// The match of a game that can be corrected: the last one, in the present round.
    fn corrected(&mut self, past: Past) -> Result<usize, NotNow> {
        let Past { pairing, round, is_busy } = past;
        let [white, black] = pairing.seats.0;
        if round != number(self.round) {
            return Err(NotNow::NextRound);
        }
        let at = self.match_of(white).filter(|at| self.matches[*at].seats.contains(&black));
        let at = at.ok_or(NotNow::NextRound)?;
        let game = pairing.opening.checked_sub(self.round * (MAX_DRAWS + 1));
        match self.matches[at].seats {
            seats if seats.iter().any(|seat| self.withdrawn.contains(seat)) => Err(NotNow::Withdrawn),
            _ if is_busy => Err(NotNow::Playing),
            _ if game != self.matches[at].last_game() => Err(NotNow::LaterGame),
            _ => Ok(at),
        }
    }

    /// Takes the last game of a match back.
    fn take_back(&mut self, at: usize) {
        let m = &mut self.matches[at];
        let (winner, was_bye) = (m.winner.take(), m.is_bye);
        m.draws -= u64::from(winner.is_none() || was_bye);
        m.is_bye = false;
        self.byes.extend(winner.filter(|_| was_bye).map(|seat| Bye {
            seat,
            round: number(self.round),
            is_revoked: true,
        }));
    }

    /// Whether a player waits for the first game of a match, or has a bye.
    fn waits(&self, at: usize, seat: SeatNo) -> bool {
        let m = &self.matches[at];
        let has_bye = m.is_bye && m.draws == 0 && m.winner == Some(seat);
        m.draws == 0 && (!m.is_over() || has_bye) && !self.withdrawn.contains(&seat)
    }

    /// Lets whoever has nobody to meet go on.
    fn grant_bye(&mut self, at: usize) {
        let gone = |seat: &SeatNo| *seat == MISSING || self.withdrawn.contains(seat);
        let m = &mut self.matches[at];
        if m.seats.iter().any(gone) {
            // Two who are both gone leave their place to the better seed, who then meets nobody either.
            let winner = m.seats.iter().copied().find(|seat| !gone(seat)).unwrap_or(m.seats[0]);
            (m.winner, m.is_bye) = (Some(winner), true);
            let bye = Bye { seat: winner, round: number(self.round), is_revoked: false };
            self.byes.extend((!gone(&winner)).then_some(bye));
        }
    }
}

impl PairingSystem for Knockout {
    fn enter(&mut self, seat: SeatNo, _name: &Name) {
        self.seated.insert(seat);
    }

    fn takes_late_entries(&self) -> bool {
        false
    }

    /// Begins the first round, or the next one once all matches are decided.
    fn begin_round(&mut self) -> Option<u32> {
        let (round, is_first) = (self.round, self.matches.is_empty());
        while self.matches.iter().all(Match::is_over) && self.matches.len() != 1 {
            let through: Vec<_> = match self.matches.is_empty() {
                true => self.tree(),
                false => self.matches.iter().map(|m| m.winner).collect(),
            };
            if through.iter().flatten().count() < 2 {
                break;
            }
            self.round += u64::from(!self.matches.is_empty());
            let pair = |pair: &[Option<SeatNo>]| {
                Match::between(pair[0].unwrap_or(MISSING), pair.get(1).copied().flatten().unwrap_or(MISSING))
            };
            self.matches = through.chunks(2).map(pair).collect();
            (0..self.matches.len()).for_each(|at| self.grant_bye(at));
        }
        let is_new = round != self.round || is_first && !self.matches.is_empty();
        is_new.then(|| number(self.round))
    }

    fn round(&self) -> Option<u32> {
        Some(number(self.round))
    }

    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        let open = self.matches.iter().filter(|m| !m.is_over());
        let ready = open.filter(|m| m.seats.iter().all(|seat| free.contains(seat)));
        ready.map(|m| m.pairing(self.round)).collect()
    }

    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool {
        let round = number(self.round);
        let Some(m) = self.open_match(pairing.seats) else { return false };
        match result {
            GameResult::Won(winner) => {
                m.winner = Some(pairing.seats[winner]);
                true
            }
            GameResult::Draw => {
                m.draws += 1;
                if m.draws > MAX_DRAWS {
                    let seat = m.seats[0].min(m.seats[1]);
                    (m.winner, m.is_bye) = (Some(seat), true);
                    self.byes.push(Bye { seat, round, is_revoked: false });
                }
                false
            }
        }
    }

    fn open_game(&self, seat: SeatNo) -> Option<Pairing> {
        let at = self.match_of(seat).filter(|at| !self.matches[*at].is_over())?;
        Some(self.matches[at].pairing(self.round))
    }

    fn awaits(&self, seats: ByColor<SeatNo>) -> u32 {
        let is_theirs = |m: &Match| seats.0.iter().all(|seat| m.seats.contains(seat));
        u32::from(self.matches.iter().any(|m| !m.is_over() && is_theirs(m)))
    }

    fn reopen(&mut self, past: Past) -> Result<(), NotNow> {
        let at = self.corrected(past)?;
        self.take_back(at);
        Ok(())
    }

    fn rescore(&mut self, past: Past, result: GameResult) -> Result<(), NotNow> {
        let at = self.corrected(past)?;
        self.take_back(at);
        self.played(past.pairing, result);
        Ok(())
    }

    /// Those whom the two would have met are paired with each other; a bye goes over.
    fn pair_by_hand(&mut self, seats: ByColor<SeatNo>, busy: &[Pairing]) -> Result<(), NotNow> {
        let [white, black] = seats.0;
        let is_busy = |seat: SeatNo| busy.iter().any(|pairing| pairing.seats.0.contains(&seat));
        let places =
            seats.0.map(|seat| self.match_of(seat).filter(|at| self.waits(*at, seat) && !is_busy(seat)));
        let [Some(one), Some(two)] = places else { return Err(NotNow::NotWaiting) };
        if self.matches[one].seats == seats.0 {
            return Err(NotNow::PairedSo);
        }
        let left = [self.matches[one].opponent(white), self.matches[two].opponent(black)];
        for at in if one == two { vec![one] } else { vec![one, two] } {
            if let Some(seat) = self.matches[at].winner.filter(|_| self.matches[at].is_bye) {
                self.byes.push(Bye { seat, round: number(self.round), is_revoked: true });
            }
        }
        self.matches[one] = Match::new(seats.0);
        if one != two {
            self.matches[two] = Match::between(left[0], left[1]);
            self.grant_bye(two);
        }
        Ok(())
    }

    fn withdraw(&mut self, seat: SeatNo, _players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        let is_in = self.match_of(seat).is_some_and(|at| {
            let winner = self.matches[at].winner;
            winner.is_none() || winner == Some(seat)
        });
        // Before the first round nobody is out.
        if self.is_complete() || !(is_in || self.matches.is_empty()) || !self.withdrawn.insert(seat) {
            return None;
        }
        let open = self.matches.iter_mut().find(|m| !m.is_over() && m.seats.contains(&seat));
        let Some(m) = open else { return Some(Vec::new()) };
        let opponent = m.opponent(seat);
        m.winner = Some(opponent);
        Some(vec![(opponent, 1)])
    }

    fn exclude(&mut self, seat: SeatNo) {
        self.withdrawn.insert(seat);
    }

    fn forget(&mut self, seat: SeatNo) {
        self.seated.remove(&seat);
    }

    fn is_complete(&self) -> bool {
        self.matches.len() == 1 && self.matches[0].is_over()
    }

    fn open(&self) -> Option<OpenRound> {
        let open = self.matches.iter().filter(|m| m.winner.is_none());
        let pairings = open.map(|m| m.pairing(self.round)).collect();
        Some(OpenRound { number: number(self.round), pairings })
    }

    fn take_byes(&mut self) -> Vec<Bye> {
        std::mem::take(&mut self.byes)
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::Color;

    use super::*;

    fn seated(players: usize) -> Knockout {
        let mut knockout = Knockout::default();
        let name = Name::try_from("somebody").unwrap();
        (0..players).for_each(|seat| knockout.enter(SeatNo(seat), &name));
        knockout
    }

    fn games(knockout: &mut Knockout) -> Vec<[usize; 2]> {
        knockout.begin_round();
        let all: Vec<_> = knockout.seated.iter().copied().collect();
        knockout.pair(&all).iter().map(|pairing| pairing.seats.0.map(|seat| seat.0)).collect()
    }

    fn game(white: usize, black: usize) -> Pairing {
        Pairing { seats: ByColor([SeatNo(white), SeatNo(black)]), opening: 0 }
    }

    fn bye(seat: usize, round: u32) -> Bye {
        Bye { seat: SeatNo(seat), round, is_revoked: false }
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
            assert!(!knockout.is_complete());
        }
        assert!(!knockout.played(game(1, 4), GameResult::Draw));
        assert!(knockout.is_complete());
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
        assert!(knockout.is_complete());
        assert_eq!(knockout.take_byes(), [bye(1, 2)]);
    }

    fn past(pairing: Pairing, round: u32) -> Past {
        Past { pairing, round, is_busy: false }
    }

    #[test]
    fn a_correction_lets_the_other_one_go_on_until_the_next_round_begins() {
        let mut knockout = seated(4);
        games(&mut knockout);
        let (one, two) = (game(0, 3), game(1, 2));
        knockout.played(one, GameResult::Won(Color::White));
        knockout.played(two, GameResult::Draw);
        assert_eq!(knockout.rescore(past(one, 1), GameResult::Won(Color::Black)), Ok(()));
        assert_eq!(
            knockout.rescore(Past { is_busy: true, ..past(two, 1) }, GameResult::Draw),
            Err(NotNow::Playing)
        );
        assert_eq!(knockout.reopen(past(two, 1)), Ok(()));
        assert_eq!(games(&mut knockout), [[1, 2]]);
        knockout.played(two, GameResult::Draw);
        let second = Pairing { opening: 1, ..game(2, 1) };
        knockout.played(second, GameResult::Won(Color::White));
        assert_eq!(knockout.reopen(past(two, 1)), Err(NotNow::LaterGame));
        assert_eq!(knockout.rescore(past(second, 1), GameResult::Won(Color::Black)), Ok(()));
        assert_eq!(games(&mut knockout), [[1, 3]]);
        assert_eq!(knockout.rescore(past(one, 1), GameResult::Won(Color::White)), Err(NotNow::NextRound));
    }

    #[test]
    fn the_organiser_pairs_by_hand_also_whoever_has_a_bye() {
        let mut knockout = seated(3);
        assert_eq!(games(&mut knockout), [[1, 2]]);
        assert_eq!(knockout.take_byes(), [bye(0, 1)]);
        assert_eq!(knockout.pair_by_hand(game(1, 2).seats, &[]), Err(NotNow::PairedSo));
        assert_eq!(knockout.pair_by_hand(game(2, 0).seats, &[game(1, 2)]), Err(NotNow::NotWaiting));
        assert_eq!(knockout.pair_by_hand(game(2, 0).seats, &[]), Ok(()));
        assert_eq!(games(&mut knockout), [[2, 0]]);
        assert_eq!(knockout.take_byes(), [Bye { is_revoked: true, ..bye(0, 1) }, bye(1, 1)]);
        knockout.played(game(2, 0), GameResult::Won(Color::White));
        assert_eq!(games(&mut knockout), [[1, 2]]);
    }
}
