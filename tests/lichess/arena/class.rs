//! A tournament of the class in which some speak the contest protocol and some the Lichess Bot API: one referee, the
//! same clocks, and nobody notices.

use std::{fs, time::Duration};

use tokio::time::sleep;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_arena::{Arena, Config, Event};
use zeitnot_bot as bot;
use zeitnot_clients::{
    Protocol, Shutdown, contest,
    lichess::{self, Lichess},
};
use zeitnot_engine::Kind;

use crate::support::{
    arena::{By, TestArena, word},
    bot::lobby,
    lichess_arena::Bot as Account,
    wait::{soon, until},
};

/// Each of four meets each of the others twice.
const GAMES: usize = 12;

/// Two games between an account, Lila, and whoever joins.
async fn class(settings: &str) -> (TestArena, Account) {
    let account = "[lichess]\nlisten = '127.0.0.1:0'\n\
                   account = [{ name = 'Lila', token = 'lip_lila', class = 'class' }]";
    let arena = TestArena::with(account, &format!("players = 2\n{settings}")).await;
    let address = arena.lichess.clone().unwrap();
    (arena, Account { address, token: "lip_lila".into(), agent: "test".into() })
}

impl Account {
    /// Has been there, so that its seat is taken, and is away now.
    async fn comes_and_goes(&self) {
        drop(self.events().await);
        until("Lila is away", async || self.get("/api/users/status?ids=lila").await.1[0]["online"] != true)
            .await;
    }

    /// The reason why an action is refused.
    async fn cannot(&self, id: &str, deed: &str) -> String {
        let (status, why) = self.refused(&format!("/api/bot/game/{id}/{deed}"), "").await;
        assert_eq!(status, 400, "{why}");
        why
    }
}

#[tokio::test]
async fn who_comes_after_the_pairing_is_waited_for() {
    let (arena, lila) = class("ack_timeout = '60s'").await;
    lila.comes_and_goes().await;
    let mut carl = arena.join(By::Tcp, "carl").await;
    let paired = carl.expect("GAME_PAIRED").await;
    let is_white = word(&paired, 2) == "Lila";
    carl.send(&format!("ACK {}", word(&paired, 1))).await;

    let mut events = lila.events().await;
    let start = events.expect("gameStart").await;
    let id = start["game"]["gameId"].as_str().unwrap();
    assert_eq!(start["game"]["color"], if is_white { "white" } else { "black" });
    assert_eq!(start["game"]["opponent"]["username"], "carl");
    let mut game = lila.watch(id).await;
    assert_eq!(game.expect("gameFull").await["clock"]["initial"], 60_000);
    // The referee's rules: no abort, no draw; one move each, in turn.
    for deed in ["abort", "draw/yes", "takeback/yes", "claim-victory"] {
        assert!(lila.cannot(id, deed).await.contains("tournament of the class"), "{deed}");
    }
    let (ours, theirs) = if is_white { ("e2e4", "e7e5") } else { ("e7e5", "e2e4") };
    let answer = format!("MOVE {} {theirs}", word(&paired, 1));
    if !is_white {
        assert!(lila.cannot(id, "move/e7e5").await.contains("Not your turn"));
        carl.expect("YOUR_MOVE").await;
        carl.send(&answer).await;
        game.expect("gameState").await;
    }
    assert!(lila.cannot(id, "move/e2e8").await.contains("e2e8"));
    lila.play(id, ours).await;
    assert!(lila.cannot(id, &format!("move/{ours}")).await.contains("Not your turn"));
    if is_white {
        carl.expect("YOUR_MOVE").await;
        carl.send(&answer).await;
        game.expect("gameState").await;
    }
    while game.expect("gameState").await["moves"] != "e2e4 e7e5" {}
    lila.ok(&format!("/api/bot/game/{id}/resign")).await;
    assert!(carl.expect("GAME_OVER").await.ends_with("Resignation"));
    arena.stop().await;
}

