//! One arena tournament as Lichess has them: who takes part, what games are worth, and who meets whom next.
//! It never waits: the time is passed in.

use std::{collections::BTreeMap, time::Duration};

use time::OffsetDateTime;

use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{TournamentId, UserId};

use super::config::TournamentConfig;

/// Those who take part, at most.
const MOST: usize = 10_000;
/// Wins in a row after which games count double.
const STREAK: u32 = 2;
/// So many plies a game must have for its berserker's extra point.
const BRAVE: usize = 14;

/// What somebody has done in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) score: u32,
    /// The points of each game.
    pub(super) sheet: Vec<u32>,
    /// Wins in a row.
    streak: u32,
    /// Has withdrawn, for the time being.
    pub(super) is_away: bool,
    opponent: Option<UserId>,
    /// Games with White more than with Black.
    whites: i32,
}

impl Entry {
    /// Do games count double?
    pub(super) fn is_on_fire(&self) -> bool {
        self.streak >= STREAK
    }

    fn count(&mut self, won: Option<bool>, is_brave: bool) {
        let factor = if self.is_on_fire() { 2 } else { 1 };
        let points = match won {
            Some(true) => 2 * factor + u32::from(is_brave),
            None => factor,
            Some(false) => 0,
        };
        self.streak = if won == Some(true) { self.streak + 1 } else { 0 };
        self.score += points;
        self.sheet.push(points);
    }
}

/// Where it stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Ahead,
    Running,
    Over,
}

/// See the module's comment.
#[derive(Clone, Debug)]
pub(super) struct Arena {
    pub(super) id: TournamentId,
    pub(super) terms: TournamentConfig,
    starts: OffsetDateTime,
    pub(super) entries: BTreeMap<UserId, Entry>,
}

/// Why somebody cannot take part.
#[derive(Copy, Clone, Debug, thiserror::Error)]
pub(super) enum Barred {
    #[error("This tournament is over")]
    Over,
    #[error("Wrong password")]
    Password,
    #[error("There are too many players")]
    Full,
}

impl Arena {
    pub(super) fn new(id: TournamentId, terms: TournamentConfig, now: OffsetDateTime) -> Arena {
        Arena { id, starts: now + terms.starts_in, terms, entries: BTreeMap::new() }
    }

    pub(super) fn starts(&self) -> OffsetDateTime {
        self.starts
    }

    pub(super) fn ends(&self) -> OffsetDateTime {
        self.starts() + self.terms.lasts
    }

    pub(super) fn stage(&self, now: OffsetDateTime) -> Stage {
        if now < self.starts() {
            Stage::Ahead
        } else if now < self.ends() {
            Stage::Running
        } else {
            Stage::Over
        }
    }

    /// How long until then; nothing if it was before.
    pub(super) fn until(then: OffsetDateTime, now: OffsetDateTime) -> Duration {
        (then - now).try_into().unwrap_or_default()
    }

