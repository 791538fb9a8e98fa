//! `zeitnot import-lichess-bot`: makes a configuration of ours from one of lichess-bot.

use std::{fs, io::Write, path::PathBuf};

use serde_json::{Map, Value};
use toml::{Table, Value as Toml};

use super::{CliError, print};
use crate::{game::TimeControl, protocol::lichess};

/// Make a configuration from the config.yml of lichess-bot
///
/// What it says the same way is taken over, the rest is listed in comments on top. The token is not: set the
/// environment's LICHESS_BOT_TOKEN, or a file that only you can read, as `token_file`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot import-lichess-bot config.yml > config.toml

Exit code: 0 if it could be read, 2 if not.")]
pub struct Args {
    /// The configuration of lichess-bot
    #[arg(value_name = "FILE")]
    pub config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// [`CliError::Foreign`] if the file is not there, or no YAML.
pub fn run(args: &Args) -> Result<(), CliError> {
    let wrong = |why: String| CliError::Foreign { path: args.config.clone(), why };
    let text = fs::read_to_string(&args.config).map_err(|error| wrong(error.to_string()))?;
    let converted = convert(&text).map_err(wrong)?;
    print(|out| out.write_all(converted.as_bytes()))
}

/// The same in our words.
///
/// # Errors
/// What is wrong with the text.
pub fn convert(yaml: &str) -> Result<String, String> {
    // Errors of the parser quote the text around them, in which the token may stand.
    let place = |error: serde_saphyr::Error| match error.location() {
        Some(at) => format!("no YAML, at line {}", at.line()),
        None => "no YAML".to_owned(),
    };
    let mut theirs: Value = serde_saphyr::from_str(yaml).map_err(place)?;
    if !theirs.is_object() {
        return Err("no configuration of lichess-bot: expected keys and values".to_owned());
    }
    let mut import = Import { theirs: &mut theirs, ours: Table::new() };
    import.program();
    import.challenges();
    import.matchmaking();
    import.rest();
    let (had_token, mut ours) = (import.take("token").is_some(), import.ours);
    // It is one of many: `[[server]]`.
    if let Some(server) = ours.remove("server") {
        ours.insert("server".to_owned(), Toml::Array(vec![server]));
    }
    let mut text = String::from("# From a configuration of lichess-bot.\n");
    if had_token {
        text.push_str("# The token is not taken over: set LICHESS_BOT_TOKEN in the environment.\n");
    }
    let mut left = Vec::new();
    leftovers("", &theirs, &mut left);
    if !left.is_empty() {
        text.push_str("#\n# Not taken over, as we have no such key, or not with such a value:\n");
        left.iter().for_each(|line| text.push_str(&format!("#   {line}\n")));
    }
    text.push('\n');
    text.push_str(&ours.to_string());
    Ok(text)
}

/// A configuration on its way.
struct Import<'v> {
    /// What is taken over is taken out.
    theirs: &'v mut Value,
    ours: Table,
}

