//! Challenges to us: which to accept, now or later, and why the others are declined.
//!
//! No I/O and no clock: what runs and what time it is, is told with each question.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU32,
    time::{Duration, Instant},
};

use super::{
    people::People,
    terms::{Recent, Terms},
};
use serde::Deserialize;

use zeitnot_wire::lichess::{Challenge, ChallengeId, DeclineReason, Speed, UserId};

/// The `challenges` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Of the games at once on this server, so many are kept for humans.
    pub kept_for_humans: usize,
    /// Challenges that may wait until a game is over; 0: none.
    pub queue: usize,
    /// Which of them is the first.
    pub order: Order,
    /// What is accepted from humans.
    pub human: Terms,
    /// What is accepted from bots.
    pub bot: Terms,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            kept_for_humans: 0,
            queue: 16,
            order: Order::First,
            human: Terms::default(),
            bot: Terms::default(),
        }
    }
}

/// Which of the waiting challenges goes before the others.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Who came first.
    #[default]
    First,
    /// Who is rated best.
    Best,
}

/// What becomes of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It can be accepted now.
    Accept,
    /// It waits for its turn, see [`Desk::next`].
    Queue,
    /// It is declined, and the challenger is told why.
    Decline(DeclineReason),
}

/// The games that run, and those that were accepted and are about to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Against humans.
    pub humans: usize,
    /// Against bots, also those that we challenged.
    pub bots: usize,
    /// Without a clock, against whomever, asleep or not.
    pub correspondence: usize,
}

impl Running {
    /// Those with clocks.
    pub fn clocked(self) -> usize {
        self.humans + self.bots
    }
}

impl FromIterator<Place> for Running {
    fn from_iter<I: IntoIterator<Item = Place>>(places: I) -> Running {
        places.into_iter().fold(Running::default(), |running, place| match place {
            Place::Human => Running { humans: running.humans + 1, ..running },
            Place::Bot => Running { bots: running.bots + 1, ..running },
            Place::Correspondence => Running { correspondence: running.correspondence + 1, ..running },
        })
    }
}

/// Which of our places a game takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// One for games with clocks, against a human.
    Human,
    /// The same against a bot: some of the places are not for them.
    Bot,
    /// One for games without clocks.
    Correspondence,
}

impl Place {
    /// That of the game that this challenge would become.
    pub fn of(challenge: &Challenge) -> Place {
        if challenge.time_control.speed() == Speed::Correspondence {
            Place::Correspondence
        } else {
            Place::clocked(is_bot(challenge))
        }
    }

    /// That of a game with clocks.
    pub fn clocked(is_bot: bool) -> Place {
        if is_bot { Place::Bot } else { Place::Human }
    }
}

/// Judges challenges, and keeps those that wait.
#[derive(Debug)]
pub struct Desk {
    config: Config,
    max_games: usize,
    /// Those without a clock, at most.
    max_correspondence: usize,
    /// Games that may still end, those that run included, if they are counted.
    left: Option<usize>,
    /// No games against bots before then.
    bots_rest: Option<Instant>,
    people: People,
    waiting: VecDeque<Challenge>,
    /// When each opponent's challenges of late were accepted.
    recent: HashMap<UserId, VecDeque<Instant>>,
}

/// Opponents whose games of late are kept in mind, at most.
const REMEMBERED: usize = 4096;

impl Desk {
    /// With nothing on it, for so many games at once with clocks, and so many without.
    pub fn new(config: Config, [clocked, correspondence]: [NonZeroU32; 2], people: People) -> Desk {
        let most = |games: NonZeroU32| usize::try_from(games.get()).unwrap_or(usize::MAX);
        Desk {
            config,
            max_games: most(clocked),
            max_correspondence: most(correspondence),
            left: None,
            bots_rest: None,
            people,
            waiting: VecDeque::new(),
            recent: HashMap::new(),
        }
    }

    /// Only so many games may still end.
    pub fn count(&mut self, left: u32) {
        self.left = Some(usize::try_from(left).unwrap_or(usize::MAX));
    }

    /// The server allows no games against bots before then.
    pub fn rest_from_bots(&mut self, until: Instant) {
        self.bots_rest = Some(until);
    }

