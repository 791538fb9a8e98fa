//! Conversion of a configuration: keys that are converted are removed from theirs, and the rest is reported.

use std::path::Path;

use serde_json::{Map, Value};
use toml::{Table, Value as Toml};

use zeitnot_wire::lichess::Token;

use super::{
    super::config::{Config, ConfigError},
    matchmaking,
    rows::{REASONS, ROWS, RULES, Row, SWITCHES, WHOLE},
    tables::{Import, clean, is_alike, word},
    values,
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
}

/// Converts a configuration. Its relative paths begin at `home`; the token will be stored in `token_file`, if given.
///
/// # Errors
/// Describes the mistake in the text without quoting it, as it contains a secret.
pub fn convert(yaml: &str, home: &Path, token_file: Option<&Path>) -> Result<Converted, String> {
    let theirs = parse(yaml)?;
    let mut import = Import { theirs, home, ours: Table::new(), left: Vec::new() };
    let token = import.token();
    import.drop_disabled();
    import.server();
    import.engine();
    import.draws();
    import.explorer();
    ROWS.iter().for_each(|row| import.row(row));
    import.books();
    import.challenges();
    matchmaking::convert(&mut import);
    import.reserved_games();
    import.records();
    let token_file = token_file.filter(|_| token.is_some());
    if let Some(file) = token_file {
        import.set("server.token_file", &*file.to_string_lossy());
    }
    import.leave_contradictions();
    import.leave_rest();
    Ok(Converted { text: import.text(token.is_some(), token_file), token, left: import.left })
}

