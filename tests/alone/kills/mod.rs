//! An arena that is killed at any moment and started again, until its tournament is complete: what was told over any
//! protocol is kept, no game counts twice, and nobody forfeits.

use std::{
    collections::BTreeMap,
    fs,
    net::{SocketAddr, TcpListener, UdpSocket},
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    process::{Child, Command},
    select,
    task::JoinSet,
    time::{sleep, timeout},
};
use zeitnot_measure::results_check::{self, StoredGame, ToldResults};
use zeitnot_net::Address;
use zeitnot_testing::{LONG, send_signal};

mod beside;
mod engines;
mod lichess;
mod lines;

use crate::support::{
    arena::{Player, record_files, tags, word},
    command::zeitnot,
    storage::Storage,
};

/// Moves of every game: White is mated.
const MOVES: [&str; 4] = ["f2-f3", "e7-e5", "g2-g4", "d8-h4"];
/// Longest time for a move.
const THINKS: Duration = Duration::from_millis(20);
/// Longest life of an arena.
const LIVES: Duration = Duration::from_millis(300);

type Told = Arc<Mutex<ToldResults>>;

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn random(longest: Duration) -> Duration {
    longest.mul_f64(fastrand::f64())
}

/// Plays until the tournament is over, over as many connections as it takes.
async fn play(address: Address, name: String, told: Told) {
    loop {
        let Ok(Ok((reader, writer))) = timeout(LONG, address.connect(LONG)).await else {
            sleep(THINKS / 4).await;
            continue;
        };
        let mut player = Player { name: name.clone(), reader, writer };
        if player.writer.send(&format!("JOIN class {name}")).await.is_err() {
            continue;
        }
        let mut ply = 0;
        while let Some(line) = player.next().await {
            let answer = match word(&line, 0) {
                "GAME_PAIRED" => format!("ACK {}", word(&line, 1)),
                "GAME_STARTED" => {
                    ply = 0;
                    continue;
                }
                "PLAYER_MOVED" => {
                    ply += 1;
                    continue;
                }
                "YOUR_MOVE" => {
                    sleep(random(THINKS)).await;
                    format!("MOVE {} {}", word(&line, 1), MOVES[ply])
                }
                "GAME_OVER" => {
                    told.lock().unwrap().tell(word(&line, 1), word(&line, 2)).unwrap();
                    continue;
                }
                _ if line.contains("class is over") => return,
                _ => continue,
            };
            if player.writer.send(&answer).await.is_err() {
                break;
            }
        }
    }
}

fn start(config: &Path) -> Child {
    let mut command = Command::from(zeitnot(&["arena", "--config"]));
    let quiet = command.arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.kill_on_drop(true).spawn().unwrap()
}

/// Results that the database has, as JSON.
async fn stored(config: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::from(zeitnot(&["arena", "results"]));
    let output = command.args(arguments).arg("--config").arg(config).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'v>(game: &'v Value, key: &str) -> &'v str {
    game[key].as_str().unwrap_or_default()
}

/// Game of the results as JSON.
fn stored_game(game: &Value) -> StoredGame {
    let [id, white, black, result, termination] =
        ["game", "white", "black", "result", "termination"].map(|key| text(game, key).to_owned());
    let repeats = game["repeats"].as_str().map(str::to_owned);
    StoredGame { id, white, black, result, termination, repeats }
}

/// A tournament of so many players, who meet each other so often, while the arena is killed so often.
#[derive(Copy, Clone)]
struct Soak {
    players: usize,
    games_per_pair: usize,
    kills: usize,
}

/// Addresses of the arena, which stay the same.
struct Ports {
    tcp: SocketAddr,
    websocket: SocketAddr,
    lichess: SocketAddr,
    imcs: SocketAddr,
    tuc: SocketAddr,
}

/// Events that clients were told of.
#[derive(Default)]
struct Heard {
    contest: Told,
    lichess: lichess::Finished,
    imcs: beside::Count,
    tuc: beside::Count,
}

/// Clients of the arena. Those that end do so when the tournament is over.
struct Clients {
    ending: JoinSet<()>,
    endless: JoinSet<()>,
}

