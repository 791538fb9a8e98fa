//! Round robin and gauntlet without rounds, so that nobody waits for the slowest game.
//!
//! A free player is paired with the free opponent met least. Colors need no memory: they follow from the seats and
//! the number of the game between the two.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
};

use zeitnot_rules::{ByColor, GameResult};

use crate::{
    card::SeatNo,
    name::Name,
    pairing_system::{NotNow, Pairing, PairingSystem, Past},
};

/// Games played so far, and thereby the games left.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    games_per_pair: u32,
    seats: BTreeSet<SeatNo>,
    played: BTreeMap<SeatNo, Played>,
    gauntlet: Option<Gauntlet>,
    withdrawn: BTreeSet<SeatNo>,
    /// Pairs of which one came when the other had left.
    strangers: u64,
    /// Games that the organiser wants next, White first.
    by_hand: Vec<ByColor<SeatNo>>,
    /// Games whose results were taken back, White first, until they are played again.
    reopened: Vec<ByColor<SeatNo>>,
}

/// Players who alone meet all others; the others do not meet each other.
#[derive(Clone, Debug)]
struct Gauntlet {
    names: Vec<Name>,
    seats: BTreeSet<SeatNo>,
}

/// Games of one seat.
#[derive(Clone, Debug, Default)]
struct Played {
    count: u64,
    by_opponent: BTreeMap<SeatNo, Met>,
}

/// Games of a seat against another.
#[derive(Copy, Clone, Debug, Default)]
struct Met {
    games: u32,
    /// Those with White.
    whites: u32,
}

impl PairingSystem for RoundRobin {
    fn enter(&mut self, seat: SeatNo, name: &Name) {
        if !self.seats.insert(seat) {
            return;
        }
        if let Some(gauntlet) = &mut self.gauntlet
            && gauntlet.names.contains(name)
        {
            gauntlet.seats.insert(seat);
        }
        self.strangers += self.withdrawn.iter().filter(|other| self.is_pair(seat, **other)).count() as u64;
    }

    fn takes_late_entries(&self) -> bool {
        true
    }

    /// Those who have played least come first, after those whom the organiser pairs: they wait for each other.
    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        let mut waiting = free.to_vec();
        let mut pairings = Vec::new();
        for &seats in &self.by_hand {
            if seats.0.iter().all(|seat| waiting.contains(seat)) {
                waiting.retain(|seat| !seats.0.contains(seat));
                pairings.push(self.with_colors(seats));
            }
        }
        waiting.retain(|seat| !self.by_hand.iter().any(|seats| seats.0.contains(seat)));
        waiting.sort_by_key(|seat| Reverse((self.played.get(seat).map_or(0, |played| played.count), *seat)));
        while let Some(seat) = waiting.pop() {
            if let Some(at) = self.opponent(seat, &waiting) {
                let other = waiting.remove(at);
                pairings.push(self.pairing(seat, other));
            }
        }
        pairings
    }

    fn played(&mut self, pairing: Pairing, _result: GameResult) -> bool {
        if let Some(at) = self.by_hand.iter().position(|seats| is_between(*seats, pairing.seats)) {
            self.by_hand.remove(at);
        }
        if let Some(at) = self.reopened.iter().position(|seats| *seats == pairing.seats) {
            self.reopened.remove(at);
        }
        let [white, black] = pairing.seats.0;
        self.met_mut(white, black).whites += 1;
        self.count(white, black, 1);
        true
    }

    fn awaits(&self, seats: ByColor<SeatNo>) -> u32 {
        let [a, b] = seats.0;
        self.left(a, b)
    }

    fn reopened(&self, seats: ByColor<SeatNo>) -> u32 {
        self.reopened.iter().filter(|reopened| **reopened == seats).count() as u32
    }

    fn reopen(&mut self, Past { pairing, .. }: Past) -> Result<(), NotNow> {
        let [white, black] = pairing.seats.0;
        if pairing.seats.0.iter().any(|seat| self.withdrawn.contains(seat)) {
            return Err(NotNow::Withdrawn);
        }
        for (seat, other) in [(white, black), (black, white)] {
            let played = self.played.entry(seat).or_default();
            played.count = played.count.saturating_sub(1);
            let met = played.by_opponent.entry(other).or_default();
            met.games = met.games.saturating_sub(1);
            met.whites = met.whites.saturating_sub(u32::from(seat == white));
        }
        self.reopened.push(pairing.seats);
        Ok(())
    }

    fn rescore(&mut self, _past: Past, _result: GameResult) -> Result<(), NotNow> {
        Ok(())
    }

    fn pair_by_hand(&mut self, seats: ByColor<SeatNo>, busy: &[Pairing]) -> Result<(), NotNow> {
        let between = busy.iter().map(|pairing| pairing.seats).chain(self.by_hand.iter().copied());
        let coming = between.filter(|other| is_between(*other, seats)).count();
        if self.awaits(seats) as usize <= coming {
            return Err(NotNow::NoneLeft);
        }
        self.by_hand.push(seats);
        Ok(())
    }

    fn withdraw(&mut self, seat: SeatNo, players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        let lost: Vec<_> = players
            .iter()
            .filter(|other| **other != seat)
            .map(|&other| (other, self.left(seat, other)))
            .filter(|(_, games)| *games > 0)
            .collect();
        for &(other, games) in &lost {
            self.count(seat, other, games);
        }
        if lost.is_empty() {
            return None;
        }
        self.exclude(seat);
        Some(lost)
    }

    fn exclude(&mut self, seat: SeatNo) {
        self.by_hand.retain(|seats| !seats.0.contains(&seat));
        self.withdrawn.insert(seat);
    }

    fn forget(&mut self, seat: SeatNo) {
        if let Some(gauntlet) = &mut self.gauntlet {
            gauntlet.seats.remove(&seat);
        }
        self.seats.remove(&seat);
        self.withdrawn.remove(&seat);
        self.by_hand.retain(|seats| !seats.0.contains(&seat));
        self.reopened.retain(|seats| !seats.0.contains(&seat));
        let Some(forgotten) = self.played.remove(&seat) else { return };
        for (other, Met { games, .. }) in forgotten.by_opponent {
            if let Some(played) = self.played.get_mut(&other) {
                played.count -= u64::from(games);
                played.by_opponent.remove(&seat);
            }
        }
    }

    fn is_complete(&self) -> bool {
        let players = self.seats.len();
        let pairs = match &self.gauntlet {
            None => players as u64 * players.saturating_sub(1) as u64 / 2,
            Some(Gauntlet { seats, .. }) => (seats.len() * players.saturating_sub(seats.len())) as u64,
        };
        // Each game counts for both players.
        let played = self.played.values().map(|played| played.count).sum::<u64>() / 2;
        played >= pairs.saturating_sub(self.strangers) * u64::from(self.games_per_pair)
    }
}

