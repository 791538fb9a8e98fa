//! The `[arena.imcs]` table of the configuration.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use serde::Deserialize;
use zeitnot_wire::imcs::is_clock;

use crate::duration::{MAX_WAIT, seconds};

/// The `[arena.imcs]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address to listen on; the protocol's usual port is 3589.
    pub listen: SocketAddr,
    /// The file of names, passwords and ratings; made when somebody registers. The protocol knows passwords
    /// in the clear only, and so does the file.
    #[serde(default = "users")]
    pub users: PathBuf,
    /// The clock of both sides, where an offer says nothing.
    #[serde(default = "seconds::<300>", with = "humantime_serde")]
    pub time: Duration,
    /// Time in which a player whose connection broke down can take the game up again; the clock runs on.
    #[serde(default = "seconds::<30>", with = "humantime_serde")]
    pub reconnect: Duration,
    /// Time for which a line is awaited after the clock has run out. Not in the file: the protocol fixes it.
    #[serde(skip, default = "seconds::<10>")]
    pub late: Duration,
}

fn users() -> PathBuf {
    "imcs-users.txt".into()
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), String> {
        if !is_clock(self.time) {
            return Err("imcs: time is to be whole seconds, from one second to a day".into());
        }
        if self.reconnect > MAX_WAIT {
            return Err("imcs: reconnect is longer than a week".into());
        }
        Ok(())
    }
}