    /// Is there such a place for one more game?
    pub fn has_room(&self, running: Running, place: Place) -> bool {
        let for_bots = self.max_games.saturating_sub(self.config.kept_for_humans);
        let is_free = match place {
            Place::Human => running.clocked() < self.max_games,
            Place::Bot => running.clocked() < self.max_games && running.bots < for_bots,
            Place::Correspondence => running.correspondence < self.max_correspondence,
        };
        is_free && !self.is_enough(running, place)
    }

    /// Are all games accepted that are still to be played? Days may pass until one without a clock is over: those
    /// with clocks need not wait for that.
    fn is_enough(&self, running: Running, place: Place) -> bool {
        let may_end = match place {
            Place::Human | Place::Bot => running.clocked(),
            Place::Correspondence => running.clocked() + running.correspondence,
        };
        self.left.is_some_and(|left| may_end >= left)
    }

    /// What is to be done with a challenge to us. One that is told again is judged again, and not kept
    /// twice. What is accepted counts as accepted now.
    pub fn judge(&mut self, challenge: &Challenge, running: Running, now: Instant) -> Verdict {
        if let Some(reason) = self.objection(challenge, now) {
            self.cancel(challenge.id);
            return Verdict::Decline(reason);
        }
        if self.waiting.iter().any(|waiting| waiting.id == challenge.id) {
            return Verdict::Queue;
        }
        // Those who wait go first; only those for whom there is no room do not count.
        let place = Place::of(challenge);
        let is_next = !self.waiting.iter().any(|other| self.has_room(running, Place::of(other)));
        if is_next && self.has_room(running, place) {
            self.accepted(challenge, now);
            return Verdict::Accept;
        }
        let twice = |waiting: &Challenge| who(waiting).is_some() && who(waiting) == who(challenge);
        let is_full = self.waiting.len() >= self.config.queue || self.is_enough(running, place);
        if is_full || self.waiting.iter().any(twice) {
            return Verdict::Decline(DeclineReason::Later);
        }
        self.waiting.push_back(challenge.clone());
        Verdict::Queue
    }

    /// The next waiting challenge that there is room for; it counts as accepted. To be asked again until
    /// there is none.
    pub fn next(&mut self, running: Running, now: Instant) -> Option<Challenge> {
        let fits =
            |(at, waiting): (usize, &Challenge)| self.has_room(running, Place::of(waiting)).then_some(at);
        let candidates = self.waiting.iter().enumerate().filter_map(fits);
        let at = match self.config.order {
            Order::First => candidates.min(),
            // Of equals the first: the later ones are not above it.
            Order::Best => candidates.min_by_key(|at| std::cmp::Reverse(self.waiting.get(*at).map(rating))),
        };
        let challenge = self.waiting.remove(at?)?;
        self.accepted(&challenge, now);
        Some(challenge)
    }

    /// The challenge is gone: taken back, or no more to be had. Did it wait?
    pub fn cancel(&mut self, id: ChallengeId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.id != id);
        self.waiting.len() < before
    }

    /// All who wait, in the order of their arrival.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Challenge> {
        self.waiting.iter()
    }

    /// Takes all waiting challenges off the desk, for a shutdown: each is owed an answer.
    pub fn clear(&mut self) -> Vec<Challenge> {
        self.waiting.drain(..).collect()
    }

    /// What speaks against this challenge, whoever else plays?
    fn objection(&mut self, challenge: &Challenge, now: Instant) -> Option<DeclineReason> {
        let is_bot = is_bot(challenge);
        let terms = if is_bot { &self.config.bot } else { &self.config.human };
        if !terms.accept {
            return Some(if is_bot { DeclineReason::NoBot } else { DeclineReason::OnlyBot });
        }
        if is_bot && self.bots_rest.is_some_and(|until| now < until) {
            return Some(DeclineReason::Later);
        }
        if who(challenge).is_some_and(|who| !self.people.welcomes(who)) {
            return Some(DeclineReason::Generic);
        }
        terms.objection(challenge).or_else(|| {
            let recent = terms.recent?;
            let times = self.recent.get_mut(who(challenge)?)?;
            forget(times, &recent, now);
            (times.len() >= recent.games.get()).then_some(DeclineReason::Later)
        })
    }

    fn accepted(&mut self, challenge: &Challenge, now: Instant) {
        let terms = if is_bot(challenge) { &self.config.bot } else { &self.config.human };
        let (Some(recent), Some(who)) = (terms.recent, who(challenge)) else { return };
        if self.recent.len() >= REMEMBERED {
            // With different spans for humans and bots this keeps some for longer than need be.
            let longest = [&self.config.human, &self.config.bot].map(|t| t.recent.map(|r| r.within));
            let longest = longest.into_iter().flatten().max().unwrap_or(Duration::ZERO);
            self.recent.retain(|_, times| {
                times.back().is_some_and(|last| now.saturating_duration_since(*last) < longest)
            });
        }
        if self.recent.len() < REMEMBERED || self.recent.contains_key(who) {
            let times = self.recent.entry(who.clone()).or_default();
            times.push_back(now);
            forget(times, &recent, now);
        }
    }
}

