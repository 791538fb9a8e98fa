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
    /// Those at the start, by which keys that need a restart are compared: they stay pending until then.
    at_start: Tables,
    /// Those of the latest reload, by which the other keys are compared. Servers are in the order of the start.
    now: Tables,
}

/// Tables of a configuration, keys of the command line included.
#[derive(Clone)]
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
                return error!("{file} not applied: correct it and reload again");
            }
            Err(crashed) => return error!("{file} not applied: {crashed}"),
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
    /// Plays on these servers, which the keys configure.
    pub(super) fn new(servers: Vec<Server>, keys: Table) -> Playing {
        let tables = Tables::new(keys);
        Playing { servers: servers.into(), at_start: tables.clone(), now: tables }
    }

    /// Passes on what has changed to the clients of the servers. Returns all changes.
    fn take_over(&mut self, config: &Config, tables: Tables, running: &[Option<usize>]) -> Changes {
        let Tables { others, servers } = tables;
        let mut changes = Changes::default();
        let before = [&self.now.others, &self.at_start.others];
        changes.add(before, &others, "", |key| is_reloadable(schema(), key));
        self.now.others = others;
        for (at, (table, new)) in servers.into_iter().zip(&config.servers).enumerate() {
            let running = running.get(at).copied().flatten();
            let of = |tables: &Tables| Some(tables.servers.get(running?)?.clone());
            let (Some(running), Some(now), Some(at_start)) = (running, of(&self.now), of(&self.at_start))
            else {
                changes.accounts.push(format!("server[{at}] is a new account; restart to play with it"));
                continue;
            };
            let path = format!("server[{at}]");
            let protocol = table.get("protocol").and_then(Value::as_str).unwrap_or_default();
            let can_change = |key: &str| is_reloadable(server_table(protocol), &key[path.len() + 1..]);
            if changes.add([&now, &at_start], &table, &path, can_change) {
                self.servers[running].take_over(&**new);
            }
            self.now.servers[running] = table;
        }
        let left = (0..self.servers.len()).filter(|at| !running.contains(&Some(*at)));
        changes.accounts.extend(left.map(|at| {
            format!("the account of the former server[{at}] was removed; it keeps playing until a restart")
        }));
        changes
    }
}