impl Import<'_> {
    /// The engine and the bot.
    fn program(&mut self) {
        self.copy("engine.uci_options.Hash", "engine.hash_mib", positive);
        self.copy("engine.uci_options.Threads", "engine.threads", positive);
        self.copy("move_overhead", "bot.move_overhead", millis);
        if self.take_flag("engine.draw_or_resign.resign_enabled") {
            self.copy("engine.draw_or_resign.resign_moves", "bot.resign.moves", positive);
            let below = |value: &Value| Some(Toml::Integer(value.as_i64()?.checked_neg()?)).filter(is_word);
            self.copy("engine.draw_or_resign.resign_score", "bot.resign.score", below);
        }
        if self.take_flag("engine.draw_or_resign.offer_draw_enabled") {
            for (theirs, ours) in [("moves", "moves"), ("pieces", "pieces")] {
                let theirs = format!("engine.draw_or_resign.offer_draw_{theirs}");
                self.copy(&theirs, &format!("bot.draw.{ours}"), positive);
            }
            let score = |value: &Value| number(value).filter(is_word);
            self.copy("engine.draw_or_resign.offer_draw_score", "bot.draw.score", score);
        }
        self.set("server.protocol", Toml::String("lichess".into()));
        self.copy("url", "server.url", |url| {
            url.as_str().map(|url| Toml::String(url.trim_end_matches('/').to_owned()))
        });
    }

    /// What is accepted, from humans and from bots.
    fn challenges(&mut self) {
        self.copy("challenge.concurrency", "server.max_games", positive);
        self.copy("challenge.sort_by", "server.challenges.order", one_of(&["best", "first"]));
        let accept_bot = self.take_flag("challenge.accept_bot");
        self.set("server.challenges.bot.accept", Toml::Boolean(accept_bot));
        if self.take_flag("challenge.only_bot") {
            self.set("server.challenges.human.accept", Toml::Boolean(false));
        }
        self.terms("variants", "variants", some_of(&["standard", "chess960", "fromPosition"]));
        let speeds = &["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];
        self.terms("time_controls", "speeds", some_of(speeds));
        self.terms("modes", "modes", some_of(&["casual", "rated"]));
        self.terms("min_base", "shortest", seconds);
        self.terms("max_base", "longest", seconds);
        self.terms("min_increment", "least_increment", seconds);
        self.terms("max_increment", "most_increment", seconds);
        self.terms("min_days", "fewest_days", number);
        self.terms("max_days", "most_days", number);
        if self.take_flag("challenge.bullet_requires_increment") {
            self.set("server.challenges.bot.bullet_needs_increment", Toml::Boolean(true));
        }
        self.recent();
        self.copy("challenge.block_list", "server.people.never", some_names);
        self.copy("challenge.allow_list", "server.people.only", some_names);
    }

    /// One key of theirs is one for humans and one for bots.
    fn terms(&mut self, theirs: &str, ours: &str, read: impl Fn(&Value) -> Option<Toml> + Copy) {
        let theirs = format!("challenge.{theirs}");
        if let Some(value) = self.look(&theirs).and_then(read) {
            self.take(&theirs);
            self.set(&format!("server.challenges.human.{ours}"), value.clone());
            self.set(&format!("server.challenges.bot.{ours}"), value);
        }
    }

    fn recent(&mut self) {
        let (age, most) = ("challenge.recent_bot_challenge_age", "challenge.max_recent_bot_challenges");
        let both = self.look(age).and_then(seconds).zip(self.look(most).and_then(positive));
        if let Some((within, games)) = both {
            self.take(age);
            self.take(most);
            let recent = Table::from_iter([("games".to_owned(), games), ("within".to_owned(), within)]);
            self.set("server.challenges.bot.recent", Toml::Table(recent));
        }
    }

    /// Whom to challenge.
    fn matchmaking(&mut self) {
        if !self.take_flag("matchmaking.allow_matchmaking") {
            self.take("matchmaking");
            return;
        }
        let table = |key: &str| format!("server.matchmaking.{key}");
        self.copy("matchmaking.challenge_timeout", &table("after"), |value| {
            Some(Toml::String(format!("{}m", value.as_u64()?)))
        });
        self.copy("matchmaking.opponent_min_rating", &table("lowest_rating"), number);
        self.copy("matchmaking.opponent_max_rating", &table("highest_rating"), number);
        self.copy("matchmaking.opponent_rating_difference", &table("rating_difference"), number);
        self.copy("matchmaking.block_list", "server.people.never", some_names);
        self.copy("matchmaking.challenge_mode", &table("modes"), |value| {
            let modes = match value.as_str()? {
                "random" => vec!["casual", "rated"],
                mode @ ("casual" | "rated") => vec![mode],
                _ => return None,
            };
            Some(modes.into_iter().map(|mode| Toml::String(mode.into())).collect::<Vec<_>>().into())
        });
        self.copy("matchmaking.challenge_variant", &table("variants"), |value| {
            let keys = match value.as_str()? {
                "random" => vec!["standard", "chess960"],
                key @ ("standard" | "chess960") => vec![key],
                _ => return None,
            };
            Some(Toml::Table(keys.into_iter().map(|key| (key.to_owned(), Toml::Integer(1))).collect()))
        });
        self.times();
    }

    /// Each time with each increment.
    fn times(&mut self) {
        let (initial, increment) = ("matchmaking.challenge_initial_time", "matchmaking.challenge_increment");
        let list = |value: Option<&Value>| -> Vec<u64> {
            let list = value.map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]));
            list.unwrap_or_default().iter().filter_map(Value::as_u64).collect()
        };
        let (initials, increments) = (list(self.look(initial)), list(self.look(increment)));
        let mut times = Table::new();
        for text in initials.iter().flat_map(|i| increments.iter().map(move |plus| format!("{i}+{plus}"))) {
            if text.parse::<TimeControl>().is_ok_and(lichess::matchmaking::offered) {
                times.insert(text, Toml::Integer(1));
            }
        }
        if !times.is_empty() {
            self.take(initial);
            self.take(increment);
            self.set("server.matchmaking.times", Toml::Table(times));
        }
    }

    /// What is said, and what is written down.
    fn rest(&mut self) {
        for (theirs, ours) in [
            ("hello", "greeting"),
            ("goodbye", "farewell"),
            ("hello_spectators", "greeting_spectators"),
            ("goodbye_spectators", "farewell_spectators"),
        ] {
            self.copy(&format!("greeting.{theirs}"), &format!("server.chat.{ours}"), text);
        }
        self.copy("pgn_directory", "server.records.folder", text);
        if self.look("pgn_file_grouping").is_some() && self.ours_has_records() {
            let groupings = one_of(&["game", "opponent", "all"]);
            self.copy("pgn_file_grouping", "server.records.file", groupings);
        }
    }

    fn ours_has_records(&self) -> bool {
        self.ours.get("server").and_then(|server| server.get("records")).is_some()
    }

    /// Takes a key over, if its value can be read.
    fn copy(&mut self, theirs: &str, ours: &str, read: impl Fn(&Value) -> Option<Toml>) {
        if let Some(value) = self.look(theirs).and_then(read) {
            self.take(theirs);
            self.set(ours, value);
        }
    }

    fn take_flag(&mut self, path: &str) -> bool {
        self.take(path).is_some_and(|value| value == Value::Bool(true))
    }

    fn look(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&*self.theirs, |value, key| value.get(key))
    }

    fn take(&mut self, path: &str) -> Option<Value> {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
        let keys = table.split('.').filter(|key| !key.is_empty());
        let table = keys.into_iter().try_fold(&mut *self.theirs, |value, key| value.get_mut(key))?;
        table.as_object_mut()?.remove(key)
    }

    /// Lists grow, everything else is set. Tables on the way are made.
    fn set(&mut self, path: &str, value: Toml) {
        let (tables, key) = path.rsplit_once('.').unwrap_or(("", path));
        let mut table = &mut self.ours;
        for name in tables.split('.') {
            let next = table.entry(name).or_insert_with(|| Toml::Table(Table::new()));
            let Toml::Table(next) = next else { return };
            table = next;
        }
        match (table.get_mut(key), value) {
            (Some(Toml::Array(there)), Toml::Array(more)) => there.extend(more),
            (_, value) => {
                table.insert(key.to_owned(), value);
            }
        }
    }
}

