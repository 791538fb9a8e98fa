//! Rounds with a server that leaves Nagle's algorithm on, and the time that each takes.
//!
//! Such a server's second small write waits until the first is acknowledged. By default a system delays that by 40 ms,
//! once it has seen that both sides talk by turns.

use std::time::{Duration, Instant};

/// Rounds until both systems know the conversation.
const WARM_UP: usize = 10;
/// Rounds that count.
const ROUNDS: usize = 21;
/// Far more than a round takes on a busy machine, and half of a delayed acknowledgement.
const PROMPT: Duration = Duration::from_millis(20);

/// Plays rounds, and expects most of them to be prompt.
pub async fn prompt(mut round: impl AsyncFnMut()) {
    let mut took = Vec::new();
    for _ in 0..WARM_UP + ROUNDS {
        let began = Instant::now();
        round().await;
        took.push(began.elapsed());
    }
    let counted = &mut took[WARM_UP..];
    counted.sort_unstable();
    assert!(counted[ROUNDS / 2] < PROMPT, "{counted:?}");
}
