//! Reload of the configuration at SIGHUP: takes over what can change while games run, and names what cannot.

use std::{fmt::Write, sync::Arc};

use tokio::{sync::watch, task::spawn_blocking};
use toml::{Table, Value};
use tracing::{error, info, warn};
use zeitnot_bot as bot;
use zeitnot_clients::Server;
use zeitnot_settings::is_reloadable;

use super::{
    config::{Config, ConfigArgs, ConfigErrors, schema, server_table},
    log::LogFilter,
};

/// Everything that takes a changed configuration over.
pub(super) struct Reload {
    /// File and command line of the configuration.
    pub source: ConfigArgs,
    pub playing: Playing,
    pub log: LogFilter,
    pub bot: watch::Sender<bot::Config>,
}

/// The servers that are played on, and the tables that this follows.
pub(super) struct Playing {
    pub servers: Arc<[Server]>,
    tables: Tables,
}

/// Tables of a configuration.
struct Tables {
    others: Table,
    /// The `[[server]]` tables.
    servers: Vec<Table>,
}

/// Configuration that was read again.
struct Reread {
    config: Config,
    tables: Tables,
    /// The running server of each `[[server]]` table; `None`: the table names another account.
    running: Vec<Option<usize>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// Those that take effect now.
    now: Vec<String>,
    /// Those that take effect after a restart.
    after_restart: Vec<String>,
    /// Accounts that begin or end with a restart, a line each.
    accounts: Vec<String>,
}

impl Reload {
    /// Reads the configuration again, and takes over what can change. With mistakes in it, nothing changes.
    pub(super) async fn reload(&mut self) {
        let source = self.source.clone();
        let servers = self.playing.servers.clone();
        let file = self.source.config.display().to_string();
        // The disk may be slow.
        let reread = match spawn_blocking(move || Reread::read(&source, &servers)).await {
            Ok(Ok(reread)) => reread,
            Ok(Err(errors)) => {
                errors.iter().for_each(|mistake| error!("{mistake}"));
                return error!("{file} is not taken over: correct it, and reload again");
            }
            Err(crashed) => return error!("{file} is not taken over: {crashed}"),
        };
        let changes = self.playing.take_over(&reread.config, reread.tables, &reread.running);
        let has_changed = |table: &str| changes.now.iter().any(|key| key.starts_with(table));
        if has_changed("log.") {
            self.log.set(&reread.config.log);
        }
        // Without the key, `max_games` follows the accounts.
        self.bot.send_replace(reread.config.bot);
        match changes.now.as_slice() {
            [] => info!("{file}: nothing has changed that takes effect now"),
            keys => info!("{file}: taken over: {}", keys.join(", ")),
        }
        if !changes.after_restart.is_empty() {
            warn!("{file}: takes effect after a restart only: {}", changes.after_restart.join(", "));
        }
        changes.accounts.iter().for_each(|account| warn!("{file}: {account}"));
    }
}

impl Playing {
    /// Plays on these servers, by a valid text.
    pub(super) fn new(servers: Vec<Server>, text: &str) -> Playing {
        Playing { servers: servers.into(), tables: Tables::parse(text) }
    }

    /// Passes on what has changed to the clients of the servers. Returns all changes.
    fn take_over(&mut self, config: &Config, tables: Tables, running: &[Option<usize>]) -> Changes {
        let Tables { others, servers } = tables;
        let mut changes = Changes::default();
        let mut keys = Vec::new();
        compare(&self.tables.others, &others, &mut String::new(), &mut keys);
        changes.add(keys, |key| is_reloadable(schema(), key));
        self.tables.others = others;
        for (at, (table, new)) in servers.into_iter().zip(&config.servers).enumerate() {
            let Some(running) = running.get(at).copied().flatten() else {
                changes.accounts.push(format!("server[{at}] is another account: it plays after a restart"));
                continue;
            };
            let before = &mut self.tables.servers[running];
            let mut keys = Vec::new();
            let path = format!("server[{at}]");
            compare(before, &table, &mut path.clone(), &mut keys);
            let protocol = table.get("protocol").and_then(Value::as_str).unwrap_or_default();
            if changes.add(keys, |key| is_reloadable(server_table(protocol), &key[path.len() + 1..])) {
                self.servers[running].take_over(&**new);
            }
            *before = table;
        }
        let left = (0..self.servers.len()).filter(|at| !running.contains(&Some(*at)));
        changes.accounts.extend(left.map(|at| {
            format!(
                "the account that was server[{at}] at the start has no table: it plays on until a restart"
            )
        }));
        changes
    }
}

impl Reread {
    fn read(source: &ConfigArgs, servers: &[Server]) -> Result<Reread, ConfigErrors> {
        let text = Config::read(source)?;
        let config = Config::parse_with(&source.config.display().to_string(), &text, &source.overrides)?;
        Ok(Reread { tables: Tables::parse(&text), running: running(servers, &config.servers), config })
    }
}

/// Finds the running server of each table by the account, as tables may be moved. Reads files of tokens.
fn running(servers: &[Server], tables: &[Server]) -> Vec<Option<usize>> {
    let mut found = Vec::new();
    for table in tables {
        let is_same = |at: &usize| !found.contains(&Some(*at)) && servers[*at].is_same_player(&**table);
        let at = (0..servers.len()).find(is_same);
        found.push(at);
    }
    found
}

