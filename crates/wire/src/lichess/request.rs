//! Requests: forms and query strings. JSON bodies are parsed as well.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Number;

use zeitnot_rules as game;

use super::{ColorWish, DeclineReason, GameRule, Room, TimeControl, VariantKey, WireError, shorten};
use crate::Secret;

/// Fields of a request, as a form or a query string.
///
/// ```
/// use zeitnot_wire::lichess::{Chat, Form, Room};
/// let chat = Chat { room: Room::Player, text: "good luck".into() };
/// assert_eq!(chat.to_form(), "room=player&text=good+luck");
/// assert_eq!(Chat::from_form("text=good+luck&room=player"), Ok(chat));
/// ```
pub trait Form: Serialize + DeserializeOwned {
    /// Name in errors.
    const NAME: &str;

    /// Parses `key=value&…`.
    ///
    /// # Errors
    /// [`WireError`]
    fn from_form(text: &str) -> Result<Self, WireError> {
        serde_urlencoded::from_str(text).map_err(|why| WireError::body(Self::NAME, why, text))
    }

    /// Parses a JSON object with the same keys.
    ///
    /// # Errors
    /// [`WireError`]
    fn from_json(text: &str) -> Result<Self, WireError> {
        serde_json::from_str(text).map_err(|why| WireError::body(Self::NAME, why, text))
    }

    /// Returns `key=value&…`.
    fn to_form(&self) -> String {
        // Serialization fails only for nested values, and there are none.
        serde_urlencoded::to_string(self).unwrap_or_default()
    }
}

/// Fields of a form, by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Fields(BTreeMap<String, Value>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Flag(bool),
    Number(Number),
    Nothing,
}

