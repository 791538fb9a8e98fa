//! Quick games between two of our clients on our IMCS server.

use tokio::task::JoinHandle;
use zeitnot_bot as bot;
use zeitnot_clients as protocol;
use zeitnot_clients::{Protocol, ProtocolError, Shutdown};
use zeitnot_engine::Kind;

use crate::support::{
    bot::{House, house},
    imcs::Imcs,
    wait::soon,
};

const GAMES: usize = 3;

fn play(imcs: &Imcs, house: &House, user: &str, more: &str) -> JoinHandle<Result<(), ProtocolError>> {
    let text = format!(
        "address = 'tcp://{}'\nuser = '{user}'\npassword = 'pw'\nregister = true\ngames = {GAMES}\n{more}",
        imcs.address
    );
    let config = toml::from_str(&text).unwrap();
    tokio::spawn(protocol::imcs::Imcs::run(config, house.lobby.clone(), Shutdown::default()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_offers_and_one_accepts() {
    let imcs = Imcs::start().await;
    let (strong, weak) =
        (house(Kind::Search, bot::Config::default()), house(Kind::Random, bot::Config::default()));
    let offers = play(&imcs, &strong, "strong", "[offer]\ntime = '2s'\nopponent_time = '5s'");
    let accepts = play(&imcs, &weak, "weak", "[accept]\npoll_interval = '100ms'");
    for client in [offers, accepts] {
        assert_eq!(soon("the last game", client).await.unwrap(), Ok(()));
    }
    let folder = imcs.stop().await;

    let games = std::fs::read_dir(folder.path().join("games")).unwrap().next().unwrap().unwrap().path();
    let games = std::fs::read_to_string(games).unwrap();
    assert_eq!(games.lines().count(), GAMES, "{games}");
    for game in games.lines() {
        let fields: Vec<&str> = game.split('\t').collect();
        let [_, white, _, result, how, moves] = fields.as_slice() else { panic!("{game}") };
        // A king was taken, and it was the weak one's.
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
