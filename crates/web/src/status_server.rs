//! Port for what watches over the program: metrics for Prometheus, and whether the program lives and is ready.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

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

use crate::{
    error::ServerError,
    hosts::{Hosts, PublicUrl},
    http,
    places::{Places, Pool},
    port::Port,
    side_thread::SideThread,
};

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
pub struct StatusServer {
    port: Port,
    hosts: Hosts,
}

impl StatusServer {
    /// Takes the port. It answers to addresses, to `localhost`, and to the public name if it has one.
    ///
    /// # Errors
    /// [`ServerError`] if it cannot be used.
    pub fn bind(address: SocketAddr, public: Option<PublicUrl>) -> Result<StatusServer, ServerError> {
        let hosts = Hosts::new(public, "[metrics]");
        Port::open(address).map(|port| StatusServer { port, hosts })
    }

    /// Returns the address, with the port that the system chose if any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// Serves until `stop`, on a thread of its own, which begins with `on_start`: it sets its priority.
    pub async fn run(self, status: impl Status, on_start: fn(), stop: CancellationToken) {
        let stop = stop.child_token();
        let _guard = stop.clone().drop_guard();
        let serving = async move {
            match self.port.take_over(CONNECTIONS) {
                Ok(port) => serve(port, self.hosts, Arc::new(status), stop).await,
                Err(error) => tracing::error!("cannot serve the metrics: {error}"),
            }
        };
        SideThread::run("metrics", "the metrics", on_start, serving).await;
    }
}

async fn serve(port: Port, hosts: Hosts, status: Arc<impl Status>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    let places = Places::for_spectators(MAX_CONNECTIONS);
    let accept = port.serve(&places, &connections, &stop, |stream, _, place| {
        let (hosts, status, stop) = (hosts.clone(), status.clone(), stop.clone());
        // Nobody is refused: the oldest of the address with most connections makes room.
        let _ = place.move_to(Pool::Spectators);
        async move {
            let answer = |request| {
                let answer = answer(&request, &hosts, &*status);
                async { Ok::<_, Infallible>(answer) }
            };
            http::serve(stream, answer, IDLE, &stop).await;
            drop(place);
        }
    });
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

fn answer(request: &Request<Incoming>, hosts: &Hosts, status: &impl Status) -> Response<Body> {
    if let Err(bad) = hosts.host(request.headers(), request.uri()) {
        return (bad.status(), format!("{bad}\n")).into_response();
    }
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

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;

    struct Idle;

    impl Status for Idle {
        fn metrics(&self) -> String {
            String::new()
        }
        fn is_alive(&self) -> bool {
            true
        }
        fn is_ready(&self) -> bool {
            true
        }
        fn upkeep(&self) {}
    }

    #[test]
    async fn foreign_and_several_hosts_are_refused() {
        let public = PublicUrl::try_from("http://bot.example:9464".to_owned()).unwrap();
        let server = StatusServer::bind(([127, 0, 0, 1], 0).into(), Some(public)).unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let running = tokio::spawn(server.run(Idle, || (), stop.clone()));
        for (hosts, status) in [
            ("Host: 127.0.0.1\r\n", "200 OK"),
            ("Host: bot.example:9464\r\n", "200 OK"),
            ("Host: evil.example\r\n", "421 Misdirected Request"),
            ("Host: 127.0.0.1\r\nHost: evil.example\r\n", "400 Bad Request"),
            ("", "400 Bad Request"),
        ] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let request = format!("GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
            socket.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            socket.read_to_string(&mut answer).await.unwrap();
            assert_eq!(answer.lines().next(), Some(format!("HTTP/1.1 {status}").as_str()), "{hosts}");
        }
        stop.cancel();
        running.await.unwrap();
    }
}
