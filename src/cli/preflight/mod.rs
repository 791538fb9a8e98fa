//! All that playing and the arena need besides a valid configuration, checked before anything begins. `check` runs the
//! same as `play` and `arena`: what these would refuse, it refuses.

use std::{fmt::Display, sync::Arc};

use zeitnot_arena::ArenaError;
use zeitnot_bot::{cache, sources::MoveSources, syzygy::SyzygyTables};
use zeitnot_clients::{
    Server, Written,
    lichess::Lichess,
    lookup::{Account, Lookup},
};
use zeitnot_engine::{self as engine, EngineFactory, TableScope, memory, syzygy::Tablebases};
use zeitnot_external::Named;
use zeitnot_host::database::DatabaseLocation;

use super::{
    CliError,
    config::{Config, ConfigError, ConfigErrors, Keys},
    engines::Engines,
};

mod paths;

/// Everything that playing needs, opened.
pub(super) struct Prepared {
    /// Makes the thinkers of `[engine]`.
    pub factory: EngineFactory,
    /// Endgame tables of `[engine]`.
    pub endgames: Option<Tablebases>,
    /// Books, and servers that are asked.
    pub sources: MoveSources,
    /// Other engines, started and tried.
    pub engines: Engines,
    /// Messages to the user.
    pub warnings: Vec<String>,
}

impl Prepared {
    /// Checks and opens what playing by this configuration needs. Connects to nothing, and writes no file.
    pub(super) fn open(config: &Config) -> Result<Prepared, CliError> {
        let mut checks = Checks::new(config);
        checks.servers(&config.servers);
        checks.memory(config);
        if !config.servers.is_empty()
            && config.cache.memory_mib > 0
            && !config.cache.file.as_os_str().is_empty()
        {
            checks.written("cache.file", &Written::File(config.cache.file.clone()));
        }
        checks.shared_cache(&config.cache);
        let lookup = checks.kept("", Lookup::new(&config.online_moves, &accounts(&config.servers)));
        let order = config.bot.sources.clone();
        let (book, rules) = (&config.bot.book, &config.bot.books);
        let lookup = Arc::new(lookup.unwrap_or_default());
        let sources = checks.kept("bot.book", MoveSources::open(order, book, rules, Some(lookup)));
        let tables = checks.kept("bot.syzygy", SyzygyTables::open(&config.bot.syzygy));
        let endgames = checks.kept("engine.syzygy", Tablebases::open(&config.engine.syzygy));
        let factory = checks.kept("engine.hash_mib", EngineFactory::new(&config.engine));
        // Not later: starting programs takes time.
        checks.end()?;
        let (Some(factory), Some(endgames), Some(sources), Some(tables)) =
            (factory, endgames, sources, tables)
        else {
            // Unreachable: what is missing was a mistake.
            return Err(CliError::Usage(format!("{}: cannot be used", config.keys.file)));
        };
        let engines = Engines::open(config.engines.iter());
        let plays_all =
            |name: &str| config.bot.choose.iter().any(|rule| rule.engine == name && rule.matches_all());
        if let Some((_, message)) = engines.failed.iter().find(|(name, _)| plays_all(name)) {
            return Err(CliError::Engine(message.clone()));
        }
        engines.mistakes.iter().for_each(|(name, what)| checks.mistake(format!("engines.{name}"), what));
        checks.end()?;
        let skipped =
            |(_, message): &(String, String)| format!("{message} (its rules are skipped until it can play)");
        checks.warnings.extend(engines.failed.iter().map(skipped));
        checks.warnings.extend(engines.warnings.iter().cloned());
        let factory = factory.with_endgames(endgames.clone(), &config.engine.syzygy);
        let sources = sources.with_syzygy(tables);
        Ok(Prepared { factory, endgames, sources, engines, warnings: checks.warnings })
    }
}

/// Returns the accounts on Lichess with a token; a token that cannot be found is a mistake of its table.
fn accounts(servers: &[Server]) -> Vec<Account> {
    let account = |server: &Server| {
        let config = server.config_of::<Lichess>()?;
        Some(Account { url: config.url.clone(), token: config.find_token().ok()? })
    };
    servers.iter().filter_map(account).collect()
}

