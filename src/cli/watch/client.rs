//! Connection to the live WebSocket of an arena, which is taken up again whenever it breaks.

use std::time::Duration;

use tokio::{
    select,
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};
use zeitnot_host::live::view::{LiveMessage, LiveRequest, Topic};
use zeitnot_net::{Address, LineReader, LineWriter, NetError};

/// Longest message: a whole game with all thoughts.
const MAX_MESSAGE: usize = 4 << 20;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Silence after which the server is asked for a sign of life, and after which it is given up.
const QUIET: Duration = Duration::from_secs(10);
const SILENT: Duration = Duration::from_secs(25);
/// Pauses before the next attempt to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) enum News {
    Connected,
    Message(Box<LiveMessage>),
    /// The connection is gone, and why; the next attempt comes by itself.
    Lost(String),
}

/// Follows a topic, and another one whenever the screen wants it, until the screen is gone.
pub(super) async fn follow(
    address: Address,
    mut topic: Topic,
    mut wanted: mpsc::Receiver<Topic>,
    news: mpsc::Sender<News>,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        let connected = select! {
            connected = address.connect_wide(MAX_MESSAGE, CONNECT_LIMIT) => connected,
            () = news.closed() => return,
        };
        let why = match connected {
            Ok((reader, writer)) => {
                if news.send(News::Connected).await.is_err() {
                    return;
                }
                pause = FIRST_PAUSE;
                match listen(reader, writer, &mut topic, &mut wanted, &news).await {
                    Ok(End::ByUs) => return,
                    Ok(End::ByServer) => "it closed the connection".to_owned(),
                    Err(error) => error.to_string(),
                }
            }
            Err(error) => error.to_string(),
        };
        if news.send(News::Lost(why)).await.is_err() {
            return;
        }
        select! {
            () = sleep(pause) => {}
            () = news.closed() => return,
        }
        pause = (2 * pause).min(LAST_PAUSE);
    }
}

enum End {
    ByUs,
    ByServer,
}

async fn listen(
    mut reader: LineReader,
    mut writer: LineWriter,
    topic: &mut Topic,
    wanted: &mut mpsc::Receiver<Topic>,
    news: &mpsc::Sender<News>,
) -> Result<End, NetError> {
    say(&mut writer, &LiveRequest::Watch(topic.clone())).await?;
    let mut heard_at = Instant::now();
    let mut asked_at = Instant::now();
    loop {
        select! {
            line = reader.next() => {
                let Some(incoming) = line? else { return Ok(End::ByServer) };
                heard_at = Instant::now();
                // A newer server may send messages that we do not know.
                let message = incoming.line.ok().and_then(|line| serde_json::from_str(&line).ok());
                if let Some(message) = message
                    && news.send(News::Message(Box::new(message))).await.is_err()
                {
                    return Ok(End::ByUs);
                }
            }
            next = wanted.recv() => {
                let Some(next) = next else { return Ok(End::ByUs) };
                if next != *topic {
                    say(&mut writer, &LiveRequest::Unwatch(topic.clone())).await?;
                }
                *topic = next;
                say(&mut writer, &LiveRequest::Watch(topic.clone())).await?;
            }
            () = sleep_until(heard_at.max(asked_at) + QUIET) => {
                asked_at = Instant::now();
                if asked_at >= heard_at + SILENT {
                    return Err(NetError::TimedOut(SILENT));
                }
                say(&mut writer, &LiveRequest::Ping(1)).await?;
            }
        }
    }
}

async fn say(writer: &mut LineWriter, request: &LiveRequest) -> Result<(), NetError> {
    // Such a request can always be written.
    writer.send(&serde_json::to_string(request).unwrap_or_default()).await
}
