//! The server's side of the games: the client has White, and a random legal move answers it.

use std::{
    collections::BTreeMap,
    io,
    net::TcpListener,
    time::{Duration, Instant},
};

use tokio::{task::JoinSet, time::sleep};
use zeitnot_measure::scripted_lichess::{ANYTHING, Feed, Post, Server};
use zeitnot_rules::{Color, Game as _, GameHistory, chess::Chess};

/// Time before each of the server's moves, so that a client is done with its own.
const REPLY: Duration = Duration::from_millis(5);
/// Plies after which a game is drawn: the middle of the board is full, and no mate in sight.
const MAX_PLIES: usize = 40;
/// Both clocks in milliseconds. They do not run.
const CLOCK: u64 = 10_800_000;
/// Time between two empty lines of a stream.
const KEEP_ALIVE: Duration = Duration::from_secs(6);
const ACCOUNT: &str = r#"{"id":"bench","username":"bench","title":"BOT","perfs":{"classical":{"games":0,"rating":1500,"rd":45,"prog":0}},"createdAt":1,"seenAt":1,"count":{"all":0,"rated":0},"playTime":{"total":0,"tv":0}}"#;
/// Answer to the token check of other clients, whose token is `bench`.
const TOKENS: &str =
    r#"{"bench":{"userId":"bench","scopes":"bot:play,challenge:read,challenge:write","expires":null}}"#;

/// An action of the client.
#[derive(Copy, Clone, Debug)]
pub(super) enum Seen {
    /// It has opened its event stream.
    Ready(Instant),
    /// It has moved, this long after it was asked.
    Answered(Duration),
    /// It has sent an illegal move, or one that nobody asked for.
    Refused,
}

/// A server and its games.
pub(super) struct Opponent {
    server: Server,
    events: Option<Feed>,
    games: BTreeMap<String, Game>,
    /// Games whose next question is due, after [`REPLY`].
    due: JoinSet<String>,
    begun: u32,
}

impl Opponent {
    /// Serves at a listener, without a game.
    pub(super) fn start(listener: TcpListener) -> io::Result<Opponent> {
        let server = Server::start(listener, KEEP_ALIVE)?;
        server.answer("/api/account", 200, ACCOUNT);
        server.answer("/api/token/test", 200, TOKENS);
        server.answer("/api/users/status", 200, "[]");
        server.answer(ANYTHING, 200, r#"{"ok":true}"#);
        Ok(Opponent { server, events: None, games: BTreeMap::new(), due: JoinSet::new(), begun: 0 })
    }

    /// Begins one more game; another one follows whenever it ends.
    pub(super) fn begin_game(&mut self) {
        let game = Game::new(format!("game{:04}", self.begun));
        self.begun += 1;
        self.tell(&game.event("gameStart"));
        self.games.insert(game.id.clone(), game);
    }

    /// Serves the client until it does something that counts. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Seen {
        loop {
            tokio::select! {
                Some(feed) = self.server.events.recv() => {
                    self.games.values().for_each(|game| feed.line(&game.event("gameStart")));
                    self.events = Some(feed);
                    return Seen::Ready(Instant::now());
                }
                Some(feed) = self.server.games.recv() => self.open(feed),
                Some(post) = self.server.posts.recv() => if let Some(seen) = self.post(post) {
                    return seen;
                },
                Some(Ok(id)) = self.due.join_next() => if let Some(game) = self.games.get_mut(&id) {
                    game.ask();
                },
            }
        }
    }

    fn tell(&self, event: &str) {
        if let Some(events) = &self.events {
            events.line(event);
        }
    }

    fn open(&mut self, feed: Feed) {
        let id = feed.path.rsplit('/').next().unwrap_or_default().to_owned();
        let Some(game) = self.games.get_mut(&id) else { return };
        let full = game.full();
        match game.history.now().side_to_move() {
            Color::White => {
                game.question = full;
                self.ask_soon(&id);
            }
            Color::Black => feed.line(&full),
        }
        if let Some(game) = self.games.get_mut(&id) {
            game.feed = Some(feed);
        }
    }

    fn ask_soon(&mut self, id: &str) {
        let id = id.to_owned();
        self.due.spawn(async move {
            sleep(REPLY).await;
            id
        });
    }