fn forget(times: &mut VecDeque<Instant>, recent: &Recent, now: Instant) {
    while times.front().is_some_and(|time| now.saturating_duration_since(*time) >= recent.within) {
        times.pop_front();
    }
}

fn who(challenge: &Challenge) -> Option<&UserId> {
    challenge.challenger.as_ref().map(|user| &user.id)
}

/// Does it come from a program?
pub(super) fn is_bot(challenge: &Challenge) -> bool {
    challenge.challenger.as_ref().is_some_and(|user| user.is_bot())
}

fn rating(challenge: &Challenge) -> Option<i32> {
    challenge.challenger.as_ref().and_then(|user| user.rating)
}

#[cfg(test)]
mod tests {
    use super::{super::people, super::terms::tests::challenge, *};

    fn desk(config: &str) -> Desk {
        Desk::new(
            toml::from_str(config).unwrap(),
            [NonZeroU32::MIN; 2],
            People::new(people::Config::default()),
        )
    }

    /// A challenge of its own number.
    fn from(number: usize, name: &str, title: &str, rating: i32) -> Challenge {
        let mut challenge = challenge("180+2");
        challenge.id = format!("{number:08}").parse().unwrap();
        let user = challenge.challenger.as_mut().unwrap();
        user.id = name.parse().unwrap();
        user.title = (title == "BOT").then_some(zeitnot_wire::lichess::Title::Bot);
        user.rating = Some(rating);
        challenge
    }

    const NONE: Running = Running { humans: 0, bots: 0, correspondence: 0 };
    const HUMAN: Running = Running { humans: 1, ..NONE };
    const BOT: Running = Running { bots: 1, ..NONE };

    #[test]
    fn one_game_at_a_time_the_others_wait() {
        let now = Instant::now();
        let mut desk = desk("");
        assert_eq!(desk.judge(&from(1, "a", "", 1500), NONE, now), Verdict::Accept);
        let second = from(2, "b", "BOT", 1500);
        assert_eq!(desk.judge(&second, HUMAN, now), Verdict::Queue);
        // The stream was opened again, and tells it again.
        assert_eq!(desk.judge(&second, HUMAN, now), Verdict::Queue);
        assert_eq!(desk.waiting().len(), 1);
        assert_eq!(
            desk.judge(&from(3, "b", "BOT", 1500), HUMAN, now),
            Verdict::Decline(DeclineReason::Later)
        );
        assert_eq!(desk.next(HUMAN, now), None);
        // Whoever comes as the game ends does not overtake.
        assert_eq!(desk.judge(&from(4, "c", "", 2500), NONE, now), Verdict::Queue);
        assert_eq!(desk.next(NONE, now), Some(second));
        assert!(desk.cancel("00000004".parse().unwrap()));
        assert!(!desk.cancel("00000004".parse().unwrap()));
        assert_eq!(desk.next(NONE, now), None);
    }

    #[test]
    fn the_best_goes_first_if_we_like() {
        let now = Instant::now();
        let mut desk = desk("order = 'best'");
        for (number, (name, rating)) in
            [("a", 1500), ("b", 2500), ("c", 2500), ("d", 1000)].into_iter().enumerate()
        {
            assert_eq!(desk.judge(&from(number, name, "", rating), HUMAN, now), Verdict::Queue);
        }
        let order: Vec<_> = std::iter::from_fn(|| desk.next(NONE, now)).collect();
        let names: Vec<_> = order.iter().map(|c| who(c).unwrap().as_str()).collect();
        assert_eq!(names, ["b", "c", "a", "d"]);
    }

