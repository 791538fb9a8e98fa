//! Whom we play and whom we do not: names in the configuration, in files that may change, and from elsewhere.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use reqwest::Url;
use serde::Deserialize;

use zeitnot_net::http::is_here;
use zeitnot_wire::lichess::UserId;

/// The `people` table: who is played.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Nobody but these; empty, and without `only_file`: anybody.
    pub only: Vec<UserId>,
    /// More of them, one name a line; `#` begins a comment. The file is read again when it has changed.
    pub only_file: Option<PathBuf>,
    /// Never these.
    pub never: Vec<UserId>,
    /// More of them.
    pub never_file: Option<PathBuf>,
    /// Lists of others in the same form: text at https://…
    pub never_urls: Vec<ListUrl>,
    /// How often is looked whether the files have changed.
    #[serde(with = "humantime_serde")]
    pub look_every: Duration,
    /// How often the lists of others are fetched.
    #[serde(with = "humantime_serde")]
    pub fetch_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            only: Vec::new(),
            only_file: None,
            never: Vec::new(),
            never_file: None,
            never_urls: Vec::new(),
            look_every: Duration::from_secs(60),
            fetch_every: Duration::from_secs(3600),
        }
    }
}

/// Where a list of names is to be had. Nobody on the way can change it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ListUrl(String);

/// Text that is no [`ListUrl`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected the address of a list: https://host/path")]
pub struct BadListUrl;

impl ListUrl {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Is it on this very machine?
    pub fn is_here(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| is_here(&url))
    }
}

impl TryFrom<String> for ListUrl {
    type Error = BadListUrl;

    fn try_from(text: String) -> Result<ListUrl, BadListUrl> {
        let url = Url::parse(text.trim()).map_err(|_| BadListUrl)?;
        let plain = url.has_host() && url.username().is_empty() && url.password().is_none();
        let private = url.scheme() == "https" || (url.scheme() == "http" && is_here(&url));
        if plain && private { Ok(ListUrl(url.into())) } else { Err(BadListUrl) }
    }
}

/// The lists as they stand now, shared by all who ask.
#[derive(Clone, Debug)]
pub struct People(Arc<RwLock<Lists>>);

#[derive(Debug)]
struct Lists {
    config: Config,
    only: Watched,
    never: Watched,
    /// Lists of others, from the network.
    online: HashSet<UserId>,
}

/// A file of names.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// When it was written, and how long it was, as we read it.
    seen: Option<(SystemTime, u64)>,
    names: HashSet<UserId>,
}

/// A longer file is no list of names.
pub(super) const LONGEST_FILE: u64 = 16 << 20;

impl People {
    /// As the configuration says; the files are read by [`People::reload`].
    pub fn new(config: Config) -> People {
        let (only, never) = (Watched::default(), Watched::default());
        People(Arc::new(RwLock::new(Lists { config, only, never, online: HashSet::new() })))
    }

    /// Do we play with this one?
    pub fn welcomes(&self, who: &UserId) -> bool {
        let lists = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let Lists { config, only, never, online } = &*lists;
        let anybody = config.only.is_empty() && config.only_file.is_none();
        let wanted = anybody || config.only.contains(who) || only.names.contains(who);
        wanted && !config.never.contains(who) && !never.names.contains(who) && !online.contains(who)
    }

    /// The lists of others, which replace those before.
    pub fn set_online(&self, blocked: HashSet<UserId>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).online = blocked;
    }

    /// Reads the files that have changed. Blocks: not for the network's thread.
    ///
    /// # Errors
    /// What the system says of the first file that cannot be read; its names stay as they were.
    pub fn reload(&self) -> io::Result<()> {
        let (config, mut only, mut never) = {
            let lists = self.0.read().unwrap_or_else(PoisonError::into_inner);
            (lists.config.clone(), lists.only.clone(), lists.never.clone())
        };
        // The disk may be slow: nobody waits for the lock meanwhile.
        let result = only.update(config.only_file.as_deref());
        let result = never.update(config.never_file.as_deref()).and(result);
        let mut lists = self.0.write().unwrap_or_else(PoisonError::into_inner);
        (lists.only, lists.never) = (only, never);
        result
    }
}

impl Watched {
    fn update(&mut self, path: Option<&Path>) -> io::Result<()> {
        let Some(path) = path else { return Ok(()) };
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let meta = fs::metadata(path).map_err(told)?;
        let seen = Some((meta.modified().map_err(told)?, meta.len()));
        if seen == self.seen {
            return Ok(());
        }
        if meta.len() > LONGEST_FILE {
            return Err(told(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "is too large for a list of names",
            )));
        }
        self.names = names(&fs::read_to_string(path).map_err(told)?);
        self.seen = seen;
        Ok(())
    }
}

/// The names in a text, one a line. Lines that are no name are passed over.
///
/// ```
/// use zeitnot_clients::lichess::people::names;
/// assert_eq!(names("Bob # cheats\n\n# nobody\n../etc\n").len(), 1);
/// ```
pub fn names(text: &str) -> HashSet<UserId> {
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
    fn the_lists_in_the_configuration() {
        let config: Config = toml::from_str("never = ['Eve']").unwrap();
        let people = People::new(config);
        assert!(people.welcomes(&id("bob")) && !people.welcomes(&id("EVE")));
        let few = People::new(toml::from_str("only = ['Bob', 'eve']\nnever = ['eve']").unwrap());
        assert!(few.welcomes(&id("bob")) && !few.welcomes(&id("eve")) && !few.welcomes(&id("carol")));
        assert!(toml::from_str::<Config>("never = ['a b']").is_err());
        let list = |url: &str| toml::from_str::<Config>(&format!("never_urls = ['{url}']"));
        assert!(list("https://example.org/bots?raw=1").is_ok() && list("http://127.0.0.1:1/x").is_ok());
        for bad in ["http://example.org/x", "ftp://example.org/x", "https://me:hush@example.org/", "x"] {
            assert!(list(bad).unwrap_err().message().contains("the address of a list"), "{bad}");
        }
        people.set_online([id("bob")].into());
        assert!(!people.welcomes(&id("bob")));
    }

    #[test]
    fn files_are_read_again_when_they_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("never");
        let people = People::new(Config { never_file: Some(file.clone()), ..Config::default() });
        assert!(people.reload().unwrap_err().to_string().contains("never"));
        fs::write(&file, "Bob\n").unwrap();
        people.reload().unwrap();
        assert!(!people.welcomes(&id("bob")) && people.welcomes(&id("carol")));
        fs::write(&file, "# nobody any more\n").unwrap();
        people.reload().unwrap();
        assert!(people.welcomes(&id("bob")));
        fs::remove_file(&file).unwrap();
        assert!(people.reload().is_err() && people.welcomes(&id("bob")));
    }
}
