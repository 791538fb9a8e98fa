//! The log: to stderr, for people or as JSON, above the live lines. On a terminal its lines are short.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
};

use indicatif::MultiProgress;
use serde::Deserialize;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, ParseError, Targets},
    layer::SubscriberExt,
    registry,
    util::SubscriberInitExt,
};

use super::{
    bot_page::errors::ErrorLayer,
    log_line::{LastValue, ShortLine},
};

/// Environment variable that overrides the configured level.
const VARIABLE: &str = "RUST_LOG";
/// Lines that may wait for a slow terminal.
const MAX_LINES: usize = 10_000;

/// The `[log]` table of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Text or JSON.
    pub format: Format,
    /// Level or filter; `RUST_LOG` takes precedence.
    pub level: Level,
}

impl Config {
    /// Nothing, for measurements.
    pub fn silent() -> Self {
        Config { format: Format::Human, level: Level("off".to_owned()) }
    }

    /// The command's own messages and warnings, for the demo.
    pub fn quiet() -> Self {
        Config { format: Format::Human, level: Level("warn,zeitnot::cli=info".to_owned()) }
    }
}

/// Format of the log.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Text for people.
    #[default]
    Human,
    /// One JSON object a line.
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
        // A filter takes any word for the name of a module; here it is rather a misspelt level.
        let known = |part: &str| part.contains('=') || part.trim().parse::<LevelFilter>().is_ok();
        match targets(&text) {
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

fn targets(filter: &str) -> Result<Targets, ParseError> {
    let parts: Vec<_> = filter.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join(",").parse()
}

/// Logs until the guard is dropped, which waits a moment for the last lines.
///
/// The lines of `live` are hidden while a log line is written. A thread of its own writes, so that a stopped terminal
/// or a pipe that nobody reads delays no move; lines are dropped then.
pub(super) fn start(config: &Config, live: &MultiProgress) -> WorkerGuard {
    start_with(config, live, None)
}

/// The same, with what shows warnings and errors elsewhere.
pub(super) fn start_with(config: &Config, live: &MultiProgress, errors: Option<ErrorLayer>) -> WorkerGuard {
    let variable = env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty()).map(|text| targets(&text));
    let filter = match &variable {
        Some(Ok(filter)) => filter.clone(),
        _ => targets(&config.level.0).unwrap_or_default(),
    };
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(PastLive(live.clone()));
    let log = tracing_subscriber::fmt::layer().with_writer(writer);
    let log = match config.format {
        Format::Human if io::stderr().is_terminal() => {
            log.with_ansi(wants_colours()).fmt_fields(LastValue).event_format(ShortLine).boxed()
        }
        Format::Human => log.with_target(false).with_ansi(false).boxed(),
        Format::Json => log.json().boxed(),
    };
    let errors = errors.map(|errors| errors.with_filter(ErrorLayer::filter()));
    // Fails if there is a log already, as in a test, which then stays.
    let _ = registry().with(log.with_filter(filter)).with(errors).try_init();
    if let Some(Err(error)) = variable {
        tracing::warn!("{VARIABLE} is not used: {error}");
    }
    guard
}

/// Whether the user has not turned colours off.
fn wants_colours() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes to stderr while the live lines are hidden.
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
