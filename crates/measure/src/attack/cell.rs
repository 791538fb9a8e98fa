//! One attack: an arena, its honest players and its attackers.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use zeitnot_arena::{self as arena, Arena};
use zeitnot_bot::network::Network;
use zeitnot_engine::priority;

use super::{
    CLASS, GUARDED, OPEN, PAUSE, PUPILS, TOKEN,
    attacks::Attack,
    contest, lichess,
    measured::{Measured, Stopwatch, Times},
    people,
    target::Target,
};
use crate::output::{Error, failed};

/// Moves of each front before the attack.
const WARM_UP: usize = 50;
/// Tables of people.
const TABLES: usize = 8;
/// Time for them.
const BEGIN: Duration = Duration::from_secs(20);
/// Time from the beginning of the attack to the first move that counts.
const LEAD: Duration = Duration::from_millis(200);

/// Attacks an arena for this long.
pub(super) fn run(attack: Attack, length: Duration) -> Result<Measured, Error> {
    let folder = tempfile::tempdir().map_err(failed("cannot make a folder for the games"))?;
    let config: arena::Config = toml::from_str(&configuration(folder.path()))?;
    let (opened, target) = oneshot::channel();
    let stop = CancellationToken::new();
    let arena = {
        let stop = stop.clone();
        Network::start("arena", move |_| async move {
            let arena = Arena::bind(config).await?;
            let _ = opened.send(Target::of(&arena));
            arena.run(stop).await;
            Ok::<_, Error>(())
        })?
    };
    let Ok(target) = target.blocking_recv() else {
        return Err(arena.join().err().unwrap_or_else(|| "cannot start the arena".into()));
    };
    let players = Network::start("players", move |_| measure(attack, target, length))?;
    let measured = players.join();
    stop.cancel();
    arena.join()?;
    measured
}

/// An arena with all of its fronts.
fn configuration(folder: &Path) -> String {
    let accounts = |name: &str| format!("[[lichess.account]]\nname = '{name}'\ntoken = '{name}'\n");
    let pupils: String = (0..PUPILS).map(|number| accounts(&format!("pupil{number}"))).collect();
    let any = "127.0.0.1:0";
    let folder = folder.display();
    format!(
        "games = '{folder}/games'\ntcp = '{any}'\nwebsocket = '{any}'\n\
         [[tournament]]\nname = '{CLASS}'\ntime = '2+0.05'\nplayers = 2\ngames_per_pair = 50000\n\
         pairing_interval = '20ms'\npause = '20ms'\n\
         [[tournament]]\nname = '{OPEN}'\ntime = '2+0.05'\npairing_interval = '20ms'\npause = '20ms'\n\
         [[tournament]]\nname = '{GUARDED}'\ntime = '60'\npassword = 'sesame'\n\
         [web]\nlisten = '{any}'\ntoken = '{TOKEN}'\n\
         [[tuc]]\naddress = '{any}'\n\
         [imcs]\nlisten = '{any}'\nusers = '{folder}/users'\n\
         [lichess]\nlisten = '{any}'\nclocks = 'any'\n\
         [lichess.limits]\nmoves = 1000000\nchallenges = 1000\nchallenges_a_day = 100000\nbot_games_a_day = 100000\n\
         {}{}{}{pupils}",
        accounts("alice"),
        accounts("bob"),
        accounts("mallory"),
    )
}

/// Runs the players on this thread and the attackers on another one.
async fn measure(attack: Attack, target: Target, length: Duration) -> Result<Measured, Error> {
    let [for_contest, for_lichess, for_organiser] = [(); 3].map(|()| Stopwatch::default());
    let for_tables = [(); TABLES].map(|()| Stopwatch::default());
    let mut players = JoinSet::new();
    for name in ["player1", "player2"] {
        players.spawn(contest::play(target.tcp, name.to_owned(), for_contest.clone()));
    }
    players.spawn(lichess::play(target.lichess, "alice".into(), "bob".into(), for_lichess.clone()));
    for for_table in &for_tables {
        players.spawn(people::play(target.page, for_table.clone()));
    }
    players.spawn(people::organise(target.page, for_organiser.clone()));
    let moved = || for_tables.iter().all(|table| table.moves() > 0) && for_organiser.moves() > 0;
    let begun = async {
        while for_contest.moves() < WARM_UP || for_lichess.moves() < WARM_UP || !moved() {
            sleep(PAUSE).await;
        }
    };
    timeout(BEGIN, begun).await.map_err(failed("the games do not begin"))?;

    let target = Arc::new(target);
    let stop = CancellationToken::new();
    let attackers = attackers(attack, target.clone(), stop.clone())?;
    sleep(LEAD).await;
    let take = || {
        let tables = for_tables.iter().map(Stopwatch::take).fold(Times::default(), Times::and);
        [for_contest.take(), for_lichess.take(), tables, for_organiser.take()]
    };
    take();
    sleep(length).await;
    let [contest, lichess, people, organiser] = take();
    stop.cancel();
    let _ = tokio::task::spawn_blocking(move || attackers.join()).await;
    Ok(Measured { contest, lichess, people, organiser, messages: target.messages.load(Ordering::Relaxed) })
}

/// Attacks until `stop`, on a thread of usual priority.
fn attackers(
    attack: Attack,
    target: Arc<Target>,
    stop: CancellationToken,
) -> Result<thread::JoinHandle<()>, Error> {
    let attackers = move || {
        priority::usual();
        if let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                attack.start(&target, &mut tasks);
                stop.cancelled().await;
            });
        }
    };
    thread::Builder::new().name("attackers".into()).spawn(attackers).map_err(failed("cannot start a thread"))
}
