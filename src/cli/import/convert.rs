//! Conversion of a configuration: keys that are converted are removed from theirs, and the rest is reported.

use std::{cmp::Ordering, path::Path};

use serde_json::Value;
use toml::{Table, Value as Toml};

use zeitnot_wire::lichess::Token;

use super::{
    super::config::{Config, ConfigError},
    botli, lichess_bot,
    source::Source,
    tables::Import,
    yaml::{self, InvalidAt},
};

/// A converted configuration.
#[derive(Debug)]
pub struct Converted {
    /// Ours, with comments on top.
    pub text: String,
    /// The token, which is not in the text.
    pub token: Option<Token>,
    /// Keys that could not be converted, each with the reason.
    pub left: Vec<String>,
    /// Whether no key could be converted, although there are some.
    pub is_empty: bool,
}

type Convert = fn(&mut Import<'_>);

/// The bots whose configurations are converted.
pub const SOURCES: [&Source; 2] = [CONVERSIONS[0].0, CONVERSIONS[1].0];
/// The same, with what the tables of keys do not say.
const CONVERSIONS: [(&Source, Convert); 2] =
    [(&lichess_bot::SOURCE, lichess_bot::convert), (&botli::SOURCE, botli::convert)];

/// Converts a configuration. Its relative paths begin at `home`; the token will be stored in `token_file`, if given.
///
/// # Errors
/// Describes the mistake in the text without quoting it, as it contains a secret.
pub fn convert(yaml: &str, home: &Path, token_file: Option<&Path>) -> Result<Converted, String> {
    let theirs = yaml::parse(yaml).map_err(|InvalidAt(line)| format!("invalid YAML at line {line}"))?;
    let (source, convert) = recognise(&theirs)?;
    let mut nothing = Import::new(source, Value::Null, home);
    nothing.run(convert);
    let mut import = Import::new(source, theirs, home);
    let token = import.token();
    import.run(convert);
    let is_empty = token.is_none() && !import.left.is_empty() && import.ours == nothing.ours;
    let token_file = token_file.filter(|_| token.is_some());
    if let Some(file) = token_file {
        import.set("server.token_file", &*file.to_string_lossy());
    }
    Ok(Converted { text: import.text(token.is_some(), token_file), token, left: import.left, is_empty })
}

/// Finds the bot to which a configuration belongs: the one of which it has more keys.
fn recognise(theirs: &Value) -> Result<(&'static Source, Convert), String> {
    let has = |path: &&&str| path.split('.').try_fold(theirs, |value, key| value.get(key)).is_some();
    let found = |source: &Source| source.marks.iter().filter(has).copied().collect::<Vec<_>>();
    let [first, second] = CONVERSIONS.map(|(source, _)| found(source));
    let names = CONVERSIONS.map(|(source, _)| source.name);
    match first.len().cmp(&second.len()) {
        Ordering::Greater => Ok(CONVERSIONS[0]),
        Ordering::Less => Ok(CONVERSIONS[1]),
        Ordering::Equal if first.is_empty() => Err(format!(
            "is not a configuration of {} or {}: it has no key that only one of them knows",
            names[0], names[1]
        )),
        Ordering::Equal => Err(format!(
            "has keys of {} ({}) and of {} ({}): remove those of one",
            names[0],
            first.join(", "),
            names[1],
            second.join(", ")
        )),
    }
}

impl Import<'_> {
    fn token(&mut self) -> Option<Token> {
        let token = self.take("token")?.as_str().and_then(|text| text.trim().parse().ok());
        if token.is_none() {
            self.leave("token", "expected letters, digits and underscores");
        }
        token
    }

    /// Converts all keys.
    fn run(&mut self, convert: Convert) {
        self.drop_disabled();
        self.set("server.protocol", "lichess");
        self.set("server.concurrency", 1);
        convert(self);
        self.leave_contradictions();
        self.leave_rest();
    }

    /// Leaves out keys that contradict others: other bots accept such a file, we do not.
    fn leave_contradictions(&mut self) {
        while let Err(errors) = Config::parse("", &self.tables().to_string()) {
            for (key, what) in errors.iter().map(ConfigError::key_and_what) {
                let key = key.replacen("server[0]", "server", 1);
                // Without a list of those who may play, everybody may.
                if key.ends_with("allow_list") || self.unset(&key).is_none() {
                    return self.leave(&key, what);
                }
                self.leave(&key, &format!("left out: {what}"));
            }
        }
    }

    /// Returns our tables as the file has them: `[[server]]` is a list.
    fn tables(&self) -> Table {
        let mut ours = self.ours.clone();
        if let Some(server) = ours.remove("server") {
            ours.insert("server".to_owned(), Toml::Array(vec![server]));
        }
        ours
    }

    fn text(&self, has_token: bool, token_file: Option<&Path>) -> String {
        let mut text = format!(
            "# Converted from a configuration of {}. `zeitnot check` validates it.\n",
            self.source.name
        );
        match (has_token, token_file) {
            (true, None) => text.push_str(
                "# It does not contain the token: set LICHESS_BOT_TOKEN in the environment, or `token_file` in [[server]].\n",
            ),
            (false, _) => text.push_str("# There was no token: create one, and set `token_file` in [[server]].\n"),
            (true, Some(_)) => {}
        }
        if !self.left.is_empty() {
            text.push_str("#\n# Could not be converted:\n");
            self.left.iter().for_each(|line| text.push_str(&format!("#   {line}\n")));
        }
        let mut ours = self.tables();
        for (name, comment) in TABLES {
            if let Some(table) = ours.remove(*name) {
                let table = Table::from_iter([((*name).to_owned(), table)]);
                text.push_str(&format!("\n# {comment}\n{table}"));
            }
        }
        text
    }
}

/// Our tables in order, each with a comment.
const TABLES: &[(&str, &str)] = &[
    ("engine", "Zeitnot's own engine."),
    ("engines", "The engine. Without [[bot.choose]] below, Zeitnot's own plays."),
    ("bot", "How to play."),
    ("online_moves", "Servers that are asked for moves."),
    ("server", "Server, and accepted opponents."),
];
