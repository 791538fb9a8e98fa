//! Suspended games: an entry each, without a task. Correspondence games are suspended between moves, and games with a
//! clock if the opponent never makes the first move.
//!
//! The list of running games tells where it is our turn. Those games are resumed, the most urgent first. A game that
//! is missing from the list is resumed as well: most likely it is over. So is a new one, whoever begins: the opponent is
//! there, and is greeted and answered at once. No I/O and no clock.

use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use zeitnot_wire::lichess::{GameEvent, GameId, UserId};

use crate::lichess::challenges::capacity::SlotKind;

/// Time left in a game without any limit.
const UNLIMITED: Duration = Duration::from_secs(30 * 86_400);
/// Time before the list is asked for again where it could not hold all urgent games; and the minimum for games with a
/// clock.
const SHORT_PERIOD: Duration = Duration::from_secs(10);
/// The list is asked for again after this part of the time for which a game with a clock has been suspended.
const CLOCK_PART: u32 = 4;
/// Entries at most. Further games are not suspended, and are found in the list when it is our turn.
const MAX_SUSPENDED: usize = 1024;

#[derive(Debug)]
struct SuspendedGame {
    /// It is to be resumed, and something must be done until then.
    due: Option<Instant>,
    /// No task has looked at it yet.
    is_new: bool,
    seen: Instant,
    slot: SlotKind,
    opponent: Option<UserId>,
    /// Beginning of the suspension.
    since: Instant,
}

#[derive(Debug)]
pub(crate) struct SuspendedGames {
    games: BTreeMap<GameId, SuspendedGame>,
    period: Duration,
    /// Time of the last request for the list.
    listed: Instant,
    /// There may be more games with our turn than the list can hold.
    has_more: bool,
}

impl SuspendedGames {
    pub(crate) fn new(period: Duration, now: Instant) -> SuspendedGames {
        SuspendedGames { games: BTreeMap::new(), period, listed: now, has_more: false }
    }

    /// Returns the number of correspondence games; others take no slot.
    pub(crate) fn correspondence(&self) -> usize {
        self.games.values().filter(|game| game.slot == SlotKind::Correspondence).count()
    }

    pub(crate) fn games_with(&self, player: &UserId) -> usize {
        self.games.values().filter(|game| game.opponent.as_ref() == Some(player)).count()
    }

    pub(crate) fn contains(&self, id: GameId) -> bool {
        self.games.contains_key(&id)
    }

    /// Notes a game that an event or the list tells of.
    pub(crate) fn update(&mut self, event: &GameEvent, now: Instant) {
        let due = |is_new: bool| {
            let ours = event.is_my_turn.then(|| event.seconds_left.unwrap_or(UNLIMITED).min(UNLIMITED));
            ours.or((is_new && !event.has_moved).then_some(UNLIMITED)).map(|left| now + left)
        };
        match self.games.get_mut(&event.game_id) {
            Some(game) => (game.due, game.seen) = (due(game.is_new), now),
            None => self.insert(
                event.game_id,
                SuspendedGame {
                    due: due(true),
                    is_new: true,
                    seen: now,
                    slot: SlotKind::Correspondence,
                    opponent: event.opponent.id.clone(),
                    since: now,
                },
            ),
        }
    }

    pub(crate) fn suspend(&mut self, id: GameId, slot: SlotKind, opponent: Option<UserId>, now: Instant) {
        self.insert(id, SuspendedGame { due: None, is_new: false, seen: now, slot, opponent, since: now });
    }

    fn insert(&mut self, id: GameId, game: SuspendedGame) {
        if self.games.len() < MAX_SUSPENDED {
            self.games.insert(id, game);
        }
    }

