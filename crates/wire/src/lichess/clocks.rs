//! Clocks, and days for a move, that Lichess offers.

use std::time::Duration;

use zeitnot_rules as game;

use super::Speed;

/// Longest clock at the start.
pub const MAX_LIMIT: Duration = Duration::from_secs(3 * 3600);
/// Longest increment of a challenge over the API.
const MAX_INCREMENT: Duration = Duration::from_secs(60);
/// Clocks that bots can play with, for messages.
pub const BOT_CLOCKS: &str = "15, 30, 45, 60, 90 or whole minutes up to three hours, with an increment of at most 60 seconds, and no \
     UltraBullet";
/// Days for a move.
pub const DAYS: &[u32] = &[1, 2, 3, 5, 7, 10, 14];

/// Returns whether there are such clocks for bots.
pub fn is_offered(clock: game::TimeControl) -> bool {
    has_limit(clock.initial) && has_increment(clock.increment) && Speed::of(clock) != Speed::UltraBullet
}

/// Returns whether games can begin with so much time.
pub fn has_limit(limit: Duration) -> bool {
    let seconds = limit.as_secs();
    let is_known = matches!(seconds, 15 | 30 | 45 | 90) || seconds.is_multiple_of(60);
    limit.subsec_nanos() == 0 && is_known && limit <= MAX_LIMIT
}

/// Returns whether there is such an increment.
pub fn has_increment(increment: Duration) -> bool {
    increment.subsec_nanos() == 0 && increment <= MAX_INCREMENT
}

/// Returns whether there are correspondence games with so many days for a move.
pub fn is_offered_days(days: u32) -> bool {
    DAYS.contains(&days)
}
