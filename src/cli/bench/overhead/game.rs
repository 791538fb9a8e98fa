//! A game on the server. The client has White; Black answers with random moves.

use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use zeitnot_rules::{Color, Game as _, GameHistory, chess::Chess};

use super::http::Stream;

/// Time of the opponent, in which the client finishes with its own move.
const REPLY: Duration = Duration::from_millis(5);
/// Plies after which a game ends in a draw: still in the middlegame.
const MAX_PLIES: usize = 40;
/// Both clocks, in milliseconds; they do not run.
const CLOCK: u64 = 10_800_000;
/// Interval of empty lines in the stream.
const KEEP_ALIVE: Duration = Duration::from_secs(6);

/// A line of the stream.
enum Said {
    /// No move is requested.
    State(String),
    /// A move is requested.
    Question(String),
    /// The game is over.
    Last(String),
}

/// A game on the server.
pub(super) struct Game {
    pub id: String,
    board: Mutex<Board>,
}

struct Board {
    line: GameHistory<Chess>,
    moves: String,
    reader: Option<Sender<Said>>,
    /// When the move was requested, if it is measured.
    asked_at: Option<Instant>,
}

/// Result of a move.
pub(super) enum Played {
    /// It is illegal, or was not requested.
    Refused,
    /// Accepted; with the time it took, except at the start of the game.
    Taken(Option<Duration>),
    /// As [`Played::Taken`], at the end of the game.
    Over(Option<Duration>),
}

impl Game {
    pub fn new(id: String) -> Game {
        let line = GameHistory::new(Chess::start());
        Game { id, board: Mutex::new(Board { line, moves: String::new(), reader: None, asked_at: None }) }
    }

    /// Returns the event of this kind.
    pub fn event(&self, kind: &str) -> String {
        let id = &self.id;
        format!(
            r#"{{"type":"{kind}","game":{{"fullId":"{id}wwww","gameId":"{id}","id":"{id}","fen":"{fen}","color":"white","lastMove":"","source":"friend","status":{{"id":20,"name":"started"}},"variant":{{"key":"standard","name":"Standard"}},"speed":"classical","perf":"classical","rated":false,"hasMoved":false,"opponent":{{"id":"anybody","username":"Anybody","rating":1500}},"isMyTurn":true,"secondsLeft":10800,"compat":{{"bot":true,"board":true}}}}}}"#,
            fen = self.board().line.root().print(),
        )
    }

    /// Streams the game to one reader.
    pub fn serve(&self, mut stream: Stream) -> io::Result<()> {
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
                // Another reader has taken over.
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
                    // The first move includes the start of the client's game.
                    board.asked_at = (!board.moves.is_empty()).then(Instant::now);
                }
                stream.line(&text)
            }
        }
    }

    /// Plays the client's move, which arrived at this time, and answers it.
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

    // Held for a few moments; after a panic at worst a move is not answered.
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
        self.line.outcome().is_over() || self.line.moves().len() >= MAX_PLIES
    }

    fn last(&mut self) {
        let state = self.state("draw");
        self.say(Said::Last(state));
    }

    fn say(&mut self, said: Said) {
        if let Some(reader) = &self.reader {
            // A reader that is gone gets the whole state when it returns.
            let _ = reader.send(said);
        }
    }
}
