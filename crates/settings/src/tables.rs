//! The tables of a configuration and their keys, in the order in which they are declared.

use serde_json::Value;

/// One table.
#[derive(Clone, Debug)]
pub struct Table<'s> {
    /// Its line in the file: `[engine]`, `[[server]]`; empty for the keys above all tables.
    pub header: String,
    /// The same without brackets.
    pub path: String,
    /// Value of `protocol` of the table that it is or belongs to.
    pub protocol: Option<&'s str>,
    /// Label of the table with [`Table::is_optional`] that it belongs to.
    pub inside: Option<String>,
    /// For users.
    pub description: &'s str,
    /// Whether it changes something without any key: a part of the program that is off without it, or one of many.
    pub is_optional: bool,
    /// Its keys, without the tables in it.
    pub keys: Vec<Key<'s>>,
}

/// One key.
#[derive(Clone, Debug)]
pub struct Key<'s> {
    /// Name in the table.
    pub name: &'s str,
    /// Its schema.
    pub schema: &'s Value,
    /// Whether the table needs it.
    pub is_required: bool,
    /// Whether a change takes effect while games run.
    pub is_reloadable: bool,
}

impl Table<'_> {
    /// Returns the header, and the protocol if it is a key of the table: `[[server]] lichess`.
    pub fn label(&self) -> String {
        let has_protocol = self.keys.iter().any(|key| key.schema.get("const").is_some());
        match self.protocol.filter(|_| has_protocol) {
            Some(protocol) => format!("{} {protocol}", self.header),
            None => self.header.clone(),
        }
    }
}

impl<'s> Key<'s> {
    /// Returns the description for users.
    pub fn description(&self) -> &'s str {
        self.schema["description"].as_str().unwrap_or_default()
    }

    /// Returns the value without the key. `const` stands for a key that says which table it is.
    pub fn default(&self) -> Option<&'s Value> {
        self.schema.get("default").or_else(|| self.schema.get("const"))
    }

    /// Returns a value that it may have.
    pub fn example(&self) -> Option<&'s Value> {
        self.schema["examples"].get(0)
    }
}

/// Returns all tables of a configuration with this schema.
pub fn tables(root: &Value) -> Vec<Table<'_>> {
    let mut found = Vec::new();
    collect(root, Place::default(), &mut found);
    found
}

/// Where a table is.
#[derive(Clone, Default)]
struct Place<'s> {
    path: String,
    brackets: [&'static str; 2],
    protocol: Option<&'s str>,
    inside: Option<String>,
    /// Of the key that holds it.
    description: Option<&'s str>,
    is_optional: bool,
    is_reloadable: bool,
}

fn collect<'s>(schema: &'s Value, mut place: Place<'s>, found: &mut Vec<Table<'s>>) {
    place.protocol = schema["properties"]["protocol"]["const"].as_str().or(place.protocol);
    let table = table(schema, &place);
    if table.is_optional {
        place.inside = Some(table.label());
    }
    if !table.keys.is_empty() || table.is_optional {
        found.push(table);
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, outer) in properties {
        let path = if place.path.is_empty() { name.clone() } else { format!("{}.{name}", place.path) };
        let is_reloadable = outer["x-reload"].as_bool().unwrap_or(place.is_reloadable);
        let description = outer["description"].as_str();
        let here = Place { path, description, is_optional: true, is_reloadable, ..place.clone() };
        let single = Place { brackets: ["[", "]"], ..here.clone() };
        let list = Place { brackets: ["[[", "]]"], ..here };
        match Form::of(outer) {
            Form::Key => {}
            Form::Table => {
                let is_optional = outer["x-optional"].as_bool().unwrap_or(false);
                collect(outer, Place { is_optional, ..single }, found);
            }
            Form::List(items) => collect(items, list, found),
            Form::OneOf(several) => {
                let list = Place { description: None, ..list };
                several.iter().for_each(|one| collect(one, list.clone(), found));
            }
            Form::Map(values) => {
                let name = outer["x-name"].as_str().or(values["x-name"].as_str()).unwrap_or("NAME");
                let path = format!("{}.{name}", single.path);
                collect(values, Place { path, ..single }, found);
            }
        }
    }
}

/// The table itself, without those in it.
fn table<'s>(schema: &'s Value, place: &Place<'s>) -> Table<'s> {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let keys = properties.filter(|(_, inner)| matches!(Form::of(inner), Form::Key));
    let keys = keys.map(|(name, schema)| Key {
        name,
        schema,
        is_required: required.contains(&name.as_str()),
        is_reloadable: schema["x-reload"].as_bool().unwrap_or(place.is_reloadable),
    });
    let [open, close] = place.brackets;
    Table {
        header: format!("{open}{}{close}", place.path),
        path: place.path.clone(),
        protocol: place.protocol,
        inside: place.inside.clone(),
        description: place.description.or(schema["description"].as_str()).unwrap_or_default(),
        is_optional: place.is_optional,
        keys: keys.collect(),
    }
}

/// Form of a property in the file.
enum Form<'s> {
    /// As a value.
    Key,
    /// As `[name]`.
    Table,
    /// As `[[name]]`, with these keys …
    List(&'s Value),
    /// … or with those of one of these.
    OneOf(&'s [Value]),
    /// As `[name.NAME]`, with these keys; others that it may have are those of another table.
    Map(&'s Value),
}

impl Form<'_> {
    fn of(schema: &Value) -> Form<'_> {
        let is_table = |schema: &Value| schema["properties"].is_object() && schema["x-inline"].is_null();
        let (items, values) = (&schema["items"], &schema["additionalProperties"]);
        if is_table(schema) {
            Form::Table
        } else if is_table(items) {
            Form::List(items)
        } else if let Some(several) = items["oneOf"].as_array().filter(|several| several.iter().all(is_table))
        {
            Form::OneOf(several)
        } else if is_table(values) {
            Form::Map(values)
        } else if is_table(&values["oneOf"][0]) {
            Form::Map(&values["oneOf"][0])
        } else {
            Form::Key
        }
    }
}