impl Reread {
    fn read(source: &ConfigArgs, servers: &[Server]) -> Result<Reread, ConfigErrors> {
        let config = Config::load_to_play(source)?;
        let running = running(servers, &config.servers);
        Ok(Reread { tables: Tables::new(config.keys.values.clone()), running, config })
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
    /// Splits the keys of a valid configuration.
    fn new(mut others: Table) -> Tables {
        let servers = others.remove("server").and_then(|servers| servers.try_into().ok());
        Tables { others, servers: servers.unwrap_or_default() }
    }
}

impl Changes {
    /// Adds the changed keys of a table at a path. Returns whether some take effect now.
    fn add(
        &mut self,
        [now, at_start]: [&Table; 2],
        new: &Table,
        path: &str,
        can_change: impl Fn(&str) -> bool,
    ) -> bool {
        let changed = |before| {
            let mut keys = Vec::new();
            compare(before, new, &mut path.to_owned(), &mut keys);
            keys.into_iter()
        };
        let known = self.now.len();
        self.now.extend(changed(now).filter(|key| can_change(key)));
        self.after_restart.extend(changed(at_start).filter(|key| !can_change(key)));
        self.now.len() > known
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

    use super::{super::config::Overrides, *};

    /// Changes as text, and the concurrency of the running accounts.
    type Told = ([String; 3], Vec<u32>);

    /// Reloads by each of the other texts, with these keys of the command line.
    fn reloads(set: &[&str], before: &str, after: &[&str]) -> Vec<Told> {
        let overrides = Overrides { set: set.iter().map(|set| (*set).to_owned()).collect(), player: None };
        let parse = |text: &str| Config::parse_with("test.toml", text, &overrides).unwrap();
        let config = parse(before);
        let mut playing = Playing::new(config.servers, config.keys.values);
        let reload = |text: &&str| {
            let config = parse(text);
            let running = running(&playing.servers, &config.servers);
            let Changes { now, after_restart, accounts } =
                playing.take_over(&config, Tables::new(config.keys.values.clone()), &running);
            let servers = playing.servers.iter();
            let concurrency = servers.map(|server| server.config_of::<Lichess>().unwrap().concurrency.get());
            ([now.join(" "), after_restart.join(" "), accounts.join("; ")], concurrency.collect())
        };
        after.iter().map(reload).collect()
    }

    fn reload(before: &str, after: &str) -> Told {
        reloads(&[], before, &[after]).remove(0)
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

    /// An editor may have emptied it before it writes it again.
    #[test]
    fn a_file_without_a_server_is_not_taken_over() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let source = ConfigArgs { config: file.path().into(), overrides: Overrides::default() };
        let told = Reread::read(&source, &[]).err().unwrap().to_string();
        assert!(told.ends_with(": nowhere to play: add a [[server]] table"), "{told}");
    }

    #[test]
    fn tables_that_move_keep_their_accounts() {
        let [a, b] = [account("A", 1), account("B", 2)];
        let before = format!("{a}{b}");
        let swapped = format!("{b}{a}");
        assert_eq!(reload(&before, &swapped), ([const { String::new() }; 3], vec![1, 2]));
        let (told, concurrency) = reload(&before, &format!("{}{b}{}", account("C", 3), account("A", 5)));
        let new = "server[0] is a new account; restart to play with it";
        assert_eq!((told, concurrency), (["server[2].concurrency", "", new].map(String::from), vec![5, 2]));
        let (told, concurrency) = reload(&before, &account("B", 6));
        let left = "the account of the former server[0] was removed; it keeps playing until a restart";
        assert_eq!((told, concurrency), (["server[0].concurrency", "", left].map(String::from), vec![1, 6]));
    }

    #[test]
    fn another_account_needs_a_restart() {
        let [a, b] = [account("A", 1), account("B", 2)];
        let (told, concurrency) = reload(&format!("{a}{b}"), &format!("{a}{}", account("C", 7)));
        let both = "server[1] is a new account; restart to play with it; \
                    the account of the former server[1] was removed; it keeps playing until a restart";
        assert_eq!((told, concurrency), (["", "", both].map(String::from), vec![1, 2]));
    }

    fn told(now: &str, after_restart: &str, concurrency: &[u32]) -> Told {
        ([now, after_restart, ""].map(String::from), concurrency.to_vec())
    }

    #[test]
    fn a_server_of_the_command_line_may_be_written_into_the_file() {
        let set = ["server[0].protocol=lichess", "server[0].token=a"];
        let file = "[[server]]\nprotocol = 'lichess'\ntoken = 'a'\nconcurrency = 3\n";
        let expected = [told("server[0].concurrency", "", &[3])];
        assert_eq!(reloads(&set, "", &[file]), expected);
    }

    #[test]
    fn keys_of_the_command_line_stay() {
        let changed = "[bot]\nmax_games = 2\n[log]\nlevel = 'warn'\n";
        assert_eq!(reloads(&["bot.max_games=4"], "", &[changed]), [told("log.level", "", &[])]);
        // They belong to a place in the file.
        let [a, b] = [account("A", 1), account("B", 2)];
        let swapped = reloads(&["server[0].concurrency=9"], &format!("{a}{b}"), &[&format!("{b}{a}")]);
        assert_eq!(swapped, [told("server[0].concurrency server[1].concurrency", "", &[1, 9])]);
    }

    #[test]
    fn what_needs_a_restart_stays_pending() {
        let changed = "[bot]\nponder = 1\n";
        let later = format!("{changed}max_games = 2\n");
        let expected = [
            told("", "bot.ponder", &[]),
            told("bot.max_games", "bot.ponder", &[]),
            told("bot.max_games", "", &[]),
        ];
        assert_eq!(reloads(&[], "", &[changed, &later, ""]), expected);
        let table = format!("{}games = 3\n", account("A", 1));
        let pending = told("", "server[0].games", &[1]);
        assert_eq!(reloads(&[], &account("A", 1), &[&table, &table]), [pending.clone(), pending]);
    }
}
