//! WebSocket of a player at a table.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::{
    select,
    sync::watch,
    time::{Instant, interval, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::{
    Message, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use zeitnot_net::{Rate, Ration};

use super::{
    socket::Socket,
    state::{Peer, WebState},
};
use crate::play::{BadAction, Heard, SeatRef, SeatView, TableNotice};

/// Bytes of a player's message.
const MAX_REQUEST: usize = 1024;
/// Messages of a player, pings too.
const REQUESTS: Rate = Rate { burst: 40, interval: Duration::from_millis(100) };
/// Interval of pings, and the silence after which a player is gone.
const PING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// Time that a player may take for a message.
const WRITE: Duration = Duration::from_secs(10);

/// Reason to hang up; `None`: the player is gone.
type Close = Option<(CloseCode, &'static str)>;

const CLOSED: Close = Some((CloseCode::Away, "the table is closed"));

/// Seats a player until the connection or the table ends.
pub(super) async fn serve(mut socket: Socket, web: WebState, peer: Peer, token: String) {
    let joined = web.tables.call(move |tables| tables.join(&token)).await;
    let close = match joined {
        Some(Ok((seat, view))) => {
            let mut player = Player { socket: &mut socket, web: &web, seat, heard: Instant::now() };
            let close = select! {
                close = player.talk(view) => close,
                () = peer.place.evicted.cancelled() => Some((CloseCode::Again, "too many connections")),
            };
            web.tables.send(move |tables| tables.leave(seat)).await;
            close
        }
        Some(Err(_)) | None => CLOSED,
    };
    let frame = close.map(|(code, reason)| CloseFrame { code, reason: reason.into() });
    let _ = timeout(WRITE / 10, socket.close(frame)).await;
}

struct Player<'s> {
    socket: &'s mut Socket,
    web: &'s WebState,
    seat: SeatRef,
    heard: Instant,
}

impl Player<'_> {
    /// Shows each change, and does what the player asks for.
    async fn talk(&mut self, mut view: watch::Receiver<SeatView>) -> Close {
        let mut ration = Ration::new(REQUESTS);
        let mut ping = interval(PING);
        ping.reset();
        loop {
            let went_on = select! {
                changed = view.changed() => {
                    let seen = view.borrow_and_update().clone();
                    let is_closed = changed.is_err() || seen.is_closed;
                    let wrote = self.show(seen).await;
                    if is_closed {
                        return CLOSED;
                    }
                    wrote
                }
                message = self.socket.next() => match message {
                    Some(Ok(message)) => self.hear(message, &mut ration).await,
                    Some(Err(_)) | None => None,
                },
                _ = ping.tick() => self.write(Message::Ping(Default::default())).await,
                () = sleep_until(self.heard + SILENCE) => None,
            };
            went_on?;
        }
    }

    async fn show(&mut self, seen: SeatView) -> Option<()> {
        self.say(seen.state).await?;
        match seen.rematch {
            Some(rematch) => self.say(rematch).await,
            None => Some(()),
        }
    }

    /// Does what a message says; `None` if the player is gone.
    async fn hear(&mut self, message: Message, ration: &mut Ration) -> Option<()> {
        self.heard = Instant::now();
        if let Some(due) = ration.spend() {
            sleep_until(due).await;
        }
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => Utf8Bytes::default(),
            Message::Close(_) => return None,
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => return Some(()),
        };
        match obey(self.web, self.seat, self.heard, &text).await {
            Ok(None) => Some(()),
            Ok(Some(notice)) => self.say(notice.print()).await,
            Err(error) => self.say(TableNotice::Error { error: error.to_string() }.print()).await,
        }
    }

    async fn say(&mut self, text: Utf8Bytes) -> Option<()> {
        self.write(Message::Text(text)).await
    }

    /// Writes a message; `None` if the player does not take it.
    async fn write(&mut self, message: Message) -> Option<()> {
        timeout(WRITE, self.socket.send(message)).await.ok()?.ok()
    }
}

/// Does what a text says, which was read `at` this instant; returns the answer to it, if there is one.
async fn obey(
    web: &WebState,
    seat: SeatRef,
    at: Instant,
    text: &str,
) -> Result<Option<TableNotice>, BadAction> {
    if text.len() > MAX_REQUEST {
        return Err(BadAction::Long(MAX_REQUEST));
    }
    match Heard::parse(text)? {
        Heard::Ping(ping) => Ok(Some(TableNotice::Pong { ping })),
        Heard::Action(action) => {
            let done = web.tables.call(move |tables| tables.act(seat, action, at)).await;
            done.ok_or(BadAction::NoTable)?.map(|()| None)
        }
    }
}
