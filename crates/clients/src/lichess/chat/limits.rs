//! Limits on answers: to each person, and to all together. Opponents and spectators are counted apart, so that a crowd
//! of spectators leaves the opponents their answers. No clock.

use std::time::{Duration, Instant};

use zeitnot_wire::lichess::Room;

use crate::lichess::{RecentByUser, recent::RecentTimes};

/// Answers of the last minutes.
#[derive(Debug)]
pub(crate) struct AnswerLimits {
    opponents: RecentAnswers,
    spectators: RecentAnswers,
}

#[derive(Debug)]
struct RecentAnswers {
    to_all: RecentTimes,
    /// No more people than answers: memory is bounded by their limit.
    to_each: RecentByUser<String>,
    max: usize,
    max_in_total: usize,
    window: Duration,
}

impl AnswerLimits {
    /// Creates limits of answers to each person and to all, within a window.
    pub(crate) fn new(max: usize, max_in_total: usize, window: Duration) -> AnswerLimits {
        let recent = || RecentAnswers {
            to_all: RecentTimes::default(),
            to_each: RecentByUser::new(max_in_total, window),
            max,
            max_in_total,
            window,
        };
        AnswerLimits { opponents: recent(), spectators: recent() }
    }

    /// Counts an answer to a user, if one more is allowed.
    pub(crate) fn admit(&mut self, room: &Room, user: String, now: Instant) -> bool {
        let recent = if *room == Room::Spectator { &mut self.spectators } else { &mut self.opponents };
        recent.admit(user, now)
    }
}

impl RecentAnswers {
    fn admit(&mut self, user: String, now: Instant) -> bool {
        let is_admitted = self.to_all.count(self.window, now) < self.max_in_total
            && self.to_each.count(&user, self.window, now) < self.max
            && self.to_each.push(user, now);
        if is_admitted {
            self.to_all.push(now);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max: usize, max_in_total: usize) -> impl FnMut(Room, &str, u64) -> bool {
        let mut limits = AnswerLimits::new(max, max_in_total, Duration::from_secs(60));
        let now = Instant::now();
        move |room, user, second| limits.admit(&room, user.to_owned(), now + Duration::from_secs(second))
    }

    #[test]
    fn each_person_has_a_limit_as_a_player_and_as_a_spectator() {
        let mut admit = limits(2, 20);
        assert!(admit(Room::Player, "bob", 0) && admit(Room::Player, "bob", 1));
        assert!(!admit(Room::Player, "bob", 2) && admit(Room::Spectator, "bob", 2));
        assert!(admit(Room::Player, "eve", 2));
        assert!(admit(Room::Player, "bob", 60) && !admit(Room::Player, "bob", 60));
    }

    #[test]
    fn a_crowd_of_spectators_is_answered_so_often_and_leaves_the_opponents_their_answers() {
        let mut admit = limits(2, 20);
        for minute in 0..3 {
            let crowd = (0..1000).filter(|i| admit(Room::Spectator, &format!("u{i}"), 60 * minute)).count();
            assert_eq!(crowd, 20);
            assert!(admit(Room::Player, "bob", 60 * minute));
        }
    }
}
