//! Games in which each side has days for a move, or for ever: what time a move gets, and when there is nothing to do.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use tokio::{
    select,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use zeitnot_rules::ByColor;
use zeitnot_seat::Clocks;

use super::{Game, LONGEST, at};

/// A game that nobody can begin to play keeps others from it no longer than this.
const IN_VAIN: Duration = Duration::from_secs(120);

/// Ends when others have wanted the place of a game for long enough that does not begin.
pub(super) async fn in_vain(wanted: &CancellationToken) {
    wanted.cancelled().await;
    sleep(IN_VAIN).await;
}

impl Game {
    /// Can this game wait for us?
    pub(super) fn is_patient(&self) -> bool {
        self.info.time_control.is_none()
    }

    /// A clock for this one move, which runs from now on.
    pub(super) fn clocks_for_a_move(&self) -> Clocks {
        let gone = self.read_at.elapsed();
        // Who has less than our time for a move left moves in that.
        let left = |left: Option<Duration>| {
            let ours = self.table.rules.correspondence.move_time.min(LONGEST);
            left.map_or(ours, |left| left.saturating_sub(gone).min(ours))
        };
        let ByColor([white, black]) = self.state.left();
        Clocks {
            left: ByColor([left(white), left(black)]),
            increment: Duration::ZERO,
            moves_to_go: Some(1),
            resolution: Duration::ZERO,
            read_at: Instant::now(),
        }
    }

    /// Notes whether it is the opponent whom we wait for.
    pub(super) fn note_idleness(&mut self) {
        let waits = self.track.side() != self.info.side;
        self.idle_since = (self.is_patient() && waits).then(|| self.idle_since.unwrap_or_else(Instant::now));
    }

    /// Ends when the opponent has taken too long. Where others want to play that is at once; and then we do not stay
    /// either where a move of ours does not get through.
    pub(super) fn rested(&self, wanted: &CancellationToken) -> impl Future<Output = ()> + use<> {
        let rules = &self.table.rules.correspondence;
        let is_busy = !self.sending.is_empty() || !self.calls.is_empty();
        let idle = self.idle_since.filter(|_| !is_busy).map(|since| since + rules.away.min(LONGEST));
        let stuck = self.read_at + rules.move_time.min(LONGEST) + IN_VAIN;
        let (is_patient, wanted) = (self.is_patient(), wanted.clone());
        async move {
            if !is_patient {
                return pending().await;
            }
            let given_way = async {
                wanted.cancelled().await;
                if idle.is_none() {
                    sleep_until(stuck.into()).await;
                }
            };
            select! {
                () = given_way => {}
                () = at(idle) => {}
            }
        }
    }
}
