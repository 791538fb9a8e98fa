//! Proxy between a bot and its server: it passes everything on, injects the faults that the test wants, and
//! remembers every move that was sent.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
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

/// Nothing of it is a message.
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

/// A move on its way: what was said of it to the bot, if anything.
#[derive(Clone, Debug)]
pub struct Sent {
    pub mv: String,
    pub status: Option<u16>,
}

/// The server's answer to a move.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub mv: String,
    pub status: u16,
}

pub struct Proxy {
    pub url: String,
    shared: Arc<Shared>,
    _task: JoinSet<()>,
}

struct Shared {
    server: String,
    client: reqwest::Client,
    faults: Mutex<Faults>,
    moves: Mutex<usize>,
    /// By game.
    sent: Mutex<HashMap<String, Vec<Sent>>>,
    /// The server's answers to moves, by game, whether the bot heard of them or not.
    verdicts: Mutex<HashMap<String, Vec<Verdict>>>,
    asked: Mutex<Vec<String>>,
    /// Number of times that all connections were cut, or all streams fell silent.
    cut: watch::Sender<u32>,
    silent: watch::Sender<u32>,
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
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            faults: Mutex::default(),
            moves: Mutex::default(),
            sent: Mutex::default(),
            verdicts: Mutex::default(),
            asked: Mutex::default(),
            cut: watch::Sender::default(),
            silent: watch::Sender::default(),
        });
        let mut task = JoinSet::new();
        let house = shared.clone();
        task.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                if !house.faults().away {
                    served.spawn(serve(stream, house.clone()));
                }
            }
        });
        Proxy { url, shared, _task: task }
    }

    /// From now on this goes wrong.
    pub fn set(&self, faults: Faults) {
        *self.shared.faults.lock().unwrap() = faults;
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
        self.shared.sent.lock().unwrap().get(game).cloned().unwrap_or_default()
    }

    /// The server's answers to the moves of a game, in its order.
    pub fn verdicts(&self, game: &str) -> Vec<Verdict> {
        self.shared.verdicts.lock().unwrap().get(game).cloned().unwrap_or_default()
    }

    /// Number of requests for a path.
    pub fn asked(&self, path: &str) -> usize {
        self.shared.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
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
    let at = shared.note(game, mv);
    let faults = shared.faults();
    let count = {
        let mut count = shared.moves.lock().unwrap();
        *count += 1;
        *count
    };
    let strikes = |every: usize| count % every == 0;
    if let Some((_, status)) = faults.refused.iter().find(|(every, _)| strikes(*every)) {
        shared.told(game, at, *status);
        return Ok(refusal(*status));
    }
    // What was sent arrives, also if who has sent it is no more.
    let (house, to, played) = (shared.clone(), game.to_owned(), mv.to_owned());
    let passing = async move {
        sleep(faults.delay).await;
        let response = house.pass(request).await?;
        house.judged(&to, Verdict { mv: played, status: response.status().as_u16() });
        io::Result::Ok(response)
    };
    let response = tokio::spawn(passing).await.unwrap()?;
    if faults.lost.is_some_and(strikes) {
        return Err(io::Error::other("the answer is lost, on purpose"));
    }
    shared.told(game, at, response.status().as_u16());
    Ok(response)
}

fn refusal(status: u16) -> Response<Body> {
    let body = Full::from("{\"error\":\"on purpose\"}").map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

impl Shared {
    fn faults(&self) -> Faults {
        self.faults.lock().unwrap().clone()
    }

    fn note(&self, game: &str, mv: &str) -> usize {
        let mut sent = self.sent.lock().unwrap();
        let moves = sent.entry(game.to_owned()).or_default();
        moves.push(Sent { mv: mv.to_owned(), status: None });
        moves.len() - 1
    }

    fn told(&self, game: &str, at: usize, status: u16) {
        self.sent.lock().unwrap().get_mut(game).unwrap()[at].status = Some(status);
    }

    fn judged(&self, game: &str, verdict: Verdict) {
        self.verdicts.lock().unwrap().entry(game.to_owned()).or_default().push(verdict);
    }

    async fn pass(self: &Arc<Shared>, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let path = parts.uri.path_and_query().unwrap().as_str();
        self.asked.lock().unwrap().push(path.to_owned());
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
