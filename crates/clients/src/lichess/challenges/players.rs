//! Allow and block lists of players: in the configuration, in files that may change, and from the network.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, SystemTime},
};

use reqwest::Url;
use serde::{Deserialize, Serialize};
use zeitnot_net::{Contradictions, http::is_loopback};
use zeitnot_settings::{HumanTime, JsonSchema, schemars, settings};
use zeitnot_wire::lichess::UserId;

settings! {
    /// Players that are accepted and challenged.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// Only these players; if empty and without `allow_list_file`, anybody.
        #[schemars(with = "Vec<String>")]
        allow_list: Vec<UserId> = Vec::new(),
        /// Never these players.
        #[schemars(with = "Vec<String>")]
        block_list: Vec<UserId> = Vec::new(),
        /// File with more names, one a line; # begins a comment. It is read again when it changes.
        #[schemars(example = &"friends.txt")]
        allow_list_file: Option<PathBuf> = None,
        /// The same, for the block list.
        #[schemars(example = &"foes.txt")]
        block_list_file: Option<PathBuf> = None,
        /// Block lists on the network, in the same format: https://example.org/blocked.txt
        online_block_list: Vec<ListUrl> = Vec::new(),
        /// Time between two checks of the files.
        #[serde(with = "HumanTime")]
        file_check_period: Duration = Duration::from_secs(60),
        /// Time between two downloads.
        #[serde(with = "HumanTime")]
        download_period: Duration = Duration::from_secs(3600),
    }
}

impl Config {
    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        found.disjoint(("allow_list", &self.allow_list), ("block_list", &self.block_list));
        found.above_zero(&[
            ("file_check_period", self.file_check_period),
            ("download_period", self.download_period),
        ]);
    }
}

/// Address of an online list; nobody on the way can change the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct ListUrl(String);

/// Error for text that is no [`ListUrl`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected the address of a list: https://host/path")]
pub struct BadListUrl;

impl ListUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_loopback(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| is_loopback(&url))
    }
}

impl TryFrom<String> for ListUrl {
    type Error = BadListUrl;

    fn try_from(text: String) -> Result<ListUrl, BadListUrl> {
        let url = Url::parse(text.trim()).map_err(|_| BadListUrl)?;
        let plain = url.has_host() && url.username().is_empty() && url.password().is_none();
        let private = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        if plain && private { Ok(ListUrl(url.into())) } else { Err(BadListUrl) }
    }
}

/// The present lists, shared by all who ask.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub struct PlayerLists(Arc<RwLock<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    config: Config,
    allowed: ListFile,
    blocked: ListFile,
    online: HashSet<UserId>,
    /// Blocked in this run, by order of the owner.
    by_order: HashSet<UserId>,
}

#[derive(Clone, Debug, Default)]
struct ListFile {
    /// Modification time and length of the version that was read.
    version: Option<(SystemTime, u64)>,
    names: HashSet<UserId>,
}

pub(crate) const MAX_LIST_BYTES: u64 = 16 << 20;
/// Most players that are blocked by order.
const MAX_BY_ORDER: usize = 1000;

impl PlayerLists {
    /// Creates the lists of the configuration; [`PlayerLists::reload`] reads the files.
    #[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
    pub fn new(config: Config) -> PlayerLists {
        PlayerLists(Arc::new(RwLock::new(Lists { config, ..Lists::default() })))
    }

    pub(crate) fn allows(&self, player: &UserId) -> bool {
        let lists = self.read();
        let Lists { config, allowed, blocked, online, by_order } = &*lists;
        let is_open = config.allow_list.is_empty() && config.allow_list_file.is_none();
        let is_allowed = is_open || config.allow_list.contains(player) || allowed.names.contains(player);
        let is_blocked = config.block_list.contains(player) || blocked.names.contains(player);
        is_allowed && !is_blocked && !online.contains(player) && !by_order.contains(player)
    }

    /// Blocks a player in this run. Returns whether there was room.
    pub(crate) fn block(&self, player: UserId) -> bool {
        let mut lists = self.write();
        let has_room = lists.by_order.len() < MAX_BY_ORDER;
        if has_room {
            lists.by_order.insert(player);
        }
        has_room
    }

    /// Reverts [`PlayerLists::block`].
    pub(crate) fn unblock(&self, player: &UserId) {
        self.write().by_order.remove(player);
    }

