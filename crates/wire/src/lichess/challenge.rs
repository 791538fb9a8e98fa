//! Challenges, as in events and answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use zeitnot_rules::{self as game, Color};

use super::{
    ChallengeId, ChallengeStatus, ColorWish, DeclineReason, Direction, GameRule, Speed, Title, UserId,
    Variant,
    codec::{is_default, nullable, seconds},
    names::lower_case,
};

/// Challenge to one opponent or to anybody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Also the id of the game that it becomes.
    pub id: ChallengeId,
    #[serde(default, deserialize_with = "nullable")]
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ChallengeStatus>,
    /// `None`: anonymous.
    pub challenger: Option<ChallengeUser>,
    /// `None`: anybody.
    pub dest_user: Option<ChallengeUser>,
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    pub time_control: TimeControl,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<ColorWish>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_fen: Option<String>,
    /// In the challenger's language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline_reason: Option<String>,
    #[serde(serialize_with = "lower_case", skip_serializing_if = "Option::is_none")]
    pub decline_reason_key: Option<DeclineReason>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<GameRule>,
}

/// Challenger or challenged user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeUser {
    pub id: UserId,
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provisional: bool,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub online: bool,
}

impl ChallengeUser {
    /// Returns whether it is a bot account.
    pub fn is_bot(&self) -> bool {
        self.title == Some(Title::Bot)
    }
}

/// Name of a kind of rating.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfName {
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
}

/// Time control of a game.
///
/// ```
/// use zeitnot_wire::lichess::TimeControl;
/// assert_eq!(TimeControl::Clock("90+2".parse().unwrap()).to_string(), "1.5+2");
/// assert_eq!(TimeControl::Clock("15".parse().unwrap()).to_string(), "¼+0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
pub enum TimeControl {
    Clock(game::TimeControl),
    Correspondence {
        /// Days per move.
        days: u32,
    },
    Unlimited,
    /// Unknown type.
    Other(String),
}

impl TimeControl {
    /// Returns the clock, if there is one.
    pub fn clock(&self) -> Option<game::TimeControl> {
        match self {
            TimeControl::Clock(clock) => Some(*clock),
            _ => None,
        }
    }

    /// Returns the speed.
    pub fn speed(&self) -> Speed {
        self.clock().map_or(Speed::Correspondence, Speed::of)
    }
}

impl std::fmt::Display for TimeControl {
    /// As people write it, minutes first.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clock = match self {
            TimeControl::Clock(clock) => clock,
            TimeControl::Correspondence { days } => return write!(f, "{days} days"),
            TimeControl::Unlimited => return f.write_str("unlimited"),
            TimeControl::Other(word) => return f.write_str(word),
        };
        let increment = clock.increment.as_secs();
        match clock.initial.as_secs() {
            15 => write!(f, "¼+{increment}"),
            30 => write!(f, "½+{increment}"),
            45 => write!(f, "¾+{increment}"),
            seconds => write!(f, "{}+{increment}", seconds as f64 / 60.0),
        }
    }
}

/// Form on the wire.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    limit: Option<Duration>,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    increment: Option<Duration>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    show: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    days_per_turn: Option<u32>,
}

impl TryFrom<Flat> for TimeControl {
    type Error = &'static str;

    fn try_from(flat: Flat) -> Result<TimeControl, &'static str> {
        Ok(match flat.kind.as_str() {
            "clock" => TimeControl::Clock(game::TimeControl {
                initial: flat.limit.ok_or("a clock without its `limit`")?,
                increment: flat.increment.unwrap_or_default(),
            }),
            "correspondence" => TimeControl::Correspondence {
                days: flat.days_per_turn.ok_or("correspondence without its `daysPerTurn`")?,
            },
            "unlimited" => TimeControl::Unlimited,
            _ => TimeControl::Other(flat.kind),
        })
    }
}

impl From<TimeControl> for Flat {
    fn from(time: TimeControl) -> Flat {
        let show = Some(time.to_string());
        let flat = |kind: &str| Flat { kind: kind.to_owned(), ..Flat::default() };
        match time {
            TimeControl::Clock(game::TimeControl { initial, increment }) => {
                Flat { limit: Some(initial), increment: Some(increment), show, ..flat("clock") }
            }
            TimeControl::Correspondence { days } => {
                Flat { days_per_turn: Some(days), ..flat("correspondence") }
            }
            TimeControl::Unlimited => flat("unlimited"),
            TimeControl::Other(kind) => flat(&kind),
        }
    }
}
