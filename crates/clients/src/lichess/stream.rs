//! NDJSON streams that are opened again when they end.

use std::{
    mem,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc,
    time::{Instant as TokioInstant, sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, debug};
use zeitnot_wire::{
    WireError,
    lichess::{Event, GameId, GameMessage},
};

use super::{http::Http, http_error::HttpError, lines::Lines, playing::Listing, rate_limits::RequestKind};
use crate::{backoff::Backoff, connection_log::LOST};

/// Messages read ahead of the listener; then the socket waits.
const INBOX: usize = 64;

const EVENTS: &str = "api/stream/event";
/// A game's stream that lasted this long, and told something, was worth opening.
const MIN_USEFUL: Duration = Duration::from_secs(1);
/// Limit for a look-up while its game waits.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);
/// An event stream that was never open is given up after so many refusals in a row.
const MAX_EVENT_REFUSALS: u32 = 3;
/// The same for the stream of a game that no list has room for.
const MAX_GAME_REFUSALS: u32 = 30;

#[derive(Debug)]
pub(crate) enum StreamEvent<M> {
    /// The stream was opened, for the first time or again, by a request that was sent then.
    Opened(Instant),
    /// A message, and the time of its arrival.
    Message(M, Instant),
    /// The server refuses the stream for good.
    Closed(HttpError),
}

/// The listener's end of a stream. The task behind it ends with it.
#[derive(Debug)]
pub(crate) struct Stream<M> {
    inbox: mpsc::Receiver<StreamEvent<M>>,
    _task: AbortOnDropHandle<()>,
}

impl<M> Stream<M> {
    /// Returns the next event. Cancel safe. Nothing follows [`StreamEvent::Closed`].
    pub(crate) async fn next(&mut self) -> StreamEvent<M> {
        let crashed = || StreamEvent::Closed(HttpError::Network("the stream's task ended".to_owned()));
        self.inbox.recv().await.unwrap_or_else(crashed)
    }
}

impl Stream<Event> {
    /// Opens the account's event stream, and opens it again whenever it ends. `was_open`: the server has let us open it
    /// before, so a refusal is not final.
    pub(crate) fn of_account(http: Http, was_open: bool) -> Stream<Event> {
        let read: Read<Event> = |http, text| http.dialect().event(text);
        Stream::follow(http, None, EVENTS.to_owned(), was_open, (read, |_| false))
    }
}

/// Reads a line; `None`: it only keeps the stream alive.
type Read<M> = fn(&Http, &str) -> Result<Option<M>, WireError>;

impl<M: Send + 'static> Stream<M> {
    fn follow(
        http: Http,
        game: Option<GameId>,
        path: String,
        was_open: bool,
        (read, is_last): (Read<M>, fn(&M) -> bool),
    ) -> Stream<M> {
        let (outbox, inbox) = mpsc::channel(INBOX);
        let follower = Follower {
            backoff: Backoff::new(&http.timeouts().reconnect),
            http,
            game,
            path,
            outbox,
            read,
            is_last,
            is_finished: false,
            is_first: true,
            is_closed: false,
            opened: None,
            told: false,
            was_open,
            refusals: 0,
        };
        let task = follower.run();
        Stream { inbox, _task: AbortOnDropHandle::new(tokio::spawn(task.in_current_span())) }
    }
}

impl Stream<GameMessage> {
    /// The same for the stream of a game.
    pub(crate) fn of_game(http: Http, id: GameId) -> Stream<GameMessage> {
        let read: Read<GameMessage> = |http, text| http.dialect().game_message(text);
        Stream::follow(http, Some(id), format!("api/bot/game/stream/{id}"), false, (read, is_end))
    }
}

/// Returns whether a message tells the end of its game, after which the server closes the stream.
fn is_end(message: &GameMessage) -> bool {
    match message {
        GameMessage::GameFull(full) => full.state.status.is_over(),
        GameMessage::GameState(state) => state.status.is_over(),
        GameMessage::GameEnd => true,
        _ => false,
    }
}

struct Follower<M> {
    http: Http,
    /// The game of the stream; `None`: it is the event stream.
    game: Option<GameId>,
    path: String,
    outbox: mpsc::Sender<StreamEvent<M>>,
    /// Delays of this stream alone. Those after failures of the network and the server are shared by all of its kind.
    backoff: Backoff,
    read: Read<M>,
    is_last: fn(&M) -> bool,
    /// The last message came.
    is_finished: bool,
    /// No attempt was made so far.
    is_first: bool,
    /// The server closed the stream, which is not reported yet.
    is_closed: bool,
    /// Time at which the latest attempt opened the stream; a message came since.
    opened: Option<TokioInstant>,
    told: bool,
    was_open: bool,
    /// Refusals since the last opening.
    refusals: u32,
}

