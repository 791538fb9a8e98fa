//! Port for what watches over the program: metrics for Prometheus, and whether the program lives and is ready.

use std::{convert::Infallible, fmt, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::body::Incoming;
use tokio::{
    join,
    time::{MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net::Rate;

use crate::{error::ArenaError, http, port::Port, side_thread::SideThread};

/// Connections of one address.
const CONNECTIONS: Rate = Rate { burst: 64, interval: Duration::from_millis(50) };
/// Connections at once.
const MAX_CONNECTIONS: usize = 32;
/// Time for which a connection may wait for its next request: more than the usual interval of a scraper.
const IDLE: Duration = Duration::from_secs(90);
/// Interval of [`Status::upkeep`].
const UPKEEP: Duration = Duration::from_secs(5);
/// Prometheus's text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// State of a program, for what watches over it.
pub trait Status: Send + Sync + 'static {
    /// Returns the metrics in Prometheus's text format.
    fn metrics(&self) -> String;

    /// Returns whether the program works; if not, it should be restarted.
    fn is_alive(&self) -> bool;

    /// Returns whether it serves its purpose now.
    fn is_ready(&self) -> bool;

    /// Keeps what was measured in order. Called every few seconds.
    fn upkeep(&self);
}

/// Server with its port bound, ready to run: `/metrics`, `/healthz` and `/readyz`.
#[derive(Debug)]
pub struct StatusServer(Port);

impl StatusServer {
    /// Takes the port.
    ///
    /// # Errors
    /// [`ArenaError`] if it cannot be used.
    pub fn bind(address: SocketAddr) -> Result<StatusServer, ArenaError> {
        Port::open(address).map(StatusServer)
    }

    /// Returns the address, with the port that the system chose if any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Serves until `stop`, on a thread of its own.
    pub async fn run(self, status: impl Status, stop: CancellationToken) {
        let stop = stop.child_token();
        let _guard = stop.clone().drop_guard();
        let failed = |error: &dyn fmt::Display| tracing::error!("cannot serve the metrics: {error}");
        let listener = match self.0.into_std() {
            Ok(listener) => listener,
            Err(error) => return failed(&error),
        };
        let main = async move {
            match Port::from_std(listener, CONNECTIONS) {
                Ok(port) => serve(port, Arc::new(status), stop).await,
                Err(error) => tracing::error!("cannot serve the metrics: {error}"),
            }
        };
        let thread = match SideThread::start("metrics", main).await {
            Ok(thread) => thread,
            Err(error) => return failed(&error),
        };
        if !thread.join().await {
            failed(&"its thread has failed; please report it");
        }
    }
}

async fn serve(mut port: Port, status: Arc<impl Status>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    let accept = async {
        while let Some((stream, _)) = port.next(&stop).await {
            if connections.len() >= MAX_CONNECTIONS {
                continue;
            }
            let (status, stop) = (status.clone(), stop.clone());
            connections.spawn(async move {
                let answer = |request| {
                    let answer = answer(&request, &*status);
                    async { Ok::<_, Infallible>(answer) }
                };
                http::serve(stream, answer, IDLE, &stop).await;
            });
        }
    };
    let upkeep = stop.run_until_cancelled(async {
        let mut ticks = interval(UPKEEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            status.upkeep();
        }
    });
    join!(accept, upkeep);
    connections.close();
    connections.wait().await;
}

fn answer(request: &Request<Incoming>, status: &impl Status) -> Response<Body> {
    let state = |is_good: bool, what: &'static str| match is_good {
        true => (StatusCode::OK, "ok\n").into_response(),
        false => (StatusCode::SERVICE_UNAVAILABLE, what).into_response(),
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    match request.uri().path() {
        "/metrics" => ([(header::CONTENT_TYPE, TEXT_FORMAT)], status.metrics()).into_response(),
        "/healthz" => state(status.is_alive(), "the network thread hangs\n"),
        "/readyz" => state(status.is_ready(), "not connected to any server\n"),
        _ => (StatusCode::NOT_FOUND, "known here: /metrics, /healthz, /readyz\n").into_response(),
    }
}
