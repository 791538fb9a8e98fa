//! Reads the parsed file table by table, and collects all mistakes.

use std::ops::Range;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use toml::{
    Spanned, Table,
    de::{DeString, DeTable, DeValue, Error},
};

use zeitnot_clients::{PROTOCOLS, ProtocolEntry, Server};
use zeitnot_net::{Contradiction, FileVersion};

use super::{
    bounds::out_of_bounds,
    error::{ConfigError, ConfigErrors, Place, hint, plain},
    overrides::{BadOverride, Override, PLAYER, SET},
    schema,
};

const SERVER: &str = "server";
const VERSION_KEY: &str = "config_version";
/// Version of the keys. One more is a version whose files an older program would take for others.
const VERSION: u64 = 1;
/// More are counted only: the text is something else.
const MAX_SYNTAX_ERRORS: usize = 10;

/// The tables that are not read yet, and the mistakes in the others.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    root: DeTable<'t>,
    /// All keys, those of the command line included.
    keys: DeTable<'t>,
    /// Places of the keys that options of the command line set, in the text as if they stood at its end.
    options: Vec<(usize, &'static str)>,
    end: usize,
    errors: Vec<ConfigError>,
    /// Names of the tables; all others are unknown keys.
    known: Vec<&'static str>,
}

impl<'t> Reader<'t> {
    /// Fails if the text is not TOML.
    pub(super) fn new(file: &'t str, text: &'t str) -> Result<Reader<'t>, ConfigErrors> {
        let (root, mut broken) = DeTable::parse_recoverable(text);
        let mut reader = Reader {
            file,
            text,
            root: root.into_inner(),
            keys: DeTable::new(),
            options: Vec::new(),
            end: text.len() + 1,
            errors: Vec::new(),
            known: Vec::new(),
        };
        if let Some((span, key, what)) = early_part(&reader.root) {
            // The headers below begin the same tables again.
            broken.retain(|error| error.message() != "duplicate key");
            reader.error(span, &key, what);
        }
        let more = broken.len().saturating_sub(MAX_SYNTAX_ERRORS);
        for (at, error) in broken.into_iter().take(MAX_SYNTAX_ERRORS + 1).enumerate() {
            let what = match at < MAX_SYNTAX_ERRORS {
                true => plain(error.message()),
                false => format!("and {more} more mistakes from here on: is it the right file?"),
            };
            reader.error(error.span().unwrap_or_default(), "", what);
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

    /// Returns whether a key such as `server[0].concurrency` is set.
    pub(super) fn is_set(&self, path: &str) -> bool {
        span_of(&self.keys, path).is_some()
    }

    fn option_error(&mut self, option: &'static str, (key, what): BadOverride) {
        self.errors.push(ConfigError { place: Place::Option(option), key, what });
    }

    /// Reads a table; a missing table has defaults.
    pub(super) fn section<T: DeserializeOwned + Default>(&mut self, name: &'static str) -> T {
        self.known.push(name);
        let Some(value) = self.root.remove(name) else { return T::default() };
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => {
                let table = Spanned::new(span, table);
                let read = |table| T::deserialize(toml::Deserializer::from(table));
                self.table(name, schema::table(name), table, read)
            }
            _ => {
                self.error(span, name, format!("expected a table: [{name}]"));
                None
            }
        }
        .unwrap_or_default()
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

    /// Checks that the rules of `[[bot.choose]]` name configured engines.
    pub(super) fn check_rules(&mut self) {
        let engines = self.root.get("engines").and_then(|engines| engines.get_ref().as_table());
        let known = |name: &str| engines.is_some_and(|engines| engines.contains_key(name));
        let names: Vec<_> = engines.into_iter().flatten().map(|(name, _)| name.get_ref().as_ref()).collect();
        let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let rules = self.root.get("bot").and_then(|bot| bot.get_ref().get("choose"));
        let rules = rules.and_then(|rules| rules.get_ref().as_array());
        let mut unknown = Vec::new();
        for (at, rule) in rules.into_iter().flatten().enumerate() {
            let Some(engine) = rule.get_ref().get("engine") else { continue };
            if let Some(name) = engine.get_ref().as_str().filter(|name| !known(name)) {
                let hint = hint(name, names.iter().copied());
                let what = format!(
                    "no engine is called `{name}`{hint}; known: {listed}; each has a table [engines.NAME]"
                );
                unknown.push((engine.span(), format!("bot.choose[{at}].engine"), what));
            }
        }
        for (span, key, what) in unknown {
            self.error(span, &key, what);
        }
    }

    /// Reads the servers, each by its protocol.
    pub(super) fn servers(&mut self) -> Vec<Server> {
        self.known.push(SERVER);
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

    /// Returns all keys, or all mistakes; tables that were not read are unknown keys. Contradictions are looked for where
    /// there are no other mistakes; the function is told which keys are set.
    pub(super) fn finish(
        mut self,
        contradictions: impl FnOnce(&dyn Fn(&str) -> bool) -> Vec<Contradiction>,
    ) -> Result<Table, ConfigErrors> {
        for (key, _) in std::mem::take(&mut self.root) {
            let hint = hint(key.get_ref(), self.known.iter().copied());
            let what =
                format!("unknown key `{}`{hint}; known here: {}", key.get_ref(), self.known.join(", "));
            self.error(key.span(), key.get_ref(), what);
        }
        if self.errors.is_empty() {
            for Contradiction { keys, what } in contradictions(&|path| self.is_set(path)) {
                let set = keys.iter().find_map(|key| Some((key, span_of(&self.keys, key)?)));
                if let Some((key, span)) = set {
                    self.error(span, key, what);
                }
            }
        }
        ConfigErrors::check(self.file, self.errors)?;
        let keys = toml::Deserializer::from(Spanned::new(0..self.end, self.keys));
        Table::deserialize(keys).map_err(|error| ConfigErrors::whole(self.file, error.message()))
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
                self.table(&path, schema, Spanned::new(span, table), |table| row.read(table))
            }
            None => {
                let hint = hint(name.get_ref().as_str().unwrap_or_default(), names);
                self.error(name.span(), &key, format!("no protocol of ours{hint}; known: {known}"));
                None
            }
        }
    }

