//! The clocks of a request for a move.

use std::time::{Duration, Instant};

use zeitnot_rules::{ByColor, Color, TimeControl};
use zeitnot_seat::Clocks;
use zeitnot_wire::lichess::GameState;

use super::context::MAX_TIME;

/// The server tells clocks in milliseconds, but keeps them in hundredths of a second.
const RESOLUTION: Duration = Duration::from_millis(10);

/// Returns the clocks of a game with a time control.
pub(crate) fn of_game(
    control: TimeControl,
    color: Color,
    is_berserk: bool,
    state: &GameState,
    read_at: Instant,
) -> Option<Clocks> {
    let ByColor([white, black]) = state.left();
    let mut left = ByColor([white?.min(MAX_TIME), black?.min(MAX_TIME)]);
    if let Some(expiration) = state.expiration {
        // No clock runs before both have moved, but the first move has a limit of its own.
        left[color] = left[color].min(expiration.left);
    }
    let increment = state.increments()[color].max(control.increment).min(MAX_TIME);
    Some(Clocks {
        left,
        increment: if is_berserk { Duration::ZERO } else { increment },
        moves_to_go: None,
        resolution: RESOLUTION,
        read_at,
    })
}

/// Returns the clocks of one move in a correspondence game, which run from now on.
pub(crate) fn of_move(move_time: Duration, state: &GameState, read_at: Instant) -> Clocks {
    let elapsed = read_at.elapsed();
    let move_time = move_time.min(MAX_TIME);
    let left =
        state.left().0.map(|left| left.map_or(move_time, |left| left.saturating_sub(elapsed).min(move_time)));
    Clocks {
        left: ByColor(left),
        increment: Duration::ZERO,
        moves_to_go: Some(1),
        resolution: Duration::ZERO,
        read_at: Instant::now(),
    }
}
