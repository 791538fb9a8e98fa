//! Facts that messages may tell: of a game, and of the account.

use std::time::Duration;

use zeitnot_seat::Eval;
use zeitnot_wire::lichess::{Speed, VariantKey};

use crate::lichess::challenges::{accepted_time::AcceptedTime, config::Config, filter::ChallengeFilter};

/// Facts of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GameFacts {
    pub(crate) opponent: String,
    pub(crate) me: String,
    pub(crate) engine: String,
    pub(crate) eval: Option<Eval>,
    /// Time that the opponent was just granted for the first move.
    pub(crate) granted: Option<Duration>,
}

/// Facts of the account.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccountFacts {
    /// Names of the players who wait for a game, the next one first.
    pub(crate) queue: Vec<String>,
    /// Speeds, clocks and modes that are accepted, as a sentence.
    pub(crate) challenges: String,
    /// Variants that are accepted, as a sentence.
    pub(crate) variants: String,
}

impl AccountFacts {
    pub(crate) fn new(config: &Config) -> AccountFacts {
        let mut facts = AccountFacts::default();
        facts.set_accepted(config);
        facts
    }

    /// Sets which challenges are accepted.
    pub(crate) fn set_accepted(&mut self, config: &Config) {
        self.challenges = accepted(config, challenges);
        self.variants =
            accepted(config, |filter| list(filter.variants.iter().map(VariantKey::as_str).collect()));
    }
}

/// Returns the sentence that says what is accepted from humans and from bots.
fn accepted(config: &Config, describe: impl Fn(&ChallengeFilter) -> String) -> String {
    let of = |filter: &ChallengeFilter| {
        if filter.accept { describe(filter) } else { "no challenges".to_owned() }
    };
    match (of(&config.human), of(&config.bot)) {
        (humans, bots) if humans == bots => format!("I accept {humans}."),
        (humans, bots) => format!("I accept {humans} from humans; {bots} from bots."),
    }
}

fn challenges(filter: &ChallengeFilter) -> String {
    let describe = |time: &AcceptedTime| match time {
        AcceptedTime::Speed(Speed::Bullet) if filter.bullet_requires_increment => {
            "bullet with increment".to_owned()
        }
        time => time.to_string(),
    };
    let times: Vec<_> = filter.time_controls.iter().map(describe).collect();
    let modes = list(filter.modes.iter().map(|mode| mode.as_str()).collect());
    format!("{} ({modes})", times.join(", "))
}

fn list(words: Vec<&str>) -> String {
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_challenges_are_told_for_humans_and_bots_where_they_differ() {
        for (config, challenges, variants) in [
            (
                "[human]\nvariants = ['standard', 'atomic']\n[bot]\nvariants = ['standard', 'atomic']",
                "I accept bullet, blitz, rapid, classical (casual, rated).",
                "I accept standard, atomic.",
            ),
            (
                "human.accept = false\nbot.accept = false",
                "I accept no challenges.",
                "I accept no challenges.",
            ),
            (
                "[human]\naccept = false\n[bot]\nvariants = ['standard']\ntime_controls = ['bullet', '1500+0']\n\
                 modes = ['rated']\nbullet_requires_increment = true",
                "I accept no challenges from humans; bullet with increment, 1500+0 (rated) from bots.",
                "I accept no challenges from humans; standard from bots.",
            ),
        ] {
            let facts = AccountFacts::new(&toml::from_str(config).unwrap());
            assert_eq!((facts.challenges.as_str(), facts.variants.as_str()), (challenges, variants));
        }
    }
}
