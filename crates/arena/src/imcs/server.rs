//! Server of IMCS: its port, its tasks and its files.

use std::path::Path;

use time::OffsetDateTime;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_engine::priority;
use zeitnot_host::{
    hosted_game::Host,
    jobs,
    store::{GameFile, Store, StoreActor},
};
use zeitnot_net as net;
use zeitnot_web::{
    places::{PlaceLimits, Places},
    port::Port,
};

use super::{config::Config, connection::Connection, guest::Guest, lobby::Lobby, users::Users};
use crate::error::ArenaError;

#[derive(Debug)]
pub(crate) struct Imcs {
    pub(crate) port: Port,
    users: Users,
    store: (Store, StoreActor),
    limits: PlaceLimits,
    config: Config,
    host: Host,
}

impl Imcs {
    pub(crate) fn bind(
        config: Config,
        games: &Path,
        limits: PlaceLimits,
        host: Host,
    ) -> Result<Imcs, ArenaError> {
        let port = Port::open(config.listen)?;
        let users = Users::open(&config.users)?;
        let store = Store::channel(GameFile::create(games, "imcs", "txt", OffsetDateTime::now_utc())?);
        Ok(Imcs { port, users, store, limits, config, host })
    }

    /// Serves until `stop`, or until the administrator stops it. When it returns, no task is left.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let (stop, tracker) = (stop.child_token(), TaskTracker::new());
        let (store, writer) = self.store;
        let writer = writer.spawn(priority::usual);
        let (lobby, jobs) = jobs::channel();
        let actor = Lobby {
            users: self.users,
            games: tracker.clone(),
            stop: stop.clone(),
            host: self.host,
            ..Lobby::new(lobby.downgrade(), self.config)
        };
        let actor = tokio::spawn(actor.run(jobs, store));

        let serve = |stream, _, place| {
            let (lobby, stop) = (lobby.clone(), stop.clone());
            async move {
                match net::over_telnet(stream) {
                    Ok(halves) => Guest::new(Connection::new(halves, place), lobby, stop).serve().await,
                    Err(error) => tracing::debug!(%error, "no connection"),
                }
            }
        };
        self.port.serve(&Places::new(self.limits), &tracker, &stop, serve).await;
        drop(lobby);
        tracker.close();
        tracker.wait().await;
        // Each of them ends with the one before it.
        if actor.await.is_err() {
            tracing::error!("a task of IMCS has failed; please report it");
        }
        writer.join().await;
    }
}
