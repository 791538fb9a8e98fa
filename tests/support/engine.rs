//! Engines without a bot.

use zeitnot_engine::{Config, EngineFactory};

/// Makes thinkers that search, with this table and number of threads.
///
/// A thinker of the factory is compiled, and optimised, in the engine's crate; one that a test makes by itself is not.
pub fn search_factory(hash_mib: usize, threads: usize) -> EngineFactory {
    let hash_mib = hash_mib.try_into().unwrap();
    let threads = threads.try_into().unwrap();
    EngineFactory::new(&Config { hash_mib, threads, ..Config::default() }).unwrap()
}
