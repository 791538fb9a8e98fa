//! Just enough of a Lichess to play against: a thread a connection and blocking sockets, and none of the code
//! that is measured.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use zeitnot_engine::priority;

use super::game::{Game, Played, answer};

/// The longest head of a request, and the longest body.
const LONGEST: u64 = 1 << 16;
/// Between two empty lines of the event stream.
const KEEP_ALIVE: Duration = Duration::from_secs(6);
const ACCOUNT: &str = r#"{"id":"bench","username":"bench","title":"BOT","perfs":{"classical":{"games":0,"rating":1500,"rd":45,"prog":0}},"createdAt":1,"seenAt":1,"count":{"all":0,"rated":0},"playTime":{"total":0,"tv":0}}"#;
const JSON: &str = "application/json";

/// What a client has done.
#[derive(Copy, Clone, Debug)]
pub(super) enum Seen {
    /// It listens to its events.
    Ready(Instant),
    /// It answered so long after it was asked.
    Answered(Duration),
    /// A move that was not asked for, or is none.
    Refused,
}

/// Listens until it is dropped.
pub(super) struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    games: Mutex<BTreeMap<String, Arc<Game>>>,
    events: Mutex<Option<Sender<String>>>,
    begun: AtomicU32,
    seen: Sender<Seen>,
    closed: AtomicBool,
}

impl Server {
    /// A server with no game yet.
    ///
    /// # Errors
    /// Those of listening.
    pub fn start(address: SocketAddr, seen: Sender<Seen>) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            games: Mutex::default(),
            events: Mutex::default(),
            begun: AtomicU32::new(0),
            seen,
            closed: AtomicBool::new(false),
        });
        let server = Server { address, shared: shared.clone() };
        thread::spawn(move || accept(&listener, &shared));
        Ok(server)
    }

    /// One more game, that goes on as another one whenever it ends.
    pub fn begin_game(&self) {
        self.shared.begin();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        // Whoever waits for a connection gets one, and sees that it was the last.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.closed.load(Ordering::Relaxed) {
            return;
        }
        let shared = shared.clone();
        thread::spawn(move || {
            // What the client sends is to be seen when it comes, however busy the machine is.
            let _ = priority::raise();
            // It ends as connections do.
            let _ = shared.serve(stream);
        });
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(Request { method, path, at }) = Request::read(&mut reader)? {
            let path = path.split('?').next().unwrap_or_default();
            let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
            match (method.as_str(), segments.as_slice()) {
                ("GET", ["api", "stream", "event"]) => return self.tell(Stream::open(stream)?),
                ("GET", ["api", "bot", "game", "stream", id]) => match self.game(id) {
                    Some(game) => return game.tell(Stream::open(stream)?),
                    None => answer(&mut stream, "404 Not Found", JSON, r#"{"error":"No such game"}"#)?,
                },
                ("POST", ["api", "bot", "game", id, "move", mv]) => self.play(&mut stream, id, mv, at)?,
                ("GET", ["api", "account"]) => answer(&mut stream, "200 OK", JSON, ACCOUNT)?,
                ("GET", ["api", "account", "playing"]) => {
                    answer(&mut stream, "200 OK", JSON, r#"{"nowPlaying":[]}"#)?;
                }
                ("GET", ["api", "users", "status"]) => answer(&mut stream, "200 OK", JSON, "[]")?,
                _ => answer(&mut stream, "200 OK", JSON, r#"{"ok":true}"#)?,
            }
        }
        Ok(())
    }

    fn play(&self, stream: &mut TcpStream, id: &str, mv: &str, at: Instant) -> io::Result<()> {
        let Some(game) = self.game(id) else {
            return answer(stream, "404 Not Found", JSON, r#"{"error":"No such game"}"#);
        };
        let (took, is_over) = match game.play(mv, at) {
            Played::Taken(took) => (took, false),
            Played::Over(took) => (took, true),
            Played::Refused => {
                let _ = self.seen.send(Seen::Refused);
                let body = r#"{"error":"Not your turn, or game already over"}"#;
                return answer(stream, "400 Bad Request", JSON, body);
            }
        };
        answer(stream, "200 OK", JSON, r#"{"ok":true}"#)?;
        if let Some(took) = took {
            // Who has seen enough does not listen any more.
            let _ = self.seen.send(Seen::Answered(took));
        }
        if is_over {
            self.games().remove(id);
            self.event(game.event("gameFinish"));
            self.begin();
        }
        Ok(())
    }

    fn begin(&self) {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let game = Arc::new(Game::new(format!("game{number:04}")));
        let event = game.event("gameStart");
        self.games().insert(game.id.clone(), game);
        self.event(event);
    }

    /// The event stream: the games that run, then what happens.
    fn tell(&self, mut stream: Stream) -> io::Result<()> {
        let _ = self.seen.send(Seen::Ready(Instant::now()));
        let (tell, told) = mpsc::channel();
        let running: Vec<_> = {
            let games = self.games();
            // Under one lock: no game is told twice, and none is missed.
            *self.events.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
            games.values().map(|game| game.event("gameStart")).collect()
        };
        running.iter().try_for_each(|event| stream.line(event))?;
        loop {
            match told.recv_timeout(KEEP_ALIVE) {
                Ok(event) => stream.line(&event)?,
                Err(RecvTimeoutError::Timeout) => stream.line("")?,
                Err(RecvTimeoutError::Disconnected) => return stream.end(),
            }
        }
    }

    fn event(&self, event: String) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(events) = events.as_ref() {
            let _ = events.send(event);
        }
    }

    fn game(&self, id: &str) -> Option<Arc<Game>> {
        self.games().get(id).cloned()
    }

    fn games(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Game>>> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request; its body is read and forgotten.
struct Request {
    method: String,
    path: String,
    /// When its first line was there.
    at: Instant,
}

impl Request {
    /// `None`: there are no more.
    fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
        let mut head = reader.by_ref().take(LONGEST);
        let (mut first, mut length) = (String::new(), 0);
        if head.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let at = Instant::now();
        let mut line = String::new();
        while head.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        io::copy(&mut reader.by_ref().take(LONGEST.min(length)), &mut io::sink())?;
        let mut words = first.split_whitespace().map(str::to_owned);
        Ok(words.next().zip(words.next()).map(|(method, path)| Request { method, path, at }))
    }
}

/// An answer that goes on, line by line.
pub(super) struct Stream(TcpStream);

impl Stream {
    fn open(mut stream: TcpStream) -> io::Result<Stream> {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        Ok(Stream(stream))
    }

    /// A line; an empty one says no more than that we live.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(format!("{:x}\r\n{text}\n\r\n", text.len() + 1).as_bytes())
    }

    /// That was all.
    pub fn end(mut self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }
}
