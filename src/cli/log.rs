//! The log: to stderr, for people or as JSON, above the live lines, and to a file. On a terminal its lines are short.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
    num::NonZeroU32,
    path::PathBuf,
};

use indicatif::MultiProgress;
use serde::{Deserialize, Serialize};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, ParseError, Targets},
    layer::SubscriberExt,
    registry, reload,
    util::SubscriberInitExt,
};

use zeitnot_settings::{JsonSchema, schemars, settings};

#[cfg(target_os = "linux")]
use super::journal::Journal;
use super::{
    log_file::LogFile,
    log_line::{LastValue, ShortLine},
    service::client_events::ClientEvents,
    table::error_width,
};

/// Environment variable that overrides the configured level.
const VARIABLE: &str = "RUST_LOG";
/// Lines that may wait for a slow terminal.
const MAX_LINES: usize = 10_000;

settings! {
    /// Logs go to stderr; on a terminal the lines are short.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// "human", or "json" for one object a line.
        format: Format = Format::default(),
        /// "error", "warn", "info", "debug", "trace", or a filter such as "info,zeitnot_clients=debug". The environment's
        /// RUST_LOG takes precedence.
        #[schemars(extend("x-reload" = true))]
        level: Level = Level::default(),
        /// File with a copy of the log. Without it, none is written. It is rotated: `FILE.1` is the file before, and so on.
        #[schemars(example = &"zeitnot.log")]
        file: Option<PathBuf> = None,
        /// Size of the file, in MiB, at which it is rotated.
        file_mib: NonZeroU32 = const { NonZeroU32::new(10).unwrap() },
        /// Older files that are kept.
        old_files: u32 = 5,
    }
}

impl Config {
    /// Nothing, for measurements.
    pub fn silent() -> Self {
        Config { level: Level("off".to_owned()), ..Config::default() }
    }

    /// The command's own messages and warnings, for the demo.
    pub fn quiet() -> Self {
        Config { level: Level("warn,zeitnot::cli=info".to_owned()), ..Config::default() }
    }
}

/// Format of the log.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Text for people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// `error`, `warn`, `info`, `debug`, `trace`, or a filter as `RUST_LOG` takes it: `info,zeitnot_net=debug`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
        write!(f, "{whom}, {}", self.level.0)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, "; also to {}", file.display()))
    }
}

fn targets(filter: &str) -> Result<Targets, ParseError> {
    let parts: Vec<_> = filter.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join(",").parse()
}

/// Filter of the log, which can be set while the program runs. Cheap to clone.
#[derive(Clone)]
pub(super) struct LogFilter(reload::Handle<Targets, Registry>);

impl LogFilter {
    /// Logs at another level from now on, unless the environment has set one.
    pub(super) fn set(&self, config: &Config) {
        if env::var_os(VARIABLE).is_some_and(|text| !text.is_empty()) {
            return tracing::warn!("log.level is not changed: {VARIABLE} goes before it");
        }
        // Fails where another log stays, as in a test.
        let _ = self.0.reload(targets(&config.level.0).unwrap_or_default());
    }
}

/// Log that lasts until it is dropped.
pub(super) struct Log {
    pub(super) filter: LogFilter,
    _guards: (WorkerGuard, Option<WorkerGuard>),
}

/// Logs until the log is dropped, which waits a moment for the last lines.
///
/// The lines of `live` are hidden while a log line is written. A thread of its own writes, and another one to the file, so
/// that a stopped terminal, a pipe that nobody reads or a slow disk delays no move; lines are dropped then.
pub(super) fn start(config: &Config, live: &MultiProgress) -> Log {
    start_with(config, live, None)
}

/// The same, with what takes the events of the clients.
pub(super) fn start_with(config: &Config, live: &MultiProgress, events: Option<ClientEvents>) -> Log {
    let variable = env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty()).map(|text| targets(&text));
    let filter = match &variable {
        Some(Ok(filter)) => filter.clone(),
        _ => targets(&config.level.0).unwrap_or_default(),
    };
    let journal = if config.format == Format::Human { Output::of_journal() } else { None };
    let is_journal = journal.is_some();
    let output = journal.unwrap_or_else(|| Output::Stderr(live.clone()));
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(output);
    let log = tracing_subscriber::fmt::layer().with_writer(writer);
    let log = match config.format {
        Format::Human if is_journal => log.json().boxed(),
        Format::Human if io::stderr().is_terminal() => {
            log.with_ansi(wants_colours()).fmt_fields(LastValue).event_format(ShortLine(error_width)).boxed()
        }
        Format::Human => log.with_target(false).with_ansi(false).boxed(),
        Format::Json => log.json().boxed(),
    };
    let (file, file_guard) = to_file(config).unzip();
    let events = events.map(|events| events.with_filter(ClientEvents::filter()));
    let (filter, handle) = reload::Layer::new(filter);
    // Fails if there is a log already, as in a test, which then stays.
    let _ = registry().with(log.and_then(file).with_filter(filter)).with(events).try_init();
    if let Some(Err(error)) = variable {
        tracing::warn!("{VARIABLE} is not used: {error}");
    }
    Log { filter: LogFilter(handle), _guards: (guard, file_guard) }
}

/// Returns the copy of the log in its file, if there is to be one.
fn to_file(config: &Config) -> Option<(Box<dyn Layer<Registry> + Send + Sync>, WorkerGuard)> {
    let max_bytes = u64::from(config.file_mib.get()) << 20;
    let file = LogFile::new(config.file.as_ref()?, max_bytes, config.old_files);
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(file);
    let log = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    let log = match config.format {
        Format::Human => log.with_target(false).boxed(),
        Format::Json => log.json().boxed(),
    };
    Some((log, guard))
}

/// Whether the user has not turned colours off.
fn wants_colours() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Place that the lines of the log are written to.
enum Output {
    /// Stderr, while the live lines are hidden.
    Stderr(MultiProgress),
    /// systemd's journal, which takes lines of JSON.
    #[cfg(target_os = "linux")]
    Journal(Journal),
}

impl Output {
    /// Returns the journal if stderr leads there.
    fn of_journal() -> Option<Output> {
        #[cfg(target_os = "linux")]
        return Journal::of_stderr().map(Output::Journal);
        #[cfg(not(target_os = "linux"))]
        None
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stderr(live) => live.suspend(|| io::stderr().write_all(bytes))?,
            #[cfg(target_os = "linux")]
            Output::Journal(journal) => return journal.write(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