/// Returns whether both are games of the same two.
fn is_between(one: ByColor<SeatNo>, other: ByColor<SeatNo>) -> bool {
    one.0.iter().all(|seat| other.0.contains(seat))
}

impl RoundRobin {
    /// Creates a round robin with nothing played yet.
    pub(super) fn new(games_per_pair: u32) -> Self {
        RoundRobin {
            games_per_pair,
            seats: BTreeSet::new(),
            played: BTreeMap::new(),
            gauntlet: None,
            withdrawn: BTreeSet::new(),
            strangers: 0,
            by_hand: Vec::new(),
            reopened: Vec::new(),
        }
    }

    /// Creates a gauntlet of the players with these names against all others.
    pub(super) fn gauntlet(games_per_pair: u32, names: Vec<Name>) -> Self {
        let gauntlet = Some(Gauntlet { names, seats: BTreeSet::new() });
        RoundRobin { gauntlet, ..RoundRobin::new(games_per_pair) }
    }

    fn is_pair(&self, a: SeatNo, b: SeatNo) -> bool {
        let has_one = |gauntlet: &Gauntlet| gauntlet.seats.contains(&a) != gauntlet.seats.contains(&b);
        self.gauntlet.as_ref().is_none_or(has_one)
    }

    /// Pairs two players for their next game: whoever had White less often has it.
    ///
    /// If both had it as often, lower seats have White against seats at an odd distance: over all opponents that differs
    /// from an even share of colors by one at most, however many players there are.
    fn pairing(&self, a: SeatNo, b: SeatNo) -> Pairing {
        let (low, high) = (a.min(b), a.max(b));
        let low_has_white = match self.met(low, high).whites.cmp(&self.met(high, low).whites) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => (high.0 - low.0) % 2 == 1,
        };
        self.with_colors(ByColor(if low_has_white { [low, high] } else { [high, low] }))
    }

    /// The next game of two players with these colours.
    fn with_colors(&self, seats: ByColor<SeatNo>) -> Pairing {
        let [white, black] = seats.0;
        let (low, high) = (white.min(black), white.max(black));
        let pairs_before = high.0 * high.0.saturating_sub(1) / 2 + low.0;
        let openings = u64::from(self.games_per_pair.div_ceil(2));
        let opening = pairs_before as u64 * openings + u64::from(self.met(low, high).games / 2);
        Pairing { seats, opening }
    }

    /// Returns the place of the opponent met least. The last in the list played least: it wins among
    /// equals, and nobody is better than one who was never met.
    fn opponent(&self, seat: SeatNo, waiting: &[SeatNo]) -> Option<usize> {
        let mut best = None;
        for (at, other) in waiting.iter().enumerate().rev() {
            let met = self.met(seat, *other).games;
            if self.left(seat, *other) > 0 && best.is_none_or(|(_, least)| met < least) {
                best = Some((at, met));
                if met == 0 {
                    break;
                }
            }
        }
        best.map(|(at, _)| at)
    }

    fn met(&self, a: SeatNo, b: SeatNo) -> Met {
        self.played.get(&a).and_then(|played| played.by_opponent.get(&b)).copied().unwrap_or_default()
    }

    fn met_mut(&mut self, a: SeatNo, b: SeatNo) -> &mut Met {
        self.played.entry(a).or_default().by_opponent.entry(b).or_default()
    }

    fn left(&self, a: SeatNo, b: SeatNo) -> u32 {
        let are_here = !self.withdrawn.contains(&a) && !self.withdrawn.contains(&b);
        match are_here && self.is_pair(a, b) {
            true => self.games_per_pair.saturating_sub(self.met(a, b).games),
            false => 0,
        }
    }

    fn count(&mut self, a: SeatNo, b: SeatNo, games: u32) {
        for (seat, other) in [(a, b), (b, a)] {
            self.met_mut(seat, other).games += games;
            self.played.entry(seat).or_default().count += u64::from(games);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn name() -> Name {
        Name::try_from("somebody").unwrap()
    }

    fn seated(games_per_pair: u32, players: usize) -> RoundRobin {
        let mut system = RoundRobin::new(games_per_pair);
        (0..players).for_each(|seat| system.enter(SeatNo(seat), &name()));
        system
    }

    /// Plays a whole tournament in which each batch of games ends in an order that `luck` picks.
    fn play(players: usize, games_per_pair: u32, mut luck: impl FnMut(usize) -> usize) -> Vec<Pairing> {
        let mut system = seated(games_per_pair, players);
        let (mut running, mut games) = (Vec::<Pairing>::new(), Vec::new());
        while !system.is_complete() {
            let busy: BTreeSet<_> = running.iter().flat_map(|p| p.seats.0).collect();
            let free: Vec<_> = (0..players).map(SeatNo).filter(|seat| !busy.contains(seat)).collect();
            let batch = system.pair(&free);
            let seats: Vec<_> = batch.iter().flat_map(|p| p.seats.0).collect();
            assert_eq!(seats.iter().collect::<BTreeSet<_>>().len(), seats.len(), "somebody twice at once");
            assert!(seats.iter().all(|seat| free.contains(seat)), "somebody who is busy");
            running.extend(batch);
            let ended = running.swap_remove(luck(running.len()));
            system.played(ended, GameResult::Draw);
            games.push(ended);
        }
        assert!(running.is_empty(), "more games than were to be played");
        games
    }

    proptest! {
        #[test]
        fn every_pair_meets_as_often_as_it_should_with_colors_balanced(
            players in 2..12_usize, games_per_pair in 1..5_u32, seed: u64,
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            let games = play(players, games_per_pair, |n| random.usize(..n));
            for a in 0..players {
                let color = |c: usize| games.iter().filter(|g| g.seats.0[c] == SeatNo(a)).count();
                prop_assert!(color(0).abs_diff(color(1)) <= 1);
                for b in 0..a {
                    let white = |x, y| games.iter().filter(|g| g.seats.0 == [SeatNo(x), SeatNo(y)]).count();
                    prop_assert_eq!(white(a, b) + white(b, a), games_per_pair as usize);
                    prop_assert!(white(a, b).abs_diff(white(b, a)) <= 1);
                }
            }
        }

        #[test]
        fn a_game_and_its_return_game_share_the_opening(
            a in 0..40_usize, distance in 1..40_usize, number in 0..10_u32,
        ) {
            let mut system = seated(20, 80);
            for _ in 0..number * 2 {
                let pairing = system.pairing(SeatNo(a), SeatNo(a + distance));
                system.played(pairing, GameResult::Draw);
            }
            let first = system.pairing(SeatNo(a), SeatNo(a + distance));
            system.played(first, GameResult::Draw);
            let second = system.pairing(SeatNo(a), SeatNo(a + distance));
            prop_assert_eq!(first.opening, second.opening);
            prop_assert_eq!(first.seats.0[0], second.seats.0[1]);
        }
    }

    #[test]
    fn in_a_gauntlet_only_the_named_ones_meet_the_others() {
        let names = ["hero", "other", "third", "champion"].map(|name| Name::try_from(name).unwrap());
        let heroes = vec![names[0].clone(), names[3].clone()];
        let mut system = RoundRobin::gauntlet(1, heroes);
        for (seat, name) in names.iter().enumerate() {
            system.enter(SeatNo(seat), name);
        }
        let all = [0, 1, 2, 3].map(SeatNo);
        let mut games = Vec::new();
        while !system.is_complete() {
            for pairing in system.pair(&all) {
                system.played(pairing, GameResult::Draw);
                let mut seats = pairing.seats.0.map(|seat| seat.0);
                seats.sort_unstable();
                games.push(seats);
            }
        }
        games.sort_unstable();
        assert_eq!(games, [[0, 1], [0, 2], [1, 3], [2, 3]]);
        assert_eq!(system.withdraw(SeatNo(1), &all), None);
    }

    #[test]
    fn openings_are_used_in_turn() {
        let mut used: Vec<_> = play(4, 2, |_| 0).iter().map(|p| p.opening).collect();
        used.sort_unstable();
        assert_eq!(used, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn a_withdrawal_leaves_nothing_to_wait_for() {
        let mut system = seated(2, 3);
        let players = [0, 1, 2].map(SeatNo);
        system.played(system.pairing(players[0], players[1]), GameResult::Draw);
        let lost = system.withdraw(SeatNo(1), &players);
        assert_eq!(lost, Some(vec![(SeatNo(0), 1), (SeatNo(2), 2)]));
        assert!(!system.is_complete());
        assert_eq!(system.pair(&players).len(), 1);
        // A late player does not meet the one who has left.
        system.enter(SeatNo(3), &name());
        assert_eq!(system.left(SeatNo(1), SeatNo(3)), 0);
        system.withdraw(SeatNo(2), &[0, 1, 2, 3].map(SeatNo));
        assert!(!system.is_complete());
        system.withdraw(SeatNo(3), &[0, 1, 2, 3].map(SeatNo));
        assert!(system.is_complete());
    }

    #[test]
    fn whoever_gets_a_forgotten_seat_begins_anew() {
        let mut system = seated(2, 3);
        let players = [0, 1, 2].map(SeatNo);
        for (a, b) in [(0, 1), (0, 2), (0, 2)] {
            system.played(system.pairing(SeatNo(a), SeatNo(b)), GameResult::Draw);
        }
        system.forget(SeatNo(2));
        let met = |a: usize, b: usize| system.met(players[a], players[b]).games;
        assert_eq!((met(0, 2), met(0, 1)), (0, 1));
        system.enter(SeatNo(2), &name());
        // The new player has played least, and the others once each.
        assert_eq!(
            system.pair(&players)[0].seats.0.map(|seat| seat.0 == 2).into_iter().filter(|is| *is).count(),
            1
        );
        assert_eq!(system.played.values().map(|played| played.count).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn whom_the_organiser_pairs_meet_next_with_these_colours_and_the_balance_returns() {
        let mut system = seated(2, 4);
        let seats = |white, black| ByColor([SeatNo(white), SeatNo(black)]);
        assert_eq!(system.pair_by_hand(seats(3, 0), &[]), Ok(()));
        // Somebody free waits for a player who is not.
        assert_eq!(system.pair(&[0, 1].map(SeatNo)), []);
        let all = [0, 1, 2, 3].map(SeatNo);
        let first = system.pair(&all)[0];
        assert_eq!(first.seats, seats(3, 0));
        assert_eq!(system.pair_by_hand(seats(0, 3), &[first]), Err(NotNow::NoneLeft));
        system.played(first, GameResult::Draw);
        assert_eq!(system.pairing(SeatNo(0), SeatNo(3)).seats, seats(0, 3));
        // A game that does not count is played again.
        let past = Past { pairing: first, round: 1, is_busy: false };
        assert_eq!(system.reopen(past), Ok(()));
        assert_eq!(system.awaits(seats(0, 3)), 2);
    }
}