    /// Reads a table; while a key of it is wrong, reports that and reads on without the key.
    fn table<T>(
        &mut self,
        path: &str,
        schema: &Value,
        mut table: Spanned<DeTable<'t>>,
        read: impl Fn(Spanned<DeTable<'t>>) -> Result<T, Error>,
    ) -> Option<T> {
        let mut sound = true;
        for (key, (span, path, what)) in out_of_bounds(path, schema, table.get_ref()) {
            self.error(span, &path, what);
            table.get_mut().remove(&key);
            sound = false;
        }
        loop {
            let error = match read(table.clone()) {
                Ok(value) => return sound.then_some(value),
                Err(error) => error,
            };
            let span = error.span().unwrap_or(table.span());
            let culprit =
                table.get_ref().iter().find_map(|entry| Some((entry.0.clone(), path_to(&span, entry)?)));
            // An error of the table as a whole may be caused by a key that was removed.
            if culprit.is_some() || sound {
                let inner = culprit.as_ref().map_or("", |(_, inner)| inner);
                self.bad_table(format!("{path}{inner}"), span, error.message());
            }
            table.get_mut().remove(&culprit?.0);
            sound = false;
        }
    }

    fn bad_table(&mut self, mut key: String, span: Range<usize>, message: &str) {
        let missing = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
        let what = match missing {
            Some(field) => {
                key.push_str(&format!(".{field}"));
                "is missing".to_owned()
            }
            None => plain(message),
        };
        self.error(span, &key, what);
    }

    fn error(&mut self, at: Range<usize>, key: &str, what: String) {
        let option = self.options.iter().rev().find(|(start, _)| *start <= at.start);
        let place = match option {
            Some((_, option)) => Place::Option(option),
            None => {
                let before = self.text.as_bytes().iter().take(at.start);
                let line = 1 + before.filter(|byte| **byte == b'\n').count();
                Place::File { name: self.file.to_owned(), line: Some(line) }
            }
        };
        self.errors.push(ConfigError { place, key: key.to_owned(), what });
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
        "[{name}] stands above the first [[{SERVER}]]; move it below the [[{SERVER}]] table that it belongs to"
    );
    parts.iter().all(|(_, value)| is_table(value)).then(|| (key.span(), name, what))
}

/// Returns the place of a key such as `server[0].concurrency`, if it is set. Names may have dots in them, as users
/// choose some.
fn span_of(table: &DeTable<'_>, path: &str) -> Option<Range<usize>> {
    table.iter().find_map(|(key, value)| match path.strip_prefix(key.get_ref().as_ref())? {
        "" => Some(key.span()),
        rest => span_within(value, rest),
    })
}

fn span_within(value: &Spanned<DeValue<'_>>, path: &str) -> Option<Range<usize>> {
    if let Some(path) = path.strip_prefix('.') {
        return span_of(value.get_ref().as_table()?, path);
    }
    let (at, path) = path.strip_prefix('[')?.split_once(']')?;
    let item = value.get_ref().as_array()?.get(at.parse::<usize>().ok()?)?;
    if path.is_empty() { Some(item.span()) } else { span_within(item, path) }
}

/// Path to the key or value at this place in the text, such as `.offer.times[1]`, if it is in this entry of a table.
fn path_to(
    place: &Range<usize>,
    (key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>),
) -> Option<String> {
    let inner = if key.span() == *place { Some(String::new()) } else { path_within(place, value) };
    Some(format!(".{}{}", key.get_ref(), inner?))
}

fn path_within(place: &Range<usize>, value: &Spanned<DeValue<'_>>) -> Option<String> {
    if value.span() == *place {
        return Some(String::new());
    }
    let in_list = |(at, value): (usize, &Spanned<_>)| Some(format!("[{at}]{}", path_within(place, value)?));
    match value.get_ref() {
        DeValue::Table(table) => table.iter().find_map(|entry| path_to(place, entry)),
        DeValue::Array(list) => list.iter().enumerate().find_map(in_list),
        _ => None,
    }
}
