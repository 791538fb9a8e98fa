//! The configuration file: a table for each part of the program, and a `[[server]]` for each server to play on.
//!
//! Each key is declared in the struct of its table (`zeitnot-settings`); `schema` collects them, and writes the documents.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use zeitnot_arena as arena;
use zeitnot_bot as bot;
use zeitnot_bot::cache;
use zeitnot_clients::{Server, lichess::Lichess, lookup};
use zeitnot_engine as engine;
use zeitnot_external as external;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_web::page;

use super::{log, read_text, service::metrics};

mod contradictions;
mod error;
mod overrides;
mod reader;
mod schema;
mod validate;

pub(super) use error::Keys;
pub use error::{ConfigError, ConfigErrors};
use overrides::DEFAULT_FILE;
pub use overrides::{ConfigArgs, ConfigFileArgs, Overrides};
use reader::Reader;
pub(super) use schema::server_table;
pub use schema::{Audience, key_tables, sample_for, schema, schema_file};

/// Maximum size of a file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The configuration file. Missing keys have defaults.
#[derive(Debug, JsonSchema)]
pub struct Config {
    /// Zeitnot's own engine.
    pub engine: engine::Config,
    /// Other engines, each with a name, for the rules of `[[bot.choose]]`: a program with these keys, or one of Zeitnot's
    /// engines with those of `[engine]`; see docs/engines.md.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub engines: BTreeMap<String, external::Named>,
    /// Games at once, time for moves, and sources of moves.
    pub bot: bot::Config,
    /// Servers to query for moves.
    pub online_moves: lookup::Config,
    /// Moves and measured lags, kept between games and runs.
    pub cache: cache::Config,
    /// Logs go to stderr; on a terminal the lines are short.
    pub log: log::Config,
    /// The page of `zeitnot play`: its games on all servers, challenges, deadlines, results; see docs/web.md.
    pub web: Option<page::Config>,
    /// A port for Prometheus (/metrics) and health checks (/healthz, /readyz), of `zeitnot play` and `zeitnot arena`; see
    /// docs/service.md. It has no password: keep it on this machine or behind a firewall.
    pub metrics: Option<metrics::Config>,
    /// A tournament server for a class or a lab, for `zeitnot arena`; see docs/arena.md.
    pub arena: arena::Config,
    /// Servers to play on, for `zeitnot play`; any number of these tables.
    #[schemars(rename = "server", with = "Vec<serde_json::Value>")]
    pub servers: Vec<Server>,
    #[schemars(skip)]
    pub(super) keys: Keys,
}

impl Config {
    /// Reads the configuration of a command.
    ///
    /// # Errors
    /// [`ConfigErrors`]: all mistakes in it.
    pub fn load(source: &ConfigArgs) -> Result<Config, ConfigErrors> {
        let text = Config::read(source)?;
        Config::parse_with(&source.config.display().to_string(), &text, &source.overrides)
    }

    /// Reads the configuration of a bot, which plays somewhere.
    pub(super) fn load_to_play(source: &ConfigArgs) -> Result<Config, ConfigErrors> {
        let config = Config::load(source)?;
        match config.servers.is_empty() {
            true => Err(ConfigErrors::whole(&config.keys.file, "nowhere to play: add a [[server]] table")),
            false => Ok(config),
        }
    }

    fn read(ConfigArgs { config, .. }: &ConfigArgs) -> Result<String, ConfigErrors> {
        let file = config.display().to_string();
        read_text(config, MAX_SIZE).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::NotFound => {
                    "no such file; make one with: zeitnot check --default > config.toml".to_owned()
                }
                io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
                io::ErrorKind::IsADirectory => "is a folder; name a file".to_owned(),
                io::ErrorKind::FileTooLarge => {
                    "is larger than a configuration: is it the right file?".to_owned()
                }
                _ => error.to_string(),
            };
            ConfigErrors::whole(&file, what)
        })
    }

    /// Reads the configuration of a command that needs none. Returns `None` if no file is named, the default one does
    /// not exist, and no key is set.
    pub fn load_if_given(
        config: Option<&PathBuf>,
        overrides: &Overrides,
    ) -> Result<Option<Config>, ConfigErrors> {
        let default = Path::new(DEFAULT_FILE);
        let config = config.filter(|file| *file != default);
        if config.is_none() && !default.exists() {
            let is_set = !overrides.set.is_empty();
            return is_set.then(|| Config::parse_with(DEFAULT_FILE, "", overrides)).transpose();
        }
        let config = config.cloned().unwrap_or_else(|| default.to_owned());
        Config::load(&ConfigArgs { config, overrides: overrides.clone() }).map(Some)
    }

    /// Reads the text of a file of this name.
    pub fn parse(file: &str, text: &str) -> Result<Config, ConfigErrors> {
        Config::parse_with(file, text, &Overrides::default())
    }

    /// Reads the text of a file of this name, and the keys of the command line. Variables that it takes secrets from are
    /// withheld from child processes.
    pub fn parse_with(file: &str, text: &str, overrides: &Overrides) -> Result<Config, ConfigErrors> {
        // Before the reader, which borrows from them.
        let (set, named);
        let mut reader = Reader::new(file, text).map_err(|errors| match is_of_another_bot(text) {
            true => {
                let what = format!(
                    "is a configuration of lichess-bot or BotLi; convert it: zeitnot import {file} > config.toml"
                );
                ConfigErrors::whole(file, what)
            }
            false => errors,
        })?;
        set = reader.written(&overrides.set);
        reader.apply(&set);
        named = overrides.player.as_deref().map_or_else(Vec::new, |player| reader.named(player));
        reader.apply(&named);
        reader.check_version()?;
        let mut config = Config {
            engine: reader.section("engine"),
            engines: reader.engines(),
            bot: reader.section("bot"),
            online_moves: reader.section("online_moves"),
            cache: reader.section("cache"),
            log: reader.section("log"),
            arena: reader.section("arena"),
            web: reader.section("web"),
            metrics: reader.section("metrics"),
            servers: reader.servers(),
            keys: reader.keys(),
        };
        if !config.keys.has("bot.max_games") {
            config.bot.max_games = config.bot.max_games.max(config.games_at_once());
        }
        reader.finish(&config.keys, || config.contradictions())?;
        let accounts = config.servers.iter().filter_map(|server| server.config_of::<Lichess>());
        accounts.filter_map(|account| account.token_env).for_each(|name| external::process::withhold(&name));
        Ok(config)
    }
}

/// Returns whether a text that is not TOML is a configuration of lichess-bot or of BotLi.
fn is_of_another_bot(text: &str) -> bool {
    const KEYS: [&str; 7] =
        ["token:", "url:", "engine:", "engines:", "challenge:", "matchmaking:", "messages:"];
    KEYS.iter().filter(|key| text.lines().any(|line| line.starts_with(**key))).count() >= 2
}