#[tokio::test]
async fn who_stays_away_is_paired_again_when_back() {
    let (arena, lila) = class("ack_timeout = '2s'").await;
    lila.comes_and_goes().await;
    let mut carl = arena.join(By::Tcp, "carl").await;
    let paired = carl.expect("GAME_PAIRED").await;
    carl.send(&format!("ACK {}", word(&paired, 1))).await;
    assert!(carl.expect("GAME_ABORTED").await.contains("Lila"));

    let mut events = lila.events().await;
    let paired = carl.expect("GAME_PAIRED").await;
    carl.send(&format!("ACK {}", word(&paired, 1))).await;
    let start = events.expect("gameStart").await;
    let id = start["game"]["gameId"].as_str().unwrap();
    lila.ok(&format!("/api/bot/game/{id}/resign")).await;
    assert!(carl.expect("GAME_OVER").await.ends_with("Resignation"));
    let end = events.expect("gameFinish").await;
    assert_eq!(
        (&end["game"]["gameId"], &end["game"]["status"]["name"]),
        (&start["game"]["gameId"], &"resign".into())
    );

    // The second game is lost by whoever hangs up.
    let paired = carl.expect("GAME_PAIRED").await;
    carl.send(&format!("ACK {}", word(&paired, 1))).await;
    let start = events.expect("gameStart").await;
    let mut game = lila.watch(start["game"]["gameId"].as_str().unwrap()).await;
    game.expect("gameFull").await;
    drop(carl);
    let state = game.expect("gameState").await;
    assert_eq!((&state["status"], &state["winner"]), (&"timeout".into(), &start["game"]["color"]));
    assert_eq!(events.expect("gameFinish").await["game"]["winner"], start["game"]["color"]);
    let (summary, _) = arena.stop().await;
    let rows = summary.tournaments[0].standings.rows();
    assert!(rows.iter().all(|row| row.tally.games() == 2 && row.tally.wins == 1), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_protocols_in_one_round_robin() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "tcp = '127.0.0.1:0'\ngames = '{}'\n\
         [[tournament]]\nname = 'class'\ntime = '20+0.1'\nplayers = 4\npairing_interval = '50ms'\npause = '50ms'\n\
         [lichess]\nlisten = '127.0.0.1:0'\nlimits = {{ moves = 5 }}\n\
         account = [{{ name = 'Lila', token = 'lip_lila', class = 'class' }},\n\
         {{ name = 'Otto', token = 'lip_otto', class = 'class' }}]",
        folder.path().display()
    );
    let config: Config = toml::from_str(&text).unwrap();
    let arena = Arena::bind(config).await.unwrap();
    let (shutdown, tasks) = (Shutdown::default(), TaskTracker::new());
    let lobby = || lobby(Kind::Random, bot::Config::default(), &shutdown.now, &tasks);
    let mut clients = Vec::new();
    let address = arena.lichess().unwrap();
    for name in ["lila", "otto"] {
        let text = format!(
            "url = 'http://{address}'\ntoken = 'lip_{name}'\n[timeouts]\nreconnect = {{ min_delay = '20ms', max_delay = '100ms', stable_after = '10s' }}"
        );
        let config: lichess::Config = toml::from_str(&text).unwrap();
        let run = Lichess::run(config, lobby(), shutdown.clone());
        clients.push(tokio::spawn(async move { run.await.map_err(|error| error.to_string()) }));
    }
    // One of them has the name of an account, all but the case: they are not the same.
    for name in ["lila", "carl"] {
        let address = format!("tcp://{}", arena.tcp().unwrap()).parse().unwrap();
        let config = contest::Config::new(
            address,
            "class".to_owned().try_into().unwrap(),
            name.to_owned().try_into().unwrap(),
        );
        let run = contest::Contest::run(config, lobby(), shutdown.clone());
        clients.push(tokio::spawn(async move { run.await.map_err(|error| error.to_string()) }));
    }
    let mut news = arena.news();
    let stop = CancellationToken::new();
    let running = tokio::spawn(arena.run(stop.clone()));
    let mut ends = Vec::new();
    let play = async {
        loop {
            match news.recv().await.unwrap().event {
                Event::GameEnded { names, result, reason, plies, .. } => {
                    assert!(result.is_some(), "{names:?}: {reason}");
                    assert!(plies > 3, "{names:?}: {reason} after {plies} plies");
                    ends.push(reason);
                }
                Event::Over => break,
                _ => {}
            }
        }
    };
    soon("the tournament ends", play).await;
    // The last game's end is on its way to the players.
    sleep(Duration::from_millis(300)).await;
    shutdown.now.cancel();
    for client in clients {
        soon("a client ends", client).await.unwrap().unwrap();
    }
    stop.cancel();
    let summary = soon("the arena ends", running).await.unwrap();
    tasks.close();
    soon("the players end", tasks.wait()).await;

    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    assert_eq!(ends.len(), GAMES);
    assert!(!ends.iter().any(|end| end.contains("time") || end.contains("disconnect")), "{ends:?}");
    let rows = tournament.standings.rows();
    let mut names: Vec<_> = rows.iter().map(|row| row.name.to_string()).collect();
    names.sort();
    assert_eq!(names, ["Lila", "Otto", "carl", "lila"]);
    for row in &rows {
        let tally = &row.tally;
        assert_eq!(tally.games(), 6, "{row:?}");
        assert_eq!(tally.forfeits, 0, "{row:?}");
    }
    // The tournament's file has them all, and no other has any.
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files, [tournament.pgn.clone().unwrap()]);
    assert_eq!(fs::read_to_string(&files[0]).unwrap().matches("[Result ").count(), GAMES);
}
