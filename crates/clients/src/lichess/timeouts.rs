//! The `timeouts` table of a Lichess server.

use std::time::Duration;

use zeitnot_net::Contradictions;
use zeitnot_settings::{HumanTime, settings};

use crate::backoff::Reconnect;

settings! {
    /// Time limits and intervals.
    #[derive(PartialEq, Eq)]
    pub struct Timeouts {
        /// Maximum time to open a connection.
        #[serde(with = "HumanTime")]
        connect: Duration = Duration::from_secs(10),
        /// Maximum wait for the reply to a request.
        #[serde(with = "HumanTime")]
        reply: Duration = Duration::from_secs(10),
        /// Longest wait for data on a stream before it is reopened. The limit follows the server's empty lines, with a second
        /// to spare: 8 s on Lichess, which sends one every 7 s.
        #[serde(with = "HumanTime")]
        silence: Duration = Duration::from_secs(17),
        /// Delay before a stream is opened again, which is random and doubles up to the maximum; a stream that lasts for
        /// `stable_after` resets it. While a game with a clock runs, no delay is longer than 2 s or a sixteenth of the
        /// bot's time left.
        reconnect: Reconnect = Reconnect {
            min_delay: Duration::from_millis(100),
            max_delay: Duration::from_secs(30),
            stable_after: Duration::from_secs(10),
        },
        /// Pause after a 429 that does not say how long to wait.
        #[serde(with = "HumanTime")]
        rate_limited: Duration = Duration::from_secs(60),
        /// Time for the opponent's first move, if the server does not say.
        #[serde(with = "HumanTime")]
        abort_time: Duration = Duration::from_secs(30),
        /// Time for an opponent who has left, beyond the server's own limit.
        #[serde(with = "HumanTime")]
        claim_delay: Duration = Duration::ZERO,
        /// Time between two checks that the server sees the bot online.
        #[serde(with = "HumanTime")]
        online_check: Duration = Duration::from_secs(600),
    }
}

impl Timeouts {
    /// Finds keys that contradict each other.
    pub(super) fn contradictions(&self, found: &mut Contradictions) {
        found.above_zero(&[
            ("connect", self.connect),
            ("reply", self.reply),
            ("silence", self.silence),
            ("rate_limited", self.rate_limited),
            ("abort_time", self.abort_time),
            ("online_check", self.online_check),
        ]);
        self.reconnect.contradictions(found);
    }
}
