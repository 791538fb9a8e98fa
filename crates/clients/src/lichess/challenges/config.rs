//! The `challenge` table of a Lichess server.

use std::num::NonZeroUsize;

use serde::Deserialize;
use zeitnot_net::Contradictions;

use super::filter::ChallengeFilter;
use crate::settings::settings;

settings! {
    /// The `challenge` table.
    #[derive(PartialEq)]
    pub struct Config {
        /// Game slots that bots cannot take.
        reserved_for_humans: usize = 0,
        /// Challenges that may wait for a free slot.
        max_queue: usize = 16,
        /// Order in which they are accepted.
        sort_by: SortBy = SortBy::First,
        /// Challengers that go before the others.
        preference: Preference = Preference::None,
        /// Games at once against the same opponent.
        max_simultaneous_games_per_user: Option<NonZeroUsize> = None,
        human: ChallengeFilter = ChallengeFilter::default(),
        bot: ChallengeFilter = ChallengeFilter::default(),
    }
}

impl Config {
    /// Finds keys that contradict each other, with this many games at once.
    pub(crate) fn contradictions(&self, concurrency: usize, found: &mut Contradictions) {
        let reserved = self.reserved_for_humans;
        found.at_most(("reserved_for_humans", reserved), ("concurrency", concurrency));
        if reserved > 0 && !self.human.accept {
            let what = "keeps games free for humans, whom human.accept = false declines: remove one of them";
            found.add(&["reserved_for_humans", "human.accept"], what);
        }
        found.within("human", |found| self.human.contradictions(found));
        found.within("bot", |found| self.bot.contradictions(found));
    }
}

/// Order of waiting challenges.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// The oldest first.
    #[default]
    First,
    /// The highest rated challenger first.
    Best,
}

/// Kind of challengers that goes before the other, whatever [`SortBy`] says.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// Neither.
    #[default]
    None,
    /// Humans.
    Human,
    /// Bots.
    Bot,
}