impl Tables {
    /// Reads the tables of a valid configuration.
    fn parse(text: &str) -> Tables {
        let mut others = text.parse::<Table>().unwrap_or_default();
        let servers = others.remove("server").and_then(|servers| servers.try_into().ok());
        Tables { others, servers: servers.unwrap_or_default() }
    }
}

impl Changes {
    /// Adds changed keys. Returns whether some take effect now.
    fn add(&mut self, keys: Vec<String>, can_change: impl Fn(&str) -> bool) -> bool {
        let (now, after_restart): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| can_change(key));
        let is_now = !now.is_empty();
        self.now.extend(now);
        self.after_restart.extend(after_restart);
        is_now
    }
}

/// Collects the paths of the values that differ.
fn compare(before: &Table, after: &Table, path: &mut String, found: &mut Vec<String>) {
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let length = path.len();
        let _ = write!(path, "{}{key}", if length > 0 { "." } else { "" });
        compare_values(before.get(key), after.get(key), path, found);
        path.truncate(length);
    }
}

fn compare_values(before: Option<&Value>, after: Option<&Value>, path: &mut String, found: &mut Vec<String>) {
    let none = Table::new();
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Table(before)), Some(Value::Table(after))) => compare(before, after, path, found),
        (Some(Value::Table(before)), None) => compare(before, &none, path, found),
        (None, Some(Value::Table(after))) => compare(&none, after, path, found),
        (Some(Value::Array(before)), Some(Value::Array(after)))
            if before.len() == after.len() && before.iter().all(Value::is_table) =>
        {
            for (at, pair) in before.iter().zip(after).enumerate() {
                let length = path.len();
                let _ = write!(path, "[{at}]");
                compare_values(Some(pair.0), Some(pair.1), path, found);
                path.truncate(length);
            }
        }
        _ => found.push(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_clients::lichess::Lichess;

    use super::*;

    /// Reloads by another text. Returns the changes as text, and the concurrency of the running accounts.
    fn reload(before: &str, after: &str) -> ([String; 3], Vec<u32>) {
        let parse = |text| Config::parse("test.toml", text).unwrap();
        let mut playing = Playing::new(parse(before).servers, before);
        let config = parse(after);
        let running = running(&playing.servers, &config.servers);
        let Changes { now, after_restart, accounts } =
            playing.take_over(&config, Tables::parse(after), &running);
        let servers = playing.servers.iter();
        let concurrency = servers.map(|server| server.config_of::<Lichess>().unwrap().concurrency.get());
        ([now.join(" "), after_restart.join(" "), accounts.join("; ")], concurrency.collect())
    }

    fn changes(before: &str, after: &str) -> [String; 3] {
        reload(before, after).0
    }

    const ACCOUNTS: &str = "[[server]]\nprotocol = 'lichess'\ntoken = 'a'\n\
                            [[server]]\nprotocol = 'lichess'\ntoken = 'b'\n";

    #[test]
    fn what_can_change_is_told_from_what_cannot() {
        assert_eq!(changes(ACCOUNTS, ACCOUNTS), ["", "", ""]);
        let tables = "[engine]\nhash_mib = 16\n[bot]\nmax_games = 2\nponder = 1\ndraw.moves = 8\n[log]\nlevel = 'warn'\n";
        assert_eq!(
            changes(ACCOUNTS, &format!("{tables}{ACCOUNTS}")),
            ["bot.draw.moves bot.max_games log.level", "bot.ponder engine.hash_mib", ""]
        );
        let second = format!(
            "{ACCOUNTS}concurrency = 2\n[server.challenge.bot]\naccept = false\n[server.chat]\nhello = 'x'\n"
        );
        assert_eq!(
            reload(ACCOUNTS, &second),
            (
                [
                    "server[1].challenge.bot.accept server[1].concurrency".into(),
                    "server[1].chat.hello".into(),
                    String::new()
                ],
                vec![4, 2]
            )
        );
    }

    fn account(variable: &str, concurrency: u32) -> String {
        format!(
            "[[server]]\nprotocol = 'lichess'\ntoken_env = 'ZEITNOT_TEST_{variable}'\nconcurrency = {concurrency}\n"
        )
    }

    #[test]
    fn tables_that_move_keep_their_accounts() {
        let [a, b] = [account("A", 1), account("B", 2)];
        let before = format!("{a}{b}");
        let swapped = format!("{b}{a}");
        assert_eq!(reload(&before, &swapped), ([const { String::new() }; 3], vec![1, 2]));
        let (told, concurrency) = reload(&before, &format!("{}{b}{}", account("C", 3), account("A", 5)));
        let new = "server[0] is another account: it plays after a restart";
        assert_eq!((told, concurrency), (["server[2].concurrency", "", new].map(String::from), vec![5, 2]));
        let (told, concurrency) = reload(&before, &account("B", 6));
        let left = "the account that was server[0] at the start has no table: it plays on until a restart";
        assert_eq!((told, concurrency), (["server[0].concurrency", "", left].map(String::from), vec![1, 6]));
    }

    #[test]
    fn another_account_needs_a_restart() {
        let [a, b] = [account("A", 1), account("B", 2)];
        let (told, concurrency) = reload(&format!("{a}{b}"), &format!("{a}{}", account("C", 7)));
        let both = "server[1] is another account: it plays after a restart; \
                    the account that was server[1] at the start has no table: it plays on until a restart";
        assert_eq!((told, concurrency), (["", "", both].map(String::from), vec![1, 2]));
    }
}
