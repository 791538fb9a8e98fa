//! Which engine plays which game: the first rule that fits.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, de};

use zeitnot_engine::{EngineFactory, Playable};
use zeitnot_rules::{Color, GameKind, Speed, TimeControl};
use zeitnot_seat::{GameInfo, Opponent};

use super::load::Load;

/// A `[[bot.choose]]` table. What it does not ask for may be anything; what the server does not tell fits nothing
/// that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// An engine by the name of its `[engines.NAME]` table.
    pub engine: String,
    /// By which rules.
    pub games: Option<Vec<Rules>>,
    /// How fast.
    pub speeds: Option<Vec<Speed>>,
    /// The clock at the start, at least and at most.
    #[serde(default, with = "humantime_serde")]
    pub shortest: Option<Duration>,
    #[allow(missing_docs)]
    #[serde(default, with = "humantime_serde")]
    pub longest: Option<Duration>,
    /// The increment, at least and at most.
    #[serde(default, with = "humantime_serde")]
    pub least_increment: Option<Duration>,
    #[allow(missing_docs)]
    #[serde(default, with = "humantime_serde")]
    pub most_increment: Option<Duration>,
    /// The side we play.
    #[serde(default, deserialize_with = "side")]
    pub colour: Option<Color>,
    /// About ratings or not.
    pub rated: Option<bool>,
    /// Against whom.
    pub opponent: Option<Opponent>,
}

/// The rules of a game as people call them: Chess960 is another thing than chess.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// A game of ours, begun as usual or anywhere.
    Of(GameKind),
    /// Chess with the castling of Chess960.
    Chess960,
}

const CHESS960: &str = "chess960";

impl FromStr for Rules {
    type Err = zeitnot_rules::UnknownGame;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == CHESS960 { Ok(Rules::Chess960) } else { name.parse().map(Rules::Of) }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rules::Of(game) => game.name(),
            Rules::Chess960 => CHESS960,
        })
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(|error| de::Error::custom(format!("{error}, {CHESS960}")))
    }
}

fn side<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Color>, D::Error> {
    let name = String::deserialize(from)?;
    let side = Color::BOTH.into_iter().find(|side| side.to_string() == name);
    let expected = "\"white\" or \"black\"";
    side.map(Some).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&name), &expected))
}

impl Rule {
    /// Does it fit any game at all? Its engine is the usual one then.
    pub fn is_for_all(&self) -> bool {
        *self == Rule { engine: self.engine.clone(), ..Rule::default() }
    }

    /// Does it fit a game by these rules?
    fn fits(&self, info: &GameInfo, rules: Rules) -> bool {
        fn is_one<T: PartialEq>(asked: Option<&Vec<T>>, told: &T) -> bool {
            asked.is_none_or(|asked| asked.contains(told))
        }
        fn is_it<T: PartialEq>(asked: Option<T>, told: Option<T>) -> bool {
            asked.is_none() || asked == told
        }
        let GameInfo { time_control, side, details, .. } = info;
        is_one(self.games.as_ref(), &rules)
            && is_one(self.speeds.as_ref(), &Speed::of(*time_control))
            && self.fits_clock(*time_control)
            && is_it(self.colour, Some(*side))
            && is_it(self.rated, details.rated)
            && is_it(self.opponent, details.opponent)
    }

    fn fits_clock(&self, clock: Option<TimeControl>) -> bool {
        let between = |least: Option<Duration>, most: Option<Duration>, told: fn(TimeControl) -> Duration| {
            let told = clock.map(told);
            least.is_none_or(|least| told.is_some_and(|told| told >= least))
                && most.is_none_or(|most| told.is_some_and(|told| told <= most))
        };
        between(self.shortest, self.longest, |clock| clock.initial)
            && between(self.least_increment, self.most_increment, |clock| clock.increment)
    }
}

/// The engines, each behind its rule.
#[derive(Clone, Default)]
pub(super) struct Roster(Arc<Vec<Choice>>);

