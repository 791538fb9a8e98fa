//! Choice of an opponent and a game for a challenge.

use zeitnot_wire::lichess::{NewChallenge, PerfKey, TimeControl, User, UserId, VariantKey};

use super::{
    config::{Config, RatingPreference},
    decline_history::GameType,
};
use crate::lichess::challenges::filter::Mode;

/// Opponents among whom the choice is random if a rating difference is preferred: one alone would be challenged again and
/// again.
const CLOSEST: usize = 5;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    pub(crate) opponent: UserId,
    pub(crate) challenge: NewChallenge,
}

/// Chooses a game at random, each variation of the configuration as likely as the others, and an opponent for it.
pub(super) fn choose(
    variations: &[Config],
    random: &mut fastrand::Rng,
    me: &User,
    online: &[User],
    may_play: impl Fn(&User, &GameType) -> bool,
    has_correspondence_room: bool,
) -> Option<Proposal> {
    let mut order: Vec<&Config> = variations.iter().collect();
    random.shuffle(&mut order);
    for variation in order {
        let mut kinds = [clock_games(variation), correspondence_games(variation)];
        if !has_correspondence_room {
            kinds[1].clear();
        }
        // Either is as likely, whatever the number of its games.
        random.shuffle(&mut kinds);
        for mut games in kinds {
            while let Some((time, game)) = draw(random, &mut games) {
                let suits = |user: &&User| variation.suits(me, user, &perf(&game)) && may_play(user, &game);
                let mut candidates: Vec<_> = online.iter().filter(suits).collect();
                if let Some(target) = variation.target_rating_difference {
                    keep_closest(random, &mut candidates, me, target, &perf(&game));
                }
                if let Some(opponent) = pick(random, &candidates, variation.rating_preference, &perf(&game)) {
                    let rated = game.mode == Mode::Rated;
                    let variant = game.variant;
                    let challenge = NewChallenge { rated, variant, ..NewChallenge::new(time) };
                    return Some(Proposal { opponent: opponent.id.clone(), challenge });
                }
            }
        }
    }
    None
}

/// A game that may be proposed, with its weight.
type Game = (u32, (TimeControl, GameType));

fn clock_games(config: &Config) -> Vec<Game> {
    let clocks = config.clocks.iter();
    games(config, clocks.map(|(clock, weight)| (TimeControl::Clock(*clock), *weight)))
}

fn correspondence_games(config: &Config) -> Vec<Game> {
    let days = config.challenge_days.iter();
    games(config, days.map(|days| (TimeControl::Correspondence { days: days.0 }, 1)))
}

fn games(config: &Config, times: impl Iterator<Item = (TimeControl, u32)>) -> Vec<Game> {
    let mut games = Vec::new();
    for (time, time_weight) in times {
        for (variant, variant_weight) in config.variants.iter() {
            let weight = time_weight.saturating_mul(*variant_weight);
            let game = |mode: &Mode| GameType { speed: time.speed(), variant: variant.clone(), mode: *mode };
            games.extend(config.modes.iter().map(|mode| (weight, (time.clone(), game(mode)))));
        }
    }
    games.retain(|(weight, _)| *weight > 0);
    games
}

/// Takes one out at random, by weight.
fn draw<T>(random: &mut fastrand::Rng, from: &mut Vec<(u32, T)>) -> Option<T> {
    let total: u64 = from.iter().map(|(weight, _)| u64::from(*weight)).sum();
    let mut left = if total == 0 { return None } else { random.u64(..total) };
    let at = from.iter().position(|(weight, _)| {
        let is_drawn = left < u64::from(*weight);
        left = left.saturating_sub(u64::from(*weight));
        is_drawn
    })?;
    Some(from.swap_remove(at).1)
}

/// Keeps the opponents whose difference to our rating is closest to the target.
fn keep_closest(
    random: &mut fastrand::Rng,
    candidates: &mut Vec<&User>,
    me: &User,
    target: u32,
    perf: &PerfKey,
) {
    let distance = |opponent: &&User| {
        let difference =
            me.rating(perf).zip(opponent.rating(perf)).map(|(ours, theirs)| ours.abs_diff(theirs));
        difference.map_or(u32::MAX, |points| points.abs_diff(target))
    };
    // Those of equal distance are equally likely to stay.
    random.shuffle(candidates);
    candidates.sort_by_key(distance);
    candidates.truncate(CLOSEST);
}

/// Picks an opponent at random; with a preference, the better of two.
fn pick<'u>(
    random: &mut fastrand::Rng,
    candidates: &[&'u User],
    preference: RatingPreference,
    perf: &PerfKey,
) -> Option<&'u User> {
    let one = random.choice(candidates.iter().copied())?;
    let other = random.choice(candidates.iter().copied())?;
    let first = one.rating(perf);
    let second = other.rating(perf);
    let is_other = match preference {
        RatingPreference::None => false,
        RatingPreference::High => second > first,
        RatingPreference::Low => second < first,
    };
    Some(if is_other { other } else { one })
}

