//! A server that does not let us into its tournament.

use std::num::NonZeroU32;

use zeitnot_clients::{Protocol, ProtocolError, contest::Contest};

use crate::support::{
    arena::{By, TestArena},
    command::run,
    contest_server::{Client, Server, Transport, config},
    log::Log,
};

const TAKEN: &str = "Player with name alice already in tournament";

/// Answers the next client's `JOIN` with this line, and closes.
async fn refuse(server: &Server, words: &str) {
    let mut wire = server.accept().await;
    wire.expect("JOIN class alice").await;
    wire.say(&format!("INFO {words}")).await;
}

/// Expects that a client has given up, with the server's words.
async fn gives_up(client: Client) {
    let error = client.result().await.unwrap_err();
    let ProtocolError::Refused { what, advice, .. } = &error;
    assert_eq!(*what, format!("the server refused our JOIN: {TAKEN:?}"));
    assert!(advice.contains("`player`"), "{advice}");
}

#[test(start_paused = true)]
async fn a_refusal_is_shown_and_the_third_one_in_a_row_is_the_end() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let client = Client::of::<Contest>(config(&server.address()));
    for _ in 0..2 {
        refuse(&server, TAKEN).await;
    }
    // Another end starts the count over.
    drop(server.joined().await);
    for _ in 0..3 {
        refuse(&server, TAKEN).await;
    }
    gives_up(client).await;
    let shown = format!("the server refused our JOIN: {TAKEN:?}; reconnecting in");
    // The second row is no news: the connection flaps, by an error that is known.
    assert_eq!(log.count(&shown), 1, "{}", log.text());
}

#[test(start_paused = true)]
async fn a_client_that_was_sent_for_some_games_leaves_at_the_first_refusal() {
    let server = Server::start(Transport::Ws).await;
    let mut config = config(&server.address());
    Contest::limit_games(&mut config, NonZeroU32::MIN);
    let client = Client::of::<Contest>(config);
    refuse(&server, TAKEN).await;
    gives_up(client).await;
}

#[test(start_paused = true)]
async fn a_server_that_says_try_again_is_asked_again() {
    let server = Server::start(Transport::Tcp).await;
    let _client = Client::of::<Contest>(config(&server.address()));
    for _ in 0..5 {
        refuse(&server, "The arena is full, try again later").await;
    }
    server.joined().await;
}

/// It may not know yet that our last connection is lost.
#[test(start_paused = true)]
async fn a_server_that_has_paired_us_is_asked_again() {
    let server = Server::start(Transport::Tcp).await;
    let mut client = Client::of::<Contest>(config(&server.address()));
    let mut wire = server.joined().await;
    wire.begin("g1").await;
    drop((client.game().await, wire));
    for _ in 0..5 {
        refuse(&server, TAKEN).await;
    }
    server.joined().await.begin("g2").await;
    assert_eq!(client.game().await.info.id, "g2");
}

#[test]
async fn the_program_ends_with_the_arenas_words() {
    let arena = TestArena::start("").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let text = format!(
        "[engine]\nkind = 'random'\n[cache]\nmemory_mib = 0\n[[server]]\nprotocol = 'contest'\n\
         address = '{}'\ntournament = 'club'\nplayer = 'alice'\n",
        arena.url(By::Tcp)
    );
    std::fs::write(&file, text).unwrap();
    let (code, told) = run(&["play", "--once", "1"], &file, "").await;
    assert_eq!(code, Some(1), "{told}");
    let words = "the server refused our JOIN: \"Unknown tournament club; the arena has: class\"; check `tournament`, \
                 `player` and `key`";
    assert!(told.contains(words), "{told}");
    arena.stop().await;
}
