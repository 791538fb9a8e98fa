//! Proxy between a bot and its server that injects faults and remembers each move.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::sleep,
};

/// Bytes that are no message.
const GARBAGE: &str = "<html>502 Bad Gateway</html>\n{\"type\":\"gameState\",\"moves\":7}\n{\"half\n";

/// Faults to inject.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Every nth move is answered with this status, unplayed.
    pub refused: Vec<(usize, u16)>,
    /// Every nth move is played, and the connection breaks instead of the answer.
    pub lost: Option<usize>,
    /// Before each move is passed on.
    pub delay: Duration,
    /// Streams end behind each line that tells of a state.
    pub close_streams: bool,
    /// Lines come in halves, with some between that nobody can read.
    pub garbage: bool,
    /// New connections are closed.
    pub away: bool,
    /// Streams are refused with this.
    pub no_streams: Option<u16>,
    /// Nothing comes on any stream as long as this is so.
    pub mute: bool,
}

/// A move that was sent, the server's answer to it, and what the bot was told of that.
#[derive(Clone, Debug)]
pub struct Sent {
    pub mv: String,
    pub answered: Option<u16>,
    pub told: Option<u16>,
}

pub struct Proxy {
    pub url: String,
    shared: Arc<Shared>,
    _task: JoinSet<()>,
}

struct Shared {
    server: String,
    client: reqwest::Client,
    state: Mutex<State>,
    /// Number of times that all connections were cut, or all streams fell silent.
    cut: watch::Sender<u32>,
    silent: watch::Sender<u32>,
}

