//! Settings of a tournament as the organiser gives them, and as the database keeps them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use zeitnot_net::secret::Secret;
use zeitnot_pairing::{
    Name,
    format::{AccelerationKind, MAX_PLAYERS, PairingKind, TieBreak},
};
use zeitnot_rules::TimeControl;

use super::config::{StartKind, TournamentConfig, games_per_pair, max_illegal_moves};
use crate::{duration::seconds, keys::Keys};

/// Games of each pair, at most.
const MAX_GAMES_PER_PAIR: u32 = 1000;

/// Settings of a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings<A> {
    /// Name that players write after `JOIN`. It stays.
    #[schema(example = "class")]
    pub(crate) name: Name,
    /// Rules.
    #[serde(default)]
    kind: Kind,
    /// Seconds, and seconds added after each move.
    #[schema(value_type = String, pattern = "^[0-9.]+(\\+[0-9.]+)?$", example = "3+0.05")]
    time_control: TimeControl,
    /// Pairing system.
    #[serde(default)]
    pairing: PairingKind,
    /// Rounds of a Swiss tournament.
    #[serde(default)]
    #[schema(minimum = 1)]
    rounds: Option<u32>,
    /// Virtual points in the first rounds of a Swiss tournament.
    #[serde(default)]
    acceleration: Option<AccelerationKind>,
    /// Tie-breaks in the order in which they decide; none: those of the pairing system.
    #[serde(default)]
    tie_breaks: Vec<TieBreak>,
    /// Players of a gauntlet who meet all others.
    #[serde(default)]
    gauntlet: Vec<Name>,
    /// Games of each pair in a round robin and a gauntlet.
    #[serde(default = "games_per_pair")]
    #[schema(minimum = 1, maximum = 1000)]
    games_per_pair: u32,
    /// Number of players who may join before the beginning.
    #[serde(default)]
    #[schema(minimum = 2, maximum = 1024)]
    players: Option<usize>,
    /// Beginning of play.
    #[serde(default = "by_organiser")]
    start: StartKind,
    /// Players may join after the beginning.
    #[serde(default)]
    late_entries: bool,
    /// Time limit for `ACK`.
    #[serde(default = "seconds::<20>", with = "humantime_serde")]
    #[schema(value_type = String, example = "20s")]
    ack_timeout: Duration,
    /// Interval between pairings.
    #[serde(default = "seconds::<3>", with = "humantime_serde")]
    #[schema(value_type = String, example = "3s")]
    pairing_interval: Duration,
    /// Rest of a player after a game.
    #[serde(default = "seconds::<5>", with = "humantime_serde")]
    #[schema(value_type = String, example = "5s")]
    pause: Duration,
    /// Absence after which a player forfeits the remaining games.
    #[serde(default = "seconds::<60>", with = "humantime_serde")]
    #[schema(value_type = String, example = "1m")]
    absent_after: Duration,
    /// Illegal moves in a row that cost a player the connection, and so the game.
    #[serde(default = "max_illegal_moves")]
    max_illegal_moves: u32,
    /// Access to the tournament.
    #[serde(default)]
    access: A,
}

/// Rules of a tournament.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Orthodox chess.
    #[default]
    Chess,
}

/// Access to a tournament, as the organiser asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AskedAccess {
    /// Open to all who find a free name.
    #[default]
    Open,
    /// Open to those who know this word.
    Password(Secret),
    /// Players of these names, each with a key.
    #[schema(value_type = Vec<Name>)]
    Keys(BTreeSet<Name>),
}

/// Access to a tournament, without its secrets.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AccessKind {
    /// Open to all who find a free name.
    Open,
    /// Open to those who know a word.
    Password,
    /// Players with keys.
    Keys,
}

/// Access to a tournament that the organiser has created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Access {
    #[default]
    Open,
    Password(Secret),
    Keys(BTreeMap<Name, Secret>),
}

