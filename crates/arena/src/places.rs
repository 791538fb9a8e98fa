//! Places for connections, bounded in all and for each address, so that strangers cannot shut players out.
//!
//! A connection begins among the newcomers and moves on to the players or to the spectators when it has said what it
//! wants. Players are refused when there is no place for them, and are never sent away. Newcomers and spectators are
//! always let in: if there is no place, the oldest of the address that has the most of them makes room.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard},
};

use tokio_util::sync::CancellationToken;

/// Connections that have not said yet what they want.
const MAX_NEWCOMERS: usize = 64;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    Newcomers,
    Players,
    Spectators,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct PlaceLimits {
    pub(crate) players: usize,
    pub(crate) spectators: usize,
    /// Players from one address.
    pub(crate) per_address: usize,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("The arena is full, try again later")]
    Arena,
    #[error("Too many players are connected from your address, try again later")]
    Address,
}

#[derive(Clone, Debug)]
pub(crate) struct Places(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    limits: PlaceLimits,
    last: u64,
    /// In the order of their arrival.
    taken: BTreeMap<u64, Taken>,
}

#[derive(Debug)]
struct Taken {
    from: Origin,
    pool: Pool,
    evicted: CancellationToken,
}

/// Unit of the limits for an address: one of IPv4, or the network of 64 bits that a subscriber has in IPv6.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Origin {
        Origin(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        })
    }
}

/// Place of one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    number: u64,
    pub(crate) from: Origin,
    /// Cancelled when another connection gets the place.
    pub(crate) evicted: CancellationToken,
}

impl Places {
    pub(crate) fn new(limits: PlaceLimits) -> Places {
        Places(Arc::new(Mutex::new(State { limits, last: 0, taken: BTreeMap::new() })))
    }

    /// Lets a connection in, among the newcomers.
    pub(crate) fn enter(&self, address: IpAddr) -> Place {
        let (from, evicted) = (Origin::from(address), CancellationToken::new());
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.make_room(Pool::Newcomers, MAX_NEWCOMERS, from);
        state.taken.insert(number, Taken { from, pool: Pool::Newcomers, evicted: evicted.clone() });
        drop(state);
        Place { places: self.clone(), number, from, evicted }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn count(&self, pool: Pool, from: Option<Origin>) -> usize {
        let counts = |taken: &&Taken| taken.pool == pool && from.is_none_or(|from| taken.from == from);
        self.taken.values().filter(counts).count()
    }

    /// Sends connections of a pool away until there is one place for one from that address, which counts already.
    fn make_room(&mut self, pool: Pool, limit: usize, for_one: Origin) {
        while self.count(pool, None) >= limit.max(1) {
            let of_pool = self.taken.iter().filter(|(_, taken)| taken.pool == pool);
            let most = of_pool.max_by_key(|(number, Taken { from, .. })| {
                let count = self.count(pool, Some(*from)) + usize::from(*from == for_one);
                (count, std::cmp::Reverse(**number))
            });
            let Some(oldest) = most.map(|(number, _)| *number) else { return };
            if let Some(taken) = self.taken.remove(&oldest) {
                taken.evicted.cancel();
            }
        }
    }
}

impl Place {
    /// Moves the connection to another pool.
    pub(crate) fn move_to(&self, pool: Pool) -> Result<(), Full> {
        let mut state = self.places.state();
        let Some(Taken { from, pool: before, .. }) = state.taken.get(&self.number) else {
            return Err(Full::Arena);
        };
        let (from, limits) = (*from, state.limits);
        if *before == pool {
            return Ok(());
        }
        match pool {
            Pool::Players if state.count(pool, None) >= limits.players => return Err(Full::Arena),
            Pool::Players if state.count(pool, Some(from)) >= limits.per_address => {
                return Err(Full::Address);
            }
            Pool::Players => {}
            Pool::Spectators => state.make_room(pool, limits.spectators, from),
            Pool::Newcomers => state.make_room(pool, MAX_NEWCOMERS, from),
        }
        if let Some(taken) = state.taken.get_mut(&self.number) {
            taken.pool = pool;
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state().taken.remove(&self.number);
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
    fn addresses_are_those_of_subscribers() {
        let origin = |text: &str| Origin::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(origin("::ffff:10.0.0.1"), origin("10.0.0.1"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::2:3:4"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
    }
}
