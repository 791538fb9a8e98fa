//! A round robin of the class in which two players speak the contest protocol and two the Lichess Bot API: one
//! referee, the same clocks, and nobody notices.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers are tests, too

use std::{fs, time::Duration};

use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot::{
    arena::{Arena, Config, Event},
    bot::{self, Bot, Equipment},
    engine::{self, Kind, Workshop},
    protocol::{
        Protocol, Shutdown, contest,
        lichess::{self, Lichess},
    },
    seat::Lobby,
};

/// Beyond all doubt, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Each of four meets each of the others twice.
const GAMES: usize = 12;

fn lobby(shutdown: &Shutdown, tasks: &TaskTracker) -> Lobby {
    let workshop = Workshop::new(&engine::Config { kind: Kind::Random, ..Default::default() }).unwrap();
    let (news, _nobody_watches) = mpsc::channel(1);
    let (lobby, bot) = Bot::channel(Equipment::new(bot::Config::default(), workshop, news));
    tasks.spawn(bot.run(shutdown.now.clone()));
    lobby
}

#[tokio::test(flavor = "multi_thread")]
async fn two_protocols_in_one_round_robin() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "tcp = '127.0.0.1:0'\ngames = '{}'\n\
         [[tournament]]\nname = 'class'\ntime = '20+0.1'\nplayers = 4\npairing_interval = '50ms'\npause = '50ms'\n\
         [lichess]\nlisten = '127.0.0.1:0'\n\
         account = [{{ name = 'Lila', token = 'lip_lila', class = 'class' }},\n\
         {{ name = 'Otto', token = 'lip_otto', class = 'class' }}]",
        folder.path().display()
    );
    let config: Config = toml::from_str(&text).unwrap();
    let arena = Arena::bind(config).await.unwrap();
    let (shutdown, tasks) = (Shutdown::default(), TaskTracker::new());
    let mut clients = Vec::new();
    let address = arena.lichess().unwrap();
    for name in ["lila", "otto"] {
        let text = format!(
            "url = 'http://{address}'\ntoken = 'lip_{name}'\n[patience]\nfirst_pause = '20ms'\nlongest_pause = '100ms'"
        );
        let config: lichess::Config = toml::from_str(&text).unwrap();
        let run = Lichess::run(config, lobby(&shutdown, &tasks), shutdown.clone());
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
        let run = contest::Contest::run(config, lobby(&shutdown, &tasks), shutdown.clone());
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
    timeout(PATIENCE, play).await.expect("the tournament ends");
    // The last game's end is on its way to the players.
    sleep(Duration::from_millis(300)).await;
    shutdown.now.cancel();
    for client in clients {
        timeout(PATIENCE, client).await.expect("a client ends").unwrap().unwrap();
    }
    stop.cancel();
    let summary = timeout(PATIENCE, running).await.expect("the arena ends").unwrap();
    tasks.close();
    timeout(PATIENCE, tasks.wait()).await.expect("the players end");

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
