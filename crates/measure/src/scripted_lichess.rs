//! Scripted Lichess server: it hands streams and requests to its user as they come, and answers look-ups from a
//! table.
//!
//! It shares no code with the clients that it tests or measures.

use std::{
    collections::{HashMap, VecDeque},
    io,
    net::{self, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::timeout,
};

/// Limit of the head of a request, and of its body.
const MAX_BYTES: u64 = 1 << 16;
/// Requests and streams that wait for the user; lines that wait for a stream.
const QUEUE: usize = 4096;
/// The key of the answer to look-ups that the table does not know.
pub const ANYTHING: &str = "*";

/// Status and body.
type Answer = (u16, String);

/// Answers by path without its query: those that are given once, in their order, and then always the same.
#[derive(Debug, Default)]
struct Answers {
    once: HashMap<String, VecDeque<Answer>>,
    always: HashMap<String, Answer>,
    /// Headers that a request needs, in lower case, and the refusal of one without it.
    demanded: HashMap<String, (String, Answer)>,
}

/// A server that listens until it is dropped.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// Event streams, as they are opened.
    pub events: mpsc::Receiver<Feed>,
    /// Streams of games, as they are opened.
    pub games: mpsc::Receiver<Feed>,
    /// Requests that the table does not answer.
    pub posts: mpsc::Receiver<Post>,
    connections: Arc<AtomicUsize>,
    answers: Arc<Mutex<Answers>>,
    tasks: JoinSet<()>,
}

/// An open stream. It ends when this is dropped.
#[derive(Debug)]
pub struct Feed {
    /// Path with its query.
    pub path: String,
    /// The head of the request.
    pub head: String,
    chunks: mpsc::Sender<Option<Vec<u8>>>,
}

/// A request that waits for its answer. Dropped, it breaks the connection.
#[derive(Debug)]
pub struct Post {
    /// Path with its query.
    pub path: String,
    /// The head of the request.
    pub head: String,
    /// The body, which is text.
    pub body: String,
    /// When its first line was read.
    pub at: Instant,
    reply: oneshot::Sender<(Answer, Option<Duration>)>,
}

impl Server {
    /// Serves at a listener, with answers for a bot's account without games, `zeitnot`. An open stream hears an
    /// empty line every `keep_alive`.
    ///
    /// # Errors
    /// Those of the listener.
    pub fn start(listener: net::TcpListener, keep_alive: Duration) -> io::Result<Server> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let (to_events, events) = mpsc::channel(QUEUE);
        let (to_games, games) = mpsc::channel(QUEUE);
        let (to_posts, posts) = mpsc::channel(QUEUE);
        let answers = Arc::default();
        let connections = Arc::<AtomicUsize>::default();
        let front = Front {
            events: to_events,
            games: to_games,
            posts: to_posts,
            answers: Arc::clone(&answers),
            keep_alive,
        };
        let mut tasks = JoinSet::new();
        let count = Arc::clone(&connections);
        tasks.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                while served.try_join_next().is_some() {}
                let front = front.clone();
                served.spawn(async move {
                    // A broken connection ends like any other.
                    let _ = front.serve(stream).await;
                });
            }
        });
        let server = Server { address, events, games, posts, connections, answers, tasks };
        server.answer("/api/account", 200, r#"{"id":"zeitnot","username":"Zeitnot","title":"BOT"}"#);
        server.answer("/api/account/playing", 200, r#"{"nowPlaying":[]}"#);
        server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot","online":true}]"#);
        Ok(server)
    }

    /// Sets the answer to look-ups of a path, or of [`ANYTHING`] else.
    pub fn answer(&self, path: &str, status: u16, body: &str) {
        table(&self.answers).always.insert(path.to_owned(), (status, body.to_owned()));
    }

    /// Sets the answer to one request for a path, before all others. It may be that of a stream.
    pub fn answer_once(&self, path: &str, status: u16, body: &str) {
        let answer = (status, body.to_owned());
        table(&self.answers).once.entry(path.to_owned()).or_default().push_back(answer);
    }

    /// Refuses requests for a path by status 400 and this text, unless they have this header, in lower case.
    pub fn demand(&self, path: &str, header: &str, refusal: &str) {
        let demand = (format!("\n{header}:"), (400, refusal.to_owned()));
        table(&self.answers).demanded.insert(path.to_owned(), demand);
    }

    /// Returns how many answers to single requests for a path are left.
    #[must_use]
    pub fn unasked(&self, path: &str) -> usize {
        table(&self.answers).once.get(path).map_or(0, VecDeque::len)
    }

    /// Stops listening, and breaks all connections.
    pub async fn close(&mut self) {
        self.tasks.shutdown().await;
    }

    /// Connections so far, streams included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// A holder that panicked has at worst not answered.
fn table(answers: &Mutex<Answers>) -> MutexGuard<'_, Answers> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed {
    /// Sends a line. A client that does not read loses those beyond some thousand.
    pub fn line(&self, text: &str) {
        self.bytes(format!("{}\n", text.replace('\n', " ")).as_bytes());
    }

    /// Sends bytes, which need not be a line.
    pub fn bytes(&self, bytes: &[u8]) {
        let _ = self.chunks.try_send(Some(bytes.to_vec()));
    }

    /// Whether the client has closed the stream.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.chunks.is_closed()
    }

    /// Keeps the connection open, and sends nothing more.
    pub fn falls_silent(&self) {
        let _ = self.chunks.try_send(None);
    }
}

