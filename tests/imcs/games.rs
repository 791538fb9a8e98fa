//! Quick games between two of our clients on our IMCS server.

use zeitnot_bot as bot;
use zeitnot_clients::imcs as protocol;
use zeitnot_engine::Kind;

use crate::support::{arena::records, client::Client, imcs::Imcs};

const GAMES: usize = 3;

fn play(imcs: &Imcs, kind: Kind, user: &str, more: &str) -> Client {
    let text = format!(
        "address = 'tcp://{}'\nuser = '{user}'\npassword = 'pw'\nregister = true\ngames = {GAMES}\n{more}",
        imcs.address
    );
    Client::with_bot::<protocol::Imcs>(toml::from_str(&text).unwrap(), kind, bot::Config::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
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