    /// Notes a complete list, which holds at most `max` games. A missing game is over; or, if the list is full, there
    /// was no room for it: of those one at a time is resumed, the one not listed for longest.
    pub(crate) fn listed(&mut self, list: &[GameEvent], max: usize, now: Instant) {
        let is_full = list.len() >= max;
        self.has_more = is_full && list.iter().all(|game| game.is_my_turn);
        let listed: HashSet<_> = list.iter().map(|game| game.game_id).collect();
        let missing = self.games.iter_mut().filter(|(id, game)| !listed.contains(*id) && game.due.is_none());
        let mut missing: Vec<_> = missing.map(|(_, game)| game).collect();
        missing.sort_unstable_by_key(|game| game.seen);
        let resumed = if is_full { usize::from(!self.has_more) } else { missing.len() };
        for game in missing.into_iter().take(resumed) {
            game.due = Some(now + UNLIMITED);
        }
    }

    /// Notes that a game is over; its task will look at it. Returns whether it is suspended.
    pub(crate) fn finish(&mut self, id: GameId, now: Instant) -> bool {
        let Some(game) = self.games.get_mut(&id) else { return false };
        game.due = Some(now + UNLIMITED);
        true
    }

    pub(crate) fn has_due(&self) -> bool {
        self.games.values().any(|game| game.due.is_some())
    }

    /// Takes out the most urgent game that waits to be resumed. Correspondence games may have to wait for room.
    pub(crate) fn resume(&mut self, has_room: bool) -> Option<(GameId, SlotKind, Option<UserId>)> {
        let fits = |game: &SuspendedGame| has_room || game.slot != SlotKind::Correspondence;
        let due = self.games.iter().filter(|(_, game)| fits(game));
        let (_, id) = due.filter_map(|(id, game)| Some((game.due?, *id))).min_by_key(|(due, _)| *due)?;
        self.games.remove(&id).map(|game| (id, game.slot, game.opponent))
    }

