//! WebSocket of a player at a table.

use futures_util::{Stream, stream::unfold};
use tokio::{sync::watch, time::Instant};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::{
    socket::Socket,
    state::{Peer, WebState},
    talk::{Answer, talk},
};
use crate::play::{BadAction, Heard, SeatRef, SeatView, TableNotice};

/// Seats a player until the connection or the table ends.
pub(super) async fn serve(socket: Socket, web: WebState, peer: Peer, token: String) {
    let joined = web.tables.call(move |tables| tables.join(&token)).await;
    let seated = joined.and_then(Result::ok);
    let seat = seated.as_ref().map(|(seat, _)| *seat);
    let obey = |message, at| answer(&web, seat, message, at);
    talk(socket, &peer, texts(seated.map(|(_, view)| view)), "the table is closed", obey).await;
    if let Some(seat) = seat {
        web.tables.send(move |tables| tables.leave(seat)).await;
    }
}

/// Returns the latest state after each change, and the way to a rematch, until the table is closed.
fn texts(view: Option<watch::Receiver<SeatView>>) -> impl Stream<Item = Utf8Bytes> {
    unfold((view, None), |(view, rematch)| async move {
        if let Some(rematch) = rematch {
            return Some((rematch, (view, None)));
        }
        let mut view = view?;
        let changed = view.changed().await;
        let SeatView { state, rematch, is_closed } = view.borrow_and_update().clone();
        let view = (changed.is_ok() && !is_closed).then_some(view);
        Some((state, (view, rematch)))
    })
}

async fn answer(
    web: &WebState,
    seat: Option<SeatRef>,
    message: Result<Utf8Bytes, String>,
    at: Instant,
) -> Answer {
    let done = match message {
        Ok(text) => obey(web, seat, at, &text).await.map_err(|error| error.to_string()),
        Err(error) => Err(error),
    };
    match done {
        Ok(None) => Answer::default(),
        Ok(Some(notice)) => notice.print().into(),
        Err(error) => TableNotice::Error { error }.print().into(),
    }
}

/// Does what a text says, which was read `at` this instant; returns the answer to it, if there is one.
async fn obey(
    web: &WebState,
    seat: Option<SeatRef>,
    at: Instant,
    text: &str,
) -> Result<Option<TableNotice>, BadAction> {
    match Heard::parse(text)? {
        Heard::Ping(ping) => Ok(Some(TableNotice::Pong { ping })),
        Heard::Action(action) => {
            let seat = seat.ok_or(BadAction::NoTable)?;
            let done = web.tables.call(move |tables| tables.act(seat, action, at)).await;
            done.ok_or(BadAction::NoTable)?.map(|()| None)
        }
    }
}