#[derive(Default)]
struct State {
    faults: Faults,
    /// Number of moves so far.
    moves: usize,
    /// By game.
    sent: HashMap<String, Vec<Sent>>,
    asked: Vec<String>,
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Proxy {
    /// In front of this address.
    pub async fn start(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let _ = rustls::crypto::ring::default_provider().install_default();
        let shared = Arc::new(Shared {
            server: format!("http://{server}"),
            client: reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap(),
            state: Mutex::default(),
            cut: watch::Sender::default(),
            silent: watch::Sender::default(),
        });
        let mut task = JoinSet::new();
        let serving = shared.clone();
        task.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                if !serving.faults().away {
                    served.spawn(serve(stream, serving.clone()));
                }
            }
        });
        Proxy { url, shared, _task: task }
    }

    /// From now on this goes wrong.
    pub fn set(&self, faults: Faults) {
        self.shared.state().faults = faults;
    }

    /// All connections break.
    pub fn cut(&self) {
        self.shared.cut.send_modify(|count| *count += 1);
    }

    /// On the streams that are open nothing comes any more, and they do not end either.
    pub fn silence(&self) {
        self.shared.silent.send_modify(|count| *count += 1);
    }

    /// Moves sent to a game.
    pub fn sent(&self, game: &str) -> Vec<Sent> {
        self.shared.state().sent.get(game).cloned().unwrap_or_default()
    }

    /// Number of requests for a path.
    pub fn asked(&self, path: &str) -> usize {
        self.shared.state().asked.iter().filter(|asked| *asked == path).count()
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let mut cut = shared.cut.subscribe();
    let service = service_fn(|request| answer(request, shared.clone()));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        _ = connection => {}
        _ = cut.changed() => {}
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> io::Result<Response<Body>> {
    let path = request.uri().path().to_owned();
    let Some((game, mv)) = path.strip_prefix("/api/bot/game/").and_then(|rest| rest.split_once("/move/"))
    else {
        return shared.pass(request).await;
    };
    let (at, count, faults) = shared.note(game, mv);
    let strikes = |every: usize| count % every == 0;
    if let Some((_, status)) = faults.refused.iter().find(|(every, _)| strikes(*every)) {
        shared.update(game, at, |sent| sent.told = Some(*status));
        return Ok(refusal(*status));
    }
    // A move that was sent arrives even if its sender is gone.
    let passer = shared.clone();
    let to = game.to_owned();
    let passing = async move {
        sleep(faults.delay).await;
        let response = passer.pass(request).await?;
        passer.update(&to, at, |sent| sent.answered = Some(response.status().as_u16()));
        io::Result::Ok(response)
    };
    let response = tokio::spawn(passing).await.unwrap()?;
    if faults.lost.is_some_and(strikes) {
        return Err(io::Error::other("the answer is lost, on purpose"));
    }
    shared.update(game, at, |sent| sent.told = sent.answered);
    Ok(response)
}

fn refusal(status: u16) -> Response<Body> {
    let body = Full::from("{\"error\":\"on purpose\"}").map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn faults(&self) -> Faults {
        self.state().faults.clone()
    }

    /// Notes a move. Returns its place in the game and among all moves, and the faults.
    fn note(&self, game: &str, mv: &str) -> (usize, usize, Faults) {
        let state = &mut *self.state();
        let moves = state.sent.entry(game.to_owned()).or_default();
        moves.push(Sent { mv: mv.to_owned(), answered: None, told: None });
        state.moves += 1;
        (moves.len() - 1, state.moves, state.faults.clone())
    }

    fn update(&self, game: &str, at: usize, change: impl FnOnce(&mut Sent)) {
        change(&mut self.state().sent.get_mut(game).unwrap()[at]);
    }

    async fn pass(self: &Arc<Shared>, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let path = parts.uri.path_and_query().unwrap().as_str();
        self.state().asked.push(path.to_owned());
        let is_stream = path.contains("/stream/");
        if let Some(status) = self.faults().no_streams.filter(|_| is_stream) {
            return Ok(refusal(status));
        }
        let passed = self.client.request(parts.method, format!("{}{path}", self.server));
        let mut headers = parts.headers;
        headers.remove("host");
        let silent = self.silent.subscribe();
        let answer = passed.headers(headers).body(body).send().await.map_err(io::Error::other)?;
        let status = answer.status();
        let body = if is_stream {
            relay(Relay { answer, silent, shared: self.clone(), rest: None })
        } else {
            Full::from(answer.bytes().await.map_err(io::Error::other)?)
                .map_err(|never| match never {})
                .boxed_unsync()
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        Ok(response)
    }
}

/// A stream that is passed on.
struct Relay {
    answer: reqwest::Response,
    silent: watch::Receiver<u32>,
    shared: Arc<Shared>,
    /// The second half of a line; `Err`: the end.
    rest: Option<Result<Bytes, ()>>,
}

fn relay(relay: Relay) -> Body {
    let frames = stream::unfold(relay, |mut relay| async move {
        let bytes = relay.next().await?;
        Some((bytes.map(Frame::data), relay))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Relay {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        match self.rest.take() {
            Some(Ok(rest)) => {
                sleep(Duration::from_millis(5)).await;
                return Some(Ok(rest));
            }
            Some(Err(())) => return None,
            None => {}
        }
        let chunk = tokio::select! {
            biased;
            _ = self.silent.changed() => std::future::pending().await,
            chunk = self.answer.chunk() => chunk,
        };
        let chunk = match chunk.map_err(io::Error::other) {
            Ok(chunk) => chunk?,
            Err(error) => return Some(Err(error)),
        };
        while self.shared.faults().mute {
            sleep(Duration::from_millis(20)).await;
        }
        let faults = self.shared.faults();
        let is_state = String::from_utf8_lossy(&chunk).contains("\"type\":\"gameState\"");
        if faults.close_streams && is_state {
            self.rest = Some(Err(()));
        } else if faults.garbage && chunk.len() > 1 {
            let (first, second) = chunk.split_at(chunk.len() / 2);
            self.rest = Some(Ok(Bytes::copy_from_slice(second)));
            return Some(Ok([GARBAGE.as_bytes(), first].concat().into()));
        }
        Some(Ok(chunk))
    }
}
