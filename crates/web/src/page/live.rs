//! The live WebSocket: a client says what it watches, and hears of each change.

use std::time::Duration;

use axum::{extract::State, response::Response};
use futures_util::{StreamExt, stream::poll_fn};
use tokio::{sync::mpsc, time::timeout};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_host::live::{
    SubscriberId, print,
    view::{LiveMessage, LiveRequest, Topic},
};

use super::{
    answer::ErrorBody,
    socket::{Socket, Upgrade},
    state::{Peer, WebState},
    talk::{Answer, talk},
    tournaments,
};

/// Messages that may wait for one client.
const QUEUE: usize = 128;
/// Time for what only the database has.
const LOOK_UP: Duration = Duration::from_secs(5);

pub(super) fn routes() -> OpenApiRouter<WebState> {
    OpenApiRouter::new().routes(routes!(live))
}

/// Opens the live WebSocket: text frames of `LiveRequest` from the client, of `LiveMessage` to it
#[utoipa::path(get, path = "/api/live",
    responses((status = 101, description = "WebSocket"), (status = 426, body = ErrorBody)))]
async fn live(State(web): State<WebState>, peer: Peer, upgrade: Upgrade) -> Response {
    let sockets = web.sockets.clone();
    upgrade.serve(&sockets, move |socket| serve(socket, web, peer))
}

async fn serve(socket: Socket, web: WebState, peer: Peer) {
    let (queue, mut messages) = mpsc::channel(QUEUE);
    let Some(id) = web.hub.call(move |hub| hub.subscribe(queue)).await else { return };
    let client = &Client { id, web: &web };
    let messages = poll_fn(|context| messages.poll_recv(context)).take_until(web.stop.cancelled());
    let end = "the arena is shutting down";
    talk(socket, &peer, messages, end, |message, _| client.obey(message)).await;
    web.hub.send(move |hub| hub.unsubscribe(id)).await;
}

struct Client<'w> {
    id: SubscriberId,
    web: &'w WebState,
}

impl Client<'_> {
    /// Does what a message says.
    async fn obey(&self, message: Result<Utf8Bytes, String>) -> Answer {
        let id = self.id;
        let request = message.and_then(|text| {
            serde_json::from_str(&text).map_err(|error| format!("cannot read the message: {error}"))
        });
        match request {
            Ok(LiveRequest::Watch(topic)) => self.watch(topic).await,
            Ok(LiveRequest::Unwatch(topic)) => {
                self.web.hub.send(move |hub| hub.unwatch(id, &topic)).await;
                Answer::default()
            }
            Ok(LiveRequest::Ping(ping)) => print(&LiveMessage::Pong { ping }).into(),
            Err(error) => print(&LiveMessage::Error { error }).into(),
        }
    }

    /// Watches a subject. What only the database has is shown, and nothing will happen to it.
    async fn watch(&self, topic: Topic) -> Answer {
        let stored = async {
            match &topic {
                Topic::Game(id) => self.stored_game(id).await,
                Topic::Tournament(name) => self.stored_tournament(name).await,
                Topic::Games | Topic::Bot => None,
            }
        };
        if let Some(stored) = timeout(LOOK_UP, stored).await.ok().flatten() {
            return print(&stored).into();
        }
        let id = self.id;
        let bytes = self.web.hub.call(move |hub| hub.watch(id, topic)).await.unwrap_or_default();
        Answer { text: None, bytes }
    }

    async fn stored_game(&self, id: &str) -> Option<LiveMessage> {
        let key = id.to_owned();
        if self.web.hub.call(move |hub| hub.has_game(&key)).await? {
            return None;
        }
        let game = self.web.archive.find(id).await.ok()??.view().await.ok()?;
        Some(LiveMessage::Game { game })
    }

    async fn stored_tournament(&self, name: &str) -> Option<LiveMessage> {
        let key = name.to_owned();
        if self.web.hub.call(move |hub| hub.has_tournament(&key)).await? {
            return None;
        }
        let tournament = tournaments::find(self.web, name).await.ok()??;
        Some(LiveMessage::Tournament { tournament })
    }
}
