//! The `[engines.NAME]` tables of the configuration: external engines, and our own with other settings.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer},
};
use zeitnot_engine::{Config as OwnConfig, MoveLimits};
use zeitnot_rules::GameKind;
use zeitnot_settings::{HumanTime, JsonSchema, Schema, SchemaGenerator, list_of, schemars, words};

/// An external engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-name" = "stockfish"))]
pub struct Config {
    /// Program: a path, or a name in the search path.
    #[schemars(example = &"stockfish")]
    pub command: PathBuf,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder. Without it, the current one.
    #[schemars(example = &"/opt/stockfish")]
    pub folder: Option<PathBuf>,
    /// Its protocol: "xboard" is CECP, version 2; "ubgi" that of MiniChess in the NTHU course of 2026, "files"
    /// that of 2023; "lines" asks for a move with one line of text, and is answered with one.
    #[serde(default)]
    pub protocol: Protocol,
    /// Games that it plays, of those that its protocol knows. Default: all of them that it names; with "lines", all.
    #[serde(default)]
    #[schemars(schema_with = "game_names", example = ["chess"])]
    pub games: Option<Vec<GameKind>>,
    /// Time until it must be ready.
    #[serde(default = "start_within", with = "HumanTime")]
    pub start_within: Duration,
    /// Its own options: { Hash = 64, "Move Overhead" = 10 }
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
    /// Limits of every move, even if the clock allows more.
    #[serde(default)]
    pub limits: MoveLimits,
    /// When it fails in a game: "restart" it, and leave the game if that does not help (abort before the second move, else
    /// resign); "resign" at once; or "own": Zeitnot's own engine plays in its name.
    #[serde(default)]
    pub on_engine_failure: OnEngineFailure,
}

impl Config {
    /// Returns the configuration of a UCI engine with its default options.
    pub fn new(command: impl Into<PathBuf>) -> Config {
        Config {
            command: command.into(),
            args: Vec::new(),
            folder: None,
            protocol: Protocol::default(),
            games: None,
            start_within: start_within(),
            options: BTreeMap::new(),
            limits: MoveLimits::default(),
            on_engine_failure: OnEngineFailure::default(),
        }
    }
}

fn game_names(_: &mut SchemaGenerator) -> Schema {
    list_of(words(GameKind::ALL))
}

/// Reaction to an engine that fails in a game.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnEngineFailure {
    /// The engine is restarted; if it keeps failing, the game is left. No other engine plays in its name.
    #[default]
    Restart,
    /// The game is left at once.
    Resign,
    /// The engine is restarted, and our own engine plays wherever it cannot.
    Own,
}

/// Networks and tables take time to load.
fn start_within() -> Duration {
    Duration::from_secs(30)
}

/// Protocol of an external engine.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, version 2.
    Xboard,
    /// The Universal Board Game Interface, for MiniChess.
    Ubgi,
    /// A line for a position, and one for the move.
    Lines,
    /// Files, for MiniChess.
    Files,
}

impl Protocol {
    /// Returns whether engines can search a number of nodes.
    pub fn counts_nodes(self) -> bool {
        self == Protocol::Uci
    }

    /// Returns whether engines can search to a depth.
    pub fn counts_depth(self) -> bool {
        !matches!(self, Protocol::Lines | Protocol::Files)
    }
}

impl FromStr for Protocol {
    type Err = de::value::Error;

    fn from_str(name: &str) -> Result<Protocol, Self::Err> {
        Protocol::deserialize(name.into_deserializer())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Uci => "UCI",
            Protocol::Xboard => "the xboard protocol",
            Protocol::Ubgi => "UBGI",
            Protocol::Lines => "the lines protocol",
            Protocol::Files => "the files protocol",
        })
    }
}

/// Value of an option, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(extend("type" = ["string", "integer", "number", "boolean"]))]
pub struct Value(String);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text of one line, a number, or true or false")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
                Ok(Value(value.to_string()))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
                if value.contains(char::is_control) {
                    return Err(E::invalid_value(de::Unexpected::Str(value), &self));
                }
                Ok(Value(value.to_owned()))
            }
        }
        from.deserialize_any(Visitor)
    }
}

/// An `[engines.NAME]` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// An engine of ours, by the keys of `[engine]`.
    Own(OwnConfig),
    /// A program.
    External(Config),
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Own(own) => {
                write!(
                    f,
                    "{}, {} MiB for its table, search threads: {}",
                    own.kind, own.hash_mib, own.threads
                )?;
                own.elo.map_or(Ok(()), |elo| write!(f, ", strength: {elo} Elo"))
            }
            Named::External(program) => {
                write!(f, "{}, which speaks {}", program.command.display(), program.protocol)
            }
        }?;
        let limits = match self {
            Named::Own(own) => own.limits,
            Named::External(program) => program.limits,
        };
        if limits.is_none() { Ok(()) } else { write!(f, ", {limits}") }
    }
}
