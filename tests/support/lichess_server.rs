//! A server with Lichess's API whose every word is the test's: streams and requests are handed to it as they
//! come, and only what is looked up is answered from a table.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::timeout,
};

use crate::support::wait::soon;

/// So long nothing is asked where nothing is to be asked.
pub const QUIET: Duration = Duration::from_millis(400);
/// Between the empty lines of a stream.
const KEEP_ALIVE: Duration = Duration::from_millis(150);

/// What is looked up: path without its query, status, body.
type Answers = Arc<Mutex<HashMap<String, (u16, String)>>>;

pub struct Server {
    pub url: String,
    pub events: mpsc::UnboundedReceiver<Feed>,
    pub games: mpsc::UnboundedReceiver<Feed>,
    pub posts: mpsc::UnboundedReceiver<Post>,
    /// How many connections there were so far, streams included.
    pub connections: Arc<AtomicUsize>,
    answers: Answers,
    _task: JoinSet<()>,
}

/// An open stream. It ends when this is dropped.
pub struct Feed {
    pub path: String,
    lines: mpsc::UnboundedSender<Option<Vec<u8>>>,
}

/// A request to do something, waiting for its answer.
#[derive(Debug)]
pub struct Post {
    pub path: String,
    pub body: String,
    pub headers: String,
    reply: oneshot::Sender<Option<(u16, String)>>,
}

impl Server {
    pub async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let ((to_events, events), (to_games, games)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let (to_posts, posts) = mpsc::unbounded_channel();
        let answers: Answers = Arc::default();
        let desk = Desk { events: to_events, games: to_games, posts: to_posts, answers: answers.clone() };
        let (mut task, connections) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
        let count = connections.clone();
        task.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                served.spawn(serve(stream, desk.clone()));
            }
        });
        let server = Server { url, events, games, posts, connections, answers, _task: task };
        server.answer("/api/account", 200, r#"{"id":"zeitnot","username":"Zeitnot","title":"BOT"}"#);
        server.answer("/api/account/playing", 200, r#"{"nowPlaying":[]}"#);
        server.answer("/api/users/status", 200, r#"[{"id":"zeitnot","name":"Zeitnot","online":true}]"#);
        server
    }

    /// What is answered from now on to those who look this up.
    pub fn answer(&self, path: &str, status: u16, body: &str) {
        self.answers.lock().unwrap().insert(path.to_owned(), (status, body.to_owned()));
    }

    pub async fn events(&mut self) -> Feed {
        soon("the event stream is opened", self.events.recv()).await.unwrap()
    }

    pub async fn game(&mut self) -> Feed {
        soon("a game's stream is opened", self.games.recv()).await.unwrap()
    }

    pub async fn post(&mut self) -> Post {
        soon("something is posted", self.posts.recv()).await.unwrap()
    }

    /// The move of the next request, which is one.
    pub async fn hear_move(&mut self) -> (String, Post) {
        let post = self.post().await;
        let (_, mv) = post.path.split_once("/move/").unwrap_or_else(|| panic!("{post:?}"));
        (mv.to_owned(), post)
    }

    pub async fn hears_nothing(&mut self) {
        if let Ok(post) = timeout(QUIET, self.posts.recv()).await {
            panic!("heard {post:?}");
        }
    }
}

impl Feed {
    pub fn line(&self, text: &str) {
        self.bytes(format!("{}\n", text.replace('\n', " ")).as_bytes());
    }

    pub fn bytes(&self, bytes: &[u8]) {
        let _ = self.lines.send(Some(bytes.to_vec()));
    }

    /// Has the client closed it?
    pub fn is_left(&self) -> bool {
        self.lines.is_closed()
    }

    /// The connection stays, and nothing comes any more.
    pub fn falls_silent(&self) {
        let _ = self.lines.send(None);
    }
}

impl Post {
    pub fn ok(self) {
        self.answer(200, r#"{"ok":true}"#);
    }

    pub fn answer(self, status: u16, body: &str) {
        let _ = self.reply.send(Some((status, body.to_owned())));
    }

    /// The connection breaks without an answer.
    pub fn breaks(self) {
        let _ = self.reply.send(None);
    }
}

#[derive(Clone)]
struct Desk {
    events: mpsc::UnboundedSender<Feed>,
    games: mpsc::UnboundedSender<Feed>,
    posts: mpsc::UnboundedSender<Post>,
    answers: Answers,
}

async fn serve(stream: TcpStream, desk: Desk) {
    let mut stream = BufReader::new(stream);
    while let Some((method, path, headers, body)) = request(&mut stream).await {
        let is_game = path.starts_with("/api/bot/game/stream/");
        if is_game || path == "/api/stream/event" {
            let (lines, rest) = mpsc::unbounded_channel();
            let to = if is_game { &desk.games } else { &desk.events };
            let _ = to.send(Feed { path, lines });
            return feed(stream.into_inner(), rest).await;
        }
        let looked_up = desk.answers.lock().unwrap().get(path.split('?').next().unwrap()).cloned();
        let answer = match (method.as_str(), looked_up) {
            (_, Some(answer)) => Some(answer),
            ("GET", None) => Some((404, r#"{"error":"Not found"}"#.to_owned())),
            _ => {
                let (reply, answer) = oneshot::channel();
                let _ = desk.posts.send(Post { path, body, headers, reply });
                answer.await.ok().flatten()
            }
        };
        let Some((status, body)) = answer else { return };
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String, String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let length = head.to_ascii_lowercase();
    let length = length.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    let mut body = vec![0; length.map_or(0, |text| text.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some((method, path, head, String::from_utf8(body).unwrap()))
}

/// Writes what the test says, in chunks, and empty lines between.
async fn feed(stream: TcpStream, mut lines: mpsc::UnboundedReceiver<Option<Vec<u8>>>) {
    let (mut reader, mut stream) = stream.into_split();
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    let mut in_line = false;
    loop {
        let heard = tokio::select! {
            heard = timeout(KEEP_ALIVE, lines.recv()) => heard,
            // Nothing is sent here but the end.
            _ = reader.read_u8() => return,
        };
        let bytes = match heard {
            Ok(Some(Some(bytes))) => bytes,
            Ok(Some(None)) => return std::future::pending().await,
            Ok(None) => {
                let _ = stream.write_all(b"0\r\n\r\n").await;
                return;
            }
            // Nobody says anything in the middle of a line.
            Err(_) if in_line => continue,
            Err(_) => b"\n".to_vec(),
        };
        in_line = !bytes.ends_with(b"\n");
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
        if stream.write_all(&chunk).await.is_err() {
            return;
        }
    }
}
