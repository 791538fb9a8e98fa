//! Two programs of ours on the arena's Bot API, eight games at once, in all variants: no flag falls, no game
//! gets stuck, no place is lost, and the memory stays what it was.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::support::{
    lichess_arena::{Bot, Lichess},
    program::Program,
    wait::until,
};

const AT_ONCE: usize = 8;
const VARIANTS: [&str; 9] = [
    "standard",
    "chess960",
    "crazyhouse",
    "antichess",
    "atomic",
    "horde",
    "kingOfTheHill",
    "racingKings",
    "threeCheck",
];

fn program(url: &str, name: &str, folder: &Path) -> Program {
    let tables = "[engine]\nhash_mib = 16\n[bot]\nmax_games = 16\n[cache]\nfile = ''\n";
    let settings = "concurrency = 16\n[server.challenge.bot]\ntime_controls = ['ultraBullet', 'bullet']\nmin_base = '1s'\n";
    Program::with(tables, folder, url, &format!("lip_{name}"), settings)
}

async fn running(bot: &Bot) -> usize {
    bot.get("/api/account/playing?nb=50").await.1["nowPlaying"].as_array().unwrap().len()
}

/// Plays so many games, and returns their records.
async fn play(games: usize, clock: &str) -> String {
    let limits = "[lichess.limits]\nmoves = 1000000\nchallenges = 1000000\nchallenges_a_day = 1000000\n\
                  accounts = 1000000\nbot_games_a_day = 1000000\nevent_streams = 1000";
    let lichess = Lichess::start(&format!("clocks = 'any'\n{limits}")).await;
    let url = format!("http://{}", lichess.address);
    let folder = tempfile::tempdir().unwrap();
    let programs = ["alice", "bob"].map(|name| program(&url, name, folder.path()));
    let pair = ["alice", "bob"].map(|name| lichess.bot(name));
    until("both are there", async || {
        let (_, users) = pair[0].get("/api/users/status?ids=alice,bob").await;
        users.as_array().unwrap().iter().all(|user| user["online"] == true)
    })
    .await;
    let (mut begun, mut early, mut last) = (0, None, Instant::now());
    loop {
        let now = running(&pair[0]).await;
        if begun == games && now == 0 {
            break;
        }
        for _ in now..AT_ONCE.min(now + games - begun) {
            let ([from, to], variant) = ([begun % 2, 1 - begun % 2], VARIANTS[begun % VARIANTS.len()]);
            let form = format!("color=random&variant={variant}&{clock}");
            let to = ["alice", "bob"][to];
            let (status, answer) = pair[from].post(&format!("/api/challenge/{to}"), &form).await;
            assert_eq!(status, 200, "{answer}");
            (begun, last) = (begun + 1, Instant::now());
        }
        if early.is_none() && begun >= 50 {
            early = Some(programs.each_ref().map(Program::memory));
        }
        assert!(last.elapsed() < Duration::from_secs(120), "{now} games are stuck");
        sleep(Duration::from_millis(100)).await;
    }
    let late = programs.each_ref().map(Program::memory);
    println!("memory in MiB at game 50: {early:?}, at the end: {late:?}");
    for program in &programs {
        let warnings = program.warnings();
        println!("{} warnings {:?}", warnings.len(), warnings.iter().take(5).collect::<Vec<_>>());
    }
    for (early, late) in early.into_iter().flatten().zip(late).filter_map(|(early, late)| early.zip(late)) {
        // What a heap has once taken it keeps; but it takes no more.
        assert!(late <= early + early / 4 + 4, "{early} MiB have become {late}");
    }
    drop(programs);
    lichess.stop().await
}

/// Number of games by their `Termination` tag.
fn tally(records: &str) -> Vec<(String, usize)> {
    let mut ends = std::collections::BTreeMap::new();
    for end in records.lines().filter(|line| line.starts_with("[Termination ")) {
        *ends.entry(end.to_owned()).or_default() += 1;
    }
    ends.into_iter().collect()
}

fn check(records: &str, games: usize) {
    let ends = tally(records);
    println!("{ends:?}");
    assert_eq!(ends.iter().map(|(_, count)| count).sum::<usize>(), games, "{ends:?}");
    assert!(ends.iter().all(|(end, _)| end == "[Termination \"Normal\"]"), "{ends:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_variant_twice() {
    check(&play(18, "clock.limit=2&clock.increment=0.02").await, 18);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "soak: ten minutes"]
async fn five_hundred_games() {
    check(&play(500, "clock.limit=2&clock.increment=0.02").await, 500);
}
