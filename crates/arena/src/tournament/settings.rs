//! Settings of a tournament as the organiser gives them, and as the database keeps them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use utoipa::ToSchema;
use zeitnot_net::secret::Secret;
use zeitnot_pairing::{Name, format::MAX_PLAYERS};
use zeitnot_wire::printable;

use super::config::{StartKind, TournamentConfig, checks::check_password};
use crate::keys::Keys;

/// Characters of an unknown key, in messages.
const MAX_KEY: usize = 50;
/// Name in the API of the setting `time`.
const TIME: &str = "time_control";

/// Settings of a tournament: those of the configuration that the organiser can give, and who may join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(expecting = "the settings of a tournament")]
pub(crate) struct Settings<A> {
    #[serde(flatten, deserialize_with = "organised")]
    #[schema(inline)]
    pub(crate) config: TournamentConfig,
    /// Access to the tournament.
    #[serde(default)]
    access: A,
}

/// Fields of an object, each of them once.
#[derive(Debug, Default)]
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(Fields::default())
    }
}

impl<'de> Visitor<'de> for Fields {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings of a tournament")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut fields: M) -> Result<Fields, M::Error> {
        while let Some((key, value)) = fields.next_entry::<String, Value>()? {
            if self.0.contains_key(&key) {
                return Err(M::Error::custom(format!("duplicate field `{}`", printable(&key, MAX_KEY))));
            }
            self.0.insert(key, value);
        }
        Ok(self)
    }
}

/// Settings to change; the others stay.
#[derive(Debug, Deserialize)]
#[serde(expecting = "the settings of a tournament")]
pub(crate) struct SettingsChange {
    access: Option<AskedAccess>,
    #[serde(flatten)]
    fields: Fields,
}

/// Reads the settings of a configuration under their names in the API.
fn organised<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TournamentConfig, D::Error> {
    let Fields(mut fields) = Fields::deserialize(deserializer)?;
    let schema = TournamentConfig::api_schema();
    let known = || schema["properties"].as_object().into_iter().flatten().map(|(known, _)| known);
    if fields.get("openings").is_some_and(Value::is_string) {
        return Err(D::Error::custom("openings: expected a list of positions"));
    }
    if let Some(key) = fields.keys().find(|key| !known().any(|known| known == *key)) {
        let known = known()
            .chain([&"access".to_owned()])
            .map(|key| format!("`{key}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let key = printable(key, MAX_KEY);
        return Err(D::Error::custom(format!("unknown field `{key}`, expected one of {known}")));
    }
    let time = fields.remove(TIME).ok_or_else(|| D::Error::missing_field(TIME))?;
    fields.insert("time".to_owned(), time);
    let config = serde_path_to_error::deserialize::<_, TournamentConfig>(Value::Object(fields));
    let mut config = config.map_err(|error| D::Error::custom(with_field(&error)))?;
    config.start.get_or_insert(StartKind::Organiser);
    Ok(config)
}

/// Returns the text of an error, which begins with the API's field that it is about, if there is one.
fn with_field(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let why = error.inner();
    match error.path().iter().next() {
        Some(Segment::Map { key }) => format!("{}: {why}", if key == "time" { TIME } else { key }),
        _ => why.to_string(),
    }
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

/// Access to a tournament that the organiser has created, as the database keeps it in a file that only its owner can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Access {
    #[default]
    Open,
    Password(#[serde(serialize_with = "exposed")] Secret),
    Keys(#[serde(serialize_with = "all_exposed")] BTreeMap<Name, Secret>),
}

fn exposed<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

fn all_exposed<S: Serializer>(keys: &BTreeMap<Name, Secret>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(keys.iter().map(|(name, key)| (name, key.expose())))
}

/// Reason why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{0}")]
    Invalid(String),
    #[error("a tournament cannot be renamed: create another one with the name {0}")]
    Renamed(Name),
    #[error("the system has no random numbers for a key")]
    NoRandom,
}

impl<A> Settings<A> {
    /// Returns the settings that a configuration has.
    pub(super) fn new(config: &TournamentConfig, access: A) -> Settings<A> {
        let config = TournamentConfig { start: Some(config.start()), ..config.clone() };
        Settings { config, access }
    }

    /// Checks the settings; returns the configuration that has them.
    pub(super) fn checked(self) -> Result<(TournamentConfig, A), SettingsError> {
        self.config.check().map_err(SettingsError::Invalid)?;
        Ok((self.config, self.access))
    }
}

impl Settings<Option<AskedAccess>> {
    /// Returns the settings with some fields changed; the access is `None` if it is not among them.
    pub(super) fn changed(config: &TournamentConfig, change: SettingsChange) -> Result<Self, SettingsError> {
        let invalid = |error: serde_json::Error| SettingsError::Invalid(error.to_string());
        let mut whole = serde_json::to_value(Settings::new(config, ())).map_err(invalid)?;
        if let Value::Object(fields) = &mut whole {
            fields.extend(change.fields.0);
        }
        let changed: Settings<()> = serde_json::from_value(whole).map_err(invalid)?;
        if changed.config.name != config.name {
            return Err(SettingsError::Renamed(changed.config.name));
        }
        Ok(Settings { config: changed.config, access: change.access })
    }
}

impl Settings<()> {
    /// Returns the text for the database. It has secrets in it.
    pub(super) fn to_stored(config: &TournamentConfig, access: &Access) -> String {
        // Such settings can always be written.
        serde_json::to_string(&Settings::new(config, access)).unwrap_or_default()
    }

    /// Reads the text that the database has for a tournament. Errors show nothing of its secrets.
    pub(super) fn from_stored(name: &Name, text: &str) -> Result<(TournamentConfig, Access), SettingsError> {
        let invalid = |error: serde_json::Error| SettingsError::Invalid(error.to_string());
        let damaged = |what: &str| SettingsError::Invalid(what.to_owned());
        let Fields(mut fields) = serde_json::from_str(text).map_err(invalid)?;
        // Earlier arenas have the game under this name.
        if let Some(kind) = fields.remove("kind") {
            fields.insert("game".to_owned(), kind);
        }
        let access = fields.remove("access").ok_or_else(|| damaged("missing field `access`"))?;
        let access = serde_json::from_value(access).map_err(|_| damaged("`access` is damaged"))?;
        let settings: Settings<()> = serde_json::from_value(Value::Object(fields)).map_err(invalid)?;
        let (config, ()) = settings.checked()?;
        match config.name == *name {
            true => Ok((config, access)),
            false => Err(SettingsError::Invalid(format!("they are those of {}", config.name))),
        }
    }
}

impl Access {
    /// Returns the access that is asked for; names that have a key already keep it, others get one.
    pub(super) fn grant(&self, asked: AskedAccess) -> Result<Access, SettingsError> {
        Ok(match asked {
            AskedAccess::Open => Access::Open,
            AskedAccess::Password(word) => {
                check_password(&word).map_err(SettingsError::Invalid)?;
                Access::Password(word)
            }
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
mod tests;
