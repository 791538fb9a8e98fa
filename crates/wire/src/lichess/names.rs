//! Enumerations of the API. Unknown words are kept as text.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, Serializer};

use zeitnot_rules::TimeControl;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
            /// Unknown word.
            Other(String),
        }

        impl $name {
            /// All known words.
            pub const KNOWN: &[$name] = &[$($name::$variant),*];

            /// Returns the word.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $text,)*
                    $name::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            /// Ignores case, in which the API itself is inconsistent.
            fn from(word: &str) -> $name {
                let known = $name::KNOWN.iter().find(|known| known.as_str().eq_ignore_ascii_case(word));
                known.cloned().unwrap_or_else(|| $name::Other(word.to_owned()))
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> $name {
                word.as_str().into()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

names! {
    /// Tablebase result for the side to move. The fifty-move rule makes `cursed` wins and `blessed` losses draws, and
    /// may do so for `syzygy` and `maybe` ones.
    Category {
        Win = "win", SyzygyWin = "syzygy-win", MaybeWin = "maybe-win", CursedWin = "cursed-win", Draw = "draw",
        BlessedLoss = "blessed-loss", MaybeLoss = "maybe-loss", SyzygyLoss = "syzygy-loss", Loss = "loss",
        Unknown = "unknown",
    }

    /// Status of a challenge.
    ChallengeStatus {
        Created = "created", Offline = "offline", Canceled = "canceled", Declined = "declined",
        Accepted = "accepted",
    }

    /// End of a challenge with `keepAliveStream`.
    ChallengeEnd { Accepted = "accepted", Declined = "declined", Canceled = "canceled" }

    /// Color that a challenger wants.
    ColorWish { White = "white", Black = "black", Random = "random" }

    /// Reason for declining a challenge; events have it in lower case.
    DeclineReason {
        Generic = "generic", Later = "later", TooFast = "tooFast", TooSlow = "tooSlow",
        TimeControl = "timeControl", Rated = "rated", Casual = "casual", Standard = "standard",
        Variant = "variant", NoBot = "noBot", OnlyBot = "onlyBot",
    }

    /// Direction of a challenge for the account that asked.
    Direction { In = "in", Out = "out" }

    /// Restriction of a game.
    GameRule {
        NoAbort = "noAbort", NoRematch = "noRematch", NoGiveTime = "noGiveTime",
        NoClaimWin = "noClaimWin", NoEarlyDraw = "noEarlyDraw",
    }

    /// Kind of rating.
    PerfKey {
        UltraBullet = "ultraBullet", Bullet = "bullet", Blitz = "blitz", Rapid = "rapid",
        Classical = "classical", Correspondence = "correspondence", Chess960 = "chess960",
        Crazyhouse = "crazyhouse", Antichess = "antichess", Atomic = "atomic", Horde = "horde",
        KingOfTheHill = "kingOfTheHill", RacingKings = "racingKings", ThreeCheck = "threeCheck",
    }

    /// Readers of a chat message.
    Room { Player = "player", Spectator = "spectator" }

    /// Scope of a token.
    Scope {
        BotPlay = "bot:play", ChallengeRead = "challenge:read", ChallengeWrite = "challenge:write",
        TournamentWrite = "tournament:write", TeamWrite = "team:write",
    }

    /// Origin of a game.
    Source {
        Lobby = "lobby", Friend = "friend", Ai = "ai", Api = "api", Tournament = "tournament",
        Position = "position", Import = "import", ImportLive = "importlive", Simul = "simul",
        Relay = "relay", Pool = "pool", Arena = "arena", Swiss = "swiss",
    }

    /// Speed of a game.
    Speed {
        UltraBullet = "ultraBullet", Bullet = "bullet", Blitz = "blitz", Rapid = "rapid",
        Classical = "classical", Correspondence = "correspondence",
    }

    /// Status of a game. Events also send its number, see [`Status::id`].
    Status {
        Created = "created", Started = "started", Aborted = "aborted", Mate = "mate", Resign = "resign",
        Stalemate = "stalemate", Timeout = "timeout", Draw = "draw", OutOfTime = "outoftime",
        Cheat = "cheat", NoStart = "noStart", UnknownFinish = "unknownFinish",
        InsufficientMaterialClaim = "insufficientMaterialClaim", VariantEnd = "variantEnd",
    }

    /// Title of a user. Titles of people are unknown words.
    Title { Bot = "BOT" }

    /// Chess variant.
    VariantKey {
        Standard = "standard", Chess960 = "chess960", Crazyhouse = "crazyhouse", Antichess = "antichess",
        Atomic = "atomic", Horde = "horde", KingOfTheHill = "kingOfTheHill", RacingKings = "racingKings",
        ThreeCheck = "threeCheck", FromPosition = "fromPosition",
    }
}

/// Serialises a decline reason as events have it, in lower case; unknown ones as they came.
pub(super) fn lower_case<S: Serializer>(reason: &Option<DeclineReason>, s: S) -> Result<S::Ok, S::Error> {
    let word = |reason: &DeclineReason| match reason {
        DeclineReason::Other(word) => word.to_string(),
        known => known.as_str().to_ascii_lowercase(),
    };
    reason.as_ref().map(word).serialize(s)
}

impl Speed {
    /// Returns the speed of a game with this clock, from the time for forty moves.
    pub fn of(clock: TimeControl) -> Speed {
        match clock.initial.saturating_add(clock.increment.saturating_mul(40)) {
            time if time < Duration::from_secs(30) => Speed::UltraBullet,
            time if time < Duration::from_secs(180) => Speed::Bullet,
            time if time < Duration::from_secs(480) => Speed::Blitz,
            time if time < Duration::from_secs(1500) => Speed::Rapid,
            _ => Speed::Classical,
        }
    }
}

impl Status {
    /// Returns whether the game is over. Unknown statuses are ends.
    pub fn is_over(&self) -> bool {
        !matches!(self, Status::Created | Status::Started)
    }

    /// Returns its number.
    pub fn id(&self) -> Option<u64> {
        Some(match self {
            Status::Created => 10,
            Status::Started => 20,
            Status::Aborted => 25,
            Status::Mate => 30,
            Status::Resign => 31,
            Status::Stalemate => 32,
            Status::Timeout => 33,
            Status::Draw => 34,
            Status::OutOfTime => 35,
            Status::Cheat => 36,
            Status::NoStart => 37,
            Status::UnknownFinish => 38,
            Status::InsufficientMaterialClaim => 39,
            Status::VariantEnd => 60,
            Status::Other(_) => return None,
        })
    }
}

/// Status as an object, `{"id":20,"name":"started"}`; either field is enough.
pub(super) mod status {
    use serde::{Deserializer, Serializer, de::Error};

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Object {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        name: Option<Status>,
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Status, D::Error> {
        let Object { id, name } = Object::deserialize(d)?;
        let numbered =
            || id.and_then(|id| Status::KNOWN.iter().find(|known| known.id() == Some(id)).cloned());
        name.or_else(numbered).ok_or_else(|| D::Error::missing_field("name"))
    }

    pub(crate) fn serialize<S: Serializer>(status: &Status, s: S) -> Result<S::Ok, S::Error> {
        Object { id: status.id(), name: Some(status.clone()) }.serialize(s)
    }
}

/// Chess variant with its names for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    pub key: VariantKey,
    #[serde(default, deserialize_with = "super::codec::nullable")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
}

impl From<VariantKey> for Variant {
    fn from(key: VariantKey) -> Variant {
        let (name, short) = match &key {
            VariantKey::Standard => ("Standard", "Std"),
            VariantKey::Chess960 => ("Chess960", "960"),
            VariantKey::Crazyhouse => ("Crazyhouse", "Crazy"),
            VariantKey::Antichess => ("Antichess", "Anti"),
            VariantKey::Atomic => ("Atomic", "Atom"),
            VariantKey::Horde => ("Horde", "Horde"),
            VariantKey::KingOfTheHill => ("King of the Hill", "KotH"),
            VariantKey::RacingKings => ("Racing Kings", "Racing"),
            VariantKey::ThreeCheck => ("Three-check", "3check"),
            VariantKey::FromPosition => ("From Position", "FEN"),
            VariantKey::Other(word) => (word.as_str(), word.as_str()),
        };
        Variant { name: name.to_owned(), short: Some(short.to_owned()), key }
    }
}

impl Default for Variant {
    fn default() -> Variant {
        VariantKey::Standard.into()
    }
}
