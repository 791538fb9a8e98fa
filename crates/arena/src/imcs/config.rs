//! The `[arena.imcs]` table of the configuration.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use serde::Deserialize;
use zeitnot_settings::{HumanTime, JsonSchema, schemars};
use zeitnot_wire::imcs::is_clock;

use crate::duration::seconds;

/// The `[arena.imcs]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address to listen on; the usual port is 3589.
    #[schemars(example = &"127.0.0.1:3589")]
    pub listen: SocketAddr,
    /// File with names, passwords and ratings. Passwords are sent and stored as plain text: tell your users to choose one
    /// that they use nowhere else. The user who registers as "admin" becomes the administrator.
    #[serde(default = "users")]
    pub users: PathBuf,
    /// Time of each side if an offer does not set it, in whole seconds.
    #[serde(default = "seconds::<300>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1s", "x-max" = "1day"))]
    pub time: Duration,
    /// Time in which a player whose connection broke can log in again and `accept` the running game; the clock keeps
    /// running.
    #[serde(default = "seconds::<30>", with = "HumanTime")]
    #[schemars(extend("x-max" = "7days"))]
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
        match is_clock(self.time) {
            true => Ok(()),
            false => Err("imcs: time is to be whole seconds, from one second to a day".into()),
        }
    }
}