    pub(super) fn join(
        &mut self,
        who: &UserId,
        word: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<(), Barred> {
        if self.stage(now) == Stage::Over {
            return Err(Barred::Over);
        } else if let Some(entry) = self.entries.get_mut(who) {
            entry.is_away = false;
            return Ok(());
        } else if self.terms.password.as_deref() != word && self.terms.password.is_some() {
            return Err(Barred::Password);
        } else if self.entries.len() >= MOST {
            return Err(Barred::Full);
        }
        self.entries.insert(who.clone(), Entry::default());
        Ok(())
    }

    /// Who leaves before it begins was never there.
    pub(super) fn withdraw(&mut self, who: &UserId, now: OffsetDateTime) {
        if self.stage(now) == Stage::Ahead {
            self.entries.remove(who);
        } else if let Some(entry) = self.entries.get_mut(who) {
            entry.is_away = true;
        }
    }

    /// The best first.
    pub(super) fn ranking(&self) -> Vec<(&UserId, &Entry)> {
        let mut ranking: Vec<_> = self.entries.iter().collect();
        ranking.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.score));
        ranking
    }

    /// Who of those who are free meets whom now: neighbours in the ranking, and not the same again if there is
    /// anybody else.
    pub(super) fn pair(&mut self, is_free: impl Fn(&UserId) -> bool) -> Vec<ByColor<UserId>> {
        let free = |(who, entry): &(&UserId, &Entry)| !entry.is_away && is_free(who);
        let mut waiting: Vec<UserId> =
            self.ranking().into_iter().filter(free).map(|(who, _)| who.clone()).collect();
        let is_duel = self.entries.values().filter(|entry| !entry.is_away).count() == 2;
        let mut pairs = Vec::new();
        while waiting.len() >= 2 {
            let who = waiting.remove(0);
            let last = self.entries.get(&who).and_then(|entry| entry.opponent.clone());
            let fresh = waiting.iter().position(|other| is_duel || last.as_ref() != Some(other));
            if let Some(at) = fresh {
                let other = waiting.remove(at);
                pairs.push(self.seat(who, other));
            }
        }
        pairs
    }

    /// Who had Black more often gets White.
    fn seat(&mut self, one: UserId, other: UserId) -> ByColor<UserId> {
        let whites = |who: &UserId| self.entries.get(who).map_or(0, |entry| entry.whites);
        let players = match whites(&one).cmp(&whites(&other)) {
            std::cmp::Ordering::Greater => ByColor([other, one]),
            std::cmp::Ordering::Less => ByColor([one, other]),
            std::cmp::Ordering::Equal if fastrand::bool() => ByColor([one, other]),
            std::cmp::Ordering::Equal => ByColor([other, one]),
        };
        for side in Color::BOTH {
            if let Some(entry) = self.entries.get_mut(&players[side]) {
                entry.opponent = Some(players[!side].clone());
                entry.whites += if side == Color::White { 1 } else { -1 };
            }
        }
        players
    }

    /// A game is over. What ends after the tournament does not count.
    pub(super) fn record(
        &mut self,
        players: &ByColor<UserId>,
        winner: Option<Color>,
        brave: ByColor<bool>,
        plies: usize,
        now: OffsetDateTime,
    ) {
        if self.stage(now) != Stage::Running {
            return;
        }
        for side in Color::BOTH {
            if let Some(entry) = self.entries.get_mut(&players[side]) {
                entry.count(winner.map(|winner| winner == side), brave[side] && plies >= BRAVE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena(names: &[&str]) -> (Arena, OffsetDateTime) {
        let now = OffsetDateTime::now_utc();
        let terms: TournamentConfig =
            toml::from_str("name = 'x'\ntime = '60+1'\nlasts = '10m'\npassword = 'p'").unwrap();
        let mut arena = Arena::new("abcdefgh".parse().unwrap(), terms, now);
        for name in names {
            arena.join(&name.parse().unwrap(), Some("p"), now).unwrap();
        }
        (arena, now)
    }

    #[test]
    fn wins_in_a_row_count_double() {
        let (mut arena, now) = arena(&["a", "b"]);
        let players = ByColor(["a".parse().unwrap(), "b".parse().unwrap()]);
        let none = ByColor::both(false);
        for winner in [Some(Color::White), Some(Color::White), Some(Color::White), None, Some(Color::Black)] {
            arena.record(&players, winner, none, 40, now);
        }
        arena.record(&players, Some(Color::Black), ByColor([true, true]), 40, now);
        arena.record(&players, Some(Color::Black), none, 40, now + Duration::from_secs(601));
        let ranking = arena.ranking();
        assert_eq!((ranking[0].0.as_str(), &ranking[0].1.sheet), ("a", &vec![2, 2, 4, 2, 0, 0]));
        assert_eq!((ranking[1].1.score, &ranking[1].1.sheet), (6, &vec![0, 0, 0, 1, 2, 3]));
        assert!(ranking[1].1.is_on_fire() && !ranking[0].1.is_on_fire());
    }

    #[test]
    fn nobody_meets_the_same_twice_in_a_row_unless_there_are_two() {
        let (mut duel, _) = arena(&["a", "b"]);
        let first = duel.pair(|_| true).remove(0);
        let second = duel.pair(|_| true).remove(0);
        assert_eq!(
            (&first[Color::White], &first[Color::Black]),
            (&second[Color::Black], &second[Color::White])
        );

        let (mut arena, now) = arena(&["a", "b", "c"]);
        let pair = arena.pair(|_| true);
        assert_eq!(pair.len(), 1);
        let [a, b] = pair[0].0.clone();
        assert!(arena.pair(|who| [&a, &b].contains(&who)).is_empty());
        arena.withdraw(&a, now);
        assert_eq!(arena.pair(|_| true).len(), 1);
        assert!(arena.join(&"d".parse().unwrap(), Some("q"), now).is_err());
        assert!(arena.join(&a, None, now).is_ok(), "who was there needs no password");
        assert!(arena.join(&a, None, now + Duration::from_secs(601)).is_err());
    }
}
