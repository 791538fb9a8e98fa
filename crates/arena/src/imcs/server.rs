//! Server of IMCS: its port, its tasks and its files.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use time::OffsetDateTime;
use tokio::{sync::Semaphore, task::spawn_blocking};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net as net;

use super::{config::Config, connection::Connection, guest::Guest, lobby::Lobby, users::Users};
use crate::{
    error::ArenaError,
    jobs,
    port::Port,
    store::{GameFile, Store, StoreActor},
};

/// Line to clients beyond the limit.
const FULL: &[u8] = b"503 too many connections, come back later\r\n";
#[derive(Debug)]
pub(crate) struct Imcs {
    pub(crate) port: Port,
    users: Users,
    store: (Store, StoreActor),
    places: usize,
    config: Config,
}

impl Imcs {
    pub(crate) async fn bind(config: Config, games: &Path, places: usize) -> Result<Imcs, ArenaError> {
        let port = Port::open(config.listen).await?;
        let users = Users::open(&config.users)?;
        let store = Store::channel(GameFile::create(games, "imcs", "txt", OffsetDateTime::now_utc())?);
        Ok(Imcs { port, users, store, places, config })
    }

    /// Serves until `stop`, or until the administrator stops it. When it returns, no task is left.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let (stop, tracker) = (stop.child_token(), TaskTracker::new());
        let (store, writer) = self.store;
        let writer = spawn_blocking(move || writer.run());
        let (lobby, jobs) = jobs::channel();
        let actor = Lobby {
            handle: lobby.downgrade(),
            users: self.users,
            has_changed: false,
            config: self.config,
            games: tracker.clone(),
            stop: stop.clone(),
            offers: BTreeMap::new(),
            running: BTreeMap::new(),
            last: 0,
            records: Vec::new(),
        };
        let actor = tokio::spawn(actor.run(jobs, store));

        let places = Arc::new(Semaphore::new(self.places.min(Semaphore::MAX_PERMITS)));
        while let Some((stream, _)) = self.port.next(&stop).await {
            let Ok(place) = places.clone().try_acquire_owned() else {
                tracing::warn!("turned away from IMCS: max_connections is reached");
                let _ = stream.try_write(FULL);
                continue;
            };
            match net::over_telnet(stream) {
                Ok(halves) => {
                    let guest = Guest::new(Connection::new(halves, place), lobby.clone(), stop.clone());
                    tracker.spawn(guest.serve());
                }
                Err(error) => tracing::debug!(%error, "no connection"),
            }
        }
        drop((self.port, lobby));
        tracker.close();
        tracker.wait().await;
        // Each of them ends with the one before it.
        for ended in [actor.await.is_err(), writer.await.is_err()] {
            if ended {
                tracing::error!("a task of IMCS has failed; please report it");
            }
        }
    }
}