/// Checks what the arena needs. Listens nowhere, and writes no file.
pub(super) fn check_arena(config: &Config) -> Result<(), CliError> {
    let arena = &config.arena;
    let mut checks = Checks::new(config);
    let checked = arena.check().and_then(|()| arena.check_files());
    checks.kept(
        "arena",
        checked.map_err(|error| match error {
            ArenaError::Config(why) => why,
            other => other.to_string(),
        }),
    );
    checks.end()?;
    checks.written("arena.games", &Written::Folder(arena.games.clone()));
    // A server is asked when the arena starts: checks connect to nothing.
    if let Some(DatabaseLocation::File(path)) = arena.database.as_ref().filter(|database| !database.is_none())
    {
        // The arena makes the folder of a new file, too.
        let folder = path.parent().filter(|folder| !path.exists() && !folder.as_os_str().is_empty());
        let written = folder.map_or(Written::File(path.clone()), |folder| Written::Folder(folder.to_owned()));
        checks.written("arena.database", &written);
    }
    if let Some(imcs) = &arena.imcs {
        let folder = imcs.users.parent().unwrap_or(&imcs.users);
        checks.written("arena.imcs.users", &Written::Folder(folder.to_owned()));
    }
    checks.end()
}

/// The findings so far.
struct Checks<'a> {
    keys: &'a Keys,
    mistakes: Vec<ConfigError>,
    warnings: Vec<String>,
}

impl<'a> Checks<'a> {
    fn new(config: &'a Config) -> Checks<'a> {
        Checks { keys: &config.keys, mistakes: Vec::new(), warnings: Vec::new() }
    }

    fn mistake(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.mistakes.push(self.keys.mistake(key, what));
    }

    /// Notes an error of this key.
    fn kept<T>(&mut self, key: &str, result: Result<T, impl Display>) -> Option<T> {
        result.map_err(|error| self.mistake(key, error.to_string())).ok()
    }

    fn written(&mut self, key: &str, path: &Written) {
        let checked = paths::check(path);
        self.kept(key, checked);
    }

    fn servers(&mut self, servers: &[Server]) {
        for (at, server) in servers.iter().enumerate() {
            let key = format!("server[{at}]");
            let findings = server.check();
            findings.mistakes.into_iter().for_each(|what| self.mistake(&key, what));
            self.warnings.extend(findings.warnings.into_iter().map(|what| format!("{key}: {what}")));
            for (inner, path) in &findings.written {
                self.written(&format!("{key}.{inner}"), path);
            }
            if let Some(same) = servers[..at].iter().position(|other| server.is_same_player(&**other)) {
                self.mistake(
                    &key,
                    format!("is the same player as server[{same}]: remove one, or change its name"),
                );
            }
        }
    }

    fn shared_cache(&mut self, cache: &cache::Config) {
        let Some(server) = &cache.shared else { return };
        self.kept("cache.shared", cache.check_shared());
        if cache.memory_mib == 0 {
            self.warnings.push("cache.shared: not used, as cache.memory_mib is 0".into());
        }
        if server.is_exposed() {
            let what = "moves, and a password if there is one, are sent unencrypted to another machine: use \
                rediss://, unless the network is your own";
            self.warnings.push(format!("cache.shared: {what}"));
        }
    }

    /// Each table may fit where all of them do not. Each game has a tree by one of the engines that grow trees.
    fn memory(&mut self, config: &Config) {
        let Some(total) = memory::total_mib() else { return };
        let own = config.engines.iter().filter_map(|(name, named)| match named {
            Named::Own(own) => Some((format!("[engines.{name}]"), own)),
            Named::External(_) => None,
        });
        let engines = [("[engine]".to_owned(), &config.engine)].into_iter().chain(own);
        let scoped =
            |(name, engine): (_, &engine::Config)| Some((name, engine.hash_mib.get(), engine.kind.table()?));
        let cache = ("[cache]".to_owned(), config.cache.memory_mib, TableScope::AllGames);
        let tables: Vec<_> = engines.filter_map(scoped).chain([cache]).collect();
        // That of `[engine]` is reported where it is made.
        for (table, mib, _) in tables.iter().filter(|(table, mib, _)| *mib > total && table != "[engine]") {
            self.mistake(table, engine::OutOfMemory(*mib).to_string());
        }
        let of = |scope| tables.iter().filter(move |table| table.2 == scope).map(|(_, mib, _)| *mib);
        let shared = of(TableScope::AllGames).fold(0usize, usize::saturating_add);
        let tree = of(TableScope::EachGame).max().unwrap_or(0);
        let games = config.bot.max_games;
        let sum = shared.saturating_add(tree.saturating_mul(games));
        if sum > total && tables.iter().all(|(_, mib, _)| *mib <= total) {
            let names: Vec<_> = tables.iter().map(|(name, ..)| name.as_str()).collect();
            let names = names.join(", ");
            let (and, or) = match tree {
                0 => (String::new(), ""),
                _ => (format!(" with a tree for each of {games} games"), " or a lower bot.max_games"),
            };
            self.mistake("", format!("the tables of {names} take {sum} MiB together{and}, and this machine has {total} MiB: choose smaller ones{or}"));
        }
    }

    /// Fails if there are mistakes.
    fn end(&mut self) -> Result<(), CliError> {
        Ok(ConfigErrors::check(&self.keys.file, std::mem::take(&mut self.mistakes))?)
    }
}
