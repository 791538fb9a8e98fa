//! Challenge queue: which challenges to accept, now or later, and why the others are declined. No I/O and no clock.

use std::{cmp::Reverse, collections::VecDeque, time::Instant};

use zeitnot_wire::lichess::{Challenge, ChallengeId, DeclineReason, UserId};

use super::{
    capacity::{Capacity, RunningGames, SlotKind, is_bot},
    config::{Config, Preference, SortBy},
    filter::ChallengeFilter,
    players::PlayerLists,
};
use crate::lichess::RecentByUser;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accept,
    /// It waits; see [`ChallengeQueue::next`].
    Queue,
    Decline(DeclineReason),
}

/// Judges challenges, and keeps those that wait.
#[derive(Debug)]
pub(crate) struct ChallengeQueue {
    config: Config,
    pub(crate) capacity: Capacity,
    /// No games against bots before then.
    no_bots_until: Option<Instant>,
    players: PlayerLists,
    waiting: VecDeque<Challenge>,
    /// Accepted challenges of each opponent.
    recent: RecentByUser<UserId>,
}

/// Opponents whose recent challenges are remembered.
const MAX_OPPONENTS: usize = 4096;

impl ChallengeQueue {
    pub(crate) fn new(config: Config, capacity: Capacity, players: PlayerLists) -> ChallengeQueue {
        let longest = config.human.recent_challenge_age.max(config.bot.recent_challenge_age);
        ChallengeQueue {
            config,
            capacity,
            no_bots_until: None,
            players,
            waiting: VecDeque::new(),
            recent: RecentByUser::new(MAX_OPPONENTS, longest),
        }
    }

    /// Judges by another configuration from now on. Waiting challenges go on waiting.
    pub(crate) fn reconfigure(&mut self, config: Config) {
        self.config = config;
    }

    pub(crate) fn pause_bots(&mut self, until: Instant) {
        // A longer wait that was told before stands.
        self.no_bots_until = self.no_bots_until.max(Some(until));
    }

    /// Judges a challenge to us. The same challenge may come again. [`Verdict::Accept`] counts as accepted.
    ///
    /// `games_with` counts the games that run against a player.
    pub(crate) fn judge(
        &mut self,
        challenge: &Challenge,
        running: RunningGames,
        games_with: impl Fn(&UserId) -> usize,
        now: Instant,
    ) -> Verdict {
        if let Some(reason) = self.reject(challenge, now) {
            self.remove(challenge.id);
            return Verdict::Decline(reason);
        }
        if self.waiting.iter().any(|waiting| waiting.id == challenge.id) {
            return Verdict::Queue;
        }
        if self.plays_enough(challenge, &games_with) {
            return Verdict::Decline(DeclineReason::Later);
        }
        // Waiting challenges go first, except those without a slot.
        let slot = SlotKind::of(challenge);
        let is_next = !self.waiting.iter().any(|other| self.capacity.has_room(running, SlotKind::of(other)));
        if is_next && self.capacity.has_room(running, slot) {
            self.accepted(challenge, now);
            return Verdict::Accept;
        }
        let is_same = |waiting: &Challenge| {
            challenger(waiting).is_some() && challenger(waiting) == challenger(challenge)
        };
        let is_full = self.waiting.len() >= self.config.max_queue || self.capacity.is_enough(running, slot);
        if is_full || self.waiting.iter().any(is_same) {
            return Verdict::Decline(DeclineReason::Later);
        }
        self.waiting.push_back(challenge.clone());
        Verdict::Queue
    }

    /// Takes the next waiting challenge for which a slot is free; it counts as accepted.
    pub(crate) fn next(
        &mut self,
        running: RunningGames,
        games_with: impl Fn(&UserId) -> usize,
        now: Instant,
    ) -> Option<Challenge> {
        let fits = |(_, waiting): &(usize, &Challenge)| {
            self.capacity.has_room(running, SlotKind::of(waiting)) && !self.plays_enough(waiting, &games_with)
        };
        // Of equals the first.
        let (at, _) = self.waiting.iter().enumerate().filter(fits).min_by_key(|(_, waiting)| {
            let is_preferred = match self.config.preference {
                Preference::None => true,
                Preference::Human => !is_bot(waiting),
                Preference::Bot => is_bot(waiting),
            };
            let by_rating = (self.config.sort_by == SortBy::Best).then(|| rating(waiting));
            Reverse((is_preferred, by_rating))
        })?;
        let challenge = self.waiting.remove(at)?;
        self.accepted(&challenge, now);
        Some(challenge)
    }

