//! The server's side of the games: the client has White, and a random legal move answers it.

use std::{
    collections::BTreeMap,
    io,
    net::TcpListener,
    time::{Duration, Instant},
};

use tokio::{task::JoinSet, time::sleep};
use zeitnot_measure::scripted_lichess::{Feed, Post, Server};

use crate::bench_game::{BenchGame, Clocks, answer_look_ups};

/// Time before each of the server's moves, so that a client is done with its own.
const REPLY: Duration = Duration::from_millis(5);
/// Clocks that do not run.
const CLOCKS: Clocks = Clocks { initial: 10_800_000, white: 10_800_000, black: 10_800_000 };
/// Time between two empty lines of a stream.
const KEEP_ALIVE: Duration = Duration::from_secs(6);
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
        answer_look_ups(&server);
        Ok(Opponent { server, events: None, games: BTreeMap::new(), due: JoinSet::new(), begun: 0 })
    }

    /// Begins one more game; another one follows whenever it ends.
    pub(super) fn begin_game(&mut self) {
        let game = Game::new(format!("game{:04}", self.begun));
        self.begun += 1;
        self.tell(&game.game.event("gameStart"));
        self.games.insert(game.game.id.clone(), game);
    }

    /// Serves the client until it does something that counts. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Seen {
        loop {
            tokio::select! {
                Some(feed) = self.server.events.recv() => {
                    self.games.values().for_each(|game| feed.line(&game.game.event("gameStart")));
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
        let full = game.game.full(CLOCKS);
        match game.game.is_clients_turn() {
            true => {
                game.question = full;
                self.ask_soon(&id);
            }
            false => feed.line(&full),
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
        let game = self.games.get_mut(&id).filter(|game| game.game.is_clients_turn());
        let Some(game) = game.and_then(|game| game.game.play(&mv).then_some(game)) else {
            post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
            return Some(Seen::Refused);
        };
        let took = game.asked_at.take().map(|asked_at| post.at.saturating_duration_since(asked_at));
        post.ok();
        if game.reply() {
            self.ask_soon(&id);
        } else if let Some(game) = self.games.remove(&id) {
            self.tell(&game.game.event("gameFinish"));
            self.begin_game();
        }
        took.map(Seen::Answered)
    }
}

struct Game {
    game: BenchGame,
    feed: Option<Feed>,
    question: String,
    /// When the client was asked for its move, unless the game has just begun.
    asked_at: Option<Instant>,
}

impl Game {
    fn new(id: String) -> Game {
        Game { game: BenchGame::new(id), feed: None, question: String::new(), asked_at: None }
    }

    fn say(&self, line: &str) {
        if let Some(feed) = &self.feed {
            feed.line(line);
        }
    }

    /// Asks the client for its move. The time before its first move is not measured.
    fn ask(&mut self) {
        self.asked_at = (!self.game.history.moves().is_empty()).then(Instant::now);
        self.say(&self.question);
    }

    /// Replies to the client's move. Whether the game goes on.
    fn reply(&mut self) -> bool {
        if !self.game.is_over() {
            self.say(&self.game.state("started", CLOCKS));
            self.game.reply();
        }
        let is_over = self.game.is_over();
        self.question = self.game.state("started", CLOCKS);
        if is_over {
            self.say(&self.game.state("draw", CLOCKS));
        }
        !is_over
    }
}
