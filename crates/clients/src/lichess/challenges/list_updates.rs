//! Keeps [`PlayerLists`] up to date with files and the network, in a task of its own.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, Instant},
};

use reqwest::{Client, redirect::Policy};
use tokio::{
    join,
    task::{JoinError, spawn_blocking},
    time::{Interval, MissedTickBehavior, interval, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use tracing::{info, warn};
use zeitnot_net::{
    LogThrottle,
    http::{self, ReadUntil},
};
use zeitnot_wire::lichess::UserId;

use super::players::{Config, ListUrl, MAX_LIST_BYTES, PlayerLists, parse_names};
use crate::lichess::HttpError;

const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Files are read before the first challenge is judged, unless the disk takes longer than this.
const START_TIMEOUT: Duration = Duration::from_secs(5);
const MIN_PERIOD: Duration = Duration::from_millis(50);

/// Lists of players that are updated until this is dropped.
#[derive(Debug)]
pub(crate) struct WatchedLists {
    pub(crate) players: PlayerLists,
    /// Keeps the task.
    updates: AbortOnDropHandle<()>,
}

/// Returns the lists, once the files are read.
pub(crate) async fn watch(config: &Config) -> WatchedLists {
    let players = PlayerLists::new(config.clone());
    let files = Files { players: players.clone(), log: LogThrottle::default() };
    if timeout(START_TIMEOUT, files.read()).await.is_err() {
        warn!("the lists of players are not read yet; playing without them meanwhile");
    }
    let updates = update(files, config, Read::Later);
    WatchedLists { players, updates }
}

impl WatchedLists {
    /// Goes on by another configuration. Its files are read in the background.
    pub(crate) fn reconfigure(&mut self, config: &Config) {
        self.players.reconfigure(config.clone());
        let files = Files { players: self.players.clone(), log: LogThrottle::default() };
        self.updates = update(files, config, Read::Now);
    }
}

/// First reading of the files by the task.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Read {
    Now,
    Later,
}

fn update(files: Files, config: &Config, read: Read) -> AbortOnDropHandle<()> {
    let online = Online {
        players: files.players.clone(),
        urls: config.online_block_list.clone(),
        lists: HashMap::new(),
        log: LogThrottle::default(),
    };
    let checks = config.file_check_period;
    let downloads = config.download_period;
    AbortOnDropHandle::new(tokio::spawn(async move {
        if read == Read::Now {
            files.read().await;
        }
        join!(files.run(checks), online.run(downloads));
    }))
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period.max(MIN_PERIOD));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

struct Files {
    players: PlayerLists,
    log: LogThrottle,
}

impl Files {
    async fn run(self, period: Duration) {
        let mut ticks = ticks(period);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            self.read().await;
            self.log.summarise(Instant::now());
        }
    }

    async fn read(&self) {
        let players = self.players.clone();
        let read = spawn_blocking(move || players.reload()).await;
        if let Err(error) = read.map_err(io::Error::other).and_then(|read| read) {
            let message = format_args!("cannot read a list of players: {error}; its old names still hold");
            self.log.warn("lists of players that cannot be read", message);
        }
    }
}

struct Online {
    players: PlayerLists,
    urls: Vec<ListUrl>,
    /// The latest version of each list, by its index.
    lists: HashMap<usize, HashSet<UserId>>,
    log: LogThrottle,
}

impl Online {
    async fn run(mut self, period: Duration) {
        if self.urls.is_empty() {
            return;
        }
        // Not the account's client: these servers must not see its token.
        let is_loopback = self.urls.iter().all(ListUrl::is_loopback);
        let client = http::client(is_loopback, concat!("zeitnot/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::limited(3))
            .connect_timeout(DOWNLOAD_TIMEOUT)
            .https_only(self.urls.iter().all(|url| url.as_str().starts_with("https:")))
            .pool_max_idle_per_host(0)
            .build();
        let client = match client {
            Ok(client) => client,
            Err(error) => return warn!("cannot download block lists: {}", HttpError::from(error)),
        };
        let mut ticks = ticks(period);
        loop {
            ticks.tick().await;
            for (at, url) in self.urls.iter().enumerate() {
                match names_at(&client, url.as_str()).await {
                    Ok(names) => {
                        info!("{}: {} names", url.as_str(), names.len());
                        self.lists.insert(at, names);
                    }
                    Err(error) => {
                        let message = format_args!("{}: {error}; its old names still hold", url.as_str());
                        self.log.warn(&format!("failed downloads of {}", url.as_str()), message);
                    }
                }
            }
            self.players.set_online(self.lists.values().flatten().cloned().collect());
            self.log.summarise(Instant::now());
        }
    }
}

async fn names_at(client: &Client, url: &str) -> Result<HashSet<UserId>, HttpError> {
    let download = async {
        let response = client.get(url).send().await?.error_for_status()?;
        http::body(response, MAX_LIST_BYTES as usize, ReadUntil::End).await.map_err(HttpError::Network)
    };
    let late = |_| HttpError::Network("not complete in time".to_owned());
    let text = timeout(DOWNLOAD_TIMEOUT, download).await.map_err(late)??;
    // Parsing a long list takes more than a moment.
    let crashed = |error: JoinError| HttpError::Network(error.to_string());
    spawn_blocking(move || parse_names(&text)).await.map_err(crashed)
}
