//! The `[engines.NAME]` tables of the configuration: programs, and engines of ours with other settings.

use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU16, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Deserializer, de};

use super::super::{self as engine, Kind, syzygy};

/// A program that plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The program: a path, or a name that is looked for as a shell would.
    pub command: PathBuf,
    /// What stands behind it.
    pub args: Vec<String>,
    /// Where it runs; `None`: where we do.
    pub folder: Option<PathBuf>,
    /// What it speaks.
    pub protocol: Protocol,
    /// It may take this long to say that it is ready.
    pub start_within: Duration,
    /// What is set in it.
    pub options: BTreeMap<String, Value>,
}

impl Config {
    /// A program that speaks UCI, as it is.
    pub fn new(command: impl Into<PathBuf>) -> Config {
        Config {
            command: command.into(),
            args: Vec::new(),
            folder: None,
            protocol: Protocol::default(),
            start_within: START_WITHIN,
            options: BTreeMap::new(),
        }
    }
}

/// Networks and tables take their time to load.
const START_WITHIN: Duration = Duration::from_secs(30);

/// How a program speaks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
            Protocol::Xboard => "xboard's protocol",
        })
    }
}

/// What an option is set to, as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Table")]
pub enum Named {
    /// One of ours.
    Own(engine::Config),
    /// Somebody else's.
    External(Config),
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Own(own) => {
                write!(f, "{}, {} MiB for its table, search threads: {}", own.kind, own.hash_mib, own.threads)
            }
            Named::External(program) => {
                write!(f, "{}, which speaks {}", program.command.display(), program.protocol)
            }
        }
    }
}

/// All that can stand in such a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: Option<Kind>,
    hash_mib: Option<NonZeroUsize>,
    threads: Option<NonZeroUsize>,
    depth: Option<NonZeroU16>,
    syzygy: Option<syzygy::SyzygyConfig>,
    command: Option<PathBuf>,
    args: Option<Vec<String>>,
    folder: Option<PathBuf>,
    protocol: Option<Protocol>,
    #[serde(default, with = "humantime_serde")]
    start_within: Option<Duration>,
    options: Option<BTreeMap<String, Value>>,
}

/// Why a table is none.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum BadTable {
    #[error("expected `command` for a program, or `kind` for an engine of ours")]
    Neither,
    #[error(
        "a program has no `kind`, `hash_mib`, `threads`, `depth` or `syzygy`: set its options in [engines.NAME.options]"
    )]
    OursInTheirs,
    #[error(
        "without `command` it is an engine of ours, and has no `args`, `folder`, `protocol`, `start_within` or `options`"
    )]
    TheirsInOurs,
}

impl TryFrom<Table> for Named {
    type Error = BadTable;

    fn try_from(table: Table) -> Result<Named, BadTable> {
        let Table { kind, hash_mib, threads, depth, syzygy, .. } = table;
        let Table { command, args, folder, protocol, start_within, options, .. } = table;
        let ours =
            kind.is_some() || hash_mib.is_some() || threads.is_some() || depth.is_some() || syzygy.is_some();
        let theirs = args.is_some()
            || folder.is_some()
            || protocol.is_some()
            || start_within.is_some()
            || options.is_some();
        match command {
            Some(_) if ours => Err(BadTable::OursInTheirs),
            Some(command) => Ok(Named::External(Config {
                command,
                args: args.unwrap_or_default(),
                folder,
                protocol: protocol.unwrap_or_default(),
                start_within: start_within.unwrap_or(START_WITHIN),
                options: options.unwrap_or_default(),
            })),
            None if theirs => Err(BadTable::TheirsInOurs),
            None if !ours => Err(BadTable::Neither),
            None => {
                let usual = engine::Config::default();
                Ok(Named::Own(engine::Config {
                    kind: kind.unwrap_or(usual.kind),
                    hash_mib: hash_mib.unwrap_or(usual.hash_mib),
                    threads: threads.unwrap_or(usual.threads),
                    depth: depth.unwrap_or(usual.depth),
                    syzygy: syzygy.unwrap_or(usual.syzygy),
                }))
            }
        }
    }
}
