//! What we tell while we run: to stderr, for people or as JSON, past the live lines.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
};

use indicatif::MultiProgress;
use serde::Deserialize;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// The `[log]` table of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// For whom.
    pub format: Format,
    /// How much; `RUST_LOG` goes before it.
    pub level: Level,
}

impl Config {
    /// For a measurement: nothing, unless `RUST_LOG` asks for it.
    pub fn silent() -> Self {
        Config { format: Format::Human, level: Level("off".to_owned()) }
    }

    /// For a show: what the command itself has to say, and what goes wrong.
    pub fn quiet() -> Self {
        Config { format: Format::Human, level: Level("warn,zeitnot::cli=info".to_owned()) }
    }
}

/// For whom the log is written.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON object a line, for programs.
    Json,
}

/// `error`, `warn`, `info`, `debug`, `trace`, or a filter as `RUST_LOG` takes it: `info,zeitnot_net=debug`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Level(String);

impl Default for Level {
    fn default() -> Self {
        Level("info".to_owned())
    }
}

impl TryFrom<String> for Level {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // A filter takes any word for the name of a module; here it is rather a level misspelt.
        let known = |part: &str| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok();
        match EnvFilter::try_new(&text) {
            Ok(_) if text.split(',').all(known) => Ok(Level(text)),
            _ => Err(format!(
                "expected error, warn, info, debug, trace or a filter such as \"info,zeitnot=debug\", got {text:?}"
            )),
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whom = match self.format {
            Format::Human => "for people",
            Format::Json => "as JSON",
        };
        write!(f, "{whom}, {}", self.level.0)
    }
}

/// From here on everything is logged, until the guard is dropped; that waits a moment for the last lines.
///
/// The lines of `live` are put aside while a log line is written. A thread of its own writes: a terminal
/// that is stopped or a pipe that nobody reads keeps no answer from leaving. Lines are dropped then.
pub fn start(config: &Config, live: &MultiProgress) -> WorkerGuard {
    let filter = EnvFilter::try_from_default_env()
        .or_else(|_| EnvFilter::try_new(&config.level.0))
        .unwrap_or_default();
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(LINES).finish(PastLive(live.clone()));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    // It fails if a log is kept already, as in a test: then that one stays.
    let _ = match config.format {
        Format::Human => log.with_target(false).with_ansi(with_colours()).try_init(),
        Format::Json => log.json().try_init(),
    };
    if let Err(error) = EnvFilter::try_from_default_env()
        && env::var_os(EnvFilter::DEFAULT_ENV).is_some_and(|value| !value.is_empty())
    {
        tracing::warn!("{} is not used: {error}", EnvFilter::DEFAULT_ENV);
    }
    guard
}

/// Colours are for terminals whose user does not mind them.
fn with_colours() -> bool {
    io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Lines that may wait for a slow terminal.
const LINES: usize = 10_000;

/// Writes to stderr while no live line stands in the way.
struct PastLive(MultiProgress);

impl Write for PastLive {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