/// An engine that a rule may choose.
pub(super) struct Choice {
    rule: Rule,
    pub factory: EngineFactory,
    /// Its own, as others count nodes in other ways.
    pub load: Load,
}

impl Roster {
    pub fn new(rules: &[Rule], engines: &BTreeMap<String, EngineFactory>, load: &Load) -> Roster {
        let loads: BTreeMap<_, _> = engines.keys().map(|name| (name, load.of_another_engine())).collect();
        let choice = |rule: &Rule| {
            let (factory, load) = (engines.get(&rule.engine)?.clone(), loads.get(&rule.engine)?.clone());
            Some(Choice { rule: rule.clone(), factory, load })
        };
        Roster(Arc::new(rules.iter().filter_map(choice).collect()))
    }

    /// Who plays this; `None`: the usual engine. One that does not know the game is passed over.
    pub fn choose<G: Playable>(&self, info: &GameInfo, start: &G) -> Option<&Choice> {
        let rules = if start.is_chess960() { Rules::Chess960 } else { Rules::Of(info.game) };
        self.0.iter().find(|choice| choice.rule.fits(info, rules) && choice.factory.plays(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::ByColor;
    use zeitnot_seat::GameDetails;

    fn info() -> GameInfo {
        GameInfo {
            id: "g".into(),
            server: "s".into(),
            game: GameKind::Chess,
            start: None,
            side: Color::Black,
            names: ByColor(["a".into(), "b".into()]),
            time_control: Some("180+2".parse().unwrap()),
            details: GameDetails { rated: Some(true), opponent: Some(Opponent::Bot), correspondence: false },
        }
    }

    fn rule(text: &str) -> Rule {
        toml::from_str(&format!("engine = \"e\"\n{text}")).unwrap()
    }

    #[test]
    fn a_rule_fits_where_all_that_it_asks_for_is_so() {
        let here = |text: &str| rule(text).fits(&info(), Rules::Of(GameKind::Chess));
        for text in [
            "",
            "games = ['chess', 'chess960']",
            "speeds = ['bullet', 'blitz']",
            "shortest = '3m'\nlongest = '3m'",
            "least_increment = '2s'\nmost_increment = '10s'",
            "colour = 'black'",
            "rated = true",
            "opponent = 'bot'",
            "games = ['chess']\nspeeds = ['blitz']\ncolour = 'black'\nrated = true",
        ] {
            assert!(here(text), "{text}");
        }
        for text in [
            "games = ['chess960']",
            "games = []",
            "speeds = ['bullet', 'correspondence']",
            "shortest = '181s'",
            "longest = '179s'",
            "least_increment = '3s'",
            "most_increment = '1s'",
            "colour = 'white'",
            "rated = false",
            "opponent = 'human'",
            "speeds = ['blitz']\ncolour = 'white'",
        ] {
            assert!(!here(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_told_fits_nothing_that_is_asked_for() {
        let silent = GameInfo { time_control: None, details: GameDetails::default(), ..info() };
        let there = |text: &str| rule(text).fits(&silent, Rules::Of(GameKind::Chess));
        assert!(there("") && there("speeds = ['correspondence']") && there("colour = 'black'"));
        for text in
            ["rated = true", "rated = false", "opponent = 'human'", "shortest = '0s'", "longest = '9h'"]
        {
            assert!(!there(text), "{text}");
        }
    }

    #[test]
    fn only_a_rule_that_asks_for_nothing_is_for_all() {
        assert!(rule("").is_for_all());
        assert!(!rule("rated = true").is_for_all() && !rule("games = []").is_for_all());
    }

    #[test]
    fn a_typo_is_an_error() {
        for text in [
            "games = ['ches']",
            "colour = 'red'",
            "speeds = ['fast']",
            "opponent = 'cat'",
            "colours = 'white'",
        ] {
            assert!(toml::from_str::<Rule>(&format!("engine = \"e\"\n{text}")).is_err(), "{text}");
        }
    }
}
