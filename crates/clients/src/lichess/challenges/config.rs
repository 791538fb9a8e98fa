//! The `challenge` table of a Lichess server.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use zeitnot_net::Contradictions;
use zeitnot_settings::{JsonSchema, schemars, settings};

use super::filter::ChallengeFilter;

settings! {
    /// Challenges that are accepted.
    #[derive(PartialEq)]
    pub struct Config {
        /// Number of games at once that are reserved for humans.
        reserved_for_humans: usize = 0,
        /// Maximum number of challenges that wait for a game to end.
        max_queue: usize = 16,
        /// Order of the queue: "first" accepts the oldest challenge first, "best" that of the highest-rated challenger.
        sort_by: SortBy = SortBy::First,
        /// Challengers that are accepted before the others.
        preference: Preference = Preference::None,
        /// Maximum number of games at once against the same opponent. Without it, no limit.
        #[schemars(example = 5)]
        max_simultaneous_games_per_user: Option<NonZeroUsize> = None,
        /// Challenges from humans.
        human: ChallengeFilter = ChallengeFilter::default(),
        /// Challenges from bots, by the same keys.
        bot: ChallengeFilter = ChallengeFilter::default(),
    }
}

impl Config {
    /// Finds keys that contradict each other, with this many games at once.
    pub(crate) fn contradictions(&self, concurrency: usize, found: &mut Contradictions) {
        let reserved = self.reserved_for_humans;
        found.at_most(("reserved_for_humans", reserved), ("concurrency", concurrency));
        if reserved > 0 && !self.human.accept {
            let what = format!(
                "reserved_for_humans = {reserved} keeps games for humans, but human.accept = false declines them: set it \
                 to 0, or accept humans"
            );
            found.add(&["reserved_for_humans", "human.accept"], what);
        }
        found.within("human", |found| self.human.contradictions(found));
        found.within("bot", |found| self.bot.contradictions(found));
    }
}

/// Order of waiting challenges.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// The oldest first.
    #[default]
    First,
    /// The highest rated challenger first.
    Best,
}

/// Kind of challengers that goes before the other, whatever [`SortBy`] says.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
