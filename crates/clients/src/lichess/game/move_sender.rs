//! Sends a move: again and again while it may still count, and never after that.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::lichess::{Http, HttpError};

/// An attempt takes at most this part of the time that is left …
const PART: u32 = 4;
/// … but not less than this, as the network may be slow.
const MIN_ATTEMPT: Duration = Duration::from_secs(1);
/// Bounds of the delay between two attempts.
const MIN_DELAY: Duration = Duration::from_millis(200);
const MAX_DELAY: Duration = Duration::from_secs(5);
/// Before the second attempt the stream has this long to tell the move as played.
const STREAM_DELAY: Duration = Duration::from_millis(250);

/// Outcome of sending a move.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// The server took it; the request was sent then.
    Played {
        at: Instant,
    },
    /// The server refused it; or it has it already, by an attempt whose reply was lost.
    Refused(String),
    Unauthorized,
}

/// Sends a move until the server takes or refuses it. Returns `None` if it became `moot` before.
///
/// After a network or server error the move may have been played, so the game's stream has a moment to say so before
/// the second attempt. Later attempts are spaced within the time that is left.
pub(crate) async fn send(
    http: &Http,
    path: &str,
    due: Option<Instant>,
    moot: &CancellationToken,
) -> Option<SendOutcome> {
    let mut is_first = true;
    while !moot.is_cancelled() {
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let max = http.timeouts().reply;
        let limit = left.map_or(max, |left| (left / PART).clamp(MIN_ATTEMPT.min(max), max));
        let at = Instant::now();
        // Even a moot request is completed: cancelling it would close a warm connection.
        let error = match http.post_move(path, limit).await {
            Ok(()) => return Some(SendOutcome::Played { at }),
            Err(HttpError::Unauthorized) => return Some(SendOutcome::Unauthorized),
            Err(error @ (HttpError::NotFound | HttpError::Refused { .. })) => {
                return Some(SendOutcome::Refused(error.to_string()));
            }
            Err(error) => error,
        };
        let spacing = left.map_or(MAX_DELAY, |left| left / (3 * PART));
        let may_be_played = std::mem::take(&mut is_first) && !matches!(error, HttpError::Limited { .. });
        let delay = if may_be_played {
            debug!("{path}: {error}; sending it again unless it was played");
            spacing.min(STREAM_DELAY)
        } else {
            let delay = spacing.clamp(MIN_DELAY, MAX_DELAY);
            let message = format_args!("{path}: {error}; sending it again in {:.1} s", delay.as_secs_f64());
            http.warn_failure(&error, message);
            delay
        };
        moot.run_until_cancelled(sleep(delay)).await?;
    }
    None
}