/// Access as the database keeps it, in a file that only its owner can read.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredAccess {
    #[default]
    Open,
    Password(String),
    Keys(BTreeMap<Name, String>),
}

/// Reason why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{0}")]
    Invalid(String),
    #[error("the name of a tournament stays: create another one, with the name {0}")]
    Renamed(Name),
    #[error("the system has no random numbers for a key")]
    NoRandom,
}

impl<A> Settings<A> {
    /// Returns the settings that a configuration has.
    pub(super) fn new(config: &TournamentConfig, access: A) -> Settings<A> {
        Settings {
            name: config.name.clone(),
            kind: Kind::Chess,
            time_control: config.time,
            pairing: config.pairing,
            rounds: config.rounds,
            acceleration: config.acceleration,
            tie_breaks: config.tie_breaks.clone(),
            gauntlet: config.gauntlet.clone(),
            games_per_pair: config.games_per_pair,
            players: config.players,
            start: config.start(),
            late_entries: config.late_entries,
            ack_timeout: config.ack_timeout,
            pairing_interval: config.pairing_interval,
            pause: config.pause,
            absent_after: config.absent_after,
            max_illegal_moves: config.max_illegal_moves,
            access,
        }
    }

    /// Checks the settings; returns the configuration that has them.
    pub(super) fn split(self) -> Result<(TournamentConfig, A), SettingsError> {
        let config = TournamentConfig {
            pairing: self.pairing,
            rounds: self.rounds,
            acceleration: self.acceleration,
            tie_breaks: self.tie_breaks,
            gauntlet: self.gauntlet,
            games_per_pair: self.games_per_pair,
            players: self.players,
            start: Some(self.start),
            late_entries: self.late_entries,
            ack_timeout: self.ack_timeout,
            pairing_interval: self.pairing_interval,
            pause: self.pause,
            absent_after: self.absent_after,
            max_illegal_moves: self.max_illegal_moves,
            ..TournamentConfig::new(self.name, self.time_control)
        };
        if config.games_per_pair > MAX_GAMES_PER_PAIR {
            return Err(SettingsError::Invalid(format!("games_per_pair: at most {MAX_GAMES_PER_PAIR}")));
        }
        config.check().map_err(SettingsError::Invalid)?;
        Ok((config, self.access))
    }
}

impl Settings<Option<AskedAccess>> {
    /// Returns the settings with some fields changed; the access is `None` if it is not among them.
    pub(super) fn changed(
        config: &TournamentConfig,
        change: Map<String, Value>,
    ) -> Result<Self, SettingsError> {
        let invalid = |error: serde_json::Error| SettingsError::Invalid(error.to_string());
        let mut whole = serde_json::to_value(Settings::new(config, ())).map_err(invalid)?;
        if let Value::Object(fields) = &mut whole {
            fields.extend(change);
        }
        let changed: Settings<_> = serde_json::from_value(whole).map_err(invalid)?;
        if changed.name != config.name {
            return Err(SettingsError::Renamed(changed.name));
        }
        Ok(changed)
    }
}

impl Settings<Access> {
    /// Returns the text for the database. It has secrets in it.
    pub(super) fn to_stored(config: &TournamentConfig, access: &Access) -> String {
        let secret = |secret: &Secret| secret.expose().to_owned();
        let access = match access {
            Access::Open => StoredAccess::Open,
            Access::Password(word) => StoredAccess::Password(secret(word)),
            Access::Keys(keys) => {
                StoredAccess::Keys(keys.iter().map(|(name, key)| (name.clone(), secret(key))).collect())
            }
        };
        // Such settings can always be written.
        serde_json::to_string(&Settings::new(config, access)).unwrap_or_default()
    }

