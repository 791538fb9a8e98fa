//! A `[[server]]` table with `protocol = "tuc"`, checked as it is read.

use std::{fmt, num::NonZeroU32, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};
use zeitnot_net::Contradictions;
use zeitnot_rules::tuc::Rules;
use zeitnot_settings::{HumanTime, JsonSchema, schemars, settings, shown};
use zeitnot_wire::tuc::MAX_DATAGRAM;

use crate::backoff::Reconnect;

/// TUC-Chess over UDP: the course server of the Technical University of Crete.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// host:port
    #[serde(default = "address", deserialize_with = "host_and_port")]
    pub address: String,
    /// The bot's name.
    #[schemars(example = &"zeitnot")]
    pub player: Name,
    /// Edition of the server: "2019", "2021" or "2022". The protocol does not tell.
    #[serde(default, deserialize_with = "rules", serialize_with = "shown")]
    #[schemars(with = "String")]
    pub rules: Rules,
    /// Number of games after which to leave. The original server plays one.
    #[serde(default = "games")]
    pub games: NonZeroU32,
    /// Time for each move: the course recommends at most 4 s (2019, 2022) or 6 s (2021).
    #[serde(default = "move_time", with = "HumanTime")]
    pub move_time: Duration,
    /// Send an unconfirmed move again. This helps if the datagram was lost; if its confirmation was lost, the original
    /// server takes it for an illegal move of the opponent, and the game cannot go on.
    #[serde(default)]
    pub resend: bool,
    /// Time limits and pauses.
    #[serde(default)]
    pub timeouts: Timeouts,
}

settings! {
    /// Time-outs of a TUC-Chess client.
    #[derive(PartialEq, Eq)]
    pub struct Timeouts {
        /// Maximum wait for a seat.
        #[serde(with = "HumanTime")]
        seat: Duration = Duration::from_secs(120),
        /// Maximum wait for the confirmation of a move.
        #[serde(with = "HumanTime")]
        confirmation: Duration = Duration::from_secs(5),
        /// Maximum wait for any datagram in a running game. Opponents may think for long, and a dead server says nothing.
        #[serde(with = "HumanTime")]
        silence: Duration = Duration::from_secs(600),
        /// Pause between two games.
        #[serde(with = "HumanTime")]
        between_games: Duration = Duration::from_secs(2),
        /// Delays before a new attempt to connect, which a connection that lasts for `stable_after` resets.
        reconnect: Reconnect = Reconnect {
            min_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(2),
            stable_after: Duration::from_secs(1),
        },
    }
}

impl Config {
    /// Creates a configuration with the default settings, for one game.
    pub fn new(address: impl Into<String>, player: Name) -> Config {
        Config {
            address: address.into(),
            player,
            rules: Rules::default(),
            games: games(),
            move_time: move_time(),
            resend: false,
            timeouts: Timeouts::default(),
        }
    }

    pub(super) fn contradictions(&self, found: &mut Contradictions) {
        found.above_zero(&[("move_time", self.move_time)]);
        found.within("timeouts", |found| {
            let Timeouts { seat, confirmation, silence, reconnect, .. } = &self.timeouts;
            found.above_zero(&[("seat", *seat), ("confirmation", *confirmation), ("silence", *silence)]);
            found.at_most(("confirmation", *confirmation), ("silence", *silence));
            reconnect.contradictions(found);
        });
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { games, player, address, rules, .. } = self;
        write!(f, "play {games} game(s) of TUC-Chess {rules} as {player} at udp://{address}")
    }
}

/// Name of a player. As a datagram it must not be empty or look like a move.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Name(String);

/// Text that is not a [`Name`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to {MAX_DATAGRAM} bytes that is not just digits")]
pub struct BadName;

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Name, BadName> {
        let fits = (1..=MAX_DATAGRAM).contains(&text.len()) && !text.chars().any(char::is_control);
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        if fits && !is_number { Ok(Name(text)) } else { Err(BadName) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn host_and_port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let fits = |(host, port): (&str, &str)| {
        let is_host = !host.is_empty() && !host.contains(['/', ' ', '@']);
        is_host
            && (host.starts_with('[') || !host.contains(':'))
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    match text.rsplit_once(':').is_some_and(fits) {
        true => Ok(text),
        false => Err(D::Error::custom(format!(
            "{text:?} is not an address: expected host:port, as in \"127.0.0.1:9876\""
        ))),
    }
}

fn address() -> String {
    "127.0.0.1:9876".into()
}

fn games() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn move_time() -> Duration {
    Duration::from_millis(3500)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::Backoff;

    #[test]
    fn no_pause_is_longer_than_two_seconds_by_default() {
        let mut backoff = Backoff::new(&Timeouts::default().reconnect);
        assert!((0..20).all(|_| backoff.next(None) <= Duration::from_secs(2)));
    }
}
