//! The schema of the configuration, and the documents that are generated from it.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use zeitnot_clients::{PROTOCOLS, ProtocolEntry};
use zeitnot_engine as engine;
use zeitnot_external as external;
use zeitnot_settings::{Sample, Table, page, sample, schema_of, tables};

use super::Config;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schema_of::<Config>();
    let version = json!({
        "description": "Version of this file. Without it, the file is read as one of this release; a program that is older than \
                        the file says so.",
        "type": "integer", "minimum": 1, "default": 1
    });
    first(&mut schema, "config_version", version);
    let [program, own] = ENGINES.each_ref();
    schema["properties"]["engines"]["additionalProperties"] = json!({ "oneOf": [program, own] });
    schema["properties"][SERVER]["items"] =
        json!({ "oneOf": PROTOCOLS.iter().map(server).collect::<Vec<_>>() });
    // Every table may be missing.
    schema["required"] = json!([]);
    schema["additionalProperties"] = json!(false);
    schema
});

/// All tables of the file.
pub(super) static TABLES: LazyLock<Vec<Table<'static>>> = LazyLock::new(|| tables(&SCHEMA));

/// Schemas of an `[engines.NAME]` table: of a program, and of an engine of ours.
static ENGINES: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let own = schema_of::<engine::Config>();
    [schema_of::<external::Config>(), own].map(|mut schema| {
        // Only the whole schema may name its dialect.
        schema.as_object_mut().map(|schema| schema.shift_remove("$schema"));
        schema
    })
});

const SERVER: &str = "server";
const PROTOCOL: &str = "protocol";

/// Schema of a `[[server]]` table.
fn server(protocol: &ProtocolEntry) -> Value {
    let mut schema = (protocol.schema)();
    // Only the whole schema may name its dialect.
    schema.as_object_mut().map(|schema| schema.shift_remove("$schema"));
    first(&mut schema, PROTOCOL, json!({ "description": "Protocol of the server.", "const": protocol.name }));
    if let Some(required) = schema.as_object_mut().map(|schema| schema.entry("required").or_insert(json!([])))
        && let Some(required) = required.as_array_mut()
    {
        required.push(json!(PROTOCOL));
    }
    schema
}

/// Adds a key before the others.
fn first(schema: &mut Value, name: &str, key: Value) {
    let others = schema["properties"].as_object().cloned().unwrap_or_default();
    schema["properties"] = Map::from_iter([(name.to_owned(), key)]).into_iter().chain(others).collect();
}

/// Returns the schema of the whole file.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// Returns the schema of a table at the top.
pub(super) fn table(name: &str) -> &'static Value {
    &SCHEMA["properties"][name]
}

/// Returns the schema of an `[engines.NAME]` table with these keys.
pub(super) fn engine_table<'k>(mut keys: impl Iterator<Item = &'k str>) -> (&'static Value, bool) {
    let [program, own] = &*ENGINES;
    let is_own =
        keys.any(|key| own["properties"].get(key).is_some() && program["properties"].get(key).is_none());
    (if is_own { own } else { program }, is_own)
}

/// Returns the schema of a `[[server]]` table.
pub(in crate::cli) fn server_table(protocol: &str) -> &'static Value {
    let all = SCHEMA["properties"][SERVER]["items"]["oneOf"].as_array();
    let found = all.into_iter().flatten().find(|table| table["properties"][PROTOCOL]["const"] == *protocol);
    found.unwrap_or(&Value::Null)
}

/// Returns the schema as a file for editors.
pub fn schema_file() -> String {
    format!("{:#}\n", *SCHEMA)
}

/// Returns the tables of all keys, as docs/configuration.md has them.
pub fn key_tables() -> String {
    page(&SCHEMA)
}

/// Users of a sample, each of whom needs some of the tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)]
pub enum Audience {
    All,
    Lichess,
    Contest,
    Tuc,
    Imcs,
    Cerveau,
    Arena,
    Match,
}

const HOW_TO_READ: &str = "\
# A commented line `# key = value` is the default: uncommenting it changes nothing. `# Example:` is a key without default.
# A table such as `# [web]` is off until its line is uncommented; a key needs the line of its table, too.
#
#   zeitnot check --config config.toml           validates it, and shows what it would do
#   zeitnot check --schema > config.schema.json  writes the schema that the first line names for editors
";

/// Writes the sample for a user, with every key of its tables explained.
pub fn sample_for(audience: Audience) -> String {
    let arena: &[&str] = &["tcp", "websocket"];
    let arena: &[(&str, &[&str])] =
        &[("[arena]", arena), ("[[arena.tournament]]", &[]), ("[[server]] contest", &[])];
    let (what, command, tables, active): (_, _, &[&str], &[(&str, &[&str])]) = match audience {
        Audience::All => ("Configuration of Zeitnot, with every key", "play", &[], arena),
        Audience::Lichess => (
            "Configuration of Zeitnot for an account on Lichess",
            "play",
            &["server lichess", "engine", "engines", "bot", "online_moves", "cache", "log"],
            &[("[[server]] lichess", &["token_file"])],
        ),
        Audience::Contest => (
            "Configuration of Zeitnot for a class tournament",
            "play",
            &["server contest", "engine", "bot", "log"],
            &[("[[server]] contest", &[])],
        ),
        Audience::Tuc => (
            "Configuration of Zeitnot for TUC-Chess",
            "play",
            &["server tuc", "engine", "bot", "log"],
            &[("[[server]] tuc", &[])],
        ),
        Audience::Imcs => (
            "Configuration of Zeitnot for MiniChess on an IMCS",
            "play",
            &["server imcs", "engine", "bot", "log"],
            &[("[[server]] imcs", &["password"])],
        ),
        Audience::Cerveau => (
            "Configuration of Zeitnot for chess on Cerveau",
            "play",
            &["server cerveau", "engine", "bot", "log"],
            &[("[[server]] cerveau", &[])],
        ),
        Audience::Arena => {
            ("Configuration of Zeitnot for a tournament server", "arena", &["arena", "log", "metrics"], arena)
        }
        Audience::Match => (
            "Configuration of Zeitnot for matches of engines",
            "match",
            &["engines", "engine"],
            &[("[engines.stockfish]", &["command"])],
        ),
    };
    let head =
        format!("#:schema config.schema.json\n# {what}.\n{HOW_TO_READ}#   zeitnot {command:<37}reads it\n");
    sample(&SCHEMA, &Sample { head: &head, tables, active })
}
