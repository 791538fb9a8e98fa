//! A player that the arena provides, in an arena that is killed during its game.

use std::fs;

use tokio::time::sleep;
use zeitnot_measure::results_check;
use zeitnot_net::Address;
use zeitnot_testing::LONG;

use super::{THINKS, free_port, start, stored, stored_game};
use crate::support::{
    arena::{Player, word},
    storage::Storage,
};

/// Joins as soon as the arena listens, and begins a game; returns its id when it is the player's turn.
async fn begin(address: &Address) -> (Player, String) {
    let (reader, writer) = loop {
        match address.connect(LONG).await {
            Ok(connection) => break connection,
            Err(_) => sleep(THINKS / 4).await,
        }
    };
    let mut alice = Player { name: "alice".to_owned(), reader, writer };
    alice.send("JOIN class alice").await;
    let paired = alice.expect("GAME_PAIRED").await;
    alice.ack(&paired).await;
    let game = word(&alice.expect("YOUR_MOVE").await, 1).to_owned();
    (alice, game)
}

#[test(limit = LONG)]
async fn a_player_that_the_arena_provides_is_there_again() {
    let (storage, port) = (Storage::file(), free_port());
    let (config, path) = (storage.path().join("config.toml"), storage.path().display());
    let table = format!(
        "[arena]\ntcp = '{port}'\ngames = '{path}/games'\n[[arena.tournament]]\nname = 'class'\ntime = '60+0'\n\
         players = 2\ngames_per_pair = 1\nengines = ['random']\npairing_interval = '10ms'\npause = '0ms'\n"
    );
    fs::write(&config, table).unwrap();
    let games = async || {
        let results = stored(&config, &["class", "--json"]).await;
        let rows = results["players"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["forfeits"] == 0), "{rows:?}");
        results["pairings"].as_array().unwrap().iter().map(stored_game).collect::<Vec<_>>()
    };
    let address: Address = format!("tcp://{port}").parse().unwrap();
    let mut arena = start(&config);
    let (_alice, first) = begin(&address).await;
    // Each look takes a process, so there is no need to sleep between them.
    while games().await.is_empty() {}
    arena.kill().await.unwrap();

    let mut arena = start(&config);
    let (mut alice, second) = begin(&address).await;
    assert_ne!(first, second);
    alice.send(&format!("RESIGN {second}")).await;
    alice.expect("INFO Tournament class is over").await;
    assert!(arena.wait().await.unwrap().success());
    let games = games().await;
    results_check::broken_off_are_repeated(&games).unwrap();
    let over = games.iter().filter(|game| game.is_over()).map(|game| &game.id);
    assert!(games.len() == 2 && over.eq([&second]), "{games:?}");
}