    /// Reads the text of the database; errors show nothing of it.
    pub(super) fn from_stored(text: &str) -> Option<(TournamentConfig, Access)> {
        let (config, access) = serde_json::from_str::<Settings<StoredAccess>>(text).ok()?.split().ok()?;
        let access = match access {
            StoredAccess::Open => Access::Open,
            StoredAccess::Password(word) => Access::Password(Secret::try_from(word).ok()?),
            StoredAccess::Keys(keys) => {
                let secret = |(name, key)| Some((name, Secret::try_from(key).ok()?));
                Access::Keys(BTreeMap::from_iter(keys.into_iter().map(secret).collect::<Option<Vec<_>>>()?))
            }
        };
        Some((config, access))
    }
}

impl Access {
    /// Returns the access that is asked for; names that have a key already keep it, others get one.
    pub(super) fn grant(&self, asked: AskedAccess) -> Result<Access, SettingsError> {
        Ok(match asked {
            AskedAccess::Open => Access::Open,
            AskedAccess::Password(word) => Access::Password(word),
            AskedAccess::Keys(names) => {
                let known = self.keys();
                let key = |name: Name| match known.and_then(|keys| keys.get(&name)) {
                    Some(key) => Ok((name, key.clone())),
                    None => Ok((name, draw()?)),
                };
                limit(Access::Keys(names.into_iter().map(key).collect::<Result<_, _>>()?))?
            }
        })
    }

    /// Returns the access with new keys for these names, and those keys; `None` if nobody has a key.
    pub(super) fn draw_keys(&self, names: BTreeSet<Name>) -> Result<Option<Drawn>, SettingsError> {
        let Some(known) = self.keys() else { return Ok(None) };
        let new = names.into_iter().map(|name| Ok((name, draw()?))).collect::<Result<Vec<_>, _>>()?;
        let keys = known.clone().into_iter().chain(new.iter().cloned()).collect();
        Ok(Some(Drawn { access: limit(Access::Keys(keys))?, new }))
    }

    fn keys(&self) -> Option<&BTreeMap<Name, Secret>> {
        match self {
            Access::Keys(keys) => Some(keys),
            Access::Open | Access::Password(_) => None,
        }
    }

    pub(super) fn kind(&self) -> AccessKind {
        match self {
            Access::Open => AccessKind::Open,
            Access::Password(_) => AccessKind::Password,
            Access::Keys(_) => AccessKind::Keys,
        }
    }

    /// Returns what decides who may join: the password, and the keys.
    pub(super) fn proofs(&self) -> (Option<Secret>, Option<Keys>) {
        match self {
            Access::Open => (None, None),
            Access::Password(word) => (Some(word.clone()), None),
            Access::Keys(keys) => (None, Some(Keys::new(keys.clone()))),
        }
    }
}

/// New keys.
pub(super) struct Drawn {
    pub(super) access: Access,
    pub(super) new: Vec<(Name, Secret)>,
}

fn by_organiser() -> StartKind {
    StartKind::Organiser
}

fn draw() -> Result<Secret, SettingsError> {
    Secret::random().ok_or(SettingsError::NoRandom)
}