    /// Goes on by another configuration; names from files stay until they are read again, if there are files still.
    pub(crate) fn reconfigure(&self, config: Config) {
        let mut lists = self.write();
        if lists.config.allow_list_file != config.allow_list_file {
            lists.allowed = ListFile::default();
        }
        if lists.config.block_list_file != config.block_list_file {
            lists.blocked = ListFile::default();
        }
        if config.online_block_list.is_empty() {
            lists.online.clear();
        }
        lists.config = config;
    }

    /// Replaces the online lists.
    pub(crate) fn set_online(&self, blocked: HashSet<UserId>) {
        self.write().online = blocked;
    }

    /// Reads the files that have changed. Blocks. If a file cannot be read, its names stay as they were.
    pub(crate) fn reload(&self) -> io::Result<()> {
        let (config, mut allowed, mut blocked) = {
            let lists = self.read();
            (lists.config.clone(), lists.allowed.clone(), lists.blocked.clone())
        };
        // The disk may be slow, so the lock is not held meanwhile.
        let result = allowed.update(config.allow_list_file.as_deref());
        let result = blocked.update(config.block_list_file.as_deref()).and(result);
        let mut lists = self.write();
        (lists.allowed, lists.blocked) = (allowed, blocked);
        result
    }

    fn read(&self) -> RwLockReadGuard<'_, Lists> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Lists> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListFile {
    fn update(&mut self, path: Option<&Path>) -> io::Result<()> {
        let Some(path) = path else { return Ok(()) };
        let with_path =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let meta = fs::metadata(path).map_err(with_path)?;
        let version = Some((meta.modified().map_err(with_path)?, meta.len()));
        if version == self.version {
            return Ok(());
        }
        if meta.len() > MAX_LIST_BYTES {
            let what = "too large for a list of names";
            return Err(with_path(io::Error::new(io::ErrorKind::FileTooLarge, what)));
        }
        self.names = parse_names(&fs::read_to_string(path).map_err(with_path)?);
        self.version = version;
        Ok(())
    }
}

/// Parses names, one a line; other lines are skipped.
pub(crate) fn parse_names(text: &str) -> HashSet<UserId> {
    let name = |line: &str| line.split('#').next().unwrap_or_default().trim().parse().ok();
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn lists_in_the_configuration() {
        let players = PlayerLists::new(toml::from_str("block_list = ['Eve']").unwrap());
        assert!(players.allows(&id("bob")) && !players.allows(&id("EVE")));
        let few =
            PlayerLists::new(toml::from_str("allow_list = ['Bob', 'eve']\nblock_list = ['eve']").unwrap());
        assert!(few.allows(&id("bob")) && !few.allows(&id("eve")) && !few.allows(&id("carol")));
        assert!(toml::from_str::<Config>("block_list = ['a b']").is_err());
        let list = |url: &str| toml::from_str::<Config>(&format!("online_block_list = ['{url}']"));
        assert!(list("https://example.org/bots?raw=1").is_ok() && list("http://127.0.0.1:1/x").is_ok());
        for bad in ["http://example.org/x", "ftp://example.org/x", "https://me:hush@example.org/", "x"] {
            assert!(list(bad).unwrap_err().message().contains("the address of a list"), "{bad}");
        }
        players.set_online([id("bob")].into());
        assert!(!players.allows(&id("bob")));
        assert!(players.block(id("carol")) && !players.allows(&id("carol")));
        players.unblock(&id("carol"));
        assert!(players.allows(&id("carol")));
        assert_eq!(parse_names("Bob # cheats\n\n# nobody\n../etc\n").len(), 1);
    }

    #[test]
    fn another_configuration_keeps_what_the_owner_has_blocked() {
        let players = PlayerLists::new(toml::from_str("block_list = ['eve']").unwrap());
        assert!(players.block(id("carol")));
        players.reconfigure(toml::from_str("block_list = ['bob']").unwrap());
        let allowed = ["eve", "bob", "carol"].map(|name| players.allows(&id(name)));
        assert_eq!(allowed, [true, false, false]);
    }

    #[test]
    fn files_are_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("blocked");
        let players = PlayerLists::new(Config { block_list_file: Some(file.clone()), ..Config::default() });
        assert!(players.reload().unwrap_err().to_string().contains("blocked"));
        fs::write(&file, "Bob\n").unwrap();
        players.reload().unwrap();
        assert!(!players.allows(&id("bob")) && players.allows(&id("carol")));
        fs::write(&file, "# nobody any more\n").unwrap();
        players.reload().unwrap();
        assert!(players.allows(&id("bob")));
        fs::remove_file(&file).unwrap();
        assert!(players.reload().is_err() && players.allows(&id("bob")));
    }
}
