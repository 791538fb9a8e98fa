//! Two programs of ours on the arena's Bot API, eight games at once, in all variants: no flag falls, no game
//! gets stuck, no place is lost, and the memory stays what it was.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers are tests, too

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::sleep;

#[path = "support/lichess_arena.rs"]
mod lichess_arena;
use lichess_arena::{Bot, Lichess};

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

/// A program that plays; dropped, it is gone.
struct Program(Child);

impl Program {
    fn start(url: &str, name: &str, folder: &Path) -> Program {
        let config = format!(
            "[engine]\nhash_mib = 16\n[bot]\nmax_games = 16\n[cache]\nfile = ''\n\
             [[server]]\nprotocol = 'lichess'\nurl = '{url}'\ntoken = 'lip_{name}'\nmax_games = 16\n\
             [server.challenges.bot]\nspeeds = ['ultraBullet', 'bullet']\nshortest = '1s'\n"
        );
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, config).unwrap();
        let said = fs::File::create(folder.join(format!("{name}.out"))).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_zeitnot"))
            .args(["play", "--config"])
            .arg(file)
            .env_remove("LICHESS_BOT_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn();
        Program(child.unwrap())
    }

    /// In MiB, where the system tells.
    fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
    let programs = ["alice", "bob"].map(|name| Program::start(&url, name, folder.path()));
    let pair = ["alice", "bob"].map(|name| lichess.bot(name));
    for bot in &pair {
        let is_there = || async { bot.get("/api/users/status?ids=alice,bob").await };
        while is_there().await.1.as_array().unwrap().iter().any(|user| user["online"] != true) {
            sleep(Duration::from_millis(50)).await;
        }
    }
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
    for name in ["alice", "bob"] {
        let said = fs::read_to_string(folder.path().join(format!("{name}.out"))).unwrap();
        let bad: Vec<_> =
            said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
        println!("{name}: {} warnings {:?}", bad.len(), bad.iter().take(5).collect::<Vec<_>>());
    }
    for (early, late) in early.into_iter().flatten().zip(late).filter_map(|(early, late)| early.zip(late)) {
        // What a heap has once taken it keeps; but it takes no more.
        assert!(late <= early + early / 4 + 4, "{early} MiB have become {late}");
    }
    drop(programs);
    lichess.stop().await
}

/// How the games ended, by the tag that says so.
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
#[ignore = "ten minutes"]
async fn five_hundred_games() {
    check(&play(500, "clock.limit=2&clock.increment=0.02").await, 500);
}
