//! Two programs of ours on the arena's Bot API, eight games at once, in all variants.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use zeitnot_testing::LONG;

use crate::support::{lichess_arena::Lichess, program::Program};

const AT_ONCE: usize = 8;
const VARIANTS: &str =
    "standard chess960 crazyhouse antichess atomic horde kingOfTheHill racingKings threeCheck";

fn program(url: &str, name: &str, folder: &Path) -> Program {
    // Searches leave most of the clock, so that a machine that stalls for seconds costs no game.
    let tables = "[engine]\nhash_mib = 16\n[engine.limits]\nmove_time = '50ms'\n\
                  [bot]\nmax_games = 16\n[cache]\nfile = ''\n";
    let settings = "concurrency = 16\n[server.challenge.bot]\ntime_controls = ['ultraBullet', 'bullet']\nmin_base = '1s'\n";
    Program::with(tables, folder, url, &format!("lip_{name}"), settings)
}

/// Plays this many games, and returns their records.
async fn play(games: usize, clock: &str) -> String {
    let limits = "[lichess.limits]\nmoves = 1000000\nchallenges = 1000000\nchallenges_a_day = 1000000\n\
                  accounts = 1000000\nbot_games_a_day = 1000000\nevent_streams = 1000";
    let lichess = Lichess::start(&format!("clocks = 'any'\n{limits}")).await;
    let url = lichess.url();
    let folder = tempfile::tempdir().unwrap();
    let programs = ["alice", "bob"].map(|name| program(&url, name, folder.path()));
    let pair = ["alice", "bob"].map(|name| lichess.bot(name));
    pair[0].sees_online("alice,bob").await;
    let mut begun = 0;
    let mut early = None;
    let mut last = Instant::now();
    loop {
        let now = pair[0].playing().await.len();
        if begun == games && now == 0 {
            break;
        }
        for _ in now..AT_ONCE.min(now + games - begun) {
            let [from, to] = [begun % 2, 1 - begun % 2];
            let variant = VARIANTS.split(' ').nth(begun % 9).unwrap();
            let form = format!("color=random&variant={variant}&{clock}");
            let to = ["alice", "bob"][to];
            pair[from].challenge(to, &form).await;
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

/// Plays this many games, of which none is broken off or lost on time.
async fn check(games: usize) {
    let records = play(games, "clock.limit=15&clock.increment=0.02").await;
    let ends: Vec<_> = records.lines().filter(|line| line.starts_with("[Termination ")).collect();
    assert_eq!(ends.len(), games);
    assert!(ends.iter().all(|end| *end == "[Termination \"normal\"]"), "{ends:?}");
}

#[test(limit = LONG, workers = 2)]
async fn eight_games_at_once_in_every_variant_end_normally() {
    check(9).await;
}

#[test(limit = zeitnot_testing::SOAK, workers = 2)]
#[ignore = "soak: ten minutes"]
async fn five_hundred_games_end_normally_in_constant_memory() {
    check(500).await;
}
