//! Reads the parsed file table by table, and collects all mistakes.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use toml::{
    Spanned, Table,
    de::{DeTable, DeValue, Error},
};

use zeitnot_clients::{PROTOCOLS, ProtocolEntry, Server};
use zeitnot_engine::Config as OwnConfig;
use zeitnot_external::{self as external, Named};
use zeitnot_net::{Contradiction, FileVersion};
use zeitnot_settings::hint;

use super::{
    error::{ConfigError, ConfigErrors, Keys, Place, plain, syntax},
    overrides::{BadOverride, Override, PLAYER, SET},
    schema,
    validate::{take_mistakes, unknown},
};

const SERVER: &str = "server";
const ENGINES: &str = "engines";
const VERSION_KEY: &str = "config_version";
/// Version of the keys. One more is a version whose files an older program would take for others.
const VERSION: u64 = 1;
/// More are counted only: the text is something else.
const MAX_SYNTAX_ERRORS: usize = 10;

/// The tables that are not read yet, and the mistakes in the others.
pub(super) struct Reader<'t> {
    file: &'t str,
    /// Ends of the lines in the text.
    lines: Vec<usize>,
    root: DeTable<'t>,
    /// All keys, those of the command line included.
    keys: DeTable<'t>,
    /// Places of the keys that options of the command line set, in the text as if they stood at its end.
    options: Vec<(usize, &'static str)>,
    end: usize,
    errors: Vec<ConfigError>,
}