    #[test]
    fn humans_have_slots_of_their_own() {
        let now = Instant::now();
        let mut desk = desk("kept_for_humans = 1");
        desk.max_games = 2;
        assert_eq!(desk.judge(&from(1, "x", "BOT", 1500), NONE, now), Verdict::Accept);
        assert_eq!(desk.judge(&from(2, "y", "BOT", 1500), BOT, now), Verdict::Queue);
        // The bot that waits cannot have this slot.
        assert_eq!(desk.judge(&from(3, "a", "", 1500), BOT, now), Verdict::Accept);
        assert_eq!(desk.next(Running { humans: 1, ..BOT }, now), None);
        assert!(desk.next(HUMAN, now).is_some());
    }

    #[test]
    fn a_flood_costs_nothing() {
        let now = Instant::now();
        let mut desk = desk("queue = 5\nbot.recent = { games = 1, within = '1h' }");
        for number in 0..100_000 {
            let flood = from(number, &format!("bot{number}"), "BOT", 1500);
            let verdict = desk.judge(&flood, HUMAN, now);
            assert_eq!(verdict == Verdict::Queue, number < 5);
        }
        assert_eq!(desk.clear().len(), 5);
        for number in 0..10_000 {
            assert_eq!(
                desk.judge(&from(number, &format!("b{number}"), "BOT", 1), NONE, now),
                Verdict::Accept
            );
        }
        assert!(desk.recent.len() <= REMEMBERED);
    }

    #[test]
    fn the_same_opponent_is_not_played_all_day() {
        let (now, minute) = (Instant::now(), Duration::from_secs(60));
        let mut desk = desk("bot.recent = { games = 2, within = '1h' }");
        let later = Verdict::Decline(DeclineReason::Later);
        for (number, at, verdict) in [
            (1, 0, Verdict::Accept),
            (2, 10, Verdict::Accept),
            (3, 59, later.clone()),
            (4, 60, Verdict::Accept),
            (5, 61, later),
            (6, 70, Verdict::Accept),
        ] {
            assert_eq!(desk.judge(&from(number, "x", "BOT", 1500), NONE, now + at * minute), verdict, "{at}");
        }
        assert_eq!(desk.judge(&from(7, "y", "BOT", 1500), NONE, now), Verdict::Accept);
    }

    #[test]
    fn games_are_counted_and_bots_rest() {
        let (now, hour) = (Instant::now(), Duration::from_secs(3600));
        let later = Verdict::Decline(DeclineReason::Later);
        let mut desk = desk("");
        desk.max_games = 4;
        desk.count(2);
        assert_eq!(desk.judge(&from(1, "a", "", 1500), HUMAN, now), Verdict::Accept);
        // Both games that are left run: nobody waits for a third.
        assert_eq!(desk.judge(&from(2, "b", "", 1500), Running { humans: 2, ..NONE }, now), later);
        desk.rest_from_bots(now + hour);
        assert_eq!(desk.judge(&from(3, "x", "BOT", 1500), NONE, now), later);
        assert_eq!(desk.judge(&from(4, "x", "BOT", 1500), NONE, now + hour), Verdict::Accept);
    }

    #[test]
    fn who_is_not_welcome_and_who_never_plays() {
        let now = Instant::now();
        let mut desk = Desk::new(
            toml::from_str("bot.accept = false").unwrap(),
            [NonZeroU32::MIN; 2],
            People::new(toml::from_str("never = ['eve']").unwrap()),
        );
        let no = |reason| Verdict::Decline(reason);
        assert_eq!(desk.judge(&from(1, "Eve", "", 1500), NONE, now), no(DeclineReason::Generic));
        assert_eq!(desk.judge(&from(2, "x", "BOT", 1500), NONE, now), no(DeclineReason::NoBot));
        let mut bots = self::desk("human.accept = false");
        assert_eq!(bots.judge(&from(3, "a", "", 1500), NONE, now), no(DeclineReason::OnlyBot));
        let anonymous = Challenge { challenger: None, ..from(4, "a", "", 1500) };
        assert_eq!(bots.judge(&anonymous, NONE, now), no(DeclineReason::OnlyBot));
    }
}
