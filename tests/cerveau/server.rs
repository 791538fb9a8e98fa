//! Server of Cerveau whose side each test scripts, message by message.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use zeitnot_testing::soon;

const NS: u64 = 1_000_000_000;

pub struct Server(TcpListener);

impl Server {
    pub async fn start() -> Server {
        Server(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub fn address(&self) -> String {
        format!("tcp://{}", self.0.local_addr().unwrap())
    }

    pub async fn accept(&self) -> Wire {
        let (stream, _) = soon("a connection", self.0.accept()).await.unwrap();
        Wire { stream, unread: Vec::new() }
    }

    /// Accepts a client and gives it a place in session 1. Returns its request.
    pub async fn joined(&self) -> (Wire, Value) {
        let mut wire = self.accept().await;
        assert_eq!(wire.hear().await, Some(json!({ "event": "alias", "data": "chess" })));
        wire.say("named", json!("Chess")).await;
        let play = wire.hear().await.unwrap();
        assert_eq!(play["event"], "play");
        let constants = json!({ "DELTA_REMOVED": "&RM", "DELTA_LIST_LENGTH": "&LEN" });
        let lobbied =
            json!({ "gameName": "Chess", "gameVersion": "cfa5", "gameSession": "1", "constants": constants });
        wire.say("lobbied", lobbied).await;
        (wire, play["data"].clone())
    }

    /// Accepts a client and starts a game, with the client as this player.
    pub async fn playing(&self, id: &str) -> Wire {
        let (mut wire, _) = self.joined().await;
        wire.begin(id, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", json!({ "&LEN": 0 }))
            .await;
        wire
    }
}

pub struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// Prints a message as the server does.
pub fn message(event: &str, data: &Value) -> String {
    format!("{}\u{4}", json!({ "event": event, "data": data }))
}

impl Wire {
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    pub async fn say(&mut self, event: &str, data: Value) {
        self.write(message(event, &data)).await;
    }

    /// Returns the next message of the client, or `None` after it has closed.
    pub async fn hear(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == 4) {
                let message: Vec<u8> = self.unread.drain(..=end).collect();
                return Some(serde_json::from_slice(&message[..end]).unwrap());
            }
            let read = soon("a message of the client", self.stream.read_buf(&mut self.unread)).await;
            if read.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    pub async fn closed(&mut self) {
        assert_eq!(self.hear().await, None);
    }

    /// Tells the whole game, and the client its player.
    pub async fn begin(&mut self, id: &str, fen: &str, history: Value) {
        let player = |id: &str, color: &str, name: &str, opponent: &str| {
            json!({ "clientType": "Python", "color": color, "lost": false, "name": name, "opponent": { "id": opponent },
                    "reasonLost": "", "reasonWon": "", "timeRemaining": 10 * NS, "won": false,
                    "gameObjectName": "Player", "id": id, "logs": { "&LEN": 0 } })
        };
        let objects = json!({ "0": player("0", "white", "one", "1"), "1": player("1", "black", "two", "0") });
        let players = json!({ "0": { "id": "0" }, "1": { "id": "1" }, "&LEN": 2 });
        let game = json!({ "fen": fen, "gameObjects": objects, "history": history, "players": players, "session": "1" });
        self.say("delta", game).await;
        self.say("start", json!({ "playerID": id })).await;
    }

    /// Tells a move, which is the nth.
    pub async fn moved(&mut self, number: usize, mv: &str, fen: &str) {
        let history = json!({ number.to_string(): mv, "&LEN": number + 1 });
        self.say("delta", json!({ "fen": fen, "history": history })).await;
    }

    /// Tells the time left of a player.
    pub async fn clock(&mut self, id: &str, seconds: u64) {
        self.say("delta", json!({ "gameObjects": { id: { "timeRemaining": seconds * NS } } })).await;
    }

    pub async fn order(&mut self, index: u64) {
        self.say("order", json!({ "name": "makeMove", "index": index, "args": [] })).await;
    }

    /// Expects the answer to an order, and returns the move.
    pub async fn finished(&mut self, index: u64) -> String {
        let answer = self.hear().await.unwrap();
        assert_eq!((&answer["event"], &answer["data"]["orderIndex"]), (&json!("finished"), &json!(index)));
        answer["data"]["returned"].as_str().unwrap().to_owned()
    }

    pub async fn over(&mut self, winner: Option<&str>, won: &str, lost: &str) {
        let end = |id: &str| match winner {
            Some(winner) if winner == id => json!({ "won": true, "reasonWon": won }),
            _ => json!({ "lost": true, "reasonLost": lost }),
        };
        self.say("delta", json!({ "gameObjects": { "0": end("0"), "1": end("1") } })).await;
        let gamelog = "http://__HOSTNAME__:3080/gamelog/Chess-1-2026";
        self.say("over", json!({ "gamelogURL": gamelog, "message": "---" })).await;
    }
}
