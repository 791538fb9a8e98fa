//! Attacks on the page.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use super::target::{FROM, RETRY, Target, connect, get, hold, pour_from};
use crate::web_socket;

/// Connections to the page that say nothing.
const SOCKETS: usize = 1100;
/// Pause between two requests for the list of games.
const ASK_LISTS: Duration = Duration::from_millis(100);
/// Pause between two wrong tokens.
const GUESS: Duration = Duration::from_millis(50);

/// Connections that say nothing.
pub(super) fn silence(target: &Arc<Target>, tasks: &mut JoinSet<()>) {
    (0..SOCKETS).for_each(|_| drop(tasks.spawn(hold(target.clone(), target.page))));
}

/// Tables for people, made by three addresses.
pub(super) fn tables(target: &Arc<Target>, tasks: &mut JoinSet<()>) {
    let from = [2, 3, 4].map(|last| Ipv4Addr::new(127, 0, 0, last));
    let request = post("/api/tables", r#"{"kind":"chess","opponent":"human"}"#);
    flood(target, &from.repeat(4), &request, tasks);
}

pub(super) fn analyses(target: &Arc<Target>, tasks: &mut JoinSet<()>) {
    flood(target, &[FROM; 20], &post("/api/analysis", r#"{"kind":"chess"}"#), tasks);
}

/// Plain requests.
pub(super) fn gets(target: &Arc<Target>, tasks: &mut JoinSet<()>) {
    flood(target, &[FROM; 50], &get("/api/games", "").repeat(16), tasks);
}

/// Pours requests into the page, over a connection from each address.
fn flood(target: &Arc<Target>, from: &[Ipv4Addr], requests: &[u8], tasks: &mut JoinSet<()>) {
    // The page answers under its own address only.
    let host = format!("Host: {}", target.page);
    let requests = String::from_utf8_lossy(requests).replace("Host: arena", &host);
    let requests: Arc<[u8]> = requests.into_bytes().into();
    for &from in from {
        tasks.spawn(pour_from(from, target.clone(), target.page, requests.clone()));
    }
}

fn post(path: &str, json: &str) -> Vec<u8> {
    let length = json.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: arena\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{json}"
    )
    .into_bytes()
}

/// Asks for the list of games and pings, ten times a second.
pub(super) async fn watch_lists(target: Arc<Target>) {
    loop {
        let opened = async { web_socket::open(connect(target.page).await?, "/api/live").await };
        if let Ok((mut reader, mut writer)) = opened.await {
            let writing = async {
                loop {
                    for message in [r#"{"watch":"games"}"#, r#"{"unwatch":"games"}"#] {
                        if writer.say(message).await.is_err() || writer.ping().await.is_err() {
                            return;
                        }
                        target.count(2);
                    }
                    sleep(ASK_LISTS).await;
                }
            };
            tokio::select! {
                () = writing => {}
                () = reader.drain() => {}
            }
        }
        sleep(RETRY).await;
    }
}

/// Shows ever new tokens, from the address of the honest.
pub(super) async fn guess_tokens(target: Arc<Target>) {
    for number in 0_u64.. {
        let request = format!(
            "GET /api/status HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer guess{number}\r\n\r\n",
            target.page
        );
        let guessing = async {
            let mut stream = TcpStream::connect(target.page).await?;
            stream.write_all(request.as_bytes()).await?;
            stream.read_to_end(&mut Vec::new()).await
        };
        // Whether it was answered does not matter.
        let _ = guessing.await;
        target.count(1);
        sleep(GUESS).await;
    }
}
