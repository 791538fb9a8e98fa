//! Suspension of correspondence games.

use std::time::{Duration, Instant};

use tokio::{
    select,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{context::MAX_TIME, rules::Correspondence};
use crate::wait::until;

/// A game that makes no progress keeps its slot from others no longer than this.
const STUCK_TIMEOUT: Duration = Duration::from_secs(120);

/// Ends when others have wanted the slot for long enough of a game that does not start.
pub(crate) async fn never_started(slot_wanted: &CancellationToken) {
    slot_wanted.cancelled().await;
    sleep(STUCK_TIMEOUT).await;
}

/// Ends when a correspondence game is to be suspended: when the opponent has taken too long, or at once if others want
/// the slot. If it is our turn, others wait until our move must have been played.
pub(crate) async fn suspended(
    rules: Correspondence,
    idle_since: Option<Instant>,
    read_at: Instant,
    slot_wanted: CancellationToken,
) {
    let idle_until = idle_since.map(|since| since + rules.disconnect_time.min(MAX_TIME));
    let stuck_at = read_at + rules.move_time.min(MAX_TIME) + STUCK_TIMEOUT;
    let gives_way = async {
        slot_wanted.cancelled().await;
        if idle_since.is_none() {
            sleep_until(stuck_at.into()).await;
        }
    };
    select! {
        () = gives_way => {}
        () = until(idle_until) => {}
    }
}