impl Post {
    /// Grants the request.
    pub fn ok(self) {
        self.answer(200, r#"{"ok":true}"#);
    }

    /// Answers the request.
    pub fn answer(self, status: u16, body: &str) {
        let _ = self.reply.send(((status, body.to_owned()), None));
    }

    /// Refuses the request for a while, by status 429.
    pub fn limit(self, retry_after: Duration) {
        let answer = (429, r#"{"error":"Too many requests"}"#.to_owned());
        let _ = self.reply.send((answer, Some(retry_after)));
    }

    /// Breaks the connection without an answer.
    pub fn breaks(self) {}
}

/// The side of a connection.
#[derive(Clone)]
struct Front {
    events: mpsc::Sender<Feed>,
    games: mpsc::Sender<Feed>,
    posts: mpsc::Sender<Post>,
    answers: Arc<Mutex<Answers>>,
    keep_alive: Duration,
}

struct Request {
    is_get: bool,
    path: String,
    head: String,
    body: String,
    at: Instant,
}

impl Front {
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        while let Some(Request { is_get, path, head, body, at }) = Request::read(&mut stream).await? {
            let is_game = path.starts_with("/api/bot/game/stream/");
            let known = self.known(&path, &head, is_get);
            if known.is_none() && (is_game || path == "/api/stream/event") {
                let (chunks, rest) = mpsc::channel(QUEUE);
                let to = if is_game { &self.games } else { &self.events };
                let _ = to.send(Feed { path, head, chunks }).await;
                return feed(stream.into_inner(), rest, self.keep_alive).await;
            }
            let ((status, body), retry_after) = match known {
                Some(answer) => (answer, None),
                None if is_get => ((404, r#"{"error":"Not found"}"#.to_owned()), None),
                None => {
                    let (reply, answer) = oneshot::channel();
                    let _ = self.posts.send(Post { path, head, body, at, reply }).await;
                    let Ok(answer) = answer.await else { return Ok(()) };
                    answer
                }
            };
            let length = body.len();
            let wait = retry_after.map(|wait| format!("Retry-After: {}\r\n", wait.as_secs()));
            let text = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{}\r\n{body}",
                wait.unwrap_or_default()
            );
            stream.write_all(text.as_bytes()).await?;
        }
        Ok(())
    }

    fn known(&self, path: &str, head: &str, is_get: bool) -> Option<Answer> {
        let mut answers = table(&self.answers);
        let path = path.split('?').next().unwrap_or_default();
        if let Some(answer) = answers.once.get_mut(path).and_then(VecDeque::pop_front) {
            return Some(answer);
        }
        if let Some((header, refusal)) = answers.demanded.get(path)
            && !head.to_ascii_lowercase().contains(header)
        {
            return Some(refusal.clone());
        }
        let is_look_up = is_get && !path.contains("/stream/");
        let always = &answers.always;
        always.get(path).or_else(|| always.get(ANYTHING).filter(|_| is_look_up)).cloned()
    }
}

impl Request {
    /// `None` at the end of the connection.
    async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
        let mut limited = stream.take(MAX_BYTES);
        let mut head = String::new();
        let mut length = 0;
        let mut at = None;
        loop {
            let begin = head.len();
            if limited.read_line(&mut head).await? == 0 {
                return Ok(None);
            }
            at.get_or_insert_with(Instant::now);
            let line = head[begin..].trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = Vec::new();
        stream.take(MAX_BYTES.min(length)).read_to_end(&mut body).await?;
        let mut words = head.split(' ');
        let (Some(method), Some(path), Some(at)) = (words.next(), words.next(), at) else { return Ok(None) };
        let is_get = method == "GET";
        let path = path.to_owned();
        Ok(Some(Request { is_get, path, head, body: String::from_utf8_lossy(&body).into_owned(), at }))
    }
}

/// Writes what the user says in chunks, and empty lines between.
async fn feed(
    stream: TcpStream,
    mut chunks: mpsc::Receiver<Option<Vec<u8>>>,
    keep_alive: Duration,
) -> io::Result<()> {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (mut reader, mut stream) = stream.into_split();
    stream.write_all(HEAD.as_bytes()).await?;
    let mut in_line = false;
    loop {
        let said = tokio::select! {
            said = timeout(keep_alive, chunks.recv()) => said,
            // A client sends nothing here but the end.
            _ = reader.read_u8() => return Ok(()),
        };
        let bytes = match said {
            Ok(Some(Some(bytes))) => bytes,
            Ok(Some(None)) => return std::future::pending().await,
            Ok(None) => return stream.write_all(b"0\r\n\r\n").await,
            Err(_) if in_line => continue,
            Err(_) => b"\n".to_vec(),
        };
        in_line = !bytes.ends_with(b"\n");
        stream.write_all(&[format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()).await?;
    }
}