    pub(crate) fn listing(&mut self, now: Instant) {
        (self.listed, self.has_more) = (now, false);
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        if self.has_more && !self.has_due() {
            return Some(self.listed + SHORT_PERIOD.min(self.period));
        }
        let period = |game: &SuspendedGame| match game.slot {
            SlotKind::Correspondence => self.period,
            // Its clock may begin to run.
            SlotKind::Human | SlotKind::Bot => {
                let suspended = self.listed.saturating_duration_since(game.since);
                (suspended / CLOCK_PART).max(SHORT_PERIOD).min(self.period)
            }
        };
        self.games.values().map(period).min().map(|period| self.listed + period)
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_wire::{Message, lichess::Playing};

    use super::*;

    const PERIOD: Duration = Duration::from_secs(300);
    const MAX: usize = 50;

    /// A list of games by number, with our seconds left if it is our turn.
    fn list(games: impl IntoIterator<Item = (usize, Option<u32>)>) -> Vec<GameEvent> {
        let game = |(number, left): (usize, Option<u32>)| {
            let turn = left.map_or(String::new(), |left| format!(r#","isMyTurn":true,"secondsLeft":{left}"#));
            format!(r#"{{"gameId":"{number:08}","color":"white","hasMoved":true{turn}}}"#)
        };
        let games: Vec<_> = games.into_iter().map(game).collect();
        Playing::parse(&format!(r#"{{"nowPlaying":[{}]}}"#, games.join(","))).unwrap().now_playing
    }

    fn told(suspended: &mut SuspendedGames, games: &[(usize, Option<u32>)], now: Instant) {
        let list = list(games.iter().copied());
        list.iter().for_each(|game| suspended.update(game, now));
        suspended.listed(&list, MAX, now);
    }

    fn resumed(suspended: &mut SuspendedGames) -> Vec<String> {
        std::iter::from_fn(|| suspended.resume(true)).map(|(id, ..)| id.to_string()).collect()
    }

    #[test]
    fn the_most_urgent_game_with_our_turn_is_resumed_first() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        assert_eq!(suspended.due(), None);
        told(&mut suspended, &[(1, Some(900)), (2, None), (3, Some(60)), (4, Some(4_000_000_000))], now);
        assert_eq!(suspended.due(), Some(now + PERIOD));
        assert_eq!(resumed(&mut suspended), ["00000003", "00000001", "00000004"]);
        assert_eq!(suspended.correspondence(), 1);
        // What was urgent is so no more where the opponent has taken it back.
        told(&mut suspended, &[(2, Some(60))], now);
        told(&mut suspended, &[(2, None)], now);
        assert!(!suspended.has_due() && suspended.resume(true).is_none());
    }

    #[test]
    fn a_new_game_is_resumed_once_whoever_begins() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        let new = GameEvent { has_moved: false, ..list([(1, None)]).remove(0) };
        // It waits for room, while others are more urgent.
        suspended.update(&new, now);
        told(&mut suspended, &[(2, Some(900))], now);
        suspended.update(&new, now + PERIOD);
        assert_eq!(resumed(&mut suspended), ["00000002", "00000001"]);
        suspended.suspend(new.game_id, SlotKind::Correspondence, None, now);
        suspended.update(&new, now);
        assert!(!suspended.has_due());
    }

    #[test]
    fn games_missing_from_the_list_are_resumed() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        told(&mut suspended, &[(1, None), (2, None), (3, None)], now);
        told(&mut suspended, &[(2, None)], now);
        let mut gone = resumed(&mut suspended);
        gone.sort();
        assert_eq!(gone, ["00000001", "00000003"]);
    }

    #[test]
    fn games_missing_from_a_full_list_are_resumed_one_at_a_time() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        let full: Vec<_> = (10..10 + MAX).map(|number| (number, None)).collect();
        told(&mut suspended, &[(1, None)], now);
        list([(2, None)]).iter().for_each(|game| suspended.update(game, now + PERIOD));
        for (turn, id) in ["00000001", "00000002"].into_iter().enumerate() {
            told(&mut suspended, &full, now + PERIOD);
            assert_eq!(resumed(&mut suspended), [id], "{turn}");
        }
        assert_eq!(suspended.correspondence(), MAX);
    }

    #[test]
    fn a_list_full_of_urgent_games_is_asked_for_again_soon() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        told(&mut suspended, &[(1, None)], now);
        let full: Vec<_> = (10..10 + MAX).map(|number| (number, Some(60))).collect();
        told(&mut suspended, &full, now);
        assert_eq!(suspended.due(), Some(now + PERIOD));
        assert_eq!(resumed(&mut suspended).len(), MAX);
        assert_eq!(suspended.due(), Some(now + SHORT_PERIOD));
        suspended.listing(now);
        assert_eq!(suspended.due(), Some(now + PERIOD));
    }

    #[test]
    fn a_game_with_a_clock_takes_no_slot_and_is_looked_up_soon() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        suspended.suspend("00000001".parse().unwrap(), SlotKind::Human, None, now);
        assert_eq!((suspended.correspondence(), suspended.due()), (0, Some(now + SHORT_PERIOD)));
        told(&mut suspended, &[(1, None)], now);
        assert!(suspended.resume(true).is_none());
        suspended.listing(now + 4 * SHORT_PERIOD * 2);
        assert_eq!(suspended.due(), Some(now + 4 * SHORT_PERIOD * 2 + 2 * SHORT_PERIOD));
        // Our clock runs, so it waits for nothing.
        told(&mut suspended, &[(1, Some(60)), (2, Some(10))], now);
        assert_eq!(suspended.resume(false), Some(("00000001".parse().unwrap(), SlotKind::Human, None)));
        assert_eq!((suspended.resume(false), suspended.correspondence()), (None, 1));
    }

    #[test]
    fn a_flood_of_games_takes_bounded_memory() {
        let now = Instant::now();
        let mut suspended = SuspendedGames::new(PERIOD, now);
        list((0..28_200).map(|number| (number, None))).iter().for_each(|game| suspended.update(game, now));
        assert_eq!(suspended.correspondence(), MAX_SUSPENDED);
    }
}
