//! Notifications to systemd, by the socket that it listens on.

#![cfg(target_os = "linux")]

use std::{path::Path, time::Duration};

use tokio::{net::UnixDatagram, time::timeout};
use zeitnot_testing::{soon, until};

use super::{opponent, player};
use crate::support::{
    arena::TestArena,
    lichess_arena::{Lichess, Stream},
    program::Program,
};

/// Far longer than the time between two signs of life, and shorter than a test.
const SILENCE: Duration = Duration::from_secs(2);
const WATCHDOG: &str = "WATCHDOG=1";

/// The service manager's end.
struct Manager(UnixDatagram);

impl Manager {
    fn listen(folder: &Path) -> (Manager, String) {
        let path = folder.join("notify");
        (Manager(UnixDatagram::bind(&path).unwrap()), path.display().to_string())
    }

    async fn next(&self) -> String {
        let mut bytes = [0; 4096];
        let length = soon("a notification", self.0.recv(&mut bytes)).await.unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    /// Waits for a notification with a line like this.
    async fn line(&self, fits: impl Fn(&str) -> bool) -> String {
        self.from(self.next().await, fits).await
    }

    /// The same, where `notification` has come already.
    async fn from(&self, mut notification: String, fits: impl Fn(&str) -> bool) -> String {
        loop {
            if let Some(line) = notification.lines().find(|line| fits(line)) {
                return line.to_owned();
            }
            notification = self.next().await;
        }
    }
}

#[test]
async fn systemd_hears_that_the_bot_is_ready_plays_and_leaves() {
    // Two games can be over between two notifications.
    let arena = TestArena::start("games_per_pair = 1000").await;
    let folder = arena.folder.path();
    let (manager, socket) = Manager::listen(folder);
    let environment = [("NOTIFY_SOCKET", socket.as_str()), ("WATCHDOG_USEC", "900000")];
    let text = player(arena.tcp.unwrap(), "bot");
    let bot = Program::with_environment(folder, "bot", &text, &environment);
    let first = manager.next().await;
    assert!(first.lines().any(|line| line == "READY=1"), "{first}");
    // The bot may be connected before it is ready: then the same notification says so.
    manager.from(first, |line| line.starts_with("STATUS=0 games; connected to tcp://127.0.0.1:")).await;
    let _opponent = opponent(&arena);
    let playing = manager.line(|line| line.starts_with("STATUS=1 game; connected to")).await;
    assert!(playing.contains("; lag ") && playing.ends_with(" ms"), "{playing}");
    manager.line(|line| line == WATCHDOG).await;
    // As if it hung: no sign of life comes any more, except those that were on their way.
    bot.signal("STOP");
    while timeout(SILENCE, manager.next()).await.is_ok() {}
    bot.signal("CONT");
    manager.line(|line| line == WATCHDOG).await;
    bot.signal("TERM");
    manager.line(|line| line == "STOPPING=1").await;
    let (code, told) = bot.ends().await;
    assert_eq!(code, Some(0), "{told:#?}");
}

/// A restart by a service manager: the first process leaves at once, and the second takes the game up.
#[test]
async fn sigquit_leaves_a_game_that_the_next_start_takes_up() {
    let lichess = Lichess::start("").await;
    let folder = lichess.arena.folder.path();
    let bob = lichess.bot("bob");
    let start = || Program::start(folder, &lichess.url(), "lip_alice", "");
    let bot = start();
    bob.sees_online("alice").await;
    let challenge = bob.challenge("alice", "clock.limit=60&clock.increment=0&color=black").await;
    let id = challenge["id"].as_str().unwrap();
    until("the game", async || !bob.playing().await.is_empty()).await;
    let mut game = bob.watch(id).await;
    plies(&mut game, 1).await;
    bot.signal("QUIT");
    let (code, told) = bot.ends().await;
    assert!(code == Some(0) && told.iter().any(|line| line.contains("leaving at once")), "{told:#?}");
    bob.play(id, "a7a6").await;
    let _again = start();
    plies(&mut game, 3).await;
}

/// Waits until so many plies are played.
async fn plies(game: &mut Stream, plies: usize) {
    loop {
        let message = game.next().await.unwrap();
        let state = if message["type"] == "gameFull" { &message["state"] } else { &message };
        if state["moves"].as_str().unwrap_or_default().split_whitespace().count() >= plies {
            return;
        }
    }
}
