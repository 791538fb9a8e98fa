//! Correspondence games that nobody plays at the moment: each is an entry here, and nothing else.
//!
//! The list of running games says where it is our turn. Those games wait here until they may wake, the most urgent
//! first. A game that the list ought to have and has not is woken as well: most likely it is over.
//!
//! No I/O and no clock: what is told and what time it is, comes with each call.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use zeitnot_wire::lichess::{GameEvent, GameId};

/// Who has all the time in the world has this much.
const ENDLESS: Duration = Duration::from_secs(30 * 86_400);
/// Where the list could not hold all that is urgent, the next look at it comes after so long.
const SOON: Duration = Duration::from_secs(10);

/// A game that sleeps.
#[derive(Debug)]
struct Sleeper {
    /// It is to be woken: until then something must have been done.
    due: Option<Instant>,
    /// When it was heard of last.
    seen: Instant,
}

/// See the module's comment.
#[derive(Debug)]
pub(super) struct Sleepers {
    games: HashMap<GameId, Sleeper>,
    checkin: Duration,
    /// When the list was asked for last.
    looked: Instant,
    /// There were more games with our turn than the list can hold.
    has_more: bool,
}

impl Sleepers {
    /// None yet; they will be looked at so often.
    pub fn new(checkin: Duration, now: Instant) -> Sleepers {
        Sleepers { games: HashMap::new(), checkin, looked: now, has_more: false }
    }

    pub fn len(&self) -> usize {
        self.games.len()
    }

    pub fn knows(&self, id: GameId) -> bool {
        self.games.contains_key(&id)
    }

    /// A game is told, by an event or by the list.
    pub fn hear(&mut self, event: &GameEvent, now: Instant) {
        let due = event.is_my_turn.then(|| now + event.seconds_left.unwrap_or(ENDLESS).min(ENDLESS));
        self.games.insert(event.game_id, Sleeper { due, seen: now });
    }

    /// It is known to run, and nobody plays it.
    pub fn fall_asleep(&mut self, id: GameId, now: Instant) {
        self.games.insert(id, Sleeper { due: None, seen: now });
    }

    /// All games of the list are told; it holds no more than so many. What is not in it, is over; or it is not our
    /// turn, and there was no place for it: of those one at a time is woken, the one not heard of for longest.
    pub fn listed(&mut self, list: &[GameEvent], most: usize, now: Instant) {
        let is_full = list.len() >= most;
        self.has_more = is_full && list.iter().all(|game| game.is_my_turn);
        let told: HashSet<_> = list.iter().map(|game| game.game_id).collect();
        let mut missing: Vec<_> =
            self.games.iter_mut().filter(|(id, game)| !told.contains(*id) && game.due.is_none()).collect();
        missing.sort_unstable_by_key(|(_, game)| game.seen);
        let woken = if is_full { usize::from(!self.has_more) } else { missing.len() };
        for (_, game) in missing.into_iter().take(woken) {
            game.due = Some(now + ENDLESS);
        }
    }

    /// The account's events say that it is over: that is looked at, when there is time. Does it sleep?
    pub fn finish(&mut self, id: GameId, now: Instant) -> bool {
        let Some(game) = self.games.get_mut(&id) else { return false };
        game.due = Some(now + ENDLESS);
        true
    }

    /// Does one wait to be woken?
    pub fn has_due(&self) -> bool {
        self.games.values().any(|game| game.due.is_some())
    }

    /// The most urgent of those that wait; it is awake now.
    pub fn wake(&mut self) -> Option<GameId> {
        let due = self.games.iter().filter_map(|(id, game)| Some((game.due?, *id)));
        let (_, id) = due.min_by_key(|(due, _)| *due)?;
        self.games.remove(&id);
        Some(id)
    }

    /// The list is asked for.
    pub fn look(&mut self, now: Instant) {
        (self.looked, self.has_more) = (now, false);
    }