/// What is still there, one line a key. Secrets are no leftovers: the token has been taken out before.
fn leftovers(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(table) => leftover_keys(path, table, out),
        Value::Null => {}
        Value::Array(list) if list.is_empty() => {}
        other => {
            let shown: String = other.to_string().chars().filter(|c| !c.is_control()).take(100).collect();
            out.push(format!("{path}: {shown}"));
        }
    }
}

fn leftover_keys(path: &str, table: &Map<String, Value>, out: &mut Vec<String>) {
    for (key, value) in table {
        let key: String = key.chars().filter(|c| !c.is_control()).collect();
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        leftovers(&path, value, out);
    }
}

fn number(value: &Value) -> Option<Toml> {
    value.as_i64().filter(|number| (0..=1 << 31).contains(number)).map(Toml::Integer)
}

fn positive(value: &Value) -> Option<Toml> {
    number(value).filter(|number| *number != Toml::Integer(0))
}

/// Does it fit where scores stand?
fn is_word(value: &Toml) -> bool {
    value.as_integer().is_some_and(|number| u16::try_from(number).is_ok())
}

fn seconds(value: &Value) -> Option<Toml> {
    value.as_u64().map(|seconds| Toml::String(format!("{seconds}s")))
}

fn millis(value: &Value) -> Option<Toml> {
    value.as_u64().map(|millis| Toml::String(format!("{millis}ms")))
}

fn text(value: &Value) -> Option<Toml> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| Toml::String(text.to_owned()))
}

fn one_of<'w>(words: &'w [&str]) -> impl Fn(&Value) -> Option<Toml> + Copy + 'w {
    move |value| text(value).filter(|word| words.iter().any(|known| word.as_str() == Some(known)))
}

/// Those of a list that we know too; `None` if there is not one.
fn some_of<'w>(words: &'w [&str]) -> impl Fn(&Value) -> Option<Toml> + Copy + 'w {
    move |value| {
        let known: Vec<_> = value.as_array()?.iter().filter_map(one_of(words)).collect();
        (!known.is_empty()).then_some(Toml::Array(known))
    }
}