    fn post(&mut self, post: Post) -> Option<Seen> {
        let path = post.path.split('?').next().unwrap_or_default();
        let Some((id, mv)) = path.strip_prefix("/api/bot/game/").and_then(|path| path.split_once("/move/"))
        else {
            post.ok();
            return None;
        };
        let id = id.to_owned();
        let mv = mv.to_owned();
        let game = self.games.get_mut(&id).filter(|game| game.history.now().side_to_move() == Color::White);
        let Some(game) = game.and_then(|game| game.play(&mv).then_some(game)) else {
            post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
            return Some(Seen::Refused);
        };
        let took = game.asked_at.take().map(|asked_at| post.at.saturating_duration_since(asked_at));
        post.ok();
        if game.reply() {
            self.ask_soon(&id);
        } else if let Some(game) = self.games.remove(&id) {
            self.tell(&game.event("gameFinish"));
            self.begin_game();
        }
        took.map(Seen::Answered)
    }
}

struct Game {
    id: String,
    history: GameHistory<Chess>,
    moves: String,
    feed: Option<Feed>,
    question: String,
    /// When the client was asked for its move, unless the game has just begun.
    asked_at: Option<Instant>,
}

impl Game {
    fn new(id: String) -> Game {
        let history = GameHistory::new(Chess::start());
        Game { id, history, moves: String::new(), feed: None, question: String::new(), asked_at: None }
    }

    /// The game in an event.
    fn event(&self, kind: &str) -> String {
        let id = &self.id;
        format!(
            r#"{{"type":"{kind}","game":{{"fullId":"{id}wwww","gameId":"{id}","id":"{id}","fen":"{fen}","color":"white","lastMove":"","source":"friend","status":{{"id":20,"name":"started"}},"variant":{{"key":"standard","name":"Standard"}},"speed":"classical","perf":"classical","rated":false,"hasMoved":false,"opponent":{{"id":"anybody","username":"Anybody","rating":1500}},"isMyTurn":true,"secondsLeft":10800,"compat":{{"bot":true,"board":true}}}}}}"#,
            fen = self.history.root().print(),
        )
    }

    fn full(&self) -> String {
        format!(
            r#"{{"type":"gameFull","id":"{}","variant":{{"key":"standard","name":"Standard","short":"Std"}},"clock":{{"initial":{CLOCK},"increment":0}},"speed":"classical","perf":{{"name":"Classical"}},"rated":false,"createdAt":1,"white":{{"id":"bench","name":"bench","title":"BOT","rating":1500}},"black":{{"id":"anybody","name":"Anybody","rating":1500}},"initialFen":"startpos","state":{}}}"#,
            self.id,
            self.state("started"),
        )
    }

    fn state(&self, status: &str) -> String {
        format!(
            r#"{{"type":"gameState","moves":"{}","wtime":{CLOCK},"btime":{CLOCK},"winc":0,"binc":0,"status":"{status}"}}"#,
            self.moves,
        )
    }

    fn say(&self, line: &str) {
        if let Some(feed) = &self.feed {
            feed.line(line);
        }
    }

    /// Asks the client for its move. The time before its first move is not measured.
    fn ask(&mut self) {
        self.asked_at = (!self.moves.is_empty()).then(Instant::now);
        self.say(&self.question);
    }

    /// Plays a move if it is legal.
    fn play(&mut self, text: &str) -> bool {
        let Ok(mv) = self.history.now().read(text) else { return false };
        if !self.moves.is_empty() {
            self.moves.push(' ');
        }
        self.moves.push_str(self.history.now().write(mv).as_str());
        self.history.play(mv);
        true
    }

    fn is_over(&self) -> bool {
        self.history.outcome().is_over() || self.history.moves().len() >= MAX_PLIES
    }

    /// Replies to the client's move. Whether the game goes on.
    fn reply(&mut self) -> bool {
        if !self.is_over() {
            self.say(&self.state("started"));
            if let Some(&mv) = fastrand::choice(&self.history.now().moves()) {
                let text = self.history.now().write(mv);
                self.play(text.as_str());
            }
        }
        let is_over = self.is_over();
        self.question = self.state("started");
        if is_over {
            self.say(&self.state("draw"));
        }
        !is_over
    }
}