/// Returns which rating such a game counts for.
fn perf(game: &GameType) -> PerfKey {
    match &game.variant {
        VariantKey::Standard | VariantKey::FromPosition => game.speed.as_str().into(),
        variant => variant.as_str().into(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use zeitnot_wire::Message;

    use super::*;

    pub(in super::super) fn user(name: &str, blitz: i32) -> User {
        let perfs = format!(r#"{{"blitz":{{"rating":{blitz}}},"chess960":{{"rating":{}}}}}"#, blitz + 100);
        Message::parse(&format!(r#"{{"id":"{name}","title":"BOT","perfs":{perfs}}}"#)).unwrap()
    }

    #[test]
    fn games_are_drawn_by_weight() {
        let config: Config = toml::from_str("clocks = { '180+2' = 9, '60+1' = 1, '300' = 0 }").unwrap();
        let mut random = fastrand::Rng::with_seed(7);
        let mut fast = 0;
        for _ in 0..1000 {
            let mut games = clock_games(&config);
            assert_eq!(games.len(), 2);
            let (time, _) = draw(&mut random, &mut games).unwrap();
            fast += usize::from(time.clock().unwrap().initial == Duration::from_secs(60));
        }
        assert!((50..150).contains(&fast), "{fast}");
    }

    /// The proposals of many choices, as time and variant, with how often each came.
    fn proposals(config: &str, online: &[User], room: bool) -> BTreeMap<String, u32> {
        let config: Config = toml::from_str(config).unwrap();
        let variations = config.variations();
        let mut random = fastrand::Rng::with_seed(7);
        let mut seen = BTreeMap::new();
        for _ in 0..400 {
            let proposal = choose(&variations, &mut random, &user("me", 1500), online, |_, _| true, room);
            let told = proposal.map_or("none".to_owned(), |Proposal { opponent, challenge }| {
                format!("{opponent} {} {} {}", challenge.time, challenge.variant, challenge.rated)
            });
            *seen.entry(told).or_default() += 1;
        }
        seen
    }

    #[test]
    fn each_override_is_as_likely_as_the_table() {
        let bots = [user("bob", 1500), user("eve", 1900)];
        let config = "modes = ['rated']\n\
            [overrides.easy]\nvariants = { chess960 = 1 }\nmodes = ['casual']\n\
            [overrides.far]\nclocks = { '60+1' = 1 }\nopponent_min_rating = 1900\n\
            opponent_rating_difference = 500";
        let seen = proposals(config, &bots, true);
        let names: Vec<_> = seen.keys().map(String::as_str).collect();
        // The clock, the difference and the mode are those of the table where an override has none.
        assert_eq!(names, ["bob 3+2 chess960 false", "bob 3+2 standard true"]);
        assert!(seen.values().all(|times| *times > 100), "{seen:?}");
        let with_perf = |text: &str| -> User { Message::parse(text).unwrap() };
        let eve = with_perf(r#"{"id":"eve","title":"BOT","perfs":{"bullet":{"rating":1900}}}"#);
        let me_unrated = proposals(config, &[eve], true);
        assert!(me_unrated.keys().any(|told| told == "eve 1+1 standard true"), "{me_unrated:?}");
    }

    #[test]
    fn half_of_the_challenges_are_to_correspondence_games_if_there_are_days() {
        let bots = [user("bob", 1500)];
        let config = "challenge_days = [2, 14]\nclocks = { '180+2' = 50 }";
        let seen = proposals(config, &bots, true);
        let days: u32 = seen.iter().filter(|(told, _)| told.contains("days")).map(|(_, times)| times).sum();
        assert!((100..300).contains(&days) && seen.len() == 3, "{seen:?}");
        let no_room = proposals(config, &bots, false);
        assert_eq!(no_room.keys().collect::<Vec<_>>(), ["bob 3+2 standard true"]);
        assert_eq!(
            proposals("challenge_days = [3]\nclocks = {}", &bots, false).keys().next().unwrap(),
            "none"
        );
    }

    #[test]
    fn the_five_opponents_closest_to_the_target_difference_are_challenged() {
        let ratings = [1200, 1300, 1390, 1410, 1440, 1500, 1560, 1620, 1700];
        let bots: Vec<_> = ratings.iter().map(|rating| user(&format!("bot{rating}"), *rating)).collect();
        let challenged = |config: &str| {
            let seen = proposals(config, &bots, true);
            seen.keys().map(|told| told.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let near_100 = ["bot1390", "bot1410", "bot1440", "bot1560", "bot1620"];
        assert_eq!(challenged("target_rating_difference = 100"), near_100);
        let far = ["bot1200", "bot1300", "bot1700"];
        assert_eq!(challenged("min_rating_difference = 150\ntarget_rating_difference = 0"), far);
        assert_eq!(challenged("opponent_rating_difference = 300").len(), ratings.len());
    }

    #[test]
    fn the_preferred_rating_is_challenged_more_often() {
        let bots = [user("bob", 1400), user("eve", 1600)];
        for (config, often) in [("rating_preference = 'high'", "eve"), ("rating_preference = 'low'", "bob")] {
            let seen = proposals(config, &bots, true);
            let times = seen[&format!("{often} 3+2 standard true")];
            assert!((250..350).contains(&times), "{seen:?}");
        }
    }
}
