//! Talk with the client of a WebSocket: bounded in messages and time, with pings.

use std::{pin::pin, time::Duration};

use futures_util::{
    SinkExt, Stream, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    select,
    sync::mpsc,
    time::{Instant, interval, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::{
    Message, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use zeitnot_net::{Rate, Ration};

use super::{socket::Socket, state::Peer};

/// Bytes of a client's message.
const MAX_REQUEST: usize = 1024;
/// Messages of a client, pings too.
const REQUESTS: Rate = Rate { burst: 40, interval: Duration::from_millis(100) };
/// Bytes of an answer that count as one message more.
const ANSWER: usize = 8 * 1024;
/// Answers that may wait for a client. One that asks on without reading them is disconnected.
const ANSWERS: usize = 64;
/// Interval of pings, and the silence after which a client is gone.
const PING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(90);
/// Time that a client may take for a message.
const WRITE: Duration = Duration::from_secs(10);

/// Answer to a client's message.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: Option<Utf8Bytes>,
    /// Bytes that the message costs, in the text or beside it.
    pub(super) bytes: usize,
}

impl From<Utf8Bytes> for Answer {
    fn from(text: Utf8Bytes) -> Answer {
        Answer { bytes: text.len(), text: Some(text) }
    }
}

/// Talks with a client until the texts for it end or it is gone. `obey` gets its messages, each with the instant at which
/// it was read; the error says why one cannot be taken.
pub(super) async fn talk<O: Future<Output = Answer>>(
    socket: Socket,
    peer: &Peer,
    texts: impl Stream<Item = Utf8Bytes>,
    end: &'static str,
    obey: impl FnMut(Result<Utf8Bytes, String>, Instant) -> O,
) {
    let (mut sink, stream) = socket.split();
    let (to_client, answers) = mpsc::channel(ANSWERS);
    let close = select! {
        () = read(stream, to_client, obey) => None,
        is_over = write(&mut sink, texts, answers) => is_over.then_some((CloseCode::Away, end)),
        () = peer.place.evicted.cancelled() => Some((CloseCode::Again, "too many connections")),
    };
    let frame = close.map(|(code, reason)| CloseFrame { code, reason: reason.into() });
    let _ = timeout(WRITE / 10, sink.send(Message::Close(frame))).await;
}

/// Writes texts, then answers, and pings in between. Returns whether the texts are over; otherwise the client does not take
/// them.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    texts: impl Stream<Item = Utf8Bytes>,
    mut answers: mpsc::Receiver<Utf8Bytes>,
) -> bool {
    let mut texts = pin!(texts);
    let mut ping = interval(PING);
    ping.reset();
    loop {
        let message = select! {
            biased;
            text = texts.next() => match text {
                Some(text) => Message::Text(text),
                None => return true,
            },
            Some(answer) = answers.recv() => Message::Text(answer),
            _ = ping.tick() => Message::Ping(Default::default()),
        };
        if !matches!(timeout(WRITE, sink.send(message)).await, Ok(Ok(()))) {
            return false;
        }
    }
}

/// Reads messages at a bounded pace, until the client is gone.
async fn read<O: Future<Output = Answer>>(
    mut stream: SplitStream<Socket>,
    answers: mpsc::Sender<Utf8Bytes>,
    mut obey: impl FnMut(Result<Utf8Bytes, String>, Instant) -> O,
) {
    let mut ration = Ration::new(REQUESTS);
    loop {
        if let Some(due) = ration.due() {
            sleep_until(due).await;
        }
        let Ok(Some(Ok(message))) = timeout(SILENCE, stream.next()).await else { return };
        let message = match message {
            Message::Text(text) if text.len() > MAX_REQUEST => {
                Some(Err(format!("a message is {MAX_REQUEST} bytes long at most")))
            }
            Message::Text(text) => Some(Ok(text)),
            Message::Binary(_) => Some(Err("send text, not binary frames".to_owned())),
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
        };
        let answer = match message {
            Some(message) => obey(message, Instant::now()).await,
            None => Answer::default(),
        };
        ration.charge(cost(answer.bytes));
        if answer.text.is_some_and(|text| answers.try_send(text).is_err()) {
            return;
        }
    }
}

/// Messages that one with an answer of so many bytes counts for.
fn cost(answer: usize) -> u32 {
    u32::try_from(answer / ANSWER).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
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
