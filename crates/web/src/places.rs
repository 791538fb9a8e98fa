//! Places for connections, bounded in all and for each address, so that strangers cannot shut players out.
//!
//! A connection begins among the newcomers and moves on to the players or to the spectators when it has said what it
//! wants. Players are refused when there is no place for them, and are never sent away. Newcomers and spectators are
//! always let in: if there is no place, the oldest of the address that has the most of them makes room.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio_util::sync::CancellationToken;
use zeitnot_host::origin::Origin;

/// Connections that have not said yet what they want.
const MAX_NEWCOMERS: usize = 64;

/// Connections that share a limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pool {
    /// They have not said yet what they want.
    Newcomers,
    /// They play.
    Players,
    /// They watch.
    Spectators,
}

/// Limits of connections at once.
#[derive(Copy, Clone, Debug)]
pub struct PlaceLimits {
    /// Players.
    pub players: usize,
    /// Spectators.
    pub spectators: usize,
    /// Players from one address.
    pub per_address: usize,
}

/// Reason why a player gets no place.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    #[error("The arena is full, try again later")]
    Arena,
    #[error("Too many players are connected from your address, try again later")]
    Address,
}

/// Places of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Places(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    limits: PlaceLimits,
    last: u64,
    taken: BTreeMap<u64, Taken>,
    pools: [Members; 3],
}

#[derive(Debug)]
struct Taken {
    from: Origin,
    pool: Pool,
    evicted: CancellationToken,
}

/// Connections of a pool, by their numbers.
#[derive(Debug, Default)]
struct Members {
    count: usize,
    by_origin: BTreeMap<Origin, BTreeSet<u64>>,
    /// The last has the most connections, and of those the oldest.
    by_count: BTreeSet<(usize, Reverse<u64>, Origin)>,
}

impl Members {
    fn of(&self, from: Origin) -> usize {
        self.by_origin.get(&from).map_or(0, BTreeSet::len)
    }

    fn insert(&mut self, number: u64, from: Origin) {
        self.change(from, |numbers| numbers.insert(number));
    }

    fn remove(&mut self, number: u64, from: Origin) {
        self.change(from, |numbers| numbers.remove(&number));
    }

    fn change(&mut self, from: Origin, change: impl FnOnce(&mut BTreeSet<u64>) -> bool) {
        let numbers = self.by_origin.entry(from).or_default();
        let key = |numbers: &BTreeSet<u64>| Some((numbers.len(), Reverse(*numbers.first()?), from));
        self.count -= numbers.len();
        key(numbers).map(|key| self.by_count.remove(&key));
        change(numbers);
        self.count += numbers.len();
        match key(numbers) {
            Some(key) => drop(self.by_count.insert(key)),
            None => drop(self.by_origin.remove(&from)),
        }
    }

    /// Returns the oldest connection of the address with most of them, where one from `newcomer` counts already.
    fn oldest_of_most(&self, newcomer: Origin) -> Option<u64> {
        let theirs = self
            .by_origin
            .get(&newcomer)
            .and_then(|numbers| Some((numbers.len() + 1, Reverse(*numbers.first()?), newcomer)));
        let (_, Reverse(oldest), _) = theirs.max(self.by_count.last().copied())?;
        Some(oldest)
    }
}

/// Place of one connection, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    number: u64,
    /// Address of the connection.
    pub from: Origin,
    /// Cancelled when another connection gets the place.
    pub evicted: CancellationToken,
}

impl Places {
    /// Creates places within these limits.
    pub fn new(limits: PlaceLimits) -> Places {
        let state = State { limits, last: 0, taken: BTreeMap::new(), pools: Default::default() };
        Places(Arc::new(Mutex::new(state)))
    }

    /// Creates places for connections all of which are spectators.
    pub fn for_spectators(max: usize) -> Places {
        Places::new(PlaceLimits { players: 0, spectators: max, per_address: 0 })
    }

    /// Lets a connection in, among the newcomers.
    pub fn enter(&self, address: IpAddr) -> Place {
        let (from, evicted) = (Origin::from(address), CancellationToken::new());
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.make_room(Pool::Newcomers, MAX_NEWCOMERS, from);
        state.insert(number, Taken { from, pool: Pool::Newcomers, evicted: evicted.clone() });
        drop(state);
        Place { places: self.clone(), number, from, evicted }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn pool(&mut self, pool: Pool) -> &mut Members {
        &mut self.pools[pool as usize]
    }

    fn insert(&mut self, number: u64, taken: Taken) {
        self.pool(taken.pool).insert(number, taken.from);
        self.taken.insert(number, taken);
    }

    fn remove(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        self.pool(taken.pool).remove(number, taken.from);
        Some(taken)
    }

    /// Sends connections of a pool away until there is one place for one from that address, which counts already.
    fn make_room(&mut self, pool: Pool, limit: usize, for_one: Origin) {
        while self.pool(pool).count >= limit.max(1) {
            let Some(oldest) = self.pool(pool).oldest_of_most(for_one) else { return };
            if let Some(taken) = self.remove(oldest) {
                taken.evicted.cancel();
            }
        }
    }
}

impl Place {
    /// Counts the connection as one of an address that a proxy forwards for.
    pub fn forward_for(&self, visitor: Origin) {
        let mut state = self.places.state();
        if state.taken.get(&self.number).is_some_and(|taken| taken.from != visitor)
            && let Some(taken) = state.remove(self.number)
        {
            state.insert(self.number, Taken { from: visitor, ..taken });
        }
    }

