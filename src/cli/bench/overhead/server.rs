//! Just enough of a Lichess server to play against: one thread per connection and blocking sockets, without any of the
//! code that is measured.

use std::{
    collections::BTreeMap,
    io::{self, BufReader},
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

use super::{
    game::{Game, Played},
    http::{Request, Stream, answer},
};

/// Interval of empty lines in the event stream.
const KEEP_ALIVE: Duration = Duration::from_secs(6);
const ACCOUNT: &str = r#"{"id":"bench","username":"bench","title":"BOT","perfs":{"classical":{"games":0,"rating":1500,"rd":45,"prog":0}},"createdAt":1,"seenAt":1,"count":{"all":0,"rated":0},"playTime":{"total":0,"tv":0}}"#;
const JSON: &str = "application/json";

/// Observation of the client.
#[derive(Copy, Clone, Debug)]
pub(super) enum Seen {
    /// It reads its event stream.
    Ready(Instant),
    /// It answered this long after the request.
    Answered(Duration),
    /// It sent an illegal move, or one that was not requested.
    Refused,
}

/// Listens until dropped.
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
    /// Starts a server without games.
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

    /// Starts another game. When it ends, the next one starts.
    pub fn begin_game(&self) {
        self.shared.begin();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
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
            // The arrival of a move is noted in time also on a busy machine.
            let _ = priority::raise();
            // An error ends the connection.
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
                ("GET", ["api", "stream", "event"]) => return self.serve_events(Stream::open(stream)?),
                ("GET", ["api", "bot", "game", "stream", id]) => match self.game(id) {
                    Some(game) => return game.serve(Stream::open(stream)?),
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
            // Nobody listens after the last measured move.
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

    /// Serves the event stream: the running games, then new events.
    fn serve_events(&self, mut stream: Stream) -> io::Result<()> {
        let _ = self.seen.send(Seen::Ready(Instant::now()));
        let (tell, told) = mpsc::channel();
        let running: Vec<_> = {
            let games = self.games();
            // Under one lock, so that no game is sent twice or missed.
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