/// Parses a configuration of theirs.
fn parse(text: &str) -> Result<Value, String> {
    let theirs = yaml::parse(text).map_err(|InvalidAt(line)| format!("invalid YAML at line {line}"))?;
    if theirs.get("engine").is_some() || theirs.get("challenge").is_some() {
        Ok(theirs)
    } else {
        Err("not a configuration of lichess-bot: it has neither `engine` nor `challenge`".to_owned())
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

    /// Drops what has no effect there.
    fn drop_disabled(&mut self) {
        for switch in SWITCHES {
            let (table, _) = switch.rsplit_once('.').unwrap_or((switch, ""));
            if self.look(switch) != Some(&Value::Bool(true)) {
                self.take(table);
            }
        }
        // Theirs ignores the bounds where there is a difference.
        let is_difference = |value: &Value| value.is_number() || values::is_unlimited(value);
        if self.look("matchmaking.opponent_rating_difference").is_some_and(is_difference) {
            self.take("matchmaking.opponent_min_rating");
            self.take("matchmaking.opponent_max_rating");
        }
    }

    /// Without a name, theirs asks for the bot's own games; ours needs the name.
    fn explorer(&mut self) {
        let table = "engine.online_moves.lichess_opening_explorer";
        let text = |key: &str| self.look(&format!("{table}.{key}")).and_then(Value::as_str).unwrap_or("");
        if text("source") == "player" && text("player_name").is_empty() {
            self.take(table);
            self.leave(table, "set `player_name` of [online_moves.explorer]");
        }
    }

    /// Their defaults that are not ours.
    fn server(&mut self) {
        self.set("server.protocol", "lichess");
        self.set("server.concurrency", 1);
        self.set("server.challenge.sort_by", "best");
        self.set("server.challenge.bot.accept", false);
        self.set("server.challenge.max_simultaneous_games_per_user", 5);
    }

    /// The engine: a program, or ours if there is none.
    fn engine(&mut self) {
        let protocol = self.take_text("engine.protocol").unwrap_or_else(|| "uci".to_owned());
        let dir = self.take_text("engine.dir").unwrap_or_default();
        match self.take_text("engine.name") {
            Some(_) if !matches!(protocol.as_str(), "uci" | "xboard") => {
                self.leave("engine.name", "only programs that speak UCI or xboard's protocol are supported");
            }
            Some(name) => return self.program(&protocol, &dir, &name),
            None => {}
        }
        for (theirs, ours) in [("Hash", "engine.hash_mib"), ("Threads", "engine.threads")] {
            self.copy(&format!("engine.uci_options.{theirs}"), &[ours], values::positive);
        }
        self.go_commands("uci", "engine.limits");
    }

    fn program(&mut self, protocol: &str, dir: &str, name: &str) {
        let path = self.path(&Path::new(dir).join(name));
        let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
        let table_name: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let mut args: Vec<Toml> = Vec::new();
        let command = match self.take_text("engine.interpreter") {
            Some(interpreter) => {
                args.extend(self.take_list("engine.interpreter_options").iter().filter_map(values::text));
                args.push(path.into());
                interpreter
            }
            None => path,
        };
        if let Some(Value::Object(options)) = self.take("engine.engine_options") {
            args.extend(options.iter().map(|(key, value)| match value {
                Value::Null => format!("--{key}").into(),
                Value::String(text) => format!("--{key}={text}").into(),
                value => format!("--{key}={value}").into(),
            }));
        }
        let table = format!("engines.{table_name}");
        self.set(&format!("{table}.command"), command);
        self.set(&format!("{table}.protocol"), protocol);
        if !args.is_empty() {
            self.set(&format!("{table}.args"), args);
        }
        if let Some(folder) = self.take_text("engine.working_dir") {
            self.set(&format!("{table}.folder"), self.path(Path::new(&folder)));
        }
        let other = if protocol == "uci" { "engine.xboard_options" } else { "engine.uci_options" };
        if self.take(other).is_some_and(|options| has_leaves(&options)) {
            self.leave(other, "the engine speaks another protocol");
        }
        self.go_commands(protocol, &format!("{table}.limits"));
        let options = self.options(&format!("engine.{protocol}_options"));
        if !options.is_empty() {
            self.set(&format!("{table}.options"), options);
        }
        let rule = Table::from_iter([("engine".to_owned(), table_name.into())]);
        self.set("bot.choose", vec![Toml::Table(rule)]);
    }

    /// Limits of every move. In the xboard protocol only the depth has a meaning there.
    fn go_commands(&mut self, protocol: &str, ours: &str) {
        let all: &[(_, _, values::Read)] = &[
            ("depth", "depth", values::depth),
            ("nodes", "nodes", values::positive),
            ("movetime", "move_time", values::millis),
        ];
        for (theirs, key, read) in if protocol == "uci" { all } else { &all[..1] } {
            let theirs = format!("engine.{protocol}_options.go_commands.{theirs}");
            self.copy(&theirs, &[&format!("{ours}.{key}")], *read);
        }
    }

    /// Takes an engine's own options.
    fn options(&mut self, table: &str) -> Table {
        let plain = |value: &Value| match value {
            Value::Bool(flag) => Some(Toml::Boolean(*flag)),
            Value::Number(number) => {
                number.as_i64().map(Toml::Integer).or_else(|| number.as_f64().map(Toml::Float))
            }
            Value::String(text) if !text.contains(char::is_control) => Some(Toml::String(text.clone())),
            _ => None,
        };
        let mut options = Table::new();
        if let Some(theirs) = self.look_mut(table).and_then(Value::as_object_mut) {
            theirs.retain(|name, value| {
                let ours = plain(value).filter(|_| !name.contains(char::is_control));
                let is_left = ours.is_none();
                options.extend(ours.map(|ours| (name.clone(), ours)));
                is_left
            });
        }
        options
    }

    /// Draw offers and resignation, with their defaults.
    fn draws(&mut self) {
        for what in ["resign", "offer_draw"] {
            let prefix = format!("engine.draw_or_resign.{what}_");
            let is_on = self.take(&format!("{prefix}enabled")) == Some(Value::Bool(true));
            for (row, default) in RULES.iter().filter(|(row, _)| row.theirs.starts_with(&prefix)) {
                if is_on {
                    row.ours.iter().for_each(|ours| self.set(ours, *default));
                    self.row(row);
                } else {
                    self.take(row.theirs);
                }
            }
        }
        if self.ours_at("bot.draw.moves").is_some() {
            self.set("bot.draw.min_game_length", 1);
        }
    }

    /// Books, which we use for chess and Chess960 alike.
    fn books(&mut self) {
        let mut files: Vec<Toml> = Vec::new();
        for variant in ["standard", "chess960"] {
            for file in self.take_list(&format!("engine.polyglot.book.{variant}")) {
                let file = file.as_str().map(|file| Toml::from(self.path(Path::new(file))));
                files.extend(file.filter(|file| !files.contains(file)));
            }
        }
        if !files.is_empty() {
            self.set("bot.book.files", files);
        }
    }

    fn challenges(&mut self) {
        let max_games = self.ours_at("server.concurrency").and_then(Toml::as_integer).unwrap_or(1);
        // Theirs ponders in each game.
        if self.take("engine.ponder").or_else(|| self.take("engine.uci_ponder")) == Some(Value::Bool(true)) {
            self.set("bot.ponder", max_games);
        }
        if self.look("challenge.only_bot") == Some(&Value::Bool(true)) {
            self.take("challenge.only_bot");
            self.set("server.challenge.human.accept", false);
        }
        let age = "challenge.recent_bot_challenge_age";
        let most = "challenge.max_recent_bot_challenges";
        if self.look(most).is_some_and(values::is_unlimited) {
            self.take(age);
            self.take(most);
        }
        let both = self.look(age).and_then(values::seconds).zip(self.look(most).and_then(values::positive));
        if let Some((within, games)) = both {
            self.take(age);
            self.take(most);
            self.set("server.challenge.bot.max_recent_challenges", games);
            self.set("server.challenge.bot.recent_challenge_age", within);
        }
    }

    /// Games for humans. Theirs challenges bots even if all games are reserved, which ours refuses.
    fn reserved_games(&mut self) {
        let [ours, theirs] = ["server.challenge.reserved_for_humans", "challenge.games_reserved_for_humans"];
        let number = |key| self.ours_at(key).and_then(Toml::as_integer);
        let (Some(reserved), Some(games)) = (number(ours), number("server.concurrency")) else { return };
        let accepts = self.ours_at("server.challenge.human.accept").and_then(Toml::as_bool).unwrap_or(true);
        let (most, why) = if !accepts {
            (0, "no challenge of a human is accepted")
        } else if self.ours_at("server.matchmaking").is_some() {
            (games - 1, "matchmaking needs a game that is not reserved")
        } else {
            (games, "there are no more games")
        };
        if reserved > most {
            self.set(ours, most);
            self.leave(theirs, &format!("{most} instead of {reserved}: {why}"));
        }
    }

    fn records(&mut self) {
        if let Some(folder) = self.take_text("pgn_directory") {
            self.set("server.pgn_directory", self.path(Path::new(&folder)));
            self.copy("pgn_file_grouping", &["server.pgn_file_grouping"], values::grouping);
        }
    }

    /// Converts a row, if the key is there; values that cannot be converted are reported.
    fn row(&mut self, row: &Row) {
        if !row.is_list {
            return self.copy(row.theirs, row.ours, row.read);
        }
        let mut known = Vec::new();
        let why = reason(row.theirs).unwrap_or("not supported");
        for entry in self.take_list(row.theirs) {
            match (row.read)(&entry) {
                Some(value) => known.push(value),
                None => self.leave(&format!("{}: {}", row.theirs, word(&entry)), why),
            }
        }
        if !known.is_empty() {
            row.ours.iter().for_each(|ours| self.set(ours, known.clone()));
        }
    }

    /// A path of theirs relative to the current folder.
    pub(super) fn path(&self, path: &Path) -> String {
        let path = self.home.join(path.strip_prefix(".").unwrap_or(path));
        // A bare name would be looked up in the search path.
        let is_bare = path.parent() == Some(Path::new(""));
        if is_bare { format!("./{}", path.display()) } else { path.display().to_string() }
    }

    /// Reports the keys that were not converted.
    fn leave_rest(&mut self) {
        // Taking keys changes their order.
        self.theirs.sort_all_objects();
        let Value::Object(theirs) = std::mem::take(&mut self.theirs) else { return };
        self.leave_keys("", &theirs);
    }

    fn leave_keys(&mut self, table: &str, keys: &Map<String, Value>) {
        for (key, value) in keys {
            let key = clean(key);
            let path = if table.is_empty() { key } else { format!("{table}.{key}") };
            match value {
                Value::Object(keys) if !WHOLE.contains(&path.as_str()) => self.leave_keys(&path, keys),
                value if !has_leaves(value) || is_alike(&path, value) => {}
                _ => self.leave(&path, reason(&path).unwrap_or("there is no such key here")),
            }
        }
    }

    /// Leaves out keys that contradict others: lichess-bot accepts such a file, we do not.
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
        let mut text =
            String::from("# Converted from a configuration of lichess-bot. `zeitnot check` validates it.\n");
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
    ("engine", "Our engine."),
    ("engines", "The engine. Without [[bot.choose]] below, ours plays."),
    ("bot", "How to play."),
    ("online_moves", "Servers that are asked for moves."),
    ("server", "Server, and accepted opponents."),
];

/// Whether a value contains more than empty tables and lists.
fn has_leaves(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Object(keys) => keys.values().any(has_leaves),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Known reason why a key cannot be converted.
fn reason(path: &str) -> Option<&'static str> {
    let is_it = |(known, _): &&(&str, &str)| {
        path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    REASONS.iter().find(is_it).map(|(_, why)| *why)
}