#[derive(Debug, thiserror::Error)]
enum Disconnect {
    #[error("the server closed the stream")]
    Eof,
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl<M> Follower<M> {
    /// Opens the stream, and again whenever it ends, until nobody listens or the server refuses it for good.
    async fn run(mut self) {
        loop {
            let Err(disconnect) = self.follow_once().await else { return };
            match disconnect {
                // The listener knows.
                _ if self.is_finished => return self.outbox.closed().await,
                Disconnect::Http(error) if self.is_final(&error).await => {
                    let _ = self.outbox.send(StreamEvent::Closed(error)).await;
                    return;
                }
                disconnect => sleep(self.lost(&disconnect)).await,
            }
        }
    }

    /// Reports a stream that ended, or could not be opened. Returns the delay of its own before the next attempt. Delays
    /// that all streams of its kind share need none, and end as clocks demand.
    fn lost(&mut self, disconnect: &Disconnect) -> Duration {
        let stable_after = self.http.timeouts().reconnect.stable_after;
        let useful_after = if self.game.is_some() && self.told { MIN_USEFUL } else { stable_after };
        if self.opened.is_some_and(|opened| opened.elapsed() >= useful_after) {
            self.backoff.reset();
        }
        let shared = self.http.limits().closed_for(self.kind());
        let own = match shared.is_zero() {
            true => self.backoff.next(self.http.limits().time_left(self.kind())),
            false => Duration::ZERO,
        };
        self.report(disconnect, own.max(shared));
        own
    }

    /// The account is out of reach without its event stream. Streams of games close when games end, and proxies may
    /// close them at any time.
    fn report(&mut self, disconnect: &Disconnect, delay: Duration) {
        let what = format_args!("{}: {disconnect}", self.path);
        let message = format_args!("{what}; reconnecting in {:.1} s", delay.as_secs_f64());
        // If the next attempt fails, that tells why the stream ended.
        self.is_closed = matches!(disconnect, Disconnect::Eof);
        match (disconnect, self.game) {
            (Disconnect::Http(error), Some(_)) => self.http.warn_failure(error, message),
            // The account reports a token that is refused.
            (Disconnect::Eof, _) | (Disconnect::Http(HttpError::Unauthorized), None) => {
                debug!(target: LOST, "{message}");
            }
            (Disconnect::Http(_), None) => self.http.connection().failed(&what, delay),
        }
    }

    fn kind(&self) -> RequestKind {
        if self.game.is_some() { RequestKind::GameStream } else { RequestKind::EventStream }
    }

    /// One connection, to its end. `Ok`: nobody listens any more.
    async fn follow_once(&mut self) -> Result<(), Disconnect> {
        (self.opened, self.told) = (None, false);
        let is_first = mem::take(&mut self.is_first) && self.game.is_some();
        let opened = self.http.open_stream(self.kind(), &self.path, None, is_first).await?;
        let mut lines = Lines::new(&self.http, self.kind(), &self.path, opened);
        (self.opened, self.was_open, self.refusals) = (Some(TokioInstant::now()), true, 0);
        if self.game.is_none() {
            if mem::take(&mut self.is_closed) {
                let message = format_args!("{}: {}; it is open again", self.path, Disconnect::Eof);
                self.http.log().warn("ends of the event stream", message);
            }
            self.http.connection().connected();
        }
        let mut event = StreamEvent::Opened(lines.read_at);
        while self.outbox.send(event).await.is_ok() {
            let (message, read_at) = lines.next_read(self.read).await?.ok_or(Disconnect::Eof)?;
            if !mem::replace(&mut self.told, true) && self.game.is_some() && !is_first {
                self.http.limits().stream_told();
            }
            self.is_finished |= (self.is_last)(&message);
            event = StreamEvent::Message(message, read_at);
        }
        Ok(())
    }

    /// Returns whether a refusal stands. A proxy may answer in the server's place: the account finds out whether the
    /// token is still good, and a game that the server lists is still ours.
    async fn is_final(&mut self, error: &HttpError) -> bool {
        let (HttpError::NotFound | HttpError::Refused { .. }) = error else { return false };
        self.refusals = self.refusals.saturating_add(1);
        match self.game {
            Some(id) => match self.listing(id).await {
                Some(Listing::Gone) => true,
                Some(Listing::Unclear) => self.refusals >= MAX_GAME_REFUSALS,
                Some(Listing::Running) | None => false,
            },
            // Its address is known to every server.
            None if matches!(error, HttpError::NotFound) => false,
            None => !self.was_open && self.refusals >= MAX_EVENT_REFUSALS,
        }
    }

    /// Looks up whether the server lists a game. Returns `None` if it does not say in time.
    async fn listing(&self, id: GameId) -> Option<Listing> {
        let list = timeout(LOOKUP_TIMEOUT, self.http.running_games()).await;
        Some(Listing::of(id, &list.ok()?.ok()?))
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };
    use zeitnot_net::http::BaseUrl;

    use super::*;
    use crate::lichess::Config;

    /// The first snapshot may be older than the reply's arrival: it may lack a move that the server has taken since.
    #[test]
    async fn an_open_stream_tells_when_it_was_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = BaseUrl::try_from(format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let token = "lip_hush".parse().unwrap();
        let http = Http::new(&Config { url: base, ..Config::default() }, &token, None).unwrap();
        let mut stream = Stream::of_game(http, "abcdefgh".parse().unwrap());
        let (mut server, _) = listener.accept().await.unwrap();
        server.read_u8().await.unwrap();
        let asked = Instant::now();
        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await.unwrap();
        let StreamEvent::Opened(at) = stream.next().await else { panic!() };
        assert!(at <= asked);
    }
}