impl Soak {
    fn games(self) -> usize {
        self.players * (self.players - 1) / 2 * self.games_per_pair
    }

    fn configure(self, ports: &Ports, storage: &Storage) -> PathBuf {
        let Soak { players, games_per_pair, .. } = self;
        let Ports { tcp, websocket, lichess, imcs, tuc } = ports;
        let path = storage.path().display();
        let database = storage.url().map(|url| format!("database = '{url}'\n")).unwrap_or_default();
        let limit = beside::TIME_LIMIT.as_millis();
        let accounts: String = (2..players)
            .step_by(3)
            .map(|number| {
                format!(
                    "[[arena.lichess.account]]\nname = 'bot{number}'\ntoken = 'lip_bot{number}'\nclass = 'class'\n"
                )
            })
            .collect();
        let table = format!(
            "[arena]\ntcp = '{tcp}'\nwebsocket = '{websocket}'\ngames = '{path}/games'\n{database}\
             [[arena.tournament]]\nname = 'class'\ntime = '60+0'\nplayers = {players}\ngames_per_pair = {games_per_pair}\n\
             pairing_interval = '10ms'\npause = '0ms'\n\
             [[arena.tuc]]\naddress = '{tuc}'\ncountdown = '10ms'\ntime_limit = '{limit}ms'\nprize_chance = 0.0\n\
             [arena.imcs]\nlisten = '{imcs}'\nusers = '{path}/users'\n\
             [arena.lichess]\nlisten = '{lichess}'\n{accounts}"
        );
        let config = storage.path().join("config.toml");
        fs::write(&config, table).unwrap();
        config
    }

    fn clients(self, ports: &Ports, heard: &Heard) -> Clients {
        let mut ending = JoinSet::new();
        let mut endless = JoinSet::new();
        for number in 0..self.players {
            let name = format!("bot{number}");
            let contest = |url: String| play(url.parse().unwrap(), name.clone(), heard.contest.clone());
            match number % 3 {
                0 => drop(ending.spawn(contest(format!("tcp://{}", ports.tcp)))),
                1 => drop(ending.spawn(contest(format!("ws://{}", ports.websocket)))),
                _ => drop(endless.spawn(lichess::play(ports.lichess, name, heard.lichess.clone()))),
            }
        }
        endless.spawn(beside::offer(ports.imcs, heard.imcs.clone()));
        endless.spawn(beside::accept(ports.imcs));
        endless.spawn(beside::roll(ports.tuc, "Anna", heard.tuc.clone()));
        endless.spawn(beside::roll(ports.tuc, "Bob", heard.tuc.clone()));
        Clients { ending, endless }
    }

    /// Starts the arena again and again, until the tournament is over; returns how often.
    async fn kill(self, config: &Path, told: &Told, clients: &mut Clients) -> usize {
        let mut left = self.kills;
        let mut lives = 0;
        let count = || told.lock().unwrap().len();
        loop {
            let mut arena = start(config);
            lives += 1;
            // A complete tournament would begin anew.
            let goes_on = left > 0 && count() < self.games() / 2;
            select! {
                () = async { while let Some(ended) = clients.ending.join_next().await { ended.unwrap() } } => {
                    send_signal("TERM", arena.id().unwrap());
                    let status = arena.wait().await.unwrap();
                    assert!(status.success(), "{status}");
                    return lives;
                }
                status = arena.wait() => panic!("the arena has ended by itself: {status:?}"),
                // The first results show that it has begun.
                () = async {
                    while count() == 0 {
                        sleep(THINKS / 4).await;
                    }
                    sleep(random(LIVES)).await;
                }, if goes_on => {
                    left -= 1;
                    arena.kill().await.unwrap();
                }
            }
            while let Some(failed) = clients.endless.try_join_next() {
                failed.unwrap();
            }
        }
    }