    /// Removes a challenge that is gone. Returns whether it waited.
    pub(crate) fn remove(&mut self, id: ChallengeId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.id != id);
        self.waiting.len() < before
    }

    /// Removes the waiting challenges of a player; each is owed an answer.
    pub(crate) fn remove_of(&mut self, player: &UserId) -> Vec<Challenge> {
        let (theirs, others): (VecDeque<_>, _) =
            self.waiting.drain(..).partition(|waiting| challenger(waiting) == Some(player));
        self.waiting = others;
        Vec::from(theirs)
    }

    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = &Challenge> {
        self.waiting.iter()
    }

    /// Removes all waiting challenges; each is owed an answer.
    pub(crate) fn clear(&mut self) -> Vec<Challenge> {
        self.waiting.drain(..).collect()
    }

    /// Returns whether as many games as may be run against the challenger already.
    fn plays_enough(&self, challenge: &Challenge, games_with: impl Fn(&UserId) -> usize) -> bool {
        let max = self.config.max_simultaneous_games_per_user;
        max.zip(challenger(challenge)).is_some_and(|(max, player)| games_with(player) >= max.get())
    }

    fn filter(&self, challenge: &Challenge) -> &ChallengeFilter {
        if is_bot(challenge) { &self.config.bot } else { &self.config.human }
    }

    /// Returns the reason for declining a challenge whatever else runs.
    fn reject(&mut self, challenge: &Challenge, now: Instant) -> Option<DeclineReason> {
        let is_bot = is_bot(challenge);
        let filter = if is_bot { &self.config.bot } else { &self.config.human };
        if !filter.accept {
            return Some(if is_bot { DeclineReason::NoBot } else { DeclineReason::OnlyBot });
        }
        if is_bot && self.no_bots_until.is_some_and(|until| now < until) {
            return Some(DeclineReason::Later);
        }
        if challenger(challenge).is_some_and(|player| !self.players.allows(player)) {
            return Some(DeclineReason::Generic);
        }
        filter.reject(challenge).or_else(|| {
            let max = filter.max_recent_challenges?.get();
            let age = filter.recent_challenge_age;
            let recent = self.recent.count(challenger(challenge)?, age, now);
            (recent >= max).then_some(DeclineReason::Later)
        })
    }

    fn accepted(&mut self, challenge: &Challenge, now: Instant) {
        if self.filter(challenge).max_recent_challenges.is_some()
            && let Some(player) = challenger(challenge)
        {
            self.recent.push(player.clone(), now);
        }
    }
}

fn challenger(challenge: &Challenge) -> Option<&UserId> {
    challenge.challenger.as_ref().map(|user| &user.id)
}

