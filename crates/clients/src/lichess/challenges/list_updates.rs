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
    let (players, log) = (PlayerLists::new(config.clone()), LogThrottle::default());
    if timeout(START_TIMEOUT, read_files(&players, &log)).await.is_err() {
        warn!("the lists of players are not read yet; playing without them meanwhile");
    }
    let updates = update(players.clone(), config, log);
    WatchedLists { players, updates }
}

impl WatchedLists {
    /// Goes on by another configuration. Its files are read in the background.
    pub(crate) fn reconfigure(&mut self, config: &Config) {
        self.players.reconfigure(config.clone());
        self.updates = update(self.players.clone(), config, LogThrottle::default());
    }
}

fn update(players: PlayerLists, config: &Config, log: LogThrottle) -> AbortOnDropHandle<()> {
    let files = follow_files(players.clone(), config.file_check_period, log);
    let online = follow_online(players, config.online_block_list.clone(), config.download_period);
    AbortOnDropHandle::new(tokio::spawn(async move {
        join!(files, online);
    }))
}

/// The first tick is now.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period.max(MIN_PERIOD));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

async fn follow_files(players: PlayerLists, period: Duration, log: LogThrottle) {
    let mut ticks = ticks(period);
    loop {
        ticks.tick().await;
        read_files(&players, &log).await;
        log.summarise(Instant::now());
    }
}

async fn read_files(players: &PlayerLists, log: &LogThrottle) {
    let players = players.clone();
    let read = spawn_blocking(move || players.reload()).await;
    if let Err(error) = read.map_err(io::Error::other).and_then(|read| read) {
        let message = format_args!("cannot read a list of players: {error}; its old names still hold");
        log.warn("lists of players that cannot be read", message);
    }
}

async fn follow_online(players: PlayerLists, urls: Vec<ListUrl>, period: Duration) {
    if urls.is_empty() {
        return;
    }
    // Not the account's client: these servers must not see its token.
    let client =
        http::client(urls.iter().all(ListUrl::is_loopback), concat!("zeitnot/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::limited(3))
            .connect_timeout(DOWNLOAD_TIMEOUT)
            .https_only(urls.iter().all(|url| url.as_str().starts_with("https:")))
            .pool_max_idle_per_host(0)
            .build();
    let client = match client {
        Ok(client) => client,
        Err(error) => return warn!("cannot download block lists: {}", HttpError::from(error)),
    };
    let (mut ticks, log) = (ticks(period), LogThrottle::default());
    // The latest version of each list, by its index.
    let mut lists = HashMap::new();
    loop {
        ticks.tick().await;
        for (at, url) in urls.iter().map(ListUrl::as_str).enumerate() {
            match names_at(&client, url).await {
                Ok(names) => {
                    info!("{url}: {} names", names.len());
                    lists.insert(at, names);
                }
                Err(error) => {
                    let message = format_args!("{url}: {error}; its old names still hold");
                    log.warn(&format!("failed downloads of {url}"), message);
                }
            }
        }
        players.set_online(lists.values().flatten().cloned().collect());
        log.summarise(Instant::now());
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
