//! Lichess clients under test, and messages of a scripted server.

use zeitnot_bot as bot;
use zeitnot_clients::lichess::{Config, Lichess};
use zeitnot_engine::Kind;
use zeitnot_rules::{Game, chess::Chess};

pub use crate::support::client::{Client, Player};
use crate::support::lichess_server::{Feed, Post, Server};

pub const ID: &str = "Zn4tQw8e";

/// Time-outs for a client of a real server.
pub const PATIENT: &str = "[timeouts]\nsilence = '30s'\nreply = '30s'\nrate_limited = '300ms'\n";

/// Configuration of a client, with short time-outs where the settings have no others. Their table comes last.
pub fn config(url: &str, token: &str, settings: &str) -> Config {
    let (settings, own) = settings.split_once("[timeouts]").unwrap_or((settings, ""));
    let reconnect = "{ min_delay = '20ms', max_delay = '100ms', stable_after = '10s' }";
    let quick =
        [("silence", "'1s'"), ("reply", "'2s'"), ("rate_limited", "'300ms'"), ("reconnect", reconnect)];
    let quick = quick.iter().filter(|(key, _)| !own.contains(key));
    let quick: String = quick.map(|(key, value)| format!("{key} = {value}\n")).collect();
    let text = format!("url = '{url}'\ntoken = '{token}'\n{settings}\n[timeouts]\n{quick}{own}");
    toml::from_str(&text).unwrap()
}

/// Starts a client of this server that plays at random.
pub fn start(server: &Server, settings: &str) -> Client {
    start_with(&server.url, "lip_hush", Kind::Random, settings)
}

/// Starts a client of any server, with a bot of this kind.
pub fn start_with(url: &str, token: &str, kind: Kind, settings: &str) -> Client {
    Client::with_bot::<Lichess>(config(url, token, settings), kind, bot::Config::default())
}

/// Starts a server, and a client that has opened its event stream.
pub async fn online(settings: &str) -> (Server, Client) {
    let mut server = Server::start().await;
    let client = start(&server, settings);
    server.online().await;
    (server, client)
}

/// Starts a client in a game that begins like this.
pub async fn in_game(settings: &str, full: &str) -> (Server, Client, Feed) {
    let (mut server, client) = online(settings).await;
    let game = server.begin(full).await;
    (server, client, game)
}

/// Starts a client in a game that begins like this, with the test as its player.
pub async fn seated(settings: &str, full: &str) -> (Server, Client, Feed, Player) {
    let mut server = Server::start().await;
    let mut client = Client::of::<Lichess>(config(&server.url, "lip_hush", settings));
    server.online().await;
    let game = server.begin(full).await;
    let seat = client.game().await;
    (server, client, game, seat)
}

impl Server {
    /// Sets the answer to look-ups of the running games.
    pub fn lists(&self, games: impl IntoIterator<Item = String>) {
        let list = format!(r#"{{"nowPlaying":[{}]}}"#, Vec::from_iter(games).join(","));
        self.answer("/api/account/playing", 200, &list);
    }

    /// Expects a move that is legal after these, and returns them all.
    pub async fn hear_move_after(&mut self, moves: &str) -> (String, Post) {
        let (mv, post) = self.hear_move().await;
        assert!(board(moves).read(&mv).is_ok(), "{mv} after {moves}");
        (format!("{moves} {mv}").trim().to_owned(), post)
    }

    /// The same, and grants the move.
    pub async fn take_move_after(&mut self, moves: &str) -> String {
        let (moves, post) = self.hear_move_after(moves).await;
        post.ok();
        moves
    }

    /// Announces a game, and opens its stream with this line.
    pub async fn begin(&mut self, full: &str) -> Feed {
        self.begin_as(ID, full).await
    }

    /// The same under another id.
    pub async fn begin_as(&mut self, id: &str, full: &str) -> Feed {
        self.tell(&of_game(id, &game_event("gameStart")));
        let game = self.game().await;
        game.line(&of_game(id, full));
        game
    }

    /// Expects a request for the game, such as `abort`.
    pub async fn hear_game(&mut self, action: &str) -> Post {
        self.hear(&format!("/api/bot/game/{ID}/{action}")).await
    }

    /// Expects that a challenge is accepted, canceled or declined.
    pub async fn hear_challenge(&mut self, id: &str, answer: &str) -> Post {
        self.hear(&format!("/api/challenge/{id}/{answer}")).await
    }
}

pub fn challenge(id: &str, time: &str) -> String {
    format!(
        r#"{{"type":"challenge","challenge":{{"id":"{id}","status":"created","challenger":{{"id":"them","name":"Them"}},
        "destUser":{{"id":"zeitnot","name":"Zeitnot"}},"variant":{{"key":"standard"}},"rated":false,"color":"random",
        "timeControl":{time}}}}}"#
    )
}

/// The challenger, as [`challenge`] has it.
pub const THEM: &str = r#"{"id":"them","name":"Them"}"#;

/// The same message about another game.
pub fn of_game(id: &str, text: &str) -> String {
    text.replace(ID, id)
}

pub const CLOCK: &str = r#"{"type":"clock","limit":60,"increment":0}"#;

pub fn game_event(kind: &str) -> String {
    let status = if kind == "gameStart" { "started" } else { "resign" };
    format!(
        r#"{{"type":"{kind}","game":{{"gameId":"{ID}","fullId":"{ID}abcd","color":"white","compat":{{"bot":true}},
        "status":{{"name":"{status}"}}}}}}"#
    )
}

pub fn state(moves: &str, more: &str) -> String {
    format!(
        r#"{{"type":"gameState","moves":"{moves}","wtime":2000,"btime":2000,"winc":0,"binc":0,"status":"started"{more}}}"#
    )
}

/// The game in full, in which we have White, or Black.
pub fn full(white: bool, moves: &str) -> String {
    let we = r#"{"id":"zeitnot","name":"Zeitnot"}"#;
    let they = r#"{"id":"them","name":"Them"}"#;
    let (white, black) = if white { (we, they) } else { (they, we) };
    format!(
        r#"{{"type":"gameFull","id":"{ID}","variant":{{"key":"standard"}},"clock":{{"initial":60000,"increment":0}},
        "white":{white},"black":{black},"initialFen":"startpos","state":{}}}"#,
        state(moves, "")
    )
}

pub fn over(moves: &str) -> String {
    state(moves, "").replace("started", "resign")
}

/// The standard position after these moves.
pub fn board(moves: &str) -> Chess {
    let mut board = Chess::start();
    for text in moves.split_whitespace() {
        board.play(board.read(text).unwrap());
    }
    board
}

/// These moves and any legal one after them.
pub fn replied(moves: &str) -> String {
    let board = board(moves);
    format!("{moves} {}", board.write(board.moves()[0]))
}

/// Takes a last move after these, ends the game, and waits for the client's end.
pub async fn finish(mut server: Server, client: Client, game: Feed, moves: &str) {
    let moves = server.take_move_after(moves).await;
    game.line(&over(&moves));
    client.ends().await;
}

/// Ends the game of a test in a player's place, and waits for the client's end.
pub async fn finish_seated(client: Client, game: Feed, mut seat: Player, moves: &str) {
    game.line(&over(moves));
    seat.ended().await;
    client.ends().await;
}
