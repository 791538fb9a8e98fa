//! Engines by game: the first rule that matches decides.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_engine::{EngineFactory, Playable};
use zeitnot_net::Contradictions;
use zeitnot_rules::{Color, GameKind, Speed, TimeControl, UnknownGame};
use zeitnot_seat::{GameInfo, Opponent};
use zeitnot_settings::{HumanTime, JsonSchema, Schema, SchemaGenerator, list_of, schemars, words};

use crate::load::Load;

/// A rule that chooses an engine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// An [engines.NAME] table.
    #[schemars(example = &"stockfish")]
    pub engine: String,
    /// Games that the rule matches.
    #[schemars(schema_with = "variants", example = ["chess", "chess960"])]
    #[serde(default)]
    games: Option<Vec<Variant>>,
    /// Speeds; "correspondence" is without a clock.
    #[schemars(schema_with = "speeds", example = ["blitz", "rapid"])]
    #[serde(default)]
    time_controls: Option<Vec<Speed>>,
    /// Minimum initial time.
    #[serde(default, with = "HumanTime")]
    #[schemars(example = &"3m")]
    min_base: Option<Duration>,
    /// Maximum initial time.
    #[serde(default, with = "HumanTime")]
    #[schemars(example = &"30m")]
    max_base: Option<Duration>,
    /// Minimum increment.
    #[serde(default, with = "HumanTime")]
    #[schemars(example = &"0s")]
    min_increment: Option<Duration>,
    /// Maximum increment.
    #[serde(default, with = "HumanTime")]
    #[schemars(example = &"30s")]
    max_increment: Option<Duration>,
    /// The side that we play.
    #[schemars(schema_with = "colors", example = &"white")]
    #[serde(default)]
    color: Option<Color>,
    /// Whether the game is rated.
    #[schemars(example = true)]
    rated: Option<bool>,
    /// Kind of opponent.
    #[schemars(schema_with = "opponents", example = &"bot")]
    #[serde(default)]
    opponent: Option<Opponent>,
}

fn variants(_: &mut SchemaGenerator) -> Schema {
    list_of(words(GameKind::ALL.iter().map(|game| game.name()).chain([CHESS960])))
}

fn speeds(_: &mut SchemaGenerator) -> Schema {
    list_of(words(Speed::ALL))
}

fn colors(_: &mut SchemaGenerator) -> Schema {
    words(Color::BOTH)
}

fn opponents(_: &mut SchemaGenerator) -> Schema {
    words([Opponent::Human, Opponent::Bot])
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Variant {
    /// From any start position.
    Game(GameKind),
    /// Chess with the castling rules of Chess960.
    Chess960,
}

const CHESS960: &str = "chess960";

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        if name == CHESS960 {
            return Ok(Variant::Chess960);
        }
        let game = name.parse().map(Variant::Game);
        game.map_err(|error: UnknownGame| D::Error::custom(format!("{error}, {CHESS960}")))
    }
}

impl Rule {
    /// Returns whether the rule matches any game, so that its engine plays instead of `[engine]`.
    pub fn matches_all(&self) -> bool {
        *self == Rule { engine: self.engine.clone(), ..Rule::default() }
    }

    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        let nothing = "the rule never applies: name some, or remove the key for all";
        for (key, is_empty) in [
            ("games", self.games.as_ref().is_some_and(Vec::is_empty)),
            ("time_controls", self.time_controls.as_ref().is_some_and(Vec::is_empty)),
        ] {
            found.not_empty(key, is_empty, nothing);
        }
        found.ordered(("min_base", self.min_base), ("max_base", self.max_base));
        found.ordered(("min_increment", self.min_increment), ("max_increment", self.max_increment));
    }

    fn matches(&self, info: &GameInfo, variant: Variant) -> bool {
        fn is_in<T: PartialEq>(wanted: Option<&Vec<T>>, actual: &T) -> bool {
            wanted.is_none_or(|wanted| wanted.contains(actual))
        }
        fn is<T: PartialEq>(wanted: Option<T>, actual: Option<T>) -> bool {
            wanted.is_none() || wanted == actual
        }
        let GameInfo { time_control, side, details, .. } = info;
        is_in(self.games.as_ref(), &variant)
            && is_in(self.time_controls.as_ref(), &Speed::of(*time_control))
            && self.matches_clock(*time_control)
            && is(self.color, Some(*side))
            && is(self.rated, details.rated)
            && is(self.opponent, details.opponent)
    }

    fn matches_clock(&self, clock: Option<TimeControl>) -> bool {
        let between = |min: Option<Duration>, max: Option<Duration>, of: fn(TimeControl) -> Duration| {
            let actual = clock.map(of);
            min.is_none_or(|min| actual.is_some_and(|actual| actual >= min))
                && max.is_none_or(|max| actual.is_some_and(|actual| actual <= max))
        };
        between(self.min_base, self.max_base, |clock| clock.initial)
            && between(self.min_increment, self.max_increment, |clock| clock.increment)
    }
}

