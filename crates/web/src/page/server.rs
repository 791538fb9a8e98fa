//! The server: its port, its thread, and its connections, bounded in number and rate for each address.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request, response::Response};
use hyper::body::Incoming;
use tokio::{
    join,
    net::TcpStream,
    runtime,
    sync::{mpsc, watch},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;
use utoipa_axum::router::OpenApiRouter;
use zeitnot_host::{
    database::{Database, DatabaseLocation},
    jobs::{self, Handle, Jobs},
    live::{Event, Feed, Hub},
};
use zeitnot_net::{Rate, descriptors, secret::Secret};

use super::{
    archive::{Archive, ViewStored},
    config::Config,
    organiser::Organiser,
    requests::{Requests, forwarded},
    router::router,
    socket::SocketTasks,
    state::{BotControl, Peer, WebState},
};
use crate::{
    error::ServerError,
    hosts::Hosts,
    http,
    places::{Place, Places, Pool},
    play::{Analyst, Searcher, Tables, TablesActor},
    port::Port,
    side_thread::SideThread,
};

/// Connections of one address.
const CONNECTIONS: Rate = Rate { burst: 1024, interval: Duration::from_millis(5) };
/// Connections of a proxy, which makes those of all visitors: only the pace of the port bounds them.
const PROXY_CONNECTIONS: Rate = Rate { burst: 1 << 16, interval: Duration::from_micros(1) };
/// Time for which a connection may wait for its next request.
const IDLE: Duration = Duration::from_secs(30);

/// Web server with its port bound, ready to run.
#[derive(Debug)]
pub struct Web {
    /// The port.
    pub port: Port,
    config: Config,
    token: Secret,
    /// The token was drawn here, so nobody knows it yet.
    is_new_token: bool,
    hub: (Handle<Hub>, Jobs<Hub>),
    events: mpsc::Receiver<Event>,
    /// On a bot's page, what controls the bot.
    bot: Option<BotControl>,
    /// The arena's database, if it keeps one.
    pub database: Option<Arc<DatabaseLocation>>,
    view_stored: ViewStored,
    analyst: Analyst,
    tables: (Handle<Tables>, TablesActor),
    /// Number of clients that watch.
    pub spectators: watch::Sender<usize>,
}

impl Web {
    /// Takes the port; returns the feed that shows games on it, too. People play against the searcher.
    ///
    /// # Errors
    /// [`ServerError`], which says what to change.
    pub fn bind(config: Config, searcher: Arc<dyn Searcher>) -> Result<(Web, Feed), ServerError> {
        let token = config.find_token().map_err(ServerError::Config)?;
        let is_new_token = token.is_none();
        let no_random = || ServerError::Config("web: the system has no random numbers: set token".into());
        let token = token.or_else(Secret::random).ok_or_else(no_random)?;
        let port = Port::open(config.listen)?;
        let (feed, events) = Feed::channel();
        let analyst = Analyst::new(searcher.clone());
        let (hub, tables) = (jobs::channel(), Tables::channel(searcher, feed.clone()));
        let spectators = watch::Sender::default();
        let web = Web {
            port,
            config,
            token,
            is_new_token,
            hub,
            events,
            bot: None,
            database: None,
            view_stored: |_| None,
            analyst,
            tables,
            spectators,
        };
        Ok((web, feed))
    }

    /// Address of the page for people.
    pub fn url(&self) -> String {
        self.config.url(self.port.address)
    }

    /// The organiser's token, if it was drawn here. It must not reach a log.
    pub fn new_token(&self) -> Option<&str> {
        self.is_new_token.then(|| self.token.expose())
    }

    /// Shows the games and tournaments of this database, too, and keeps the games of tables in it.
    pub fn with_database(self, database: Database, view_stored: ViewStored) -> Web {
        let (location, (handle, tables)) = (database.location().clone(), self.tables);
        let tables = (handle, tables.with_database(database));
        Web { database: Some(location), view_stored, tables, ..self }
    }

    /// Makes it the page of a bot, which this controls.
    pub(crate) fn of_bot(self, control: BotControl) -> Web {
        Web { bot: Some(control), ..self }
    }

    /// Serves until `stop`, on threads of its own, with these routes beside its own. The threads begin with `on_start`,
    /// which sets their priority.
    pub async fn run(self, routes: OpenApiRouter<WebState>, on_start: fn(), stop: CancellationToken) {
        self.run_beside(routes, async {}, on_start, stop).await;
    }

    /// Serves until `stop`, and runs something else on its thread.
    pub(crate) async fn run_beside(
        self,
        routes: OpenApiRouter<WebState>,
        other: impl Future<Output = ()> + Send + 'static,
        on_start: fn(),
        stop: CancellationToken,
    ) {
        // The thread ends with this future, whatever ends it.
        let stop = stop.child_token();
        let _guard = stop.clone().drop_guard();
        let serving = self.serve(routes, other, on_start, stop);
        SideThread::run("web", "the page", on_start, serving).await;
    }

    /// Serves until `stop`, in the present runtime.
    async fn serve(
        mut self,
        routes: OpenApiRouter<WebState>,
        other: impl Future<Output = ()>,
        on_start: fn(),
        stop: CancellationToken,
    ) {
        let ((hub, jobs), (tables, actor)) = (self.hub, self.tables);
        let sockets = SocketTasks { runtime: runtime::Handle::current(), tasks: TaskTracker::new() };
        let (seats, tables_thread) = match start_tables(actor, on_start, stop.clone()).await {
            Ok(started) => started,
            Err(error) => return tracing::error!("cannot serve the page: {error}"),
        };
        let archive = Archive::new(self.database, self.view_stored);
        let hosts =
            Hosts::new(self.config.public.take(), if self.bot.is_some() { "[web]" } else { "[arena.web]" });
        let state = WebState {
            hub,
            tables,
            bot: self.bot,
            archive: archive.clone(),
            analyst: Arc::new(self.analyst),
            organiser: Organiser::new(self.token),
            sockets: sockets.clone(),
            seats,
            stop: stop.clone(),
        };
        let server = Server {
            router: router(routes, state, hosts),
            behind_proxy: self.config.behind_proxy,
            requests: Requests::default(),
            places: Places::for_spectators(max_connections(self.config.max_connections)),
            stop: stop.clone(),
        };
        let mut views = Hub::new(self.spectators);
        views.restore(stop.run_until_cancelled(archive.latest()).await.unwrap_or_default());
        let hub = views.run(self.events, jobs, stop.clone());
        let served = async { join!(hub, server.run(self.port, sockets.tasks)) };
        // Its last news comes too late for the page.
        join!(served, stop.run_until_cancelled(other));
        if !tables_thread.join().await {
            tracing::error!("the tables of the page have failed; please report it");
        }
        archive.close().await;
    }
}

/// Returns the number of connections that leave half of the process's file descriptors to games.
fn max_connections(wanted: usize) -> usize {
    let Some(limit) = descriptors::limit() else { return wanted };
    let max = wanted.min(limit / 2).max(1);
    if max < wanted {
        tracing::info!(
            "the page takes {max} connections instead of {wanted}, as this process may open {limit} files: let it open more (ulimit -n, LimitNOFILE) or lower max_connections"
        );
    }
    max
}

/// Starts the thread of the tables and of the sockets of their players, which no request to the page delays.
async fn start_tables(
    actor: TablesActor,
    on_start: fn(),
    stop: CancellationToken,
) -> io::Result<(SocketTasks, SideThread)> {
    let tasks = TaskTracker::new();
    let seats = tasks.clone();
    let main = async move {
        actor.run(stop).await;
        // The players hear of the end.
        seats.close();
        seats.wait().await;
    };
    let thread = SideThread::start("tables", on_start, main).await?;
    Ok((SocketTasks { runtime: thread.runtime.clone(), tasks }, thread))
}

#[derive(Clone, Debug)]
struct Server {
    router: Router,
    behind_proxy: bool,
    requests: Requests,
    places: Places,
    stop: CancellationToken,
}

impl Server {
    /// Takes connections until the stop, and waits for their ends.
    async fn run(self, port: Port, tasks: TaskTracker) {
        let rate = if self.behind_proxy { PROXY_CONNECTIONS } else { CONNECTIONS };
        let port = match port.take_over(rate) {
            Ok(port) => port,
            Err(error) => return tracing::error!("cannot serve the page: {error}"),
        };
        let serve = |stream, _, place: Place| {
            // Nobody is refused: the oldest of the address with most connections makes room.
            let _ = place.move_to(Pool::Spectators);
            self.clone().serve(stream, Arc::new(place))
        };
        port.serve(&self.places, &tasks, &self.stop, serve).await;
        tasks.close();
        tasks.wait().await;
    }

    async fn serve(self, stream: TcpStream, place: Arc<Place>) {
        let answer = |request| self.answer(request, place.clone());
        http::serve(stream, answer, IDLE, &self.stop).await;
    }

    fn answer(
        &self,
        request: Request<Incoming>,
        place: Arc<Place>,
    ) -> impl Future<Output = Result<Response, Infallible>> + use<> {
        let forwarded = self.behind_proxy.then(|| forwarded(request.headers())).flatten();
        if let Some(visitor) = forwarded {
            place.forward_for(visitor);
        }
        let from = forwarded.unwrap_or(place.from);
        let admitted = self.requests.admit(from);
        let mut router = self.router.clone();
        async move {
            if let Err(refusal) = admitted.wait().await {
                return Ok(refusal);
            }
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer { from, place });
            router.call(request).await
        }
    }
}