fn some_names(value: &Value) -> Option<Toml> {
    let is_name =
        |name: &Toml| name.as_str().is_some_and(|name| name.parse::<crate::wire::lichess::UserId>().is_ok());
    let names: Vec<_> = value.as_array()?.iter().filter_map(text).filter(is_name).collect();
    (!names.is_empty()).then_some(Toml::Array(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bot, engine};

    const THEIRS: &str = r#"
token: "lip_secret"    # from the site
url: "https://lichess.org/"
engine:
  dir: "./engines/"
  name: "engine_name"
  protocol: "uci"
  ponder: true
  uci_options:
    Move Overhead: 100
    Threads: 4
    Hash: 512
  draw_or_resign:
    resign_enabled: true
    resign_score: -900
    resign_moves: 3
    offer_draw_enabled: true
    offer_draw_score: 0
    offer_draw_moves: 5
    offer_draw_pieces: 10
move_overhead: 2000
challenge:
  concurrency: 2
  sort_by: "best"
  accept_bot: true
  only_bot: false
  max_increment: 20
  min_increment: 0
  max_base: 1800
  min_base: 0
  max_days: 14
  variants:
    - standard
    - atomic
  time_controls: [bullet, blitz]
  modes:
    - casual
  block_list:
    - Eve
  recent_bot_challenge_age: 60
  max_recent_bot_challenges: 2
  bullet_requires_increment: true
greeting:
  hello: "Hi! I'm {me}. Good luck!"
  goodbye: "Good game, {opponent}!"
pgn_directory: "records"
pgn_file_grouping: opponent
matchmaking:
  allow_matchmaking: true
  challenge_variant: "random"
  challenge_timeout: 30
  challenge_initial_time: [60, 100, 180]
  challenge_increment: [1, 2]
  opponent_rating_difference: 200
  challenge_mode: "random"
  block_list: [Bob]
"#;

    #[test]
    fn what_comes_out_is_read_by_those_it_is_for() {
        let text = convert(THEIRS).unwrap();
        assert!(!text.contains("lip_secret") && text.contains("LICHESS_BOT_TOKEN"), "{text}");
        assert!(text.contains("#   engine.dir: \"./engines/\"\n"), "{text}");
        let mut all: Table = text.parse().unwrap();
        let engine: engine::Config = all.remove("engine").unwrap().try_into().unwrap();
        assert_eq!((engine.hash_mib.get(), engine.threads.get()), (512, 4));
        let bot: bot::Config = all.remove("bot").unwrap().try_into().unwrap();
        assert_eq!((bot.draw.moves, bot.draw.score, bot.draw.pieces), (5, 0, 10));
        assert_eq!((bot.resign.moves, bot.resign.score), (3, 900));
        let Some(Toml::Array(mut servers)) = all.remove("server") else { panic!("{text}") };
        let Some(Toml::Table(mut server)) = servers.pop() else { panic!("{text}") };
        let desk: lichess::challenges::Config = server.remove("challenges").unwrap().try_into().unwrap();
        assert_eq!(desk.order, lichess::challenges::Order::Best);
        assert_eq!((desk.human.variants.len(), desk.human.speeds.len()), (1, 2));
        assert!(desk.bot.accept && desk.bot.recent.is_some() && desk.bot.bullet_needs_increment);
        let people: lichess::people::Config = server.remove("people").unwrap().try_into().unwrap();
        assert_eq!(people.never.len(), 2);
        let matchmaking: lichess::matchmaking::Config =
            server.remove("matchmaking").unwrap().try_into().unwrap();
        assert_eq!((matchmaking.times.len(), matchmaking.variants.len()), (4, 2));
        let chat: lichess::chat::Config = server.remove("chat").unwrap().try_into().unwrap();
        assert_eq!(chat.farewell, "Good game, {opponent}!");
        let records: lichess::records::Config = server.remove("records").unwrap().try_into().unwrap();
        assert_eq!(records.file, lichess::records::Grouping::Opponent);
        let left: Vec<_> = server.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(left, ["max_games = 2", "protocol = \"lichess\"", "url = \"https://lichess.org\""]);
    }

    #[test]
    fn what_is_off_there_is_off_here() {
        let text =
            convert("token: x\nmatchmaking:\n  allow_matchmaking: false\n  challenge_timeout: 1\n").unwrap();
        assert!(!text.contains("matchmaking"), "{text}");
        assert!(text.contains("accept = false"), "{text}");
    }

    #[test]
    fn what_cannot_be_read_is_told_without_the_token() {
        for text in
            ["- a\n- b", "", "token: 'lip_secret\n  - x: [", "token: lip_secret\ntoken: [", "a: &a [*a, *b]"]
        {
            let error = convert(text).unwrap_err();
            assert!(!error.contains("lip_secret"), "{error}");
        }
    }
}
