//! Engines by game: the first rule that matches decides. Other rules by game have the same conditions.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_engine::{EngineFactory, Playable};
use zeitnot_net::Contradictions;
use zeitnot_rules::{CHESS960, Color, Game, GameKind, Speed, TimeControl, UnknownGame};
use zeitnot_seat::{GameInfo, Opponent};
use zeitnot_settings::{Schema, SchemaGenerator, list_of, schemars, words};

use crate::load::Load;

/// Declares a rule: its own keys, and its conditions. The rule matches a game where all conditions do.
macro_rules! rule {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($own:tt)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, zeitnot_settings::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($own)*
            /// Games that the rule matches.
            #[schemars(schema_with = "crate::choice::variants", example = ["chess", "chess960"])]
            #[serde(default)]
            games: Option<Vec<$crate::choice::Variant>>,
            /// Speeds; "correspondence" is without a clock.
            #[schemars(schema_with = "crate::choice::speeds", example = ["blitz", "rapid"])]
            #[serde(default)]
            time_controls: Option<Vec<zeitnot_rules::Speed>>,
            /// Minimum initial time.
            #[serde(default, with = "zeitnot_settings::HumanTime")]
            #[schemars(example = &"3m")]
            min_base: Option<std::time::Duration>,
            /// Maximum initial time.
            #[serde(default, with = "zeitnot_settings::HumanTime")]
            #[schemars(example = &"30m")]
            max_base: Option<std::time::Duration>,
            /// Minimum increment.
            #[serde(default, with = "zeitnot_settings::HumanTime")]
            #[schemars(example = &"0s")]
            min_increment: Option<std::time::Duration>,
            /// Maximum increment.
            #[serde(default, with = "zeitnot_settings::HumanTime")]
            #[schemars(example = &"30s")]
            max_increment: Option<std::time::Duration>,
            /// The bot's color.
            #[schemars(schema_with = "crate::choice::colors", example = &"white")]
            #[serde(default)]
            color: Option<zeitnot_rules::Color>,
            /// Whether the game is rated.
            #[schemars(example = true)]
            rated: Option<bool>,
            /// Kind of opponent.
            #[schemars(schema_with = "crate::choice::opponents", example = &"bot")]
            #[serde(default)]
            opponent: Option<zeitnot_seat::Opponent>,
        }

        impl $name {
            pub(crate) fn conditions(&self) -> $crate::choice::Conditions<'_> {
                $crate::choice::Conditions {
                    games: self.games.as_deref(),
                    time_controls: self.time_controls.as_deref(),
                    min_base: self.min_base,
                    max_base: self.max_base,
                    min_increment: self.min_increment,
                    max_increment: self.max_increment,
                    color: self.color,
                    rated: self.rated,
                    opponent: self.opponent,
                }
            }
        }
    };
}
pub(crate) use rule;

rule! {
    /// A rule that chooses an engine.
    pub struct Rule {
        /// An [engines.NAME] table.
        #[schemars(example = &"stockfish")]
        pub engine: String,
    }
}

impl Rule {
    /// Returns whether the rule matches any game, so that its engine plays instead of `[engine]`.
    pub fn matches_all(&self) -> bool {
        self.conditions().match_all()
    }
}

/// Conditions of a rule; a missing one matches any game.
#[derive(Copy, Clone, Default, PartialEq)]
pub(crate) struct Conditions<'r> {
    pub(crate) games: Option<&'r [Variant]>,
    pub(crate) time_controls: Option<&'r [Speed]>,
    pub(crate) min_base: Option<Duration>,
    pub(crate) max_base: Option<Duration>,
    pub(crate) min_increment: Option<Duration>,
    pub(crate) max_increment: Option<Duration>,
    pub(crate) color: Option<Color>,
    pub(crate) rated: Option<bool>,
    pub(crate) opponent: Option<Opponent>,
}

pub(crate) fn variants(_: &mut SchemaGenerator) -> Schema {
    list_of(words(GameKind::ALL.iter().map(|game| game.name()).chain([CHESS960])))
}

pub(crate) fn speeds(_: &mut SchemaGenerator) -> Schema {
    list_of(words(Speed::ALL))
}

pub(crate) fn colors(_: &mut SchemaGenerator) -> Schema {
    words(Color::BOTH)
}

pub(crate) fn opponents(_: &mut SchemaGenerator) -> Schema {
    words([Opponent::Human, Opponent::Bot])
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// From any start position.
    Game(GameKind),
    /// Chess with the castling rules of Chess960.
    Chess960,
}

impl Variant {
    pub(crate) fn of<G: Game>(start: &G) -> Variant {
        if start.is_chess960() { Variant::Chess960 } else { Variant::Game(start.kind()) }
    }

    pub(crate) fn is_chess(self) -> bool {
        matches!(self, Variant::Game(GameKind::Chess) | Variant::Chess960)
    }
}

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

impl Conditions<'_> {
    pub(crate) fn match_all(&self) -> bool {
        *self == Conditions::default()
    }

    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        let nothing = "the rule never applies: name some, or remove the key for all";
        for (key, is_empty) in [
            ("games", self.games.is_some_and(<[_]>::is_empty)),
            ("time_controls", self.time_controls.is_some_and(<[_]>::is_empty)),
        ] {
            found.not_empty(key, is_empty, nothing);
        }
        found.ordered(("min_base", self.min_base), ("max_base", self.max_base));
        found.ordered(("min_increment", self.min_increment), ("max_increment", self.max_increment));
    }

    pub(crate) fn match_game(&self, info: &GameInfo, variant: Variant) -> bool {
        fn is_in<T: PartialEq>(wanted: Option<&[T]>, actual: &T) -> bool {
            wanted.is_none_or(|wanted| wanted.contains(actual))
        }
        fn is<T: PartialEq>(wanted: Option<T>, actual: Option<T>) -> bool {
            wanted.is_none() || wanted == actual
        }
        let GameInfo { time_control, side, details, .. } = info;
        is_in(self.games, &variant)
            && is_in(self.time_controls, &Speed::of(*time_control))
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
        let variant = Variant::of(start);
        let matches = |choice: &&EngineChoice| {
            choice.rule.conditions().match_game(info, variant) && choice.factory.plays(start)
        };
        self.0.iter().find(matches)
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
                (rule.conditions().match_game(&info(), chess), rule.conditions().match_game(&unknown, chess)),
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
