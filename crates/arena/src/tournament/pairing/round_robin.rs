//! Round robin and gauntlet without rounds, so that nobody waits for the slowest game.
//!
//! A free player is paired with the free opponent met least. Colors need no memory: they follow from the seats and
//! the number of the game between the two.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use zeitnot_rules::{ByColor, GameResult};

use super::{Pairing, PairingSystem, SeatNo};
use crate::name::Name;

/// Games played so far, and thereby the games left.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    games_per_pair: u32,
    played: BTreeMap<SeatNo, Played>,
    gauntlet: Option<Gauntlet>,
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
    by_opponent: BTreeMap<SeatNo, u32>,
}

impl PairingSystem for RoundRobin {
    fn enter(&mut self, seat: SeatNo, name: &Name) {
        if let Some(gauntlet) = &mut self.gauntlet
            && gauntlet.names.contains(name)
        {
            gauntlet.seats.insert(seat);
        }
    }

    /// Those who have played least come first.
    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        let mut waiting = free.to_vec();
        waiting.sort_by_key(|seat| Reverse((self.played.get(seat).map_or(0, |played| played.count), *seat)));
        let mut pairings = Vec::new();
        while let Some(seat) = waiting.pop() {
            if let Some((at, met)) = self.opponent(seat, &waiting) {
                let other = waiting.remove(at);
                pairings.push(self.pairing(seat, other, met));
            }
        }
        pairings
    }

    fn played(&mut self, pairing: Pairing, _result: GameResult) -> bool {
        let [a, b] = pairing.seats.0;
        self.count(a, b, 1);
        true
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
        (!lost.is_empty()).then_some(lost)
    }

    fn forget(&mut self, seat: SeatNo) {
        if let Some(gauntlet) = &mut self.gauntlet {
            gauntlet.seats.remove(&seat);
        }
        let Some(forgotten) = self.played.remove(&seat) else { return };
        for (other, games) in forgotten.by_opponent {
            if let Some(played) = self.played.get_mut(&other) {
                played.count -= u64::from(games);
                played.by_opponent.remove(&seat);
            }
        }
    }

    fn is_complete(&self, players: usize) -> bool {
        let pairs = match &self.gauntlet {
            None => players as u64 * players.saturating_sub(1) as u64 / 2,
            Some(Gauntlet { seats, .. }) => (seats.len() * players.saturating_sub(seats.len())) as u64,
        };
        // Each game counts for both players.
        let played = self.played.values().map(|played| played.count).sum::<u64>() / 2;
        played >= pairs * u64::from(self.games_per_pair)
    }
}

impl RoundRobin {
    /// Creates a round robin with nothing played yet.
    pub(super) fn new(games_per_pair: u32) -> Self {
        RoundRobin { games_per_pair, played: BTreeMap::new(), gauntlet: None }
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

    /// Pairs two players for their game of that number; colors alternate.
    ///
    /// Lower seats have White first against seats at an odd distance: over all opponents that differs
    /// from an even share of colors by one at most, however many players there are.
    fn pairing(&self, a: SeatNo, b: SeatNo, number: u32) -> Pairing {
        let (low, high) = (a.min(b), a.max(b));
        let low_begins = (high.0 - low.0) % 2 == 1;
        let seats = if low_begins == number.is_multiple_of(2) { [low, high] } else { [high, low] };
        let pairs_before = high.0 * high.0.saturating_sub(1) / 2 + low.0;
        let opening =
            pairs_before as u64 * u64::from(self.games_per_pair.div_ceil(2)) + u64::from(number / 2);
        Pairing { seats: ByColor(seats), opening }
    }

    /// Returns the place of the opponent met least, and how often. The last in the list played least: it wins among
    /// equals, and nobody is better than one who was never met.
    fn opponent(&self, seat: SeatNo, waiting: &[SeatNo]) -> Option<(usize, u32)> {
        let mut best = None;
        for (at, other) in waiting.iter().enumerate().rev() {
            let met = self.met(seat, *other);
            if self.is_pair(seat, *other)
                && met < self.games_per_pair
                && best.is_none_or(|(_, least)| met < least)
            {
                best = Some((at, met));
                if met == 0 {
                    break;
                }
            }
        }
        best
    }

    fn met(&self, a: SeatNo, b: SeatNo) -> u32 {
        self.played.get(&a).and_then(|played| played.by_opponent.get(&b)).copied().unwrap_or(0)
    }

    fn left(&self, a: SeatNo, b: SeatNo) -> u32 {
        if self.is_pair(a, b) { self.games_per_pair.saturating_sub(self.met(a, b)) } else { 0 }
    }

    fn count(&mut self, a: SeatNo, b: SeatNo, games: u32) {
        for (seat, other) in [(a, b), (b, a)] {
            let played = self.played.entry(seat).or_default();
            played.count += u64::from(games);
            *played.by_opponent.entry(other).or_default() += games;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Plays a whole tournament in which each batch of games ends in an order that `luck` picks.
    fn play(players: usize, games_per_pair: u32, mut luck: impl FnMut(usize) -> usize) -> Vec<Pairing> {
        let mut system = RoundRobin::new(games_per_pair);
        let (mut running, mut games) = (Vec::<Pairing>::new(), Vec::new());
        while !system.is_complete(players) {
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
            let system = RoundRobin::new(20);
            let pairing = |n| system.pairing(SeatNo(a), SeatNo(a + distance), n);
            let (first, second) = (pairing(number * 2), pairing(number * 2 + 1));
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
        while !system.is_complete(4) {
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
        let mut system = RoundRobin::new(2);
        let players = [0, 1, 2].map(SeatNo);
        system.played(system.pairing(players[0], players[1], 0), GameResult::Draw);
        let lost = system.withdraw(SeatNo(1), &players);
        assert_eq!(lost, Some(vec![(SeatNo(0), 1), (SeatNo(2), 2)]));
        assert!(!system.is_complete(3));
        assert_eq!(system.pair(&players).len(), 1);
        system.withdraw(SeatNo(2), &players);
        assert!(system.is_complete(3));
    }

    #[test]
    fn whoever_gets_a_forgotten_seat_begins_anew() {
        let mut system = RoundRobin::new(2);
        let players = [0, 1, 2].map(SeatNo);
        for (a, b) in [(0, 1), (0, 2), (0, 2)] {
            system.played(system.pairing(SeatNo(a), SeatNo(b), 0), GameResult::Draw);
        }
        system.forget(SeatNo(2));
        assert_eq!((system.met(players[0], players[2]), system.met(players[0], players[1])), (0, 1));
        // The new player has played least, and the others once each.
        assert_eq!(
            system.pair(&players)[0].seats.0.map(|seat| seat.0 == 2).into_iter().filter(|is| *is).count(),
            1
        );
        assert_eq!(system.played.values().map(|played| played.count).collect::<Vec<_>>(), [1, 1]);
    }
}
