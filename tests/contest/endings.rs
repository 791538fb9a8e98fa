//! The end of a tournament, and of the games that we want.

use std::{num::NonZeroU32, time::Duration};

use tokio::time::Instant;
use zeitnot_clients::{Protocol, contest::Contest};

use crate::support::{
    contest_server::{Client, Server, Transport, config},
    log::Log,
};

/// Refuses a client, and closes.
async fn over(server: &Server) {
    let mut wire = server.accept().await;
    wire.expect("JOIN class alice").await;
    wire.say("INFO Tournament class is over").await;
}

/// A client that leaves after this many games.
fn client(server: &Server, games: u32) -> Client {
    let mut config = config(&server.address());
    Contest::limit_games(&mut config, NonZeroU32::new(games).unwrap());
    Client::of::<Contest>(config)
}

#[test(start_paused = true)]
async fn a_tournament_that_is_over_is_asked_for_slowly() {
    let log = Log::capture();
    let server = Server::start(Transport::Tcp).await;
    let mut config = config(&server.address());
    config.timeouts.reconnect.max_delay = Duration::from_secs(60);
    let mut client = Client::of::<Contest>(config);
    let began = Instant::now();
    for asked in 1..4 {
        over(&server).await;
        log.shows("tournament class is over").await;
        assert!(began.elapsed() < asked * Duration::from_secs(60));
    }
    let mut wire = server.joined().await;
    assert!(began.elapsed() >= Duration::from_secs(180));
    let text = log.text();
    assert_eq!(log.count("asking every 60 s whether it goes on"), 1, "{text}");
    assert_eq!((log.count("joining tournament"), log.count("WARN")), (1, 0), "{text}");
    wire.begin("g1").await;
    assert_eq!(client.game().await.info.id, "g1");
}

#[test(start_paused = true)]
async fn a_client_that_was_sent_for_some_games_leaves_a_tournament_that_is_over() {
    let server = Server::start(Transport::Tcp).await;
    let client = client(&server, 5);
    over(&server).await;
    client.ends().await;
}

#[test(start_paused = true)]
async fn a_client_leaves_after_its_number_of_games() {
    let server = Server::start(Transport::Ws).await;
    let mut client = client(&server, 2);
    let mut wire = server.joined().await;
    for game in ["g1", "g2"] {
        wire.begin(game).await;
        let mut player = client.game().await;
        wire.say(&format!("GAME_OVER {game} 1-0 Resignation")).await;
        assert_eq!(player.ended().await, "1-0 Resignation");
    }
    wire.expect("DISCONNECT").await;
    client.ends().await;
}
