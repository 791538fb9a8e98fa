//! State machine of an account. No I/O and no clock.

use std::time::{Duration, Instant};

use zeitnot_seat::Seats;
use zeitnot_wire::lichess::UserId;

use super::interface::{Effect, Input};
use crate::lichess::{
    Config, challenges::players::PlayerLists, matchmaking::decline_history::DeclineHistory,
};

/// What an account begins with.
#[derive(Debug)]
pub struct AccountSetup {
    /// Its table of the configuration.
    pub config: Config,
    /// Our name.
    pub me: UserId,
    /// Players that are accepted and challenged.
    pub players: PlayerLists,
    /// History of challenges; `None`: it is not kept between runs.
    pub history: Option<DeclineHistory>,
    /// Seats of the lobby.
    pub seats: Seats,
    /// Seed of all random choices.
    pub seed: u64,
    /// Present time since 1970, as the history counts it.
    pub unix_time: Duration,
}

/// State of an account.
#[derive(Debug)]
pub struct AccountState {
    setup: AccountSetup,
}

impl AccountState {
    /// Creates an account whose event stream is not open yet.
    pub fn new(setup: AccountSetup, _now: Instant) -> AccountState {
        AccountState { setup }
    }

    /// Takes note of something, and returns what is to be done, in this order.
    pub fn on(&mut self, _input: Input, _now: Instant) -> Vec<Effect> {
        let _ = &self.setup;
        Vec::new()
    }

    /// Returns when an [`Input::Wake`] is due, if nothing happens before.
    pub fn due(&self) -> Option<Instant> {
        None
    }
}