fn limit(access: Access) -> Result<Access, SettingsError> {
    match access.keys() {
        Some(keys) if keys.len() > MAX_PLAYERS => {
            Err(SettingsError::Invalid(format!("keys: for at most {MAX_PLAYERS} names")))
        }
        _ => Ok(access),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(fields: Value) -> Result<(TournamentConfig, AskedAccess), String> {
        let settings = serde_json::from_value::<Settings<AskedAccess>>(fields).map_err(|e| e.to_string())?;
        settings.split().map_err(|error| error.to_string())
    }

    fn name(text: &str) -> Name {
        Name::try_from(text).unwrap()
    }

    #[test]
    fn settings_are_kept_with_their_secrets_and_shown_without() {
        let names = json!({"keys": ["alice", "bob"]});
        let fields = json!({"name": "class", "time_control": "3+0.05", "players": 6, "pairing": "swiss",
            "rounds": 3, "acceleration": "baku", "tie_breaks": ["buchholz", "wins"], "pause": "0s", "access": names});
        let (config, access) = asked(fields).unwrap();
        let access = Access::default().grant(access).unwrap();
        let stored = Settings::to_stored(&config, &access);
        assert_eq!(Settings::from_stored(&stored), Some((config.clone(), access.clone())));
        let key = access.keys().unwrap()[&name("alice")].expose().to_owned();
        assert!(stored.contains(&key));
        let shown = serde_json::to_string(&Settings::new(&config, access.kind())).unwrap();
        assert!(shown.contains(r#""access":"keys""#) && !shown.contains(&key), "{shown}");
        assert!(!format!("{access:?}").contains(&key));
        assert_eq!(Settings::from_stored(&stored.replace("swiss", "danish")), None);
    }

    #[test]
    fn mistakes_are_told() {
        for (field, value, why) in [
            ("name", json!("a b"), "no name"),
            ("name", json!(".."), "stands for a folder"),
            ("kind", json!("go"), "unknown variant"),
            ("time_control", json!("fast"), "time"),
            ("pairing", json!("swiss"), "needs rounds"),
            ("games_per_pair", json!(1001), "at most 1000"),
            ("tie_breaks", json!(["buchholz"]), "only with pairing"),
            ("players", json!(1025), "at most 1024"),
            ("players", json!(-1), "invalid value"),
            ("pause", json!("1year"), "longer than a week"),
            ("max_illegal_moves", json!(0), "at least 1"),
            ("openings", json!("/etc/passwd"), "unknown field"),
            ("access", json!({"password": "two words"}), "without spaces"),
            ("access", json!({"password": "word", "keys": []}), "expected"),
        ] {
            let mut fields = json!({"name": "class", "time_control": "3", "players": 6});
            fields[field] = value;
            let told = asked(fields).unwrap_err();
            assert!(told.contains(why), "{field}: {told}");
        }
    }

    #[test]
    fn a_change_keeps_the_rest() {
        let (config, _) = asked(json!({"name": "class", "time_control": "3", "players": 6})).unwrap();
        let change = |change: Value| Settings::changed(&config, change.as_object().unwrap().clone());
        let (changed, access) =
            change(json!({"players": null, "access": {"password": "hush"}})).unwrap().split().unwrap();
        assert_eq!(changed, TournamentConfig { players: None, ..config.clone() });
        assert!(matches!(access, Some(AskedAccess::Password(_))));
        let (same, access) = change(json!({})).unwrap().split().unwrap();
        assert_eq!((same, access), (config.clone(), None));
        assert_eq!(change(json!({"name": "other"})), Err(SettingsError::Renamed(name("other"))));
        assert!(matches!(change(json!({"time": "3"})), Err(SettingsError::Invalid(_))));
    }

    #[test]
    fn keys_are_drawn_anew_when_asked_and_kept_otherwise() {
        let names = |names: &[&str]| names.iter().map(|it| name(it)).collect::<BTreeSet<_>>();
        let first = Access::Open.grant(AskedAccess::Keys(names(&["alice", "bob"]))).unwrap();
        let second = first.grant(AskedAccess::Keys(names(&["alice", "carol"]))).unwrap();
        let key = |access: &Access, player: &str| access.keys().unwrap().get(&name(player)).cloned();
        assert_eq!(key(&second, "alice"), key(&first, "alice"));
        assert!(key(&second, "carol").is_some() && key(&second, "bob").is_none());
        let drawn = second.draw_keys(names(&["alice", "dave"])).unwrap().unwrap();
        assert_ne!(key(&drawn.access, "alice"), key(&first, "alice"));
        assert_eq!(drawn.new.len(), 2);
        assert_eq!(drawn.access.keys().unwrap().len(), 3);
        assert!(Access::Open.draw_keys(names(&["alice"])).unwrap().is_none());
        let many = (0..=MAX_PLAYERS).map(|n| name(&format!("p{n}"))).collect();
        assert!(second.draw_keys(many).is_err());
    }
}
