//! Player of the tournament over the Lichess Bot API.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{task::JoinSet, time::sleep};

use super::{MOVES, THINKS, lines::Lines, random};

/// Names of the players of a game: White, Black.
pub type Names = (String, String);

/// Games that accounts were told the end of; Black has won them all.
pub type Finished = Arc<Mutex<Vec<(String, Names)>>>;

/// Opens an answer with this status, behind its head.
async fn ask(address: SocketAddr, name: &str, method: &str, path: &str) -> Option<Lines> {
    let mut lines = Lines::connect(address).await?;
    // HTTP/1.0 has no chunks: what is read is what was written.
    let head =
        format!("{method} {path} HTTP/1.0\r\nAuthorization: Bearer lip_{name}\r\nContent-Length: 0\r\n\r\n");
    lines.say(&head).await?;
    let is_ok = lines.line().await?.split(' ').nth(1) == Some("200");
    while !lines.line().await?.is_empty() {}
    is_ok.then_some(lines)
}

/// Plays for as long as the future lives.
pub async fn play(address: SocketAddr, name: String, finished: Finished) {
    let mut games = JoinSet::new();
    loop {
        if let Some(mut events) = ask(address, &name, "GET", "/api/stream/event").await {
            while let Some(line) = events.line().await {
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                let game = &event["game"];
                match event["type"].as_str() {
                    Some("gameStart") => {
                        let id = game["gameId"].as_str().unwrap().to_owned();
                        games.spawn(moves(address, name.clone(), id, game["color"] == "black"));
                    }
                    Some("gameFinish") if game["status"]["name"] != "aborted" => {
                        assert_eq!(game["winner"], "black", "{game}");
                        let opponent = game["opponent"]["username"].as_str().unwrap();
                        let opponent = opponent.rsplit(' ').next().unwrap().to_owned();
                        let names = match game["color"].as_str() {
                            Some("white") => (name.clone(), opponent),
                            _ => (opponent, name.clone()),
                        };
                        finished.lock().unwrap().push((name.clone(), names));
                    }
                    _ => {}
                }
            }
        }
        sleep(THINKS / 4).await;
    }
}

/// Plays one game, by the states that its stream tells.
async fn moves(address: SocketAddr, name: String, id: String, is_black: bool) -> Option<()> {
    let mut stream = ask(address, &name, "GET", &format!("/api/bot/game/stream/{id}")).await?;
    loop {
        let line = stream.line().await?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let state = if message["type"] == "gameFull" { &message["state"] } else { &message };
        let Some(moves) = state["moves"].as_str() else { continue };
        let ply = moves.split_whitespace().count();
        if (ply % 2 == 1) == is_black && ply < MOVES.len() {
            sleep(random(THINKS)).await;
            let mv = MOVES[ply].replace('-', "");
            ask(address, &name, "POST", &format!("/api/bot/game/{id}/move/{mv}")).await;
        }
    }
}
