//! An arena that speaks the Lichess Bot API, and clients that know nothing of it but bytes.

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use zeitnot_arena::{Arena, Config, Summary};

use crate::support::wait::soon;

/// Settings of a person's account.
const PERSON: &str = "title = ''\nscopes = ['bot:play', 'challenge:read', 'challenge:write', 'team:write', \
                      'tournament:write']\n";

/// An arena with nothing but Lichess, and accounts for alice, bob, carol (bots) and dave (a person).
pub struct Lichess {
    pub address: String,
    pub folder: TempDir,
    shutdown: CancellationToken,
    running: JoinHandle<Summary>,
}

impl Lichess {
    pub async fn start(settings: &str) -> Lichess {
        let folder = tempfile::tempdir().unwrap();
        let mut text = format!(
            "games = '{}/games'\n[lichess]\nlisten = '127.0.0.1:0'\nadmin_token = 'admin_secret'\n{settings}\n",
            folder.path().display()
        );
        for name in ["alice", "bob", "carol", "dave"] {
            let title = if name == "dave" { PERSON } else { "" };
            text +=
                &format!("[[lichess.account]]\nname = '{}'\ntoken = 'lip_{name}'\n{title}", capital(name));
        }
        let config: Config = toml::from_str(&text).unwrap();
        config.check().unwrap();
        let arena = Arena::bind(config).await.unwrap();
        let address = arena.lichess().unwrap().to_string();
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(arena.run(shutdown.clone()));
        Lichess { address, folder, shutdown, running }
    }

    pub fn bot(&self, name: &str) -> Bot {
        Bot { address: self.address.clone(), token: format!("lip_{name}"), agent: format!("test {name}") }
    }

    /// All games that were written down.
    pub async fn stop(self) -> String {
        self.shutdown.cancel();
        soon("the end", self.running).await.unwrap();
        let files = std::fs::read_dir(self.folder.path().join("games")).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// White is alice, Black is bob; returns the game's id.
    pub async fn game(&self, form: &str) -> String {
        let (alice, bob) = (self.bot("alice"), self.bot("bob"));
        let (status, challenge) = alice.post("/api/challenge/bob", &format!("color=white&{form}")).await;
        assert_eq!(status, 200, "{challenge}");
        let id = challenge["id"].as_str().unwrap().to_owned();
        bob.ok(&format!("/api/challenge/{id}/accept")).await;
        id
    }
}

fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// A program with a token.
#[derive(Clone)]
pub struct Bot {
    pub address: String,
    pub token: String,
    pub agent: String,
}

impl Bot {
    async fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> (u16, BufReader<TcpStream>) {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        let mut stream = BufReader::new(stream);
        let (token, agent, length) = (&self.token, &self.agent, body.len());
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
