//! The configuration file: a table for each part of the program, and a `[[server]]` for each server to play on.
//!
//! `config.toml` documents every key.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use zeitnot_arena as arena;
use zeitnot_bot as bot;
use zeitnot_bot::cache;
use zeitnot_clients::{Server, lichess::Lichess, lookup};
use zeitnot_engine as engine;
use zeitnot_external as external;
use zeitnot_web::page;

use super::{log, service::metrics};

mod contradictions;
mod error;
mod overrides;
mod reader;

pub use error::{ConfigError, ConfigErrors};
use overrides::DEFAULT_FILE;
pub use overrides::{ConfigArgs, ConfigFileArgs, Overrides};
use reader::Reader;

/// The documented default configuration.
pub const DOCUMENTED: &str = include_str!("../../../config.toml");

/// The configuration file. Missing keys have defaults.
#[derive(Debug)]
pub struct Config {
    /// `[engine]`: our engine.
    pub engine: engine::Config,
    /// `[engines.NAME]`: other engines, for the rules of `[[bot.choose]]`.
    pub engines: BTreeMap<String, external::Named>,
    /// `[bot]`: how to play.
    pub bot: bot::Config,
    /// `[online_moves]`: servers that are asked for moves.
    pub online_moves: lookup::Config,
    /// `[cache]`: positions that are remembered.
    pub cache: cache::Config,
    /// `[log]`: format and level of the log.
    pub log: log::Config,
    /// `[[server]]`: servers to play on.
    pub servers: Vec<Server>,
    /// `[arena]`: the tournament server.
    pub arena: arena::Config,
    /// `[web]`: the bot's own page.
    pub web: Option<page::Config>,
    /// `[metrics]`: the port for Prometheus and health checks.
    pub metrics: Option<metrics::Config>,
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

    /// Reads the text of the configuration of a command.
    ///
    /// # Errors
    /// [`ConfigErrors`]: it cannot be read.
    pub(in crate::cli) fn read(ConfigArgs { config, .. }: &ConfigArgs) -> Result<String, ConfigErrors> {
        let file = config.display().to_string();
        fs::read_to_string(config).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::NotFound => {
                    "no such file; make one with: zeitnot check --default > config.toml".to_owned()
                }
                io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
                io::ErrorKind::IsADirectory => "is a folder; name a file".to_owned(),
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

    /// Reads the text of a file of this name, and the keys of the command line. Variables that it takes secrets from
    /// are withheld from child processes.
    pub fn parse_with(file: &str, text: &str, overrides: &Overrides) -> Result<Config, ConfigErrors> {
        // Before the reader, which borrows from them.
        let (set, named);
        let mut reader = Reader::new(file, text).map_err(|errors| match is_of_lichess_bot(text) {
            true => {
                let what = format!(
                    "is a configuration of lichess-bot; convert it: zeitnot import-lichess-bot {file} > config.toml"
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
        reader.check_rules();
        let mut config = Config {
            engine: reader.section("engine"),
            engines: reader.section("engines"),
            bot: reader.section("bot"),
            online_moves: reader.section("online_moves"),
            cache: reader.section("cache"),
            log: reader.section("log"),
            arena: reader.section("arena"),
            web: reader.section("web"),
            metrics: reader.section("metrics"),
            servers: reader.servers(),
        };
        if !reader.is_set("bot.max_games") {
            config.bot.max_games = config.bot.max_games.max(config.games_at_once());
        }
        reader.finish(|is_set| config.contradictions(is_set))?;
        let accounts = config.servers.iter().filter_map(|server| server.config_of::<Lichess>());
        accounts.filter_map(|account| account.token_env).for_each(|name| external::process::withhold(&name));
        Ok(config)
    }
}

/// Returns whether a text that is not TOML is a configuration of lichess-bot or of BotLi.
fn is_of_lichess_bot(text: &str) -> bool {
    const KEYS: [&str; 7] =
        ["token:", "url:", "engine:", "engines:", "challenge:", "matchmaking:", "messages:"];
    KEYS.iter().filter(|key| text.lines().any(|line| line.starts_with(**key))).count() >= 2
}