    /// When the list is to be asked for, if nothing happens before.
    pub fn due(&self) -> Option<Instant> {
        if self.has_more && !self.has_due() {
            return Some(self.looked + SOON.min(self.checkin));
        }
        (!self.games.is_empty()).then(|| self.looked + self.checkin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_wire::{Message, lichess::Playing};

    const CHECKIN: Duration = Duration::from_secs(300);
    const MOST: usize = 50;

    /// The list of these games: which, and how many seconds we have left if it is our turn.
    fn list(games: impl IntoIterator<Item = (usize, Option<u32>)>) -> Vec<GameEvent> {
        let game = |(number, left): (usize, Option<u32>)| {
            let turn = left.map_or(String::new(), |left| format!(r#","isMyTurn":true,"secondsLeft":{left}"#));
            format!(r#"{{"gameId":"{number:08}","color":"white"{turn}}}"#)
        };
        let games: Vec<_> = games.into_iter().map(game).collect();
        Playing::parse(&format!(r#"{{"nowPlaying":[{}]}}"#, games.join(","))).unwrap().now_playing
    }

    fn told(sleepers: &mut Sleepers, games: &[(usize, Option<u32>)], now: Instant) {
        let list = list(games.iter().copied());
        list.iter().for_each(|game| sleepers.hear(game, now));
        sleepers.listed(&list, MOST, now);
    }

    fn woken(sleepers: &mut Sleepers) -> Vec<String> {
        std::iter::from_fn(|| sleepers.wake()).map(|id| id.to_string()).collect()
    }

    #[test]
    fn the_most_urgent_wakes_first_and_only_where_it_is_our_turn() {
        let now = Instant::now();
        let mut sleepers = Sleepers::new(CHECKIN, now);
        assert_eq!(sleepers.due(), None);
        told(&mut sleepers, &[(1, Some(900)), (2, None), (3, Some(60)), (4, Some(4_000_000_000))], now);
        assert_eq!(sleepers.due(), Some(now + CHECKIN));
        assert_eq!(woken(&mut sleepers), ["00000003", "00000001", "00000004"]);
        assert_eq!(sleepers.len(), 1);
        // What was urgent is so no more where the opponent has taken it back.
        told(&mut sleepers, &[(2, Some(60))], now);
        told(&mut sleepers, &[(2, None)], now);
        assert!(!sleepers.has_due() && sleepers.wake().is_none());
    }

    #[test]
    fn what_the_list_has_no_more_is_looked_at() {
        let now = Instant::now();
        let mut sleepers = Sleepers::new(CHECKIN, now);
        told(&mut sleepers, &[(1, None), (2, None), (3, None)], now);
        told(&mut sleepers, &[(2, None)], now);
        let mut gone = woken(&mut sleepers);
        gone.sort();
        assert_eq!(gone, ["00000001", "00000003"]);
    }

    #[test]
    fn of_what_a_full_list_has_not_one_at_a_time_is_looked_at() {
        let now = Instant::now();
        let mut sleepers = Sleepers::new(CHECKIN, now);
        let full: Vec<_> = (10..10 + MOST).map(|number| (number, None)).collect();
        told(&mut sleepers, &[(1, None)], now);
        list([(2, None)]).iter().for_each(|game| sleepers.hear(game, now + CHECKIN));
        for (turn, id) in ["00000001", "00000002"].into_iter().enumerate() {
            told(&mut sleepers, &full, now + CHECKIN);
            assert_eq!(woken(&mut sleepers), [id], "{turn}");
        }
        assert_eq!(sleepers.len(), MOST);
    }

    #[test]
    fn where_more_are_urgent_than_can_be_listed_the_next_list_comes_at_once() {
        let now = Instant::now();
        let mut sleepers = Sleepers::new(CHECKIN, now);
        told(&mut sleepers, &[(1, None)], now);
        let full: Vec<_> = (10..10 + MOST).map(|number| (number, Some(60))).collect();
        told(&mut sleepers, &full, now);
        assert_eq!(sleepers.due(), Some(now + CHECKIN));
        assert_eq!(woken(&mut sleepers).len(), MOST);
        assert_eq!(sleepers.due(), Some(now + SOON));
        sleepers.look(now);
        assert_eq!(sleepers.due(), Some(now + CHECKIN));
    }
}
