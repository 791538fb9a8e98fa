//! Options of `zeitnot arena create` and `edit`: one for each setting of a tournament that the API takes.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde_json::{Map, Value, json};
use zeitnot_arena::TournamentConfig;

/// Settings of a tournament that are given, by their names in the API.
#[derive(Clone, Debug)]
pub(super) struct Settings(Map<String, Value>);

impl Settings {
    pub(super) fn fields(&self) -> impl Iterator<Item = (String, Value)> {
        self.0.clone().into_iter()
    }
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().map(Setting::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |setting: &Setting| Some((setting.key.clone(), setting.value(matches)?));
        Ok(Settings(SETTINGS.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Setting with an option of its own; the name is an argument.
struct Setting {
    /// Name in the API.
    key: String,
    option: String,
    help: String,
    form: Form,
}

/// Form of a value.
enum Form {
    Text,
    Number,
    Switch,
    List,
    /// The lines of a file.
    Lines,
}

/// All of them, the time control first.
static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let schema = TournamentConfig::api_schema();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut settings: Vec<_> = properties
        .filter(|(key, _)| *key != "name")
        .map(|(key, property)| Setting::new(key, property, &schema))
        .collect();
    settings.sort_by_key(|setting| setting.option != "time");
    settings
});

impl Setting {
    /// Reads the schema of a property.
    fn new(key: &str, property: &Value, schema: &Value) -> Setting {
        // One that may be `null` has its schema in a list, beside that of `null`.
        let forms = property["oneOf"].as_array();
        let value =
            forms.and_then(|forms| forms.iter().find(|form| form["type"] != "null")).unwrap_or(property);
        let types = &value["type"];
        let is =
            |kind: &str| *types == kind || types.as_array().is_some_and(|types| types.contains(&kind.into()));
        let form = if key == "openings" {
            Form::Lines
        } else if is("integer") {
            Form::Number
        } else if is("boolean") {
            Form::Switch
        } else if is("array") {
            Form::List
        } else {
            Form::Text
        };
        let named = value.get("items").unwrap_or(value)["$ref"].as_str();
        let values = named.and_then(|named| schema.pointer(named.trim_start_matches('#')));
        let values = values.unwrap_or(value)["enum"].as_array();
        let mut help = [property, value].iter().find_map(|it| it["description"].as_str()).unwrap_or_default();
        help = help.trim_end_matches('.');
        let mut help = help.replace('`', "");
        if let Some(values) = values {
            help += &format!(" [{}]", values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
        }
        if let Some(example) = value["example"].as_str().filter(|example| !help.contains(example)) {
            help += &format!(", as in {example}");
        }
        // Its name in the file.
        let option = if key == "time_control" { "time" } else { key };
        Setting { key: key.to_owned(), option: option.replace('_', "-"), help, form }
    }

    fn arg(&'static self) -> Arg {
        let arg = Arg::new(self.key.as_str()).long(self.option.as_str()).help(self.help.as_str());
        match self.form {
            Form::Text => arg.value_name("TEXT"),
            Form::Number => arg.value_name("N").value_parser(value_parser!(u32)),
            Form::Switch => {
                let arg = arg.value_name("BOOL").num_args(0..=1).default_missing_value("true");
                arg.value_parser(value_parser!(bool))
            }
            Form::List => arg.value_name("NAME").action(ArgAction::Append).value_delimiter(','),
            Form::Lines => arg.value_name("FILE").value_parser(lines),
        }
    }

    /// Returns the value that is given.
    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        let key = self.key.as_str();
        match self.form {
            Form::Text => matches.get_one(key).map(|text: &String| json!(text)),
            Form::Number => matches.get_one(key).map(|number: &u32| json!(number)),
            Form::Switch => matches.get_one(key).map(|switch: &bool| json!(switch)),
            Form::Lines => matches.get_one(key).map(|lines: &Vec<String>| json!(lines)),
            Form::List => matches.get_many(key).map(|names| json!(names.collect::<Vec<&String>>())),
        }
    }
}

/// Reads the lines of a file. The arena skips comments, and names the line that is wrong.
fn lines(path: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> Value {
        let command = Settings::augment_args(Command::new("create").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).unwrap();
        Settings::from_arg_matches(&matches).unwrap().0.into()
    }

    #[test]
    fn options_are_settings_of_the_api() {
        assert_eq!(given(&[]), json!({}));
        assert_eq!(
            given(&["--time", "3+0.05", "--rounds", "5", "--late-entries", "--tie-breaks", "buchholz,wins"]),
            json!({"time_control": "3+0.05", "rounds": 5, "late_entries": true, "tie_breaks": ["buchholz", "wins"]})
        );
        assert_eq!(
            given(&["--pairing=swiss", "--late-entries=false", "--pause=0s", "--start", "full"]),
            json!({"pairing": "swiss", "late_entries": false, "pause": "0s", "start": "full"})
        );
    }

    #[test]
    fn openings_are_read_from_a_file() {
        use std::io::Write;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "# two\n8/8 w\n8/7k b").unwrap();
        let path = file.path().to_str().unwrap();
        let fields = given(&["--game", "atomic", "--chess960", "--openings", path]);
        assert_eq!(
            fields,
            json!({"game": "atomic", "chess960": true, "openings": ["# two", "8/8 w", "8/7k b"]})
        );
    }

    #[test]
    fn help_names_the_values_that_are_possible() {
        let help = Settings::augment_args(Command::new("create")).render_long_help().to_string();
        for (option, text) in [
            (
                "--time <TEXT>",
                "Seconds for each player and game, and seconds added after each move: \"3+0.05\"",
            ),
            ("--game <TEXT>", "Game that is played [chess, minichess-imcs, "),
            ("--pairing <TEXT>", "Pairing system [round-robin, swiss, gauntlet, knockout]"),
            ("--acceleration <TEXT>", "Virtual points in the first rounds of a Swiss tournament [baku]"),
            ("--games-per-pair <N>", "Games of each pair"),
            ("--ack-timeout <TEXT>", "Time limit for ACK, as in 20s"),
            ("--tie-breaks <NAME>", "[buchholz, buchholz-cut-1, "),
        ] {
            let (_, below) = help.split_once(option).unwrap_or_else(|| panic!("{option} is not in {help}"));
            let below: String = below.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
            assert!(below.contains(text), "{option}: {below}");
        }
    }
}