impl<'t> Reader<'t> {
    /// Fails if the text is not TOML.
    pub(super) fn new(file: &'t str, text: &'t str) -> Result<Reader<'t>, ConfigErrors> {
        let (root, mut broken) = DeTable::parse_recoverable(text);
        let mut reader = Reader {
            file,
            lines: text.match_indices('\n').map(|(at, _)| at).collect(),
            root: root.into_inner(),
            keys: DeTable::new(),
            options: Vec::new(),
            end: text.len() + 1,
            errors: Vec::new(),
        };
        if let Some((span, key, what)) = early_part(&reader.root) {
            // The headers below begin the same tables again.
            broken.retain(|error| error.message() != "duplicate key");
            reader.error(span, &key, what);
        }
        let more = broken.len().saturating_sub(MAX_SYNTAX_ERRORS);
        for (at, error) in broken.into_iter().take(MAX_SYNTAX_ERRORS + 1).enumerate() {
            let span = error.span().unwrap_or_default();
            let what = match at < MAX_SYNTAX_ERRORS {
                true => syntax(error.message(), text.get(span.clone()).unwrap_or_default()),
                false => format!("and {more} more mistakes from here on: is it the right file?"),
            };
            reader.error(span, "", what);
        }
        ConfigErrors::check(file, std::mem::take(&mut reader.errors))?;
        Ok(reader)
    }

    /// Parses `--set`.
    pub(super) fn written(&mut self, set: &[String]) -> Vec<Override> {
        set.iter().filter_map(|text| self.parsed(SET, text)).collect()
    }

    /// Sets our name in all `[[server]]` tables that have a key for it.
    pub(super) fn named(&mut self, player: &str) -> Vec<Override> {
        let servers = self.root.get(SERVER).and_then(|servers| servers.get_ref().as_array());
        let keys = servers.into_iter().flatten().enumerate().filter_map(|(at, server)| {
            let protocol = server.get_ref().get("protocol")?.get_ref().as_str()?;
            Some(format!("{SERVER}[{at}].{}", ProtocolEntry::find(protocol)?.player_key?))
        });
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() {
            let what = "no [[server]] table takes a name; an account on Lichess has the one of its token";
            self.option_error(PLAYER, (player.to_owned(), what.to_owned()));
        }
        let value = toml::Value::from(player);
        keys.iter().filter_map(|key| self.parsed(PLAYER, &format!("{key}={value}"))).collect()
    }

    fn parsed(&mut self, option: &'static str, text: &str) -> Option<Override> {
        let parsed = Override::parse(option, text, self.end);
        parsed.map_err(|error| self.option_error(option, error)).ok().inspect(|parsed| {
            self.options.push((parsed.span.start, option));
            self.end = parsed.span.end + 1;
        })
    }

    /// Sets these keys.
    pub(super) fn apply(&mut self, overrides: &'t [Override]) {
        for set in overrides {
            if let Err(error) = set.apply(&mut self.root) {
                self.option_error(set.option, error);
            }
        }
        self.keys = self.root.clone();
    }

    /// Returns all keys and their places.
    pub(super) fn keys(&self) -> Keys {
        let mut spans = Spans::new();
        collect_spans("", &self.keys, &mut spans);
        let places = spans.into_iter().map(|(path, [key, _])| (path, self.place(&key))).collect();
        let values = toml::Deserializer::from(Spanned::new(0..self.end, self.keys.clone()));
        // Invalid values have been reported already.
        let values = Table::deserialize(values).unwrap_or_default();
        Keys { file: self.file.to_owned(), places, values }
    }

    fn option_error(&mut self, option: &'static str, (key, what): BadOverride) {
        self.errors.push(ConfigError { place: Place::Option(option), key, what });
    }

    /// Reads a table; a missing table has defaults.
    pub(super) fn section<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let Some(value) = self.root.remove(name) else { return T::default() };
        let read = |table| T::deserialize(toml::Deserializer::from(table));
        self.table(name, schema::table(name), value, read).unwrap_or_default()
    }

    /// Checks that this program knows the version of the file. Other mistakes in a newer one are not reported: most are
    /// none.
    pub(super) fn check_version(&mut self) -> Result<(), ConfigErrors> {
        let Some(version) = self.root.remove(VERSION_KEY) else { return Ok(()) };
        let number = version.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
        let what = match number.map(|number: u64| FileVersion::new(number).check(VERSION)) {
            Some(Ok(())) if number != Some(0) => return Ok(()),
            Some(Err(newer)) => newer.to_string(),
            _ => format!("expected the version of the file: {VERSION}"),
        };
        self.error(version.span(), VERSION_KEY, what);
        ConfigErrors::check(self.file, std::mem::take(&mut self.errors))
    }

    /// Reads the engines: those with a command are programs, those with a key of `[engine]` ours.
    pub(super) fn engines(&mut self) -> BTreeMap<String, Named> {
        let Some(value) = self.root.remove(ENGINES) else { return BTreeMap::new() };
        let span = value.span();
        let DeValue::Table(engines) = value.into_inner() else {
            self.error(span, ENGINES, "expected a table for each engine: [engines.NAME]".to_owned());
            return BTreeMap::new();
        };
        let engines = engines.into_iter().filter_map(|(name, engine)| {
            let name = name.into_inner().into_owned();
            Some((name.clone(), self.engine(&format!("{ENGINES}.{name}"), engine)?))
        });
        engines.collect()
    }

    fn engine(&mut self, path: &str, engine: Spanned<DeValue<'t>>) -> Option<Named> {
        let keys: Vec<_> =
            engine.get_ref().as_table().into_iter().flatten().map(|(key, _)| key.get_ref()).collect();
        let is_program = keys.iter().any(|key| *key == "command");
        let (schema, is_own) =
            schema::engine_table(keys.iter().map(|key| key.as_ref()).filter(|_| !is_program));
        if is_own {
            let read = |table| OwnConfig::deserialize(toml::Deserializer::from(table));
            return self.table(path, schema, engine, read).map(Named::Own);
        }
        let read = |table| external::Config::deserialize(toml::Deserializer::from(table));
        self.table(path, schema, engine, read).map(Named::External)
    }

    /// Reads the servers, each by its protocol.
    pub(super) fn servers(&mut self) -> Vec<Server> {
        let Some(value) = self.root.remove(SERVER) else { return Vec::new() };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(servers) => {
                servers.into_iter().enumerate().filter_map(|(at, server)| self.server(at, server)).collect()
            }
            _ => {
                self.error(span, SERVER, "expected double brackets: [[server]]".to_owned());
                Vec::new()
            }
        }
    }

    /// Fails if there are mistakes; tables that were not read are unknown keys. Contradictions are looked for where there are
    /// no other mistakes.
    pub(super) fn finish(
        mut self,
        keys: &Keys,
        contradictions: impl FnOnce() -> Vec<Contradiction>,
    ) -> Result<(), ConfigErrors> {
        for (key, value) in std::mem::take(&mut self.root) {
            self.error(key.span(), key.get_ref(), unknown(schema::schema(), key.get_ref(), value.get_ref()));
        }
        if self.errors.is_empty() {
            for Contradiction { keys: paths, what } in contradictions() {
                let set = paths.into_iter().find(|path| keys.has(path));
                self.errors.extend(set.map(|path| keys.mistake(path, what)));
            }
        }
        ConfigErrors::check(self.file, self.errors)
    }

    fn server(&mut self, at: usize, server: Spanned<DeValue<'t>>) -> Option<Server> {
        let path = format!("{SERVER}[{at}]");
        let span = server.span();
        let DeValue::Table(mut table) = server.into_inner() else {
            self.error(span, SERVER, "expected double brackets: [[server]]".to_owned());
            return None;
        };
        let key = format!("{path}.protocol");
        let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
        let known = names.join(", ");
        let Some(name) = table.remove("protocol") else {
            self.error(span, &key, format!("is missing; known: {known}"));
            return None;
        };
        match name.get_ref().as_str().and_then(ProtocolEntry::find) {
            Some(row) => {
                let schema = schema::server_table(row.name);
                let table = Spanned::new(span, DeValue::Table(table));
                self.table(&path, schema, table, |table| row.read(table))
            }
            None => {
                let hint = hint(name.get_ref().as_str().unwrap_or_default(), names);
                self.error(name.span(), &key, format!("unknown protocol{hint}; known: {known}"));
                None
            }
        }
    }

    /// Reads a table; while a key of it is wrong, reports that and reads on without the key.
    fn table<T>(
        &mut self,
        path: &str,
        schema: &Value,
        mut value: Spanned<DeValue<'t>>,
        read: impl Fn(Spanned<DeTable<'t>>) -> Result<T, Error>,
    ) -> Option<T> {
        let mistakes = take_mistakes(path, schema, &mut value);
        let mut sound = mistakes.is_empty();
        mistakes.into_iter().for_each(|(span, path, what)| self.error(span, &path, what));
        let whole = value.span();
        let DeValue::Table(mut table) = value.into_inner() else { return None };
        let mut spans = Spans::new();
        collect_spans("", &table, &mut spans);
        loop {
            let error = match read(Spanned::new(whole.clone(), table.clone())) {
                Ok(value) => return sound.then_some(value),
                Err(error) => error,
            };
            let span = error.span().unwrap_or_else(|| whole.clone());
            let culprit = spans.iter().find(|(_, places)| places.contains(&span)).map(|(inner, _)| inner);
            // An error of the table as a whole may be caused by a key that was removed.
            if culprit.is_some() || sound {
                let inner = culprit.map(|inner| format!(".{inner}")).unwrap_or_default();
                self.error(span, &format!("{path}{inner}"), plain(error.message()));
            }
            table.remove(culprit?.split(['.', '[']).next()?)?;
            sound = false;
        }
    }

    fn error(&mut self, at: Range<usize>, key: &str, what: String) {
        let place = self.place(&at);
        self.errors.push(ConfigError { place, key: key.to_owned(), what });
    }

    fn place(&self, at: &Range<usize>) -> Place {
        match self.options.iter().rev().find(|(start, _)| *start <= at.start) {
            Some((_, option)) => Place::Option(option),
            None => {
                let line = 1 + self.lines.partition_point(|end| *end < at.start);
                Place::File { name: self.file.to_owned(), line: Some(line) }
            }
        }
    }
}

