//! The live WebSocket: a client says what it watches, and hears of each change.

use std::time::Duration;

use axum::{extract::State, response::Response};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    select,
    sync::mpsc,
    time::{interval, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::{
    Message, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use zeitnot_net::{Rate, Ration};

use super::{
    answer::ErrorBody,
    socket::{Socket, Upgrade},
    state::{Peer, WebState},
};
use crate::live::{
    SubscriberId, print,
    view::{Game, LiveMessage, LiveRequest, Topic},
};

/// Messages that may wait for one client.
const QUEUE: usize = 128;
/// Bytes of a client's message.
const MAX_REQUEST: usize = 1024;
/// Messages of a client, pings too.
const REQUESTS: Rate = Rate { burst: 40, interval: Duration::from_millis(100) };
/// Bytes of an answer that count as one message more.
const ANSWER: usize = 8 * 1024;
/// Interval of pings, and the silence after which a client is gone.
const PING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// Time for a game that only the database has.
const LOOK_UP: Duration = Duration::from_secs(5);
/// Time that a client may take for a message.
const WRITE: Duration = Duration::from_secs(10);

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
    let (queue, messages) = mpsc::channel(QUEUE);
    let own = queue.clone();
    let Some(id) = web.hub.call(move |hub| hub.subscribe(queue)).await else { return };
    let (mut sink, stream) = socket.split();
    let client = Client { id, web: web.clone(), own };
    let close = select! {
        () = client.read(stream) => None,
        close = write(&mut sink, messages) => close,
        () = peer.place.evicted.cancelled() => Some((CloseCode::Again, "too many connections")),
        () = web.stop.cancelled() => Some((CloseCode::Away, "the arena is shutting down")),
    };
    web.hub.send(move |hub| hub.unsubscribe(id)).await;
    let frame = close.map(|(code, reason)| CloseFrame { code, reason: reason.into() });
    let _ = timeout(WRITE / 10, sink.send(Message::Close(frame))).await;
}

/// Sends messages, and pings in between; ends where the client does not take them.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    mut messages: mpsc::Receiver<Utf8Bytes>,
) -> Option<(CloseCode, &'static str)> {
    let mut ping = interval(PING);
    ping.reset();
    loop {
        let message = select! {
            message = messages.recv() => match message {
                Some(text) => Message::Text(text),
                None => return Some((CloseCode::Away, "the arena is shutting down")),
            },
            _ = ping.tick() => Message::Ping(Default::default()),
        };
        match timeout(WRITE, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return None,
        }
    }
}

struct Client {
    id: SubscriberId,
    web: WebState,
    own: mpsc::Sender<Utf8Bytes>,
}

impl Client {
    /// Obeys the client until it is gone.
    async fn read(self, mut stream: SplitStream<Socket>) {
        let mut ration = Ration::new(REQUESTS);
        loop {
            if let Some(due) = ration.due() {
                sleep_until(due).await;
            }
            let Ok(Some(Ok(message))) = timeout(SILENCE, stream.next()).await else { return };
            let answer = match message {
                Message::Text(text) => self.obey(&text).await,
                Message::Binary(_) => {
                    self.say(&LiveMessage::Error { error: "send text, not binary frames".into() })
                }
                Message::Close(_) => return,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => 0,
            };
            ration.charge(cost(answer));
        }
    }

    /// Does what a message says; returns the bytes of the answer.
    async fn obey(&self, text: &str) -> usize {
        if text.len() > MAX_REQUEST {
            let error = format!("a message is {MAX_REQUEST} bytes long at most");
            return self.say(&LiveMessage::Error { error });
        }
        let id = self.id;
        match serde_json::from_str::<LiveRequest>(text) {
            Ok(LiveRequest::Watch(topic)) => self.watch(topic).await,
            Ok(LiveRequest::Unwatch(topic)) => {
                self.web.hub.send(move |hub| hub.unwatch(id, &topic)).await;
                0
            }
            Ok(LiveRequest::Ping(ping)) => self.say(&LiveMessage::Pong { ping }),
            Err(error) => {
                self.say(&LiveMessage::Error { error: format!("cannot read the message: {error}") })
            }
        }
    }

    /// Watches a subject; returns the bytes of the answer. A game that only the database has is shown, and nothing will
    /// happen to it.
    async fn watch(&self, topic: Topic) -> usize {
        if let Topic::Game(game) = &topic
            && let Some(game) = self.stored(game).await
        {
            return self.say(&LiveMessage::Game { game });
        }
        let id = self.id;
        self.web.hub.call(move |hub| hub.watch(id, topic)).await.unwrap_or_default()
    }

    async fn stored(&self, id: &str) -> Option<Game> {
        let key = id.to_owned();
        if self.web.hub.call(move |hub| hub.has_game(&key)).await? {
            return None;
        }
        let find = async { self.web.archive.find(id).await.ok()??.view().await.ok() };
        timeout(LOOK_UP, find).await.ok()?
    }

    /// Answers, if there is room: whoever reads nothing needs no answers. Returns the bytes of the answer.
    fn say(&self, message: &LiveMessage) -> usize {
        let message = print(message);
        let length = message.len();
        let _ = self.own.try_send(message);
        length
    }
}

/// Messages that one with an answer of so many bytes counts for.
fn cost(answer: usize) -> u32 {
    u32::try_from(answer / ANSWER).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[test(start_paused = true)]
    async fn a_message_is_charged_for_its_answer() {
        let messages_in_a_minute = |answer: usize| {
            let (mut ration, since, mut messages) = (Ration::new(REQUESTS), Instant::now(), 0_u32);
            while ration.due().is_none_or(|due| due < since + Duration::from_secs(60)) {
                ration.charge(cost(answer));
                messages += 1;
            }
            messages
        };
        assert_eq!(messages_in_a_minute(100), 639);
        // A full list of games.
        assert_eq!(messages_in_a_minute(97_000), 54);
    }
}
