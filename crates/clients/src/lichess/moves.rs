//! Getting a move to the server: again and again while it may still count, and never after that.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::http::{Http, HttpError};

/// An attempt takes at most this part of the time that is left …
const PART: u32 = 4;
/// … but not less than this: a slow network is no dead one.
const SHORTEST_ATTEMPT: Duration = Duration::from_secs(1);
/// Between two attempts, at least and at most.
const SHORTEST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// What was played although no answer came, the game's stream tells within this, if it can be had.
const LOOK: Duration = Duration::from_millis(250);

/// What became of a move.
#[derive(Debug)]
pub(super) enum Fate {
    /// The server took it; the request that brought it there left then.
    Played { at: Instant },
    /// The server does not take it; or it has it already, from an attempt whose answer was lost.
    Refused(String),
    /// Nothing more can be sent.
    Unauthorized,
}

/// Sends a move until the server has an opinion about it; `None`: it is moot. After a network error or trouble
/// of the server's the move may have been played: the game's stream, opened anew where it broke as well, has a
/// moment to say so before the second attempt. Later attempts are spaced within the time that is left.
pub(super) async fn send(
    http: &Http,
    path: &str,
    due: Option<Instant>,
    moot: &CancellationToken,
) -> Option<Fate> {
    let mut second = true;
    while !moot.is_cancelled() {
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let longest = http.patience().answer;
        let limit = left.map_or(longest, |left| (left / PART).clamp(SHORTEST_ATTEMPT.min(longest), longest));
        let at = Instant::now();
        // To its end even if it becomes moot: broken off, it would take a warm connection with it.
        let error = match http.post_move(path, limit).await {
            Ok(()) => return Some(Fate::Played { at }),
            Err(HttpError::Unauthorized) => return Some(Fate::Unauthorized),
            Err(error @ (HttpError::NotFound | HttpError::Refused { .. })) => {
                return Some(Fate::Refused(error.to_string()));
            }
            Err(error) => error,
        };
        let spaced = left.map_or(LONGEST_PAUSE, |left| left / (3 * PART));
        if second && !matches!(error, HttpError::Limited { .. }) {
            second = false;
            debug!("{path}: {error}; once more, unless the stream has it");
            moot.run_until_cancelled(sleep(spaced.min(LOOK))).await?;
            continue;
        }
        second = false;
        let pause = spaced.clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        http.tally()
            .failed(&error, format_args!("{path}: {error}; once more in {:.1} s", pause.as_secs_f64()));
        moot.run_until_cancelled(sleep(pause)).await?;
    }
    None
}
