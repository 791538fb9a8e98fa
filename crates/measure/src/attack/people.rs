//! Honest people on the page: two at each table, and the organiser.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use super::{PATIENCE, PAUSE, TOKEN, measured::Stopwatch};
use crate::web_socket::{self, Reader, Writer};

/// Time that a person thinks about a move: far more often than people move, and within the ration of a seat.
const THINK: Duration = Duration::from_millis(150);
/// Pause between two requests of the organiser.
const BETWEEN_ORDERS: Duration = Duration::from_millis(50);

/// Plays one game after the other at a table for two, for ever.
pub(super) async fn play(address: SocketAddr, watch: Stopwatch) {
    loop {
        watch.clear();
        if game(address, &watch).await.is_err() {
            watch.count_broken();
        }
        sleep(PAUSE).await;
    }
}

async fn game(address: SocketAddr, watch: &Stopwatch) -> io::Result<()> {
    let request = json!({ "kind": "chess", "opponent": "human", "color": "white", "time_control": "600+10" });
    let made = ask(address, "POST", "/api/tables", &request.to_string()).await?;
    let seat = |field: &str| made[field].as_str().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    let sit = async |token: &str| {
        let stream = timeout(PATIENCE, TcpStream::connect(address)).await??;
        web_socket::open(stream, &format!("/api/tables/{token}")).await
    };
    let white = sit(seat("seat")?).await?;
    let black = sit(seat("invitation")?).await?;
    tokio::try_join!(side(white, watch), side(black, watch)).map(|_| ())
}

/// Plays one side to the end of the game.
async fn side((mut reader, mut writer): (Reader, Writer), watch: &Stopwatch) -> io::Result<()> {
    let mut answered = None;
    loop {
        let state: Value = serde_json::from_str(&reader.frame().await?).unwrap_or_default();
        if state["game"]["state"] == "ended" {
            return Ok(());
        }
        let Some(legal) = state["legal"].as_array().filter(|legal| !legal.is_empty()) else { continue };
        let ply = state["game"]["ply"].as_u64();
        if ply == answered {
            continue;
        }
        watch.stop();
        answered = ply;
        sleep(THINK).await;
        let mv = &legal[fastrand::usize(..legal.len())]["uci"];
        watch.start();
        writer.say(&json!({ "move": mv, "ply": ply }).to_string()).await?;
    }
}

/// Shows the token again and again, as the organiser's page does.
pub(super) async fn organise(address: SocketAddr, watch: Stopwatch) {
    loop {
        watch.start();
        match ask(address, "GET", "/api/status", "").await {
            Ok(status) if status["organiser"] == true => watch.stop(),
            _ => {
                watch.clear();
                watch.count_broken();
            }
        }
        sleep(BETWEEN_ORDERS).await;
    }
}

/// Sends a request with the organiser's token, and returns the JSON of the answer.
async fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<Value> {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let asking = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(serde_json::from_str(body)?)
    };
    timeout(PATIENCE, asking).await?
}
