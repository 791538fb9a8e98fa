//! Our clients on our IMCS server: quick games, and one whose connection breaks.

use std::time::Duration;

use zeitnot_bot as bot;
use zeitnot_clients::{Reconnect, imcs as protocol};
use zeitnot_engine::Kind;
use zeitnot_measure::relay::{Framing, Link, Relay};
use zeitnot_rules::Color;
use zeitnot_seat::Event;

use crate::support::{arena::records, client::Client, imcs::Imcs};

const GAMES: usize = 3;

fn play(imcs: &Imcs, kind: Kind, user: &str, more: &str) -> Client {
    let text = format!(
        "address = 'tcp://{}'\nuser = '{user}'\npassword = 'pw'\nregister = true\ngames = {GAMES}\n{more}",
        imcs.address
    );
    Client::with_bot::<protocol::Imcs>(toml::from_str(&text).unwrap(), kind, bot::Config::default())
}

#[test(workers = 2)]
async fn our_clients_offer_accept_and_play_games() {
    let imcs = Imcs::start().await;
    let strong = play(&imcs, Kind::Search, "strong", "[offer]\ntime = '2s'\nopponent_time = '5s'");
    let weak = play(&imcs, Kind::Random, "weak", "[accept]\npoll_interval = '100ms'");
    strong.ends().await;
    weak.ends().await;
    let folder = imcs.stop().await;

    let games = records(folder.path());
    assert_eq!(games.lines().count(), GAMES, "{games}");
    for game in games.lines() {
        let fields: Vec<&str> = game.split('\t').collect();
        let [_, white, _, result, how, moves] = fields.as_slice() else { panic!("{game}") };
        // The weak player's king was captured.
        let (won, said) = if *white == "strong" { ("1-0", "W wins") } else { ("0-1", "B wins") };
        assert_eq!((*result, *how), (won, said), "{game}");
        assert!(moves.split(' ').all(|mv| mv.len() == 5), "{game}");
    }
    let users = std::fs::read_to_string(folder.path().join("users")).unwrap();
    let rating = |name: &str| -> i32 {
        let line = users.lines().find(|line| line.starts_with(name)).unwrap();
        line.split(' ').nth(2).unwrap().parse().unwrap()
    };
    assert!(rating("strong") > 1030 && rating("weak") < 970, "{users}");
}

#[test]
async fn a_game_whose_connection_breaks_is_taken_up_again() {
    let imcs = Imcs::start().await;
    let relay = Relay::start(imcs.address.parse().unwrap(), Framing::Pieces, Link::Prompt).await.unwrap();
    let mut alice = imcs.register("alice").await;
    alice.ask("offer W 60", "103 1 game waiting for offer acceptance\r\n").await;
    let text = format!(
        "address = 'tcp://{}'\nuser = 'bob'\npassword = 'pw'\nregister = true\ngames = 1\n[accept]",
        relay.address
    );
    let mut config: protocol::Config = toml::from_str(&text).unwrap();
    let delay = Duration::from_millis(10);
    config.timeouts.reconnect = Reconnect { min_delay: delay, max_delay: delay, stable_after: delay };
    let mut bob = Client::of::<protocol::Imcs>(config);
    let mut player = bob.game().await;
    alice.play("a2-a3").await;
    player.turn().await;

    // It is our turn.
    relay.cut();
    assert!(player.ended().await.starts_with("no result: "));
    let mut player = bob.game().await;
    assert_eq!((player.info.id.as_str(), player.info.side), ("1", Color::Black));
    assert_eq!(player.info.names.0, ["alice", "bob"]);
    let Some(Event::Board(board)) = player.event().await else { panic!() };
    assert_eq!(board, "kqbnr/ppppp/...../P..../.PPPP/RNBQK B 1");
    let turn = player.turn().await;
    player.play(turn, "b5b4").await;
    assert!(alice.prompt().await.starts_with("! b5-b4\r\n"));

    // It is the opponent's turn.
    relay.cut();
    player.ended().await;
    let mut player = bob.game().await;
    alice.say("b1-c3").await;
    player.answer("b4a3").await;
    alice.prompt().await;
    alice.say("resign").await;
    assert_eq!(player.ended().await, "B wins on opponent resignation");
    bob.ends().await;
    let folder = imcs.stop().await;
    let record = records(folder.path());
    assert!(record.ends_with("\ta2-a3 b5-b4 b1-c3 b4-a3\n") && record.lines().count() == 1, "{record}");
}