    /// Moves the connection to another pool.
    ///
    /// # Errors
    /// [`Full`]: there is no place for another player.
    pub fn move_to(&self, pool: Pool) -> Result<(), Full> {
        let mut state = self.places.state();
        let Some(Taken { from, pool: before, .. }) = state.taken.get(&self.number) else {
            return Err(Full::Arena);
        };
        let (from, limits) = (*from, state.limits);
        if *before == pool {
            return Ok(());
        }
        match pool {
            Pool::Players if state.pool(pool).count >= limits.players => return Err(Full::Arena),
            Pool::Players if state.pool(pool).of(from) >= limits.per_address => return Err(Full::Address),
            Pool::Players => {}
            Pool::Spectators => state.make_room(pool, limits.spectators, from),
            Pool::Newcomers => state.make_room(pool, MAX_NEWCOMERS, from),
        }
        if let Some(taken) = state.remove(self.number) {
            state.insert(self.number, Taken { pool, ..taken });
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(players: usize, spectators: usize, per_address: usize) -> Places {
        Places::new(PlaceLimits { players, spectators, per_address })
    }

    fn address(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    fn evicted(places: &[Place]) -> Vec<usize> {
        let gone = places.iter().enumerate().filter(|(_, place)| place.evicted.is_cancelled());
        gone.map(|(at, _)| at).collect()
    }

    #[test]
    fn silent_connections_make_room_for_newcomers() {
        let places = places(2, 2, 2);
        let honest = places.enter(address(2));
        let silent: Vec<_> = (0..1000).map(|_| places.enter(address(1))).collect();
        assert!(!honest.evicted.is_cancelled(), "the address with the most connections pays");
        assert_eq!(evicted(&silent).len(), 1000 - (MAX_NEWCOMERS - 1));
        assert!(!silent[999].evicted.is_cancelled(), "the oldest go first");
        assert_eq!(honest.move_to(Pool::Players), Ok(()));
        assert_eq!(silent[0].move_to(Pool::Players), Err(Full::Arena), "it was sent away");
    }

    #[test]
    fn players_are_bounded_in_all_and_by_address_and_never_sent_away() {
        let places = places(3, 1, 2);
        let enter = |number| (places.enter(address(number)), number);
        let players: Vec<_> = [1, 1, 1, 2, 3].map(enter).into_iter().collect();
        let moved: Vec<_> = players.iter().map(|(place, _)| place.move_to(Pool::Players)).collect();
        assert_eq!(moved, [Ok(()), Ok(()), Err(Full::Address), Ok(()), Err(Full::Arena)]);
        assert_eq!(players[0].0.move_to(Pool::Players), Ok(()), "it is one already");
        drop(players);
        assert_eq!(places.enter(address(1)).move_to(Pool::Players), Ok(()));
    }

    #[test]
    fn spectators_take_no_place_of_players() {
        let places = places(1, 2, 1);
        let watchers: Vec<_> = [1, 2, 2, 2].map(|number| places.enter(address(number))).into_iter().collect();
        watchers.iter().for_each(|watcher| watcher.move_to(Pool::Spectators).unwrap());
        assert_eq!(evicted(&watchers), [1, 2]);
        assert_eq!(places.enter(address(2)).move_to(Pool::Players), Ok(()));
    }

    #[test]
    fn behind_a_proxy_the_visitor_with_the_most_connections_makes_room() {
        let places = places(1, 4, 1);
        let visitors = [2, 1, 1, 1, 3].map(|number| {
            let place = places.enter(address(9));
            place.move_to(Pool::Spectators).unwrap();
            place.forward_for(address(number).into());
            place
        });
        assert_eq!(evicted(&visitors), [1]);
    }

    /// The counts that are kept say the same as a look at all places.
    #[test]
    fn counts_agree_with_the_places_taken() {
        let (places, mut random) = (places(20, 10, 5), fastrand::Rng::with_seed(7));
        let mut kept = Vec::new();
        for _ in 0..2000 {
            kept.push(places.enter(address(random.u8(..9))));
            let place = &kept[random.usize(..kept.len())];
            let pool = [Pool::Newcomers, Pool::Players, Pool::Spectators][random.usize(..3)];
            let _ = place.move_to(pool);
            if kept.len() > 80 {
                kept.swap_remove(random.usize(..kept.len()));
            }
            let state = places.state();
            for (members, pool) in state.pools.iter().zip([Pool::Newcomers, Pool::Players, Pool::Spectators])
            {
                let of_pool = state.taken.iter().filter(|(_, taken)| taken.pool == pool);
                let mut by_origin: BTreeMap<Origin, BTreeSet<u64>> = BTreeMap::new();
                for (number, taken) in of_pool.clone() {
                    by_origin.entry(taken.from).or_default().insert(*number);
                }
                let sizes =
                    by_origin.iter().map(|(from, all)| (all.len(), Reverse(*all.first().unwrap()), *from));
                assert_eq!((members.count, &members.by_count), (of_pool.count(), &sizes.collect()));
                assert_eq!(members.by_origin, by_origin);
            }
        }
    }

    #[test]
    fn addresses_are_those_of_subscribers() {
        let origin = |text: &str| Origin::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(origin("::ffff:10.0.0.1"), origin("10.0.0.1"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::2:3:4"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
    }
}
