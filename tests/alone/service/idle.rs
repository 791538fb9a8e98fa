//! An idle bot lets the machine sleep.

use std::time::Duration;

use tokio::time::sleep;

use super::{arena, player};
use crate::support::program::Program;

/// Span in which its wake-ups are counted.
const SPAN: Duration = Duration::from_secs(4);
/// Wake-ups in it. On a quiet machine there are a dozen.
const MAX_SLEEPS: u64 = 80;

/// Waits for an opponent, with a page that nobody watches.
#[test]
async fn a_bot_without_a_game_hardly_wakes() {
    let arena = arena().await;
    let text = player(arena.tcp.unwrap(), "bot") + "[web]\nlisten = '127.0.0.1:0'\n";
    let bot = Program::configured(arena.folder.path(), "bot", &text);
    bot.tells("connected; joining").await;
    // The work after joining is done once and does not count as idle.
    sleep(SPAN / 4).await;
    let Some(before) = bot.sleeps() else { return };
    sleep(SPAN).await;
    let woken = bot.sleeps().unwrap() - before;
    assert!(woken <= MAX_SLEEPS, "{woken} times in {SPAN:?}");
}
