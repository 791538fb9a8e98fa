//! A client of the arena's web API.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use reqwest::{Client, ClientBuilder, Method, Response};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use zeitnot_testing::soon;

use super::{arena::TestArena, storage::Storage};

/// Token of the test arenas.
pub const TOKEN: &str = "organiser";

pub struct Browser {
    pub address: SocketAddr,
    client: Client,
}

/// An arena with a page and no tournament, in a folder that may have one's past.
pub async fn without_tournament(folder: impl Into<Storage>) -> (TestArena, Browser) {
    let text = format!(
        "tcp = '127.0.0.1:0'\ngames = '{{folder}}/games'\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n"
    );
    let arena = TestArena::open(folder, &text).await;
    let browser = Browser::new(arena.web.unwrap());
    (arena, browser)
}

/// An arena with a page and one tournament with these settings.
pub async fn with_page(settings: &str) -> (TestArena, Browser) {
    with_page_in(Storage::file(), settings).await
}

/// The same with this database.
pub async fn with_page_in(storage: Storage, settings: &str) -> (TestArena, Browser) {
    let text = format!(
        "tcp = '127.0.0.1:0'\nwebsocket = '127.0.0.1:0'\ngames = '{{folder}}/games'\n\
         [web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'\n\
         [[tournament]]\nname = 'class'\ntime = '60+0'\npairing_interval = '20ms'\npause = '0ms'\n{settings}"
    );
    let arena = TestArena::open(storage, &text).await;
    let browser = Browser::new(arena.web.unwrap());
    (arena, browser)
}

impl Browser {
    /// Opens a connection for each request.
    pub fn new(address: SocketAddr) -> Browser {
        Browser::with(address, Client::builder().pool_max_idle_per_host(0))
    }

    /// Keeps its connection, so that many requests stay below a limit of connections.
    pub fn keep_alive(address: SocketAddr) -> Browser {
        Browser::with(address, Client::builder())
    }

    fn with(address: SocketAddr, client: ClientBuilder) -> Browser {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Browser { address, client: client.no_proxy().build().unwrap() }
    }

    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Response {
        self.try_ask(method, path, headers, body).await.unwrap()
    }

    /// The same, where the server may close the connection.
    pub async fn try_ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> reqwest::Result<Response> {
        let url = format!("http://{}{path}", self.address);
        let mut request = self.client.request(Method::from_bytes(method.as_bytes()).unwrap(), url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        soon(path, request.send()).await
    }

    pub async fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[], Vec::new()).await
    }

    /// The status and the JSON of an answer.
    pub async fn json(&self, path: &str) -> (u16, Value) {
        let answer = self.get(path).await;
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// The status and the JSON of an answer to JSON.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let json = [("content-type", "application/json")];
        let answer = self.ask("POST", path, &json, body.to_string().into_bytes()).await;
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// The status and the JSON (null if there is none) of an order by the organiser.
    pub async fn order(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
        let answer = self.ask(method, path, &headers, body.to_string().into_bytes()).await;
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    /// The live WebSocket.
    pub async fn live(&self) -> Spectator {
        self.socket("/api/live").await
    }

    /// A WebSocket.
    pub async fn socket(&self, path: &str) -> Spectator {
        let url = format!("ws://{}{path}", self.address);
        Spectator(soon("a WebSocket", connect_async(url)).await.unwrap().0)
    }
}

pub struct Spectator(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Spectator {
    pub async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// The next message; `None` at the close.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match soon("a live message", self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    /// The next message of a type; others are passed over.
    pub async fn expect(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("closed without '{kind}'"));
            if message["type"] == kind {
                return message;
            }
        }
    }
}
