//! Contradictions between the tables of a configuration. Those within a table are found by the crate that has it.

use std::thread;

use zeitnot_bot::choice::Rule;
use zeitnot_clients::lichess::{self, Lichess};
use zeitnot_engine::{BuiltIn, MoveLimits};
use zeitnot_external::Named;
use zeitnot_net::{Contradiction, Contradictions};
use zeitnot_settings::hint;

use super::Config;

/// Search threads for a core beyond which a number is a slip.
const MAX_THREADS_PER_CORE: usize = 4;

fn threads(key: &str, threads: usize, found: &mut Contradictions) {
    let cores = thread::available_parallelism().map_or(usize::MAX, usize::from);
    if threads > cores.saturating_mul(MAX_THREADS_PER_CORE) {
        let what = format!("{threads} threads for {cores} cores: use at most {cores} on this machine");
        found.add(&[key], what);
    }
}

impl Config {
    /// Returns the games that all servers bring at once.
    pub(super) fn games_at_once(&self) -> usize {
        let games = |account: Option<lichess::Config>| account.map_or(1, |account| account.games_at_once());
        self.servers.iter().map(|server| games(server.config_of::<Lichess>())).sum()
    }

    /// Returns the contradictions.
    pub(super) fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Contradictions::default();
        let limits = |limits: MoveLimits, found: &mut Contradictions| {
            let move_time = limits.move_time.map(|time| ("limits.move_time", time));
            found.above_zero(move_time.as_slice());
        };
        found.within("engine", |found| {
            limits(self.engine.limits, found);
            threads("threads", self.engine.threads.get(), found);
        });
        for (name, engine) in &self.engines {
            found.within(&format!("engines.{name}"), |found| match engine {
                Named::Own(own) => {
                    limits(own.limits, found);
                    threads("threads", own.threads.get(), found);
                }
                Named::External(program) => {
                    limits(program.limits, found);
                    let (protocol, has) = (program.protocol, program.limits);
                    let other = if protocol.counts_depth() { "depth or move_time" } else { "move_time" };
                    for (key, is_wrong) in [
                        ("limits.nodes", has.nodes.is_some() && !protocol.counts_nodes()),
                        ("limits.depth", has.depth.is_some() && !protocol.counts_depth()),
                    ] {
                        if is_wrong {
                            found.add(&[key], format!("is not a limit of {protocol}: set {other} instead"));
                        }
                    }
                    found.above_zero(&[("start_within", program.start_within)]);
                    if program.games.as_ref().is_some_and(Vec::is_empty) {
                        let what =
                            "is empty, so the engine plays nothing: name some, or remove the key for all";
                        found.add(&["games"], what);
                    }
                    for (name, value) in &program.options {
                        let count =
                            value.to_string().parse().ok().filter(|_| name.eq_ignore_ascii_case("threads"));
                        count.into_iter().for_each(|count| threads(&format!("options.{name}"), count, found));
                    }
                }
            });
        }
        found.within("bot", |found| self.bot.contradictions(found));
        found.within("online_moves", |found| self.online_moves.contradictions(found));
        found.within("arena", |found| self.arena.contradictions(found));
        self.sources(&mut found);
        self.rules(&mut found);
        self.tournament_engines(&mut found);
        for (at, server) in self.servers.iter().enumerate() {
            found.within(&format!("server[{at}]"), |found| server.contradictions(found));
        }
        if self.keys.has("bot.max_games") {
            self.games(&mut found);
        }
        if let (Some(web), Some(metrics)) = (&self.web, &self.metrics)
            && web.listen == metrics.listen
            && web.listen.port() != 0
        {
            let what = format!("web.listen is {} as well: give each its own port", web.listen);
            found.add(&["metrics.listen", "web.listen"], what);
        }
        found.into_found()
    }

    /// Servers that are asked for moves, but whose answers are not used.
    fn sources(&self, found: &mut Contradictions) {
        for (source, keys) in self.online_moves.servers() {
            if keys.enabled && !self.bot.sources.asks(source) {
                let what = format!(
                    "is not asked, as bot.sources lacks \"{source}\": add it there, or set enabled = false"
                );
                found.add(&[&format!("online_moves.{source}.enabled")], what);
            }
        }
    }

    /// Rules of `[[bot.choose]]` that are never used, or whose engine is missing.
    fn rules(&self, found: &mut Contradictions) {
        let names: Vec<_> = self.engines.keys().map(String::as_str).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        for (at, Rule { engine, .. }) in self.bot.choose.iter().enumerate() {
            if !names.contains(&engine.as_str()) {
                let hint = hint(engine, names.iter().copied());
                let what = format!(
                    "no engine is called `{engine}`{hint}; known: {known}; each has a table [engines.NAME]"
                );
                found.add(&[&format!("bot.choose[{at}].engine")], what);
            }
        }
        let is_ours = |rule: &Rule| !matches!(self.engines.get(&rule.engine), Some(Named::External(_)));
        let rules = &self.bot.choose;
        let Some(first) = rules.iter().position(Rule::matches_all) else { return };
        for (at, rule) in rules.iter().enumerate().skip(first + 1) {
            // A program leaves the games that it does not know to the next rule.
            if is_ours(&rules[first]) || rule.engine == rules[first].engine {
                let what =
                    format!("is never used: bot.choose[{first}] matches every game; move this rule above it");
                found.add(&[&format!("bot.choose[{at}]")], what);
            }
        }
    }

    /// Engines of tournaments that do not exist, or pass for built-in players.
    fn tournament_engines(&self, found: &mut Contradictions) {
        let built_in = BuiltIn::all().map(|player| player.to_string());
        let names: Vec<_> = built_in.chain(self.engines.keys().cloned()).collect();
        for (at, tournament) in self.arena.tournament.iter().enumerate() {
            for name in &tournament.engines {
                if !names.iter().any(|known| known == name.as_str()) {
                    let hint = hint(name.as_str(), names.iter().map(String::as_str));
                    let known = names.join(", ");
                    let what = format!("no engine is called `{name}`{hint}; known: {known}");
                    found.add(&[&format!("arena.tournament[{at}].engines")], what);
                } else if self.engines.contains_key(name.as_str()) && name.as_str().parse::<BuiltIn>().is_ok()
                {
                    let what = format!(
                        "{name} is a built-in player and also an engine of the configuration: rename [engines.{name}]"
                    );
                    found.add(&[&format!("arena.tournament[{at}].engines")], what);
                }
            }
        }
    }

    /// Accounts that take more games than are played.
    fn games(&self, found: &mut Contradictions) {
        let max_games = self.bot.max_games;
        let accounts = self.servers.iter().enumerate();
        let accounts =
            accounts.filter_map(|(at, server)| Some((at, server.config_of::<Lichess>()?.concurrency)));
        let accounts = accounts.map(|(at, games)| (format!("server[{at}]"), games.get() as usize));
        let is_set = |server: &str| self.keys.has(&format!("{server}.concurrency"));
        let accounts: Vec<_> = accounts.filter(|(server, _)| is_set(server)).collect();
        for (server, games) in &accounts {
            found
                .within(server, |found| found.at_most(("concurrency", *games), ("bot.max_games", max_games)));
        }
        let is_fine = accounts.iter().all(|(_, games)| *games <= max_games);
        if is_fine && accounts.iter().map(|(_, games)| games).sum::<usize>() > max_games {
            let keys: Vec<_> = accounts.iter().map(|(server, _)| format!("{server}.concurrency")).collect();
            let keys: Vec<_> = keys.iter().map(String::as_str).collect();
            let sum = accounts.iter().map(|(_, games)| games.to_string()).collect::<Vec<_>>().join(" + ");
            let what = format!(
                "concurrency of all accounts ({sum}) is above bot.max_games ({max_games}): lower one, or raise \
                 bot.max_games"
            );
            found.add(&keys, what);
        }
    }
}
