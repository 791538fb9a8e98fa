//! Reload of the configuration at SIGHUP: takes over what can change while games run, and names what cannot.

use std::{fmt::Write, mem};

use tokio::{sync::watch, task::spawn_blocking};
use toml::{Table, Value};
use tracing::{error, info, warn};
use zeitnot_bot as bot;
use zeitnot_clients::Server;

use super::{
    config::{Config, ConfigArgs},
    log::LogFilter,
};

/// Keys of a `[[server]]` table that name the account. With another one, nothing of the table changes before a restart.
const ACCOUNT: [&str; 4] = ["protocol", "url", "token", "token_file"];

/// Everything that takes a changed configuration over.
pub(super) struct Reload {
    /// File and command line of the configuration.
    pub source: ConfigArgs,
    /// Text that is played by.
    pub text: String,
    pub log: LogFilter,
    pub bot: watch::Sender<bot::Config>,
    /// The `[[server]]` tables, in their order.
    pub servers: Vec<Server>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// Those that take effect now.
    now: Vec<String>,
    /// Those that take effect after a restart.
    after_restart: Vec<String>,
}

impl Reload {
    /// Reads the configuration again, and takes over what can change. With mistakes in it, nothing changes.
    pub(super) async fn reload(&mut self) {
        let source = self.source.clone();
        let file = self.source.config.display().to_string();
        // The disk may be slow.
        let read = spawn_blocking(move || {
            let text = Config::read(&source)?;
            Ok((Config::parse_with(&source.config.display().to_string(), &text, &source.overrides)?, text))
        });
        let (config, text) = match read.await {
            Ok(Ok(read)) => read,
            Ok(Err(errors)) => {
                let errors: super::config::ConfigErrors = errors;
                errors.iter().for_each(|mistake| error!("{mistake}"));
                return error!("{file} is not taken over: correct it, and reload again");
            }
            Err(crashed) => return error!("{file} is not taken over: {crashed}"),
        };
        let before = mem::replace(&mut self.text, text);
        let changes = Changes::between(&before, &self.text, &config);
        self.take_over(config, &changes);
        match changes.now.as_slice() {
            [] => info!("{file}: nothing has changed that takes effect now"),
            keys => info!("{file}: taken over: {}", keys.join(", ")),
        }
        if !changes.after_restart.is_empty() {
            warn!("{file}: takes effect after a restart only: {}", changes.after_restart.join(", "));
        }
    }

    fn take_over(&self, config: Config, changes: &Changes) {
        let has_changed = |table: &str| changes.now.iter().any(|key| key.starts_with(table));
        if has_changed("log.") {
            self.log.set(&config.log);
        }
        if has_changed("bot.") {
            self.bot.send_replace(config.bot);
        }
        for (at, (server, new)) in self.servers.iter().zip(&config.servers).enumerate() {
            if has_changed(&format!("server[{at}].")) {
                server.take_over(&**new);
            }
        }
    }
}

impl Changes {
    /// Compares two texts, the second of which is that of the configuration.
    fn between(before: &str, after: &str, config: &Config) -> Changes {
        let tables = [before, after].map(|text| text.parse::<Table>().unwrap_or_default());
        let mut keys = Vec::new();
        compare(&tables[0], &tables[1], &mut String::new(), &mut keys);
        let (now, after_restart) = keys.iter().cloned().partition(|key| can_change(key, &keys, config));
        Changes { now, after_restart }
    }
}

/// Returns whether a key of the configuration can change while games run, among all that have changed.
fn can_change(key: &str, changed: &[String], config: &Config) -> bool {
    match key.split_once('.') {
        Some(("log", "level")) => true,
        Some(("bot", key)) => bot::Config::can_change(key),
        Some((table, key)) => {
            let at = config.servers.iter().enumerate().find(|(at, _)| table == format!("server[{at}]"));
            let is_other = ACCOUNT.iter().any(|name| changed.contains(&format!("{table}.{name}")));
            at.is_some_and(|(_, server)| server.can_change(key)) && !is_other
        }
        None => false,
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
    use super::*;

    fn changes(before: &str, after: &str) -> [String; 2] {
        let config = Config::parse("test.toml", after).unwrap();
        let Changes { now, after_restart } = Changes::between(before, after, &config);
        [now.join(" "), after_restart.join(" ")]
    }

    const ACCOUNTS: &str = "[[server]]\nprotocol = 'lichess'\ntoken = 'a'\n\
                            [[server]]\nprotocol = 'lichess'\ntoken = 'b'\n";

    #[test]
    fn what_can_change_is_told_from_what_cannot() {
        assert_eq!(changes(ACCOUNTS, ACCOUNTS), ["", ""]);
        let tables = "[engine]\nhash_mib = 16\n[bot]\nmax_games = 2\nponder = 1\ndraw.moves = 8\n[log]\nlevel = 'warn'\n";
        assert_eq!(
            changes(ACCOUNTS, &format!("{tables}{ACCOUNTS}")),
            ["bot.draw.moves bot.max_games log.level", "bot.ponder engine.hash_mib"]
        );
        let second = format!(
            "{ACCOUNTS}concurrency = 2\n[server.challenge.bot]\naccept = false\n[server.chat]\nhello = 'x'\n"
        );
        assert_eq!(
            changes(ACCOUNTS, &second),
            ["server[1].challenge.bot.accept server[1].concurrency", "server[1].chat.hello"]
        );
    }

    #[test]
    fn another_account_or_more_servers_need_a_restart() {
        let other = ACCOUNTS.replace("token = 'b'", "token = 'c'\nconcurrency = 2");
        assert_eq!(changes(ACCOUNTS, &other), ["", "server[1].concurrency server[1].token"]);
        let more = format!("{ACCOUNTS}[[server]]\nprotocol = 'lichess'\ntoken = 'c'\n");
        assert_eq!(changes(ACCOUNTS, &more), ["", "server"]);
    }
}