fn rating(challenge: &Challenge) -> Option<i32> {
    challenge.challenger.as_ref().and_then(|user| user.rating)
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU32, time::Duration};

    use zeitnot_seat::Seats;

    use super::{
        super::{filter::tests::challenge, players},
        *,
    };

    fn queue(config: &str) -> ChallengeQueue {
        queue_with(config, 1)
    }

    fn queue_with(config: &str, max_with_clock: u32) -> ChallengeQueue {
        let players = PlayerLists::new(players::Config::default());
        let config: Config = toml::from_str(config).unwrap();
        let capacity = capacity(max_with_clock, config.reserved_for_humans);
        ChallengeQueue::new(config, capacity, players)
    }

    fn capacity(max_with_clock: u32, reserved_for_humans: usize) -> Capacity {
        let max_with_clock = NonZeroU32::new(max_with_clock).unwrap();
        let mut capacity = Capacity::new(Seats::new(usize::MAX));
        capacity.set_limits(max_with_clock, NonZeroU32::MIN, reserved_for_humans);
        capacity
    }

    fn from(number: usize, name: &str, title: &str, rating: i32) -> Challenge {
        let mut challenge = challenge("180+2");
        challenge.id = format!("{number:08}").parse().unwrap();
        let user = challenge.challenger.as_mut().unwrap();
        user.id = name.parse().unwrap();
        user.title = (title == "BOT").then_some(zeitnot_wire::lichess::Title::Bot);
        user.rating = Some(rating);
        challenge
    }

    fn nobody(_: &UserId) -> usize {
        0
    }

    const NONE: RunningGames = RunningGames { humans: 0, bots: 0, correspondence: 0 };
    const HUMAN: RunningGames = RunningGames { humans: 1, ..NONE };
    const BOT: RunningGames = RunningGames { bots: 1, ..NONE };
    const LATER: Verdict = Verdict::Decline(DeclineReason::Later);

    #[test]
    fn one_game_at_a_time_and_the_others_wait() {
        let now = Instant::now();
        let mut queue = queue("");
        assert_eq!(queue.judge(&from(1, "a", "", 1500), NONE, nobody, now), Verdict::Accept);
        let second = from(2, "b", "BOT", 1500);
        assert_eq!(queue.judge(&second, HUMAN, nobody, now), Verdict::Queue);
        // A stream that was opened again repeats it.
        assert_eq!(queue.judge(&second, HUMAN, nobody, now), Verdict::Queue);
        assert_eq!(queue.waiting().len(), 1);
        assert_eq!(queue.judge(&from(3, "b", "BOT", 1500), HUMAN, nobody, now), LATER);
        assert_eq!(queue.next(HUMAN, nobody, now), None);
        // A challenge that comes as the game ends does not overtake.
        assert_eq!(queue.judge(&from(4, "c", "", 2500), NONE, nobody, now), Verdict::Queue);
        assert_eq!(queue.next(NONE, nobody, now), Some(second));
        assert!(queue.remove("00000004".parse().unwrap()));
        assert!(!queue.remove("00000004".parse().unwrap()));
        assert_eq!(queue.next(NONE, nobody, now), None);
    }

    #[test]
    fn the_highest_rated_goes_first_if_configured() {
        let now = Instant::now();
        let mut queue = queue("sort_by = 'best'");
        for (number, (name, rating)) in
            [("a", 1500), ("b", 2500), ("c", 2500), ("d", 1000)].into_iter().enumerate()
        {
            assert_eq!(queue.judge(&from(number, name, "", rating), HUMAN, nobody, now), Verdict::Queue);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.next(NONE, nobody, now)).collect();
        let names: Vec<_> = order.iter().map(|c| challenger(c).unwrap().as_str()).collect();
        assert_eq!(names, ["b", "c", "a", "d"]);
    }

    #[test]
    fn humans_have_slots_of_their_own() {
        let now = Instant::now();
        let mut queue = queue_with("reserved_for_humans = 1", 2);
        assert_eq!(queue.judge(&from(1, "x", "BOT", 1500), NONE, nobody, now), Verdict::Accept);
        assert_eq!(queue.judge(&from(2, "y", "BOT", 1500), BOT, nobody, now), Verdict::Queue);
        // The waiting bot cannot have this slot.
        assert_eq!(queue.judge(&from(3, "a", "", 1500), BOT, nobody, now), Verdict::Accept);
        assert_eq!(queue.next(RunningGames { humans: 1, ..BOT }, nobody, now), None);
        assert!(queue.next(HUMAN, nobody, now).is_some());
    }

    #[test]
    fn the_preferred_kind_goes_first() {
        let now = Instant::now();
        for (config, order) in [
            ("preference = 'human'", ["b", "c", "x", "y"]),
            ("preference = 'bot'", ["x", "y", "b", "c"]),
            ("preference = 'human'\nsort_by = 'best'", ["c", "b", "y", "x"]),
            ("sort_by = 'first'", ["x", "b", "c", "y"]),
        ] {
            let mut queue = queue(config);
            for (number, (name, title, rating)) in
                [("x", "BOT", 1), ("b", "", 2), ("c", "", 3), ("y", "BOT", 4)].into_iter().enumerate()
            {
                let waiting = from(number, name, title, rating);
                assert_eq!(queue.judge(&waiting, HUMAN, nobody, now), Verdict::Queue);
            }
            let accepted: Vec<_> = std::iter::from_fn(|| queue.next(NONE, nobody, now)).collect();
            let names: Vec<_> = accepted.iter().map(|c| challenger(c).unwrap().as_str()).collect();
            assert_eq!(names, order, "{config}");
        }
    }

    #[test]
    fn one_opponent_has_a_limited_number_of_games_at_once() {
        let now = Instant::now();
        let mut queue = queue_with("max_simultaneous_games_per_user = 2", 9);
        let two_with_x = |user: &UserId| if user.as_str() == "x" { 2 } else { 0 };
        assert_eq!(queue.judge(&from(1, "x", "BOT", 1500), NONE, |_| 1, now), Verdict::Accept);
        assert_eq!(queue.judge(&from(2, "x", "BOT", 1500), NONE, two_with_x, now), LATER);
        assert_eq!(queue.judge(&from(3, "y", "BOT", 1500), NONE, two_with_x, now), Verdict::Accept);
        // One that waits goes on waiting, and does not keep the others out.
        queue.capacity = capacity(1, 0);
        assert_eq!(queue.judge(&from(4, "x", "BOT", 1500), BOT, nobody, now), Verdict::Queue);
        assert_eq!(queue.judge(&from(5, "y", "BOT", 1500), BOT, nobody, now), Verdict::Queue);
        assert_eq!(queue.next(NONE, two_with_x, now).unwrap().id, "00000005".parse().unwrap());
        assert_eq!(queue.next(NONE, two_with_x, now), None);
        assert!(queue.next(NONE, nobody, now).is_some());
    }

    #[test]
    fn a_flood_takes_bounded_memory() {
        let now = Instant::now();
        let mut queue = queue("max_queue = 5\nbot = { max_recent_challenges = 1 }");
        for number in 0..100_000 {
            let flood = from(number, &format!("bot{number}"), "BOT", 1500);
            let verdict = queue.judge(&flood, HUMAN, nobody, now);
            assert_eq!(verdict == Verdict::Queue, number < 5);
        }
        assert_eq!(queue.clear().len(), 5);
        for number in 0..10_000 {
            let flood = from(number, &format!("b{number}"), "BOT", 1);
            assert_eq!(queue.judge(&flood, NONE, nobody, now), Verdict::Accept);
        }
    }

    #[test]
    fn one_opponent_is_played_a_limited_number_of_times() {
        let now = Instant::now();
        let minute = Duration::from_secs(60);
        let mut queue = queue("bot = { max_recent_challenges = 2, recent_challenge_age = '1h' }");
        for (number, at, verdict) in [
            (1, 0, Verdict::Accept),
            (2, 10, Verdict::Accept),
            (3, 59, LATER),
            (4, 60, Verdict::Accept),
            (5, 61, LATER),
            (6, 70, Verdict::Accept),
        ] {
            let challenge = from(number, "x", "BOT", 1500);
            assert_eq!(queue.judge(&challenge, NONE, nobody, now + at * minute), verdict, "{at}");
        }
        assert_eq!(queue.judge(&from(7, "y", "BOT", 1500), NONE, nobody, now), Verdict::Accept);
    }

    #[test]
    fn games_are_counted_and_bots_are_paused() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut queue = queue_with("", 4);
        queue.capacity.set_remaining(2);
        assert_eq!(queue.judge(&from(1, "a", "", 1500), HUMAN, nobody, now), Verdict::Accept);
        // Both remaining games run: a third challenge does not wait.
        assert_eq!(
            queue.judge(&from(2, "b", "", 1500), RunningGames { humans: 2, ..NONE }, nobody, now),
            LATER
        );
        queue.pause_bots(now + hour);
        queue.pause_bots(now + hour / 2);
        assert_eq!(queue.judge(&from(3, "x", "BOT", 1500), NONE, nobody, now + hour / 2), LATER);
        assert_eq!(queue.judge(&from(4, "x", "BOT", 1500), NONE, nobody, now + hour), Verdict::Accept);
    }

    #[test]
    fn blocked_players_and_kinds_that_are_not_accepted() {
        let now = Instant::now();
        let mut queue = queue("bot = { accept = false }");
        queue.players = PlayerLists::new(toml::from_str("block_list = ['eve']").unwrap());
        let declined = Verdict::Decline;
        assert_eq!(
            queue.judge(&from(1, "Eve", "", 1500), NONE, nobody, now),
            declined(DeclineReason::Generic)
        );
        assert_eq!(
            queue.judge(&from(2, "x", "BOT", 1500), NONE, nobody, now),
            declined(DeclineReason::NoBot)
        );
        let mut bots = self::queue("human = { accept = false }");
        assert_eq!(bots.judge(&from(3, "a", "", 1500), NONE, nobody, now), declined(DeclineReason::OnlyBot));
        let anonymous = Challenge { challenger: None, ..from(4, "a", "", 1500) };
        assert_eq!(bots.judge(&anonymous, NONE, nobody, now), declined(DeclineReason::OnlyBot));
    }
}
