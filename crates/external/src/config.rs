//! The `[engines.NAME]` tables of the configuration: external engines, and our own with other settings.

use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize, de};
use zeitnot_engine::{Config as OwnConfig, Elo, Kind, MoveLimits, net::EvalFile, syzygy, textbook};
use zeitnot_settings::{HumanTime, JsonSchema, schemars};

/// An external engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Path of the program, or a name that is looked up in `PATH`.
    pub command: PathBuf,
    /// Command-line arguments.
    pub args: Vec<String>,
    /// Working directory; `None` for ours.
    pub folder: Option<PathBuf>,
    pub protocol: Protocol,
    /// Time to get ready.
    pub start_within: Duration,
    pub options: BTreeMap<String, Value>,
    pub limits: MoveLimits,
    /// Reaction to its failure in a game.
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
            start_within: START_WITHIN,
            options: BTreeMap::new(),
            limits: MoveLimits::default(),
            on_engine_failure: OnEngineFailure::default(),
        }
    }
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
const START_WITHIN: Duration = Duration::from_secs(30);

/// Protocol of an external engine.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, version 2.
    Xboard,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Uci => "UCI",
            Protocol::Xboard => "the xboard protocol",
        })
    }
}

/// Value of an option, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Table")]
#[schemars(with = "Table")]
pub enum Named {
    /// Our own engine.
    Own(OwnConfig),
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

/// Keys of external engines, then those of ours, which belong to tables without `command`. Defaults depend on that, so
/// that a missing key has to be told from a default.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Program: a path, or a name in the search path. Without it, an engine of ours.
    #[schemars(example = &"stockfish")]
    command: Option<PathBuf>,
    /// Its arguments.
    #[schemars(extend("default" = []))]
    args: Option<Vec<String>>,
    /// Its working folder. Without it, the current one.
    #[schemars(example = &"/opt/stockfish")]
    folder: Option<PathBuf>,
    /// Its protocol: "xboard" is CECP, version 2.
    #[schemars(extend("default" = Protocol::default()))]
    protocol: Option<Protocol>,
    /// Time until it must be ready.
    #[serde(default, with = "HumanTime")]
    #[schemars(extend("default" = "30s"))]
    start_within: Option<Duration>,
    /// When it fails in a game: "restart" it, and leave the game if that does not help (abort before the second move, else
    /// resign); "resign" at once; or "own": our own engine plays in its name.
    #[schemars(extend("default" = OnEngineFailure::default()))]
    on_engine_failure: Option<OnEngineFailure>,
    /// Its own options.
    #[schemars(example = options_example())]
    options: Option<BTreeMap<String, Value>>,
    /// Limits of every move, even if the clock allows more.
    #[serde(default)]
    limits: MoveLimits,
    /// Algorithm of an engine of ours. The keys from here on are those of `[engine]`, and not for programs.
    #[schemars(example = &"mcts")]
    kind: Option<Kind>,
    /// Size of its table in MiB.
    #[schemars(example = 64)]
    hash_mib: Option<NonZeroUsize>,
    /// Its search threads.
    #[schemars(example = 1)]
    threads: Option<NonZeroUsize>,
    /// Maximum depth of textbook algorithms.
    #[schemars(example = 48, range(min = 1, max = textbook::MAX_DEPTH))]
    depth: Option<NonZeroU16>,
    /// Its Elo.
    #[schemars(example = 1500)]
    elo: Option<Elo>,
    /// Its endgame tables, as in [engine.syzygy].
    #[schemars(extend("x-inline" = true, "examples" = [{ "folders": ["syzygy"] }]))]
    syzygy: Option<syzygy::SyzygyConfig>,
    /// Its evaluation.
    #[schemars(with = "Option<String>", example = &"net")]
    eval_file: Option<EvalFile>,
}

fn options_example() -> BTreeMap<&'static str, u16> {
    BTreeMap::from([("Hash", 64), ("Threads", 1), ("Move Overhead", 10)])
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum BadTable {
    #[error("expected `command` for a program, or `kind` for our own engine")]
    Neither,
    #[error(
        "a program has no `kind`, `hash_mib`, `threads`, `depth`, `elo`, `syzygy` or `eval_file`: set its options in [engines.NAME.options]"
    )]
    OwnKeysOfExternal,
    #[error(
        "without `command` it is our own engine, and has no `args`, `folder`, `protocol`, `start_within`, `options` or `on_engine_failure`"
    )]
    ExternalKeysOfOwn,
    #[error("the xboard protocol has no limit of nodes: set `depth` or `move_time` in [engines.NAME.limits]")]
    NodesOfXboard,
}

impl TryFrom<Table> for Named {
    type Error = BadTable;

    fn try_from(table: Table) -> Result<Named, BadTable> {
        let Table { kind, hash_mib, threads, depth, elo, syzygy, eval_file, .. } = table;
        let Table {
            command, args, folder, protocol, start_within, options, on_engine_failure, limits, ..
        } = table;
        let ours = kind.is_some()
            || hash_mib.is_some()
            || threads.is_some()
            || depth.is_some()
            || elo.is_some()
            || syzygy.is_some()
            || eval_file.is_some();
        let theirs = args.is_some()
            || folder.is_some()
            || protocol.is_some()
            || start_within.is_some()
            || options.is_some()
            || on_engine_failure.is_some();
        match command {
            Some(_) if ours => Err(BadTable::OwnKeysOfExternal),
            Some(_) if protocol == Some(Protocol::Xboard) && limits.nodes.is_some() => {
                Err(BadTable::NodesOfXboard)
            }
            Some(command) => Ok(Named::External(Config {
                command,
                args: args.unwrap_or_default(),
                folder,
                protocol: protocol.unwrap_or_default(),
                start_within: start_within.unwrap_or(START_WITHIN),
                options: options.unwrap_or_default(),
                limits,
                on_engine_failure: on_engine_failure.unwrap_or_default(),
            })),
            None if theirs => Err(BadTable::ExternalKeysOfOwn),
            None if !ours => Err(BadTable::Neither),
            None => {
                let usual = OwnConfig::default();
                Ok(Named::Own(OwnConfig {
                    kind: kind.unwrap_or(usual.kind),
                    hash_mib: hash_mib.unwrap_or(usual.hash_mib),
                    threads: threads.unwrap_or(usual.threads),
                    depth: depth.unwrap_or(usual.depth),
                    elo,
                    syzygy: syzygy.unwrap_or(usual.syzygy),
                    eval_file: eval_file.unwrap_or(usual.eval_file),
                    limits,
                }))
            }
        }
    }
}
