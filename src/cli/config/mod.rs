//! The configuration file: a table for each part of the program, and a `[[server]]` for each server to play on.
//!
//! `config.toml` documents every key.

use std::{collections::BTreeMap, fs, io, path::Path};

use zeitnot_arena as arena;
use zeitnot_bot as bot;
use zeitnot_bot::cache;
use zeitnot_clients::{Server, lookup};
use zeitnot_engine as engine;

use super::log;

mod error;
mod reader;

pub use error::{ConfigError, ConfigErrors};
use reader::Reader;

/// The documented default configuration.
pub const DOCUMENTED: &str = include_str!("../../../config.toml");

/// The configuration file. Missing keys have defaults.
#[derive(Debug)]
pub struct Config {
    /// `[engine]`: our engine.
    pub engine: engine::Config,
    /// `[engines.NAME]`: other engines, for the rules of `[[bot.choose]]`.
    pub engines: BTreeMap<String, engine::external::Named>,
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
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// [`ConfigErrors`]: all mistakes in it.
    pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::NotFound => {
                    "no such file; make one with: zeitnot check --default > config.toml".to_owned()
                }
                io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
                _ => error.to_string(),
            };
            ConfigErrors(vec![ConfigError { file: file.clone(), line: None, key: String::new(), what }])
        })?;
        Config::parse(&file, &text)
    }

    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(file: &str, text: &str) -> Result<Config, ConfigErrors> {
        let mut reader = Reader::new(file, text)?;
        reader.check_rules();
        let config = Config {
            engine: reader.section("engine"),
            engines: reader.section("engines"),
            bot: reader.section("bot"),
            online_moves: reader.section("online_moves"),
            cache: reader.section("cache"),
            log: reader.section("log"),
            arena: reader.section("arena"),
            servers: reader.servers(),
        };
        reader.finish()?;
        Ok(config)
    }
}
