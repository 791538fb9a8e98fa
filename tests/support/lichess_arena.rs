//! An arena that speaks the Lichess Bot API, and clients that share no code with it.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use zeitnot_testing::{soon, until};

use crate::support::arena::{TestArena, records};

/// Settings of a person's account.
const PERSON: &str = "title = ''\nscopes = ['bot:play', 'challenge:read', 'challenge:write']\n";

/// An arena with nothing but Lichess, and accounts for alice, bob, carol (bots) and dave (a person).
pub struct Lichess {
    pub address: SocketAddr,
    pub arena: TestArena,
}

impl Lichess {
    pub async fn start(settings: &str) -> Lichess {
        let mut text = format!(
            "games = '{{folder}}/games'\n[lichess]\nlisten = '127.0.0.1:0'\nadmin_token = 'admin_secret'\n{settings}\n"
        );
        for name in ["alice", "bob", "carol", "dave"] {
            let title = if name == "dave" { PERSON } else { "" };
            text +=
                &format!("[[lichess.account]]\nname = '{}'\ntoken = 'lip_{name}'\n{title}", capital(name));
        }
        let arena = TestArena::open(tempfile::tempdir().unwrap(), &text).await;
        Lichess { address: arena.lichess.unwrap(), arena }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn bot(&self, name: &str) -> Bot {
        Bot::new(self.address, &format!("lip_{name}"))
    }

    /// The administrator.
    pub fn admin(&self) -> Bot {
        Bot::new(self.address, "admin_secret")
    }

    /// Somebody without a token.
    pub fn nobody(&self) -> Bot {
        Bot::new(self.address, "")
    }

    /// Stops the arena and returns its records.
    pub async fn stop(self) -> String {
        let (_, folder) = self.arena.stop().await;
        records(folder.path())
    }

    /// White is alice, Black is bob; returns the game's id.
    pub async fn game(&self, form: &str) -> String {
        let challenge = self.bot("alice").challenge("bob", &format!("color=white&{form}")).await;
        let id = challenge["id"].as_str().unwrap().to_owned();
        self.bot("bob").ok(&format!("/api/challenge/{id}/accept")).await;
        id
    }
}

fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// A program with a token.
#[derive(Clone)]
pub struct Bot {
    pub address: SocketAddr,
    pub token: String,
    pub agent: String,
}

impl Bot {
    pub fn new(address: SocketAddr, token: &str) -> Bot {
        Bot { address, token: token.to_owned(), agent: format!("test {token}") }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> (u16, BufReader<TcpStream>) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut stream = BufReader::new(stream);
        let token = &self.token;
        let agent = &self.agent;
        let length = body.len();
        let auth =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        // HTTP/1.0 has no chunks: what is read is what was written.
        let request = format!(
            "{method} {path} HTTP/1.0\r\n{auth}User-Agent: {agent}\r\nContent-Type: {kind}\r\nAccept: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut line = String::new();
        soon("a status", stream.read_line(&mut line)).await.unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{path}: {line:?}")).parse().unwrap();
        while !line.trim().is_empty() {
            line.clear();
            soon("headers", stream.read_line(&mut line)).await.unwrap();
        }
        (status, stream)
    }

    pub async fn text(&self, method: &str, path: &str, kind: &str, body: &str) -> (u16, String) {
        let (status, mut stream) = self.send(method, path, kind, body).await;
        let mut text = String::new();
        soon("an answer", stream.read_to_string(&mut text)).await.unwrap();
        (status, text)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.text("GET", path, "", "").await;
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub async fn post(&self, path: &str, form: &str) -> (u16, Value) {
        let kind =
            if form.starts_with('{') { "application/json" } else { "application/x-www-form-urlencoded" };
        let (status, text) = self.text("POST", path, kind, form).await;
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// A request that is granted.
    pub async fn ok(&self, path: &str) {
        let (status, answer) = self.post(path, "").await;
        assert_eq!((status, &answer["ok"]), (200, &Value::Bool(true)), "{path}: {answer}");
    }

    /// A request that is refused; returns why.
    pub async fn refused(&self, path: &str, form: &str) -> (u16, String) {
        let (status, answer) = self.post(path, form).await;
        assert!(status >= 400, "{path}: {answer}");
        (status, answer["error"].as_str().map_or_else(|| answer["error"].to_string(), str::to_owned))
    }

    /// Entries of the running games.
    pub async fn playing(&self) -> Vec<Value> {
        self.get("/api/account/playing?nb=50").await.1["nowPlaying"].as_array().unwrap().clone()
    }

    /// Waits until all of these have opened their event streams.
    pub async fn sees_online(&self, names: &str) {
        let path = format!("/api/users/status?ids={names}");
        until(&format!("{names} online"), async || {
            self.get(&path).await.1.as_array().unwrap().iter().all(|user| user["online"] == true)
        })
        .await;
    }

    /// Challenges somebody and returns the challenge.
    pub async fn challenge(&self, whom: &str, form: &str) -> Value {
        let (status, challenge) = self.post(&format!("/api/challenge/{whom}"), form).await;
        assert_eq!(status, 200, "{challenge}");
        challenge
    }

    /// Acts in a game, as in `resign`.
    pub async fn act(&self, game: &str, action: &str) {
        self.ok(&format!("/api/bot/game/{game}/{action}")).await;
    }

    /// Acts in a game, and returns why that is refused with this status.
    pub async fn cannot(&self, game: &str, action: &str, expected: u16) -> String {
        let (status, why) = self.refused(&format!("/api/bot/game/{game}/{action}"), "").await;
        assert_eq!(status, expected, "{action}: {why}");
        why
    }

    pub async fn play(&self, game: &str, mv: &str) {
        self.ok(&format!("/api/bot/game/{game}/move/{mv}")).await;
    }

    pub async fn stream(&self, path: &str) -> Stream {
        self.open("GET", path, "").await
    }

    pub async fn open(&self, method: &str, path: &str, form: &str) -> Stream {
        let (status, stream) = self.send(method, path, "application/x-www-form-urlencoded", form).await;
        assert_eq!(status, 200, "{path}");
        Stream(stream)
    }

    pub async fn events(&self) -> Stream {
        self.stream("/api/stream/event").await
    }

    pub async fn watch(&self, game: &str) -> Stream {
        self.stream(&format!("/api/bot/game/stream/{game}")).await
    }
}

/// Expects that a value has all these fields, of which it may have more. A missing field is `null`.
#[track_caller]
pub fn has(value: &Value, expected: Value) {
    match expected {
        Value::Object(fields) => fields.into_iter().for_each(|(name, field)| has(&value[&name], field)),
        expected => assert_eq!(*value, expected),
    }
}

/// Both play these moves, White first.
pub async fn play(white: &Bot, black: &Bot, game: &str, moves: &str) {
    for (at, mv) in moves.split(' ').enumerate() {
        let bot = if at % 2 == 0 { white } else { black };
        bot.play(game, mv).await;
    }
}

/// A stream of lines.
pub struct Stream(pub BufReader<TcpStream>);

impl Stream {
    /// The next line, an empty one as well; `None`: the end.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let read = soon("a line", self.0.read_until(b'\n', &mut line)).await.unwrap();
        (read > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned())
    }

    /// The next line that says something.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.line().await?;
            if !line.is_empty() {
                return Some(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
        }
    }

    /// The next line of this type; others are passed over.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let mut passed = Vec::new();
        while let Some(message) = self.next().await {
            if message["type"] == kind {
                return message;
            }
            passed.push(message);
        }
        panic!("the stream has ended without {kind}, but with {passed:#?}")
    }

    /// Everything up to the end.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }
}