/// The engines, each behind its rule.
#[derive(Clone, Default)]
pub(crate) struct EngineChoices(Arc<Vec<EngineChoice>>);

/// An engine that a rule may choose.
pub(crate) struct EngineChoice {
    rule: Rule,
    pub factory: EngineFactory,
    /// Its own, as engines count nodes in different ways.
    pub load: Load,
}

impl EngineChoices {
    pub(crate) fn new(rules: &[Rule], engines: &BTreeMap<String, EngineFactory>, load: &Load) -> Self {
        let loads: BTreeMap<_, _> = engines.keys().map(|name| (name, load.with_another_engine())).collect();
        let choice = |rule: &Rule| {
            let factory = engines.get(&rule.engine)?.clone();
            let load = loads.get(&rule.engine)?.clone();
            Some(EngineChoice { rule: rule.clone(), factory, load })
        };
        EngineChoices(Arc::new(rules.iter().filter_map(choice).collect()))
    }

    /// Returns the engine for a game; `None`: the default one. Engines that cannot play the game are skipped.
    pub(crate) fn choose<G: Playable>(&self, info: &GameInfo, start: &G) -> Option<&EngineChoice> {
        let variant = if start.is_chess960() { Variant::Chess960 } else { Variant::Game(info.game) };
        self.0.iter().find(|choice| choice.rule.matches(info, variant) && choice.factory.plays(start))
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::ByColor;
    use zeitnot_seat::GameDetails;

    use super::*;

    fn info() -> GameInfo {
        GameInfo {
            id: "g".into(),
            server: "s".into(),
            game: GameKind::Chess,
            start: None,
            side: Color::Black,
            names: ByColor(["a".into(), "b".into()]),
            time_control: Some("180+2".parse().unwrap()),
            details: GameDetails {
                rated: Some(true),
                opponent: Some(Opponent::Bot),
                ..GameDetails::default()
            },
        }
    }

    fn parse(text: &str) -> Result<Rule, toml::de::Error> {
        toml::from_str(&format!("engine = \"e\"\n{text}"))
    }

    #[test]
    fn a_rule_matches_where_all_its_keys_do() {
        let unknown = GameInfo { time_control: None, details: GameDetails::default(), ..info() };
        // The rule; whether it matches the game above; and one of which the server reports nothing.
        for (text, here, there) in [
            ("", true, true),
            ("games = ['chess', 'chess960']", true, true),
            ("time_controls = ['bullet', 'blitz']", true, false),
            ("min_base = '3m'\nmax_base = '3m'", true, false),
            ("min_increment = '2s'\nmax_increment = '10s'", true, false),
            ("color = 'black'", true, true),
            ("rated = true", true, false),
            ("opponent = 'bot'", true, false),
            ("games = ['chess']\ntime_controls = ['blitz']\ncolor = 'black'\nrated = true", true, false),
            ("games = ['chess960']", false, false),
            ("games = []", false, false),
            ("time_controls = ['bullet', 'correspondence']", false, true),
            ("min_base = '181s'", false, false),
            ("max_base = '179s'", false, false),
            ("min_base = '0s'", true, false),
            ("max_base = '9h'", true, false),
            ("min_increment = '3s'", false, false),
            ("max_increment = '1s'", false, false),
            ("color = 'white'", false, false),
            ("rated = false", false, false),
            ("opponent = 'human'", false, false),
            ("time_controls = ['blitz']\ncolor = 'white'", false, false),
        ] {
            let rule = parse(text).unwrap();
            let chess = Variant::Game(GameKind::Chess);
            assert_eq!(
                (rule.matches(&info(), chess), rule.matches(&unknown, chess)),
                (here, there),
                "{text}"
            );
            assert_eq!(rule.matches_all(), text.is_empty(), "{text}");
        }
    }

    #[test]
    fn typos_are_errors() {
        for text in [
            "games = ['ches']",
            "color = 'red'",
            "time_controls = ['fast']",
            "opponent = 'cat'",
            "colors = 'white'",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
