//! The engines of a configuration: each is started and tried before anything else begins.

use std::{collections::BTreeMap, thread};

use zeitnot_engine::{EngineFactory, syzygy::Tablebases};
use zeitnot_external::{Named, Opened, Program};

/// The engines of the `[engines.NAME]` tables, whose programs end when this is dropped.
#[derive(Default)]
pub(super) struct Engines {
    /// Those that can play, by name.
    pub ready: BTreeMap<String, EngineFactory>,
    /// Names of those whose program or files do not exist, each with the reason.
    pub mistakes: Vec<(String, String)>,
    /// Names of those that failed, and may work another time, each with the reason.
    pub failed: Vec<(String, String)>,
    /// Messages to the user about the others.
    pub warnings: Vec<String>,
}

impl Engines {
    /// Starts these programs at once, and lets each play a quick move. An engine that does not exist is a mistake of the
    /// configuration; one that fails is left out.
    pub(super) fn open<'c>(named: impl Iterator<Item = (&'c String, &'c Named)>) -> Engines {
        let opened: Vec<_> = thread::scope(|scope| {
            let open = |(name, named)| (name, scope.spawn(move || open(String::as_str(name), named)));
            let threads: Vec<_> = named.map(open).collect();
            threads.into_iter().map(|(name, thread)| (name, thread.join())).collect()
        });
        let mut engines = Engines::default();
        for (name, opened) in opened {
            let crash =
                |_| Err(Failure::Failed(format!("engine {name}: trying it crashed, please report it")));
            match opened.unwrap_or_else(crash) {
                Ok((factory, warning)) => {
                    engines.ready.insert(name.clone(), factory);
                    engines.warnings.extend(warning);
                }
                Err(Failure::Missing(message)) => engines.mistakes.push((name.clone(), message)),
                Err(Failure::Failed(message)) => engines.failed.push((name.clone(), message)),
            }
        }
        engines
    }

    /// Ends all programs for good.
    pub(super) fn close(&self) {
        self.ready.values().for_each(EngineFactory::close);
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reason why an engine cannot be opened.
enum Failure {
    /// The configuration names what does not exist.
    Missing(String),
    /// It may work another time.
    Failed(String),
}

/// Opens an engine; also returns a warning about its options.
fn open(name: &str, named: &Named) -> Result<(EngineFactory, Option<String>), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::Missing(format!("engine {name}: {error}"));
    match named {
        Named::Own(own) => {
            let endgames = Tablebases::open(&own.syzygy).map_err(|error| failed(&error))?;
            let factory = EngineFactory::new(own).map_err(|error| failed(&error))?;
            Ok((factory.with_endgames(endgames, &own.syzygy), None))
        }
        Named::External(program) => {
            let opened = Program::open(name, program).map_err(|error| match error.is_missing() {
                true => Failure::Missing(error.to_string()),
                false => Failure::Failed(error.to_string()),
            })?;
            let warning = unknown_options(name, &opened);
            Ok((opened.program.factory().map_err(|error| failed(&error))?, warning))
        }
    }
}

/// Message about options that an engine does not have.
pub(super) fn unknown_options(name: &str, opened: &Opened) -> Option<String> {
    let known = opened.program.options().collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none" } else { &known };
    let unknown = opened.unknown_options.join(", ");
    (!unknown.is_empty()).then(|| format!("engine {name} has no option {unknown}; it has: {known}"))
}