/// Finds a table such as `[server.chat]` above the first `[[server]]`. For TOML it begins a table of that name, which
/// `[[server]]` cannot begin again.
fn early_part(root: &DeTable<'_>) -> Option<(Range<usize>, String, String)> {
    let parts = root.get(SERVER)?.get_ref().as_table()?;
    let is_table = |value: &Spanned<DeValue<'_>>| value.get_ref().as_table().is_some();
    let (key, _) = parts.iter().min_by_key(|(key, _)| key.span().start)?;
    let name = format!("{SERVER}.{}", key.get_ref());
    let what = format!(
        "[{name}] is above the first [[{SERVER}]]; move it below the [[{SERVER}]] table that it belongs to"
    );
    parts.iter().all(|(_, value)| is_table(value)).then(|| (key.span(), name, what))
}

/// Places of keys and of their values, by the keys' paths; those of the items of lists are the same.
type Spans = BTreeMap<String, [Range<usize>; 2]>;

fn collect_spans(path: &str, table: &DeTable<'_>, found: &mut Spans) {
    for (key, value) in table {
        collect_spans_within(format!("{path}{}", key.get_ref()), key.span(), value, found);
    }
}

fn collect_spans_within(path: String, key: Range<usize>, value: &Spanned<DeValue<'_>>, found: &mut Spans) {
    match value.get_ref() {
        DeValue::Table(table) => collect_spans(&format!("{path}."), table, found),
        DeValue::Array(list) => {
            for (at, item) in list.iter().enumerate() {
                collect_spans_within(format!("{path}[{at}]"), item.span(), item, found);
            }
        }
        _ => {}
    }
    found.insert(path, [key, value.span()]);
}
