//! Challenges, as events and answers tell them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use zeitnot_rules as game;
use zeitnot_rules::Color;

use super::{
    ChallengeId, ChallengeStatus, ColorWish, DeclineReason, Direction, GameId, GameRule, Speed, Title,
    UserId, Variant,
    codec::{is_default, nullable, seconds},
    event::decline_key,
};

/// Somebody wants to play somebody, or anybody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Its name, and the name of the game it becomes.
    pub id: ChallengeId,
    /// Where people see it.
    #[serde(default, deserialize_with = "nullable")]
    pub url: String,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ChallengeStatus>,
    /// Who; `None` is anonymous.
    pub challenger: Option<ChallengeUser>,
    /// Whom; `None` is anybody.
    pub dest_user: Option<ChallengeUser>,
    /// What chess.
    #[serde(default, deserialize_with = "nullable")]
    pub variant: Variant,
    /// Is it about ratings?
    #[serde(default, deserialize_with = "nullable")]
    pub rated: bool,
    /// How fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// With what clocks.
    pub time_control: TimeControl,
    /// What the challenger wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<ColorWish>,
    /// What the challenger gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_color: Option<Color>,
    /// Which rating it is about, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<PerfName>,
    /// From us or to us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Where the game begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_fen: Option<String>,
    /// The game that it is a rematch of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch_of: Option<GameId>,
    /// Why it was declined, in the words of the challenger's language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline_reason: Option<String>,
    /// Why it was declined.
    #[serde(default, with = "decline_key", skip_serializing_if = "Option::is_none")]
    pub decline_reason_key: Option<DeclineReason>,
    /// What the players may not do.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<GameRule>,
}

/// One side of a challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeUser {
    /// Who.
    pub id: UserId,
    /// The name as its owner writes it.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// `BOT`, or what people earn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// The rating for this kind of game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<i32>,
    /// Is the rating uncertain?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provisional: bool,
    /// Is the user there?
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub online: bool,
    /// How good the connection is: 1 to 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<u8>,
}

impl ChallengeUser {
    /// Is it a program?
    pub fn is_bot(&self) -> bool {
        self.title == Some(Title::Bot)
    }
}

/// A rating's name and sign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfName {
    /// A character of the server's own font.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The name, perhaps translated.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
}

/// What time the players have.
///
/// ```
/// use zeitnot_wire::lichess::TimeControl;
/// assert_eq!(TimeControl::Clock("90+2".parse().unwrap()).to_string(), "1.5+2");
/// assert_eq!(TimeControl::Clock("15".parse().unwrap()).to_string(), "¼+0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
pub enum TimeControl {
    /// Each has a clock.
    Clock(game::TimeControl),
    /// Each has days for a move.
    Correspondence {
        /// So many.
        days: u32,
    },
    /// As much as they like.
    Unlimited,
    /// Something new.
    Other(String),
}

impl TimeControl {
    /// The clock, where there is one.
    pub fn clock(&self) -> Option<game::TimeControl> {
        match self {
            TimeControl::Clock(clock) => Some(*clock),
            _ => None,
        }
    }

    /// How fast that is.
    pub fn speed(&self) -> Speed {
        self.clock().map_or(Speed::Correspondence, Speed::of)
    }
}

impl std::fmt::Display for TimeControl {
    /// As people say it, minutes first.
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

/// How it stands on the wire.
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

/// The open challenges of an account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Challenges {
    /// To it.
    #[serde(rename = "in", default, deserialize_with = "nullable")]
    pub incoming: Vec<Challenge>,
    /// From it.
    #[serde(rename = "out", default, deserialize_with = "nullable")]
    pub outgoing: Vec<Challenge>,
}
