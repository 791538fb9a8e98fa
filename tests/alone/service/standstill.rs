//! A program that is stopped for a while, such as on a virtual machine that is suspended.

use std::time::Duration;

use tokio::time::sleep;
use zeitnot_testing::LONG;

use super::metrics::port;
use crate::support::program::Program;

/// More than a busy machine is late.
const STOPPED: Duration = Duration::from_secs(6);

#[test(limit = LONG)]
async fn an_arena_that_was_stopped_says_for_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[metrics]\nlisten = '127.0.0.1:0'\n[arena]\ntcp = '127.0.0.1:0'\ngames = 'games'\n\
                [[arena.tournament]]\nname = 'class'\ntime = '60'\n";
    let arena = Program::arena(folder.path(), text);
    // It runs its tasks.
    assert_eq!(port(&arena).await.get("/healthz").await.status(), 200);
    arena.signal("STOP");
    sleep(STOPPED).await;
    arena.signal("CONT");
    let line = arena.tells("this program stood still for ").await;
    assert!(line.contains(" WARN "), "{line}");
    let seconds = line.split("stood still for ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(seconds.parse::<f64>().unwrap() > 3.0, "{line}");
    arena.signal("TERM");
    let (code, told) = arena.ends().await;
    assert_eq!(code, Some(0), "{told:#?}");
}