impl Fields {
    /// Returns `None` for an empty field, too.
    fn text(&self, key: &str) -> Option<String> {
        match self.0.get(key)? {
            Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Nothing => None,
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, WireError> {
        let read = |text: String| match text.as_str() {
            "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            _ => Err(WireError::Field { message: "form", expected: "true or false", got: shorten(&text) }),
        };
        self.text(key).map(read).transpose()
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, WireError> {
        let read = |text: String| {
            let error =
                || WireError::Field { message: "form", expected: "a small number", got: shorten(&text) };
            text.parse().map_err(|_| error())
        };
        self.text(key).map(read).transpose()
    }

    fn seconds(&self, key: &str) -> Result<Option<Duration>, WireError> {
        let Some(seconds) = self.number::<f64>(key)? else { return Ok(None) };
        let wrong = || WireError::Field { message: "form", expected: "seconds", got: seconds.to_string() };
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= game::MAX_TIME);
        time.ok_or_else(wrong).map(Some)
    }

    fn time(&self) -> Result<TimeControl, WireError> {
        let clock = (self.seconds("clock.limit")?, self.seconds("clock.increment")?);
        Ok(match (clock, self.number("days")?) {
            ((None, None), None) => TimeControl::Unlimited,
            ((None, None), Some(days)) => TimeControl::Correspondence { days },
            ((initial, increment), _) => TimeControl::Clock(game::TimeControl {
                initial: initial.unwrap_or_default(),
                increment: increment.unwrap_or_default(),
            }),
        })
    }

    fn with(mut self, key: &str, value: impl ToString) -> Fields {
        self.0.insert(key.to_owned(), Value::Text(value.to_string()));
        self
    }

    fn with_some(self, key: &str, value: Option<impl ToString>) -> Fields {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    fn with_time(self, time: &TimeControl) -> Fields {
        match time {
            TimeControl::Clock(clock) => self
                .with("clock.limit", clock.initial.as_secs_f64())
                .with("clock.increment", clock.increment.as_secs_f64()),
            TimeControl::Correspondence { days } => self.with("days", days),
            TimeControl::Unlimited | TimeControl::Other(_) => self,
        }
    }
}

/// Implements [`Form`] by its fields.
macro_rules! form {
    ($ty:ident, $name:literal, |$fields:ident| $read:expr, |$form:ident| $write:expr) => {
        impl TryFrom<Fields> for $ty {
            type Error = WireError;
            fn try_from($fields: Fields) -> Result<$ty, WireError> {
                Ok($read)
            }
        }

        impl From<$ty> for Fields {
            fn from($form: $ty) -> Fields {
                $write
            }
        }

        impl Form for $ty {
            const NAME: &str = $name;
        }
    };
}

/// `POST /api/challenge/{username}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct NewChallenge {
    pub rated: bool,
    pub time: TimeControl,
    pub color: ColorWish,
    pub variant: VariantKey,
    pub fen: Option<String>,
    /// Answer with a stream, and keep the challenge open as long as the stream.
    pub keep_alive_stream: bool,
    pub rules: Vec<GameRule>,
}

impl NewChallenge {
    /// Creates a challenge to a casual game of chess.
    pub fn new(time: TimeControl) -> NewChallenge {
        NewChallenge {
            rated: false,
            time,
            color: ColorWish::Random,
            variant: VariantKey::Standard,
            fen: None,
            keep_alive_stream: false,
            rules: Vec::new(),
        }
    }
}

fn color(fields: &Fields) -> ColorWish {
    fields.text("color").map_or(ColorWish::Random, ColorWish::from)
}

fn variant(fields: &Fields) -> VariantKey {
    fields.text("variant").map_or(VariantKey::Standard, VariantKey::from)
}

fn rules(fields: &Fields) -> Vec<GameRule> {
    let text = fields.text("rules").unwrap_or_default();
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(GameRule::from).collect()
}

form!(
    NewChallenge,
    "challenge",
    |fields| NewChallenge {
        rated: fields.flag("rated")?.unwrap_or_default(),
        time: fields.time()?,
        color: color(&fields),
        variant: variant(&fields),
        fen: fields.text("fen"),
        keep_alive_stream: fields.flag("keepAliveStream")?.unwrap_or_default(),
        rules: rules(&fields),
    },
    |form| {
        let rules = form.rules.iter().map(GameRule::as_str).collect::<Vec<_>>().join(",");
        Fields::default()
            .with("rated", form.rated)
            .with_time(&form.time)
            .with("color", form.color)
            .with("variant", form.variant)
            .with_some("fen", form.fen)
            .with_some("keepAliveStream", form.keep_alive_stream.then_some(true))
            .with_some("rules", Some(rules).filter(|rules| !rules.is_empty()))
    }
);

/// `POST /api/challenge/{id}/decline`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Decline {
    pub reason: DeclineReason,
}

form!(
    Decline,
    "refusal of a challenge",
    |fields| Decline { reason: fields.text("reason").map_or(DeclineReason::Generic, DeclineReason::from) },
    |form| Fields::default().with("reason", form.reason)
);

/// `POST /api/bot/game/{id}/chat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    pub room: Room,
    pub text: String,
}

impl Form for Chat {
    const NAME: &str = "chat";
}

/// `POST /api/bot/game/{id}/move/{uci}`, in the query.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct MoveQuery {
    /// Offers or accepts a draw.
    pub offering_draw: bool,
}

form!(
    MoveQuery,
    "move",
    |fields| MoveQuery { offering_draw: fields.flag("offeringDraw")?.unwrap_or_default() },
    |form| Fields::default().with_some("offeringDraw", form.offering_draw.then_some(true))
);

/// `POST /api/tournament/{id}/join`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct JoinTournament {
    pub password: Option<Secret>,
    pub team: Option<String>,
    /// Pair as soon as possible, within a minute at most.
    pub pair_me_asap: bool,
}

form!(
    JoinTournament,
    "joining",
    |fields| JoinTournament {
        password: fields.text("password").map(Secret::of),
        team: fields.text("team"),
        pair_me_asap: fields.flag("pairMeAsap")?.unwrap_or_default(),
    },
    |form| Fields::default()
        .with_some("password", form.password.as_ref().map(Secret::expose))
        .with_some("team", form.team)
        .with_some("pairMeAsap", form.pair_me_asap.then_some(true))
);

/// `POST /team/{id}/join`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct JoinTeam {
    /// For the team's leaders.
    pub message: Option<String>,
    pub password: Option<Secret>,
}

form!(
    JoinTeam,
    "joining",
    |fields| JoinTeam { message: fields.text("message"), password: fields.text("password").map(Secret::of) },
    |form| Fields::default()
        .with_some("message", form.message)
        .with_some("password", form.password.as_ref().map(Secret::expose))
);
