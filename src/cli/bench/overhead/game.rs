//! A game as the server sees it: the client has White, and any legal move answers it.

use std::{
    io::{self, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use zeitnot_rules::{Color, Game as _, GameHistory, chess::Chess};

use super::server::Stream;

/// The opponent takes this long, so that a client has put its own move behind it.
const REPLY: Duration = Duration::from_millis(5);
/// A game ends in a draw here: the middle of the board is full, and no mate in sight.
const LONGEST: usize = 40;
/// The clocks, in milliseconds; they do not run.
const CLOCK: u64 = 10_800_000;
/// Between two empty lines.
const KEEP_ALIVE: Duration = Duration::from_secs(6);

/// A line of the stream.
enum Said {
    /// Nothing is asked for.
    State(String),
    /// The client is to move.
    Question(String),
    /// The game is over.
    Last(String),
}

/// See the module's comment.
pub(super) struct Game {
    pub id: String,
    board: Mutex<Board>,
}

struct Board {
    line: GameHistory<Chess>,
    moves: String,
    reader: Option<Sender<Said>>,
    /// When the client was asked for its move, if that is measured.
    asked_at: Option<Instant>,
}

/// What came of a move.
pub(super) enum Played {
    /// It is none, or nobody asked.
    Refused,
    /// The time that it took, unless the game had just begun.
    Taken(Option<Duration>),
    /// The same, and that was the end.
    Over(Option<Duration>),
}

impl Game {
    pub fn new(id: String) -> Game {
        let line = GameHistory::new(Chess::start());
        Game { id, board: Mutex::new(Board { line, moves: String::new(), reader: None, asked_at: None }) }
    }

    /// The game as events tell it.
    pub fn event(&self, kind: &str) -> String {
        let id = &self.id;
        format!(
            r#"{{"type":"{kind}","game":{{"fullId":"{id}wwww","gameId":"{id}","id":"{id}","fen":"{fen}","color":"white","lastMove":"","source":"friend","status":{{"id":20,"name":"started"}},"variant":{{"key":"standard","name":"Standard"}},"speed":"classical","perf":"classical","rated":false,"hasMoved":false,"opponent":{{"id":"anybody","username":"Anybody","rating":1500}},"isMyTurn":true,"secondsLeft":10800,"compat":{{"bot":true,"board":true}}}}}}"#,
            fen = self.board().line.root().print(),
        )
    }

    /// Tells the game to one reader, to its end.
    pub fn tell(&self, mut stream: Stream) -> io::Result<()> {
        let (tell, told) = mpsc::channel();
        let full = {
            let mut board = self.board();
            board.reader = Some(tell);
            let is_asked = board.line.now().side() == Color::White;
            let full = format!(
                r#"{{"type":"gameFull","id":"{}","variant":{{"key":"standard","name":"Standard","short":"Std"}},"clock":{{"initial":{CLOCK},"increment":0}},"speed":"classical","perf":{{"name":"Classical"}},"rated":false,"createdAt":1,"white":{{"id":"bench","name":"bench","title":"BOT","rating":1500}},"black":{{"id":"anybody","name":"Anybody","rating":1500}},"initialFen":"startpos","state":{}}}"#,
                self.id,
                board.state("started"),
            );
            if is_asked { Said::Question(full) } else { Said::State(full) }
        };
        self.say(&mut stream, full)?;
        loop {
            match told.recv_timeout(KEEP_ALIVE) {
                Ok(said) => {
                    let is_last = matches!(said, Said::Last(_));
                    self.say(&mut stream, said)?;
                    if is_last {
                        return stream.end();
                    }
                }
                Err(RecvTimeoutError::Timeout) => stream.line("")?,
                // Another reader has come.
                Err(RecvTimeoutError::Disconnected) => return stream.end(),
            }
        }
    }

    fn say(&self, stream: &mut Stream, said: Said) -> io::Result<()> {
        match said {
            Said::State(text) | Said::Last(text) => stream.line(&text),
            Said::Question(text) => {
                sleep(REPLY);
                {
                    let mut board = self.board();
                    // The first move waits for the client to get ready.
                    board.asked_at = (!board.moves.is_empty()).then(Instant::now);
                }
                stream.line(&text)
            }
        }
    }

    /// Plays the client's move, which arrived then, and answers it.
    pub fn play(&self, text: &str, at: Instant) -> Played {
        let mut board = self.board();
        if board.line.now().side() != Color::White || !board.play(text) {
            return Played::Refused;
        }
        let took = board.asked_at.take().map(|asked_at| at.saturating_duration_since(asked_at));
        if board.is_over() {
            board.last();
            return Played::Over(took);
        }
        let state = board.state("started");
        board.say(Said::State(state));
        let moves = board.line.now().moves();
        if let Some(&mv) = fastrand::choice(&moves) {
            let text = board.line.now().write(mv);
            board.play(text.as_str());
        }
        if board.is_over() {
            board.last();
            return Played::Over(took);
        }
        let question = board.state("started");
        board.say(Said::Question(question));
        Played::Taken(took)
    }

    /// Held for a few moments; a holder that panicked has at worst not answered.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    fn state(&self, status: &str) -> String {
        format!(
            r#"{{"type":"gameState","moves":"{}","wtime":{CLOCK},"btime":{CLOCK},"winc":0,"binc":0,"status":"{status}"}}"#,
            self.moves,
        )
    }

    fn play(&mut self, text: &str) -> bool {
        let Ok(mv) = self.line.now().read(text) else { return false };
        if !self.moves.is_empty() {
            self.moves.push(' ');
        }
        self.moves.push_str(self.line.now().write(mv).as_str());
        self.line.play(mv);
        true
    }

    fn is_over(&self) -> bool {
        self.line.outcome().is_over() || self.line.moves().len() >= LONGEST
    }

    fn last(&mut self) {
        let state = self.state("draw");
        self.say(Said::Last(state));
    }

    fn say(&mut self, said: Said) {
        if let Some(reader) = &self.reader {
            // One that is gone will be told all when it comes back.
            let _ = reader.send(said);
        }
    }
}

/// An answer to a request, with nothing behind it.
pub(super) fn answer(out: &mut impl Write, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}");
    out.write_all(text.as_bytes())
}
