//! Keeps the lists of [`People`] as they are on the disk and on the network, beside everything else.

use std::{collections::HashSet, time::Duration};

use reqwest::{Client, redirect::Policy};
use tokio::{
    join,
    task::spawn_blocking,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use tracing::{info, warn};

use zeitnot_net::http::{self, End};
use zeitnot_wire::lichess::UserId;

use super::{
    http::HttpError,
    people::{Config, LONGEST_FILE, ListUrl, People, names},
};

/// All of a list is here in this time, or it is none.
const LONGEST: Duration = Duration::from_secs(30);
/// The files are read before the first challenge is judged, unless the disk takes longer than this.
const AT_START: Duration = Duration::from_secs(5);
/// Nothing is looked at more often.
const SHORTEST: Duration = Duration::from_millis(50);

/// The lists as they are now; as long as the handle is kept, they stay so.
pub(super) async fn keep(config: &Config) -> (People, AbortOnDropHandle<()>) {
    let people = People::new(config.clone());
    let mut files = Files { people: people.clone(), is_told: false };
    if timeout(AT_START, files.read()).await.is_err() {
        warn!("the files of names are not read yet: nobody waits for them any longer");
    }
    let online = Online::new(config, people.clone());
    let look = config.look_every;
    let task = tokio::spawn(async move {
        join!(files.run(look), online.run());
    });
    (people, AbortOnDropHandle::new(task))
}

/// Files of names.
struct Files {
    people: People,
    /// Does the user know that one of them cannot be read?
    is_told: bool,
}

impl Files {
    async fn run(mut self, every: Duration) {
        let mut ticks = interval(every.max(SHORTEST));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let people = self.people.clone();
        let read = spawn_blocking(move || people.reload()).await;
        match read.map_err(std::io::Error::other).and_then(|read| read) {
            Ok(()) => self.is_told = false,
            Err(error) if self.is_told => tracing::debug!("cannot read names: {error}"),
            Err(error) => {
                warn!("cannot read names: {error}; those read before still hold");
                self.is_told = true;
            }
        }
    }
}

/// Lists of others.
struct Online {
    people: People,
    every: Duration,
    lists: Vec<List>,
}

/// One of them, as it was when it was last to be had.
struct List {
    url: ListUrl,
    names: HashSet<UserId>,
    is_told: bool,
}

impl Online {
    fn new(config: &Config, people: People) -> Online {
        let list = |url: &ListUrl| List { url: url.clone(), names: HashSet::new(), is_told: false };
        let lists = config.never_urls.iter().map(list).collect();
        Online { people, every: config.fetch_every.max(SHORTEST), lists }
    }

    async fn run(mut self) {
        if self.lists.is_empty() {
            return;
        }
        // None of the account's own: its token is nobody else's business.
        let is_here = self.lists.iter().all(|list| list.url.is_here());
        let client = http::client(is_here, concat!("zeitnot/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::limited(3))
            .connect_timeout(LONGEST)
            .https_only(self.lists.iter().all(|list| list.url.as_str().starts_with("https:")))
            .pool_max_idle_per_host(0)
            .build();
        let client = match client {
            Ok(client) => client,
            Err(error) => return warn!("no lists of names from the network: {}", HttpError::from(error)),
        };
        let mut ticks = interval(self.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            for list in &mut self.lists {
                list.fetch(&client).await;
            }
            let all = self.lists.iter().flat_map(|list| list.names.iter().cloned()).collect();
            self.people.set_online(all);
        }
    }
}

impl List {
    async fn fetch(&mut self, client: &Client) {
        let fetched = timeout(LONGEST, text(client, self.url.as_str())).await;
        let late = |_| Err(HttpError::Network("not all of it came in time".to_owned()));
        // A long list is work for more than a moment.
        let read = match fetched.unwrap_or_else(late) {
            Ok(text) => spawn_blocking(move || names(&text)).await.map_err(crashed),
            Err(error) => Err(error),
        };
        match read {
            Ok(names) => {
                self.names = names;
                info!("{}: {} names", self.url.as_str(), self.names.len());
                self.is_told = false;
            }
            Err(error) if self.is_told => tracing::debug!("{}: {error}", self.url.as_str()),
            Err(error) => {
                warn!("{}: {error}; the names from before still hold", self.url.as_str());
                self.is_told = true;
            }
        }
    }
}

fn crashed(error: tokio::task::JoinError) -> HttpError {
    HttpError::Network(error.to_string())
}

/// What stands there, if it is a list of a length that a list may have.
async fn text(client: &Client, url: &str) -> Result<String, HttpError> {
    let response = client.get(url).send().await?.error_for_status()?;
    http::body(response, LONGEST_FILE as usize, End::Whole).await.map_err(HttpError::Network)
}
