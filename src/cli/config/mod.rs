//! The configuration file: one table a room of the house, and a `[[server]]` for each server to play on.
//!
//! `config.toml` of the source documents every key. A mistake is told in one line with its place.

use std::{collections::BTreeMap, fs, io, path::Path};

use zeitnot_arena as arena;
use zeitnot_bot as bot;
use zeitnot_bot::cache;
use zeitnot_clients::{Server, lookup};
use zeitnot_engine as engine;

mod error;
mod reader;

pub use error::{ConfigError, ConfigErrors};
use reader::Reader;

use super::log;

/// The documented default, as it stands in the source.
pub const DOCUMENTED: &str = include_str!("../../../config.toml");

/// Everything the file can say. What it leaves out has a default.
#[derive(Debug)]
pub struct Config {
    /// `[engine]`: how we think.
    pub engine: engine::Config,
    /// `[engines.NAME]`: others that may think, if a rule of `[[bot.choose]]` says so.
    pub engines: BTreeMap<String, engine::external::Named>,
    /// `[bot]`: how we play.
    pub bot: bot::Config,
    /// `[online_moves]`: servers that are asked for moves.
    pub online_moves: lookup::Config,
    /// `[cache]`: what we remember.
    pub cache: cache::Config,
    /// `[log]`: what we tell.
    pub log: log::Config,
    /// `[[server]]`: where we play.
    pub servers: Vec<Server>,
    /// `[arena]`: where others play.
    pub arena: arena::Config,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// [`ConfigErrors`]: everything that is wrong with it.
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
            ConfigErrors::one(ConfigError { file: file.clone(), line: None, key: String::new(), what })
        })?;
        Config::parse(&file, &text)
    }

    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(file: &str, text: &str) -> Result<Config, ConfigErrors> {
        let mut reader = Reader::new(file, text)?;
        reader.rules();
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