    /// Checks the tournament against what its players were told. Returns the games that were broken off.
    async fn check(self, config: &Path, heard: &Heard, folder: &Path) -> usize {
        let results = stored(config, &["class", "--json"]).await;
        let games: Vec<_> = results["pairings"].as_array().unwrap().iter().map(stored_game).collect();
        results_check::stored_once(&games).unwrap();
        heard.contest.lock().unwrap().are_stored(&games).unwrap();
        let (over, broken_off): (Vec<_>, Vec<_>) = games.iter().partition(|game| game.is_over());
        for game in &over {
            assert_eq!((game.result.as_str(), game.termination.as_str()), ("0-1", "normal"), "{game:?}");
        }
        assert_eq!(over.len(), self.games());
        let pairs = results_check::meetings(&games, self.games_per_pair);
        assert_eq!(pairs, Ok(self.games() / self.games_per_pair));
        let mut told: BTreeMap<_, usize> = BTreeMap::new();
        for finished in &*heard.lichess.lock().unwrap() {
            *told.entry(finished.clone()).or_default() += 1;
        }
        for ((account, (white, black)), told) in told {
            let no_more = results_check::no_more_than_stored(told, (&white, &black), &games);
            assert_eq!(no_more, Ok(()), "{account}");
        }
        results_check::broken_off_are_repeated(&games).unwrap();
        results_check::repeated_once(&games).unwrap();
        let rows = results["players"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["forfeits"] == 0), "{rows:?}");
        let points = rows.iter().map(|row| row["score"].as_f64().unwrap()).sum::<f64>();
        results_check::points_are_results((2.0 * points) as u32, &games, 0).unwrap();

        // None of another front has such tags.
        let files: String = record_files(folder).map(|file| fs::read_to_string(file).unwrap()).collect();
        results_check::in_files_once(tags(&files, "GameId"), &games).unwrap();
        broken_off.len()
    }

    /// Plays, kills and checks; returns how often the arena was started.
    async fn run(self, storage: Storage) -> usize {
        let [tcp, websocket, lichess, imcs] = [(); 4].map(|()| free_port());
        let tuc = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let ports = Ports { tcp, websocket, lichess, imcs, tuc };
        let config = self.configure(&ports, &storage);
        let heard = Heard::default();
        let mut clients = self.clients(&ports, &heard);
        let killed = self.kill(&config, &heard.contest, &mut clients);
        let lives = timeout(LONG * 5, killed).await.expect("the tournament is complete");
        drop(clients);
        let broken_off = self.check(&config, &heard, storage.path()).await;
        println!(
            "{lives} lives: {} games over, {} of them told by the contest protocol, {} times by Lichess; {broken_off} broken off",
            self.games(),
            heard.contest.lock().unwrap().len(),
            heard.lichess.lock().unwrap().len(),
        );
        for (front, told) in [("imcs", &heard.imcs), ("tuc", &heard.tuc)] {
            let games = stored(&config, &["--front", front]).await;
            let games = games.as_array().unwrap();
            let told = told.load(Ordering::Relaxed);
            let over = games.iter().filter(|game| text(game, "result") != "*");
            let over = over.count();
            println!("{front}: {over} games over, {told} of them told, {} broken off", games.len() - over);
            assert!(told <= over, "{front}: {told} ends were told, and {over} are stored");
        }
        lives
    }
}

#[test(limit = LONG, workers = 2)]
async fn an_arena_that_is_killed_loses_nothing_that_was_told() {
    Soak { players: 3, games_per_pair: 4, kills: 3 }.run(Storage::file()).await;
}

#[cfg(feature = "postgres")]
#[test(limit = LONG, workers = 2)]
async fn an_arena_on_a_server_that_is_killed_loses_nothing_that_was_told() {
    if let Some(storage) = Storage::server() {
        Soak { players: 3, games_per_pair: 4, kills: 3 }.run(storage).await;
    }
}

/// `cargo test --test alone -- --ignored --nocapture fifty_kills`
#[test(limit = zeitnot_testing::SOAK, workers = 2)]
#[ignore = "soak: half a minute"]
async fn fifty_kills() {
    assert_eq!(Soak { players: 8, games_per_pair: 40, kills: 50 }.run(Storage::file()).await, 51);
}
