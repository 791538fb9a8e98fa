//! The engines of a configuration: each is started and tried before anything else begins.

use std::{collections::BTreeMap, thread};

use zeitnot_engine::{
    EngineFactory, OutOfMemory,
    external::{Named, OpenError, Program},
    syzygy::{TablebaseError, Tablebases},
};

use super::{CliError, config::Config};

/// What became of the `[engines.NAME]` tables.
#[derive(Default)]
pub(super) struct Engines {
    /// Those that can play, by name.
    pub ready: BTreeMap<String, EngineFactory>,
    /// What the user should know, each in one line.
    pub warnings: Vec<String>,
}

/// Why an engine is none.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("engine {0}: {1}")]
    OutOfMemory(String, OutOfMemory),
    #[error("engine {0}: {1}")]
    Tables(String, TablebaseError),
}

impl Engines {
    /// Tries them all at once: programs are started, and play a quick move.
    ///
    /// # Errors
    /// Where one fails that a rule without conditions names: it was to play whatever comes. Others are left
    /// out with a warning.
    pub fn open(config: &Config) -> Result<Engines, CliError> {
        let tried: Vec<_> = thread::scope(|scope| {
            let open = |(name, named): (_, _)| (name, scope.spawn(move || open(String::as_str(name), named)));
            let trials: Vec<_> = config.engines.iter().map(open).collect();
            trials.into_iter().map(|(name, trial)| (name, trial.join())).collect()
        });
        let mut engines = Engines::default();
        for (name, tried) in tried {
            match tried {
                Ok(Ok((factory, warning))) => {
                    engines.ready.insert(name.clone(), factory);
                    engines.warnings.extend(warning);
                }
                Ok(Err(trouble)) => {
                    if config.bot.choose.iter().any(|rule| rule.engine == *name && rule.matches_all()) {
                        return Err(CliError::Engine(trouble.to_string()));
                    }
                    engines.warnings.push(format!("{trouble} (until then its rules are passed over)"));
                }
                Err(_) => {
                    return Err(CliError::Engine(format!(
                        "engine {name}: its trial crashed, please report it"
                    )));
                }
            }
        }
        Ok(engines)
    }

    /// Ends all programs, for ever.
    pub fn close(&self) {
        self.ready.values().for_each(EngineFactory::close);
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        self.close();
    }
}

/// An engine, and what is to be said of its options.
fn open(name: &str, named: &Named) -> Result<(EngineFactory, Option<String>), Trouble> {
    let no_memory = |error| Trouble::OutOfMemory(name.to_owned(), error);
    match named {
        Named::Own(own) => {
            let bad_tables = |error| Trouble::Tables(name.to_owned(), error);
            let endgames = Tablebases::open(&own.syzygy).map_err(bad_tables)?;
            Ok((EngineFactory::new(own).map_err(no_memory)?.with_endgames(endgames, &own.syzygy), None))
        }
        Named::External(program) => {
            let opened = Program::open(name, program)?;
            let warning = (!opened.unknown_options.is_empty()).then(|| {
                let unknown = opened.unknown_options.join(", ");
                let known: Vec<_> = opened.program.options().collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                format!("engine {name} has no option {unknown}; it has: {known}")
            });
            Ok((EngineFactory::external(opened.program).map_err(no_memory)?, warning))
        }
    }
}
