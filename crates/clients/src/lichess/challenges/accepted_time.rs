//! Times that challenges may have: speeds, and exact clocks.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeitnot_rules::TimeControl as Clock;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::{
    Speed, TimeControl,
    clocks::{BOT_CLOCKS, is_offered},
};

/// Speed that is accepted, or a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub enum AcceptedTime {
    /// All clocks of a speed; "correspondence" is without a clock.
    Speed(Speed),
    /// One clock.
    Clock(Clock),
}

impl AcceptedTime {
    pub(super) fn contains(&self, time: &TimeControl) -> bool {
        match self {
            AcceptedTime::Speed(speed) => *speed == time.speed(),
            AcceptedTime::Clock(clock) => time.clock() == Some(*clock),
        }
    }

    pub(super) fn speed(&self) -> Speed {
        match self {
            AcceptedTime::Speed(speed) => speed.clone(),
            AcceptedTime::Clock(clock) => TimeControl::Clock(*clock).speed(),
        }
    }
}

impl TryFrom<String> for AcceptedTime {
    type Error = String;

    fn try_from(text: String) -> Result<AcceptedTime, String> {
        if let Some(speed) = Speed::KNOWN.iter().find(|speed| speed.as_str() == text) {
            return Ok(AcceptedTime::Speed(speed.clone()));
        }
        match text.parse() {
            Ok(clock) if is_offered(clock) => Ok(AcceptedTime::Clock(clock)),
            Ok(_) => Err(format!("{text} is not a clock that Lichess has for bots: {BOT_CLOCKS}")),
            Err(_) => {
                let all = Speed::KNOWN.iter().map(Speed::as_str).collect::<Vec<_>>().join(", ");
                Err(format!("'{text}' is not a speed; known: {all}; nor a clock in seconds, such as 180+2"))
            }
        }
    }
}

impl From<AcceptedTime> for String {
    fn from(time: AcceptedTime) -> String {
        time.to_string()
    }
}

impl fmt::Display for AcceptedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcceptedTime::Speed(speed) => f.write_str(speed.as_str()),
            AcceptedTime::Clock(clock) => write!(f, "{clock}"),
        }
    }
}
