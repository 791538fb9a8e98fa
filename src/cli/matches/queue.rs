//! `zeitnot match --queue`: matches that are played one after the other, unattended. Each is a try: a new engine against a
//! base. [`Tries`] keeps those that are done.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    num::{NonZeroU32, NonZeroU64},
    path::{Path, PathBuf},
};

use indicatif::MultiProgress;
use serde::Deserialize;
use toml::{Table, Value};
use zeitnot_matches::tries::{Tries, row};
use zeitnot_rules::GameKind;

use super::{Args, Finished, conditions, play};
use crate::cli::{CliError, print};

/// Maximum number of games of a try that names none.
const GAMES: u32 = 20_000;

/// A `[[try]]` table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Try {
    name: String,
    new: String,
    base: String,
    nodes: Option<NonZeroU64>,
    tc: Option<String>,
    sprt: Option<[f64; 2]>,
    games: Option<NonZeroU32>,
    openings: Option<PathBuf>,
    variant: Option<String>,
    seed: Option<u64>,
}

/// Plays the tries of a file that are not done yet.
pub(super) fn run(args: &Args, path: &Path, lines: &MultiProgress) -> Result<(), CliError> {
    let tries = read(args, path)?;
    let mut results = Tries::read(path.with_extension("results.toml"), args.log.clone())?;
    results.write_log()?;
    let mut failed = Vec::new();
    for (at, (name, args)) in tries.iter().enumerate() {
        if results.is_done(name) {
            continue;
        }
        print(|out| writeln!(out, "\ntry {} of {}: {name}", at + 1, tries.len()))?;
        match play(args, lines) {
            Ok(Finished { is_aborted: true, .. }) => {
                return print(|out| writeln!(out, "The same command goes on with this try."));
            }
            Ok(Finished { scoreboard, .. }) => {
                let Some(tally) = scoreboard.duel() else { continue };
                let variant = args.conditions.variant;
                let rules = if variant == GameKind::Chess {
                    String::new()
                } else {
                    format!(" of {}", variant.name())
                };
                let conditions = format!("{} games{rules}, {}", tally.games(), scoreboard.efforts());
                results.add(name, &row(name, &conditions, tally, scoreboard.sprt))?;
            }
            Err(error) => {
                // Even if stderr is closed, the others are played.
                let _ = writeln!(io::stderr(), "error: try '{name}': {error}; the next one begins");
                failed.push(name.as_str());
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(CliError::Engine(format!(
            "not played to the end: {}; the same command tries again",
            names.join(", ")
        ))),
    }
}

/// Reads all tries, each as the arguments of its match.
fn read(args: &Args, path: &Path) -> Result<Vec<(String, Args)>, CliError> {
    let wrong = |why: String| CliError::Usage(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut file: Table = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let (defaults, tries) = (file.remove("defaults"), file.remove("try"));
    if let Some(key) = file.keys().next() {
        return Err(wrong(format!(
            "unknown key {key}; expected [[try]] tables, and one [defaults] for all of them"
        )));
    }
    let Some(Value::Array(tries)) = tries else { return Err(wrong("holds no [[try]] table".into())) };
    let defaults = match defaults {
        Some(Value::Table(defaults)) => defaults,
        None => Table::new(),
        Some(_) => return Err(wrong("defaults: expected a table, [defaults]".into())),
    };
    let (mut found, mut files) = (Vec::with_capacity(tries.len()), BTreeSet::new());
    for (at, one) in tries.into_iter().enumerate() {
        let number = at + 1;
        let one = merged(one, &defaults).map_err(|error| wrong(format!("[[try]] {number}: {error}")))?;
        let pgn = path.with_extension("games").join(format!("{}.pgn", file_name(&one.name)));
        if file_name(&one.name).is_empty() || !files.insert(pgn.clone()) {
            return Err(wrong(format!(
                "[[try]] {number}: '{}' is not a valid name, or is used by another try",
                one.name
            )));
        }
        let name = one.name.clone();
        let args = one.args(args, pgn).map_err(|error| wrong(format!("[[try]] {number}: {error}")))?;
        found.push((name, args));
    }
    Ok(found)
}

/// A try with the defaults for what it does not say.
fn merged(one: Value, defaults: &Table) -> Result<Try, String> {
    let Value::Table(mut table) = one else { return Err("expected a table".into()) };
    let has_limit = table.contains_key("nodes") || table.contains_key("tc");
    for (key, value) in defaults {
        if !(has_limit && matches!(key.as_str(), "nodes" | "tc")) {
            table.entry(key).or_insert(value.clone());
        }
    }
    table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// Name of a file for a try.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = name.to_lowercase().chars().map(plain).take(80).collect();
    name.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// An engine with this name, unless it has one of its own.
fn named(engine: &str, name: &str) -> String {
    let has_name =
        shlex::split(engine).is_some_and(|words| words.iter().any(|word| word.starts_with("name=")));
    if has_name { engine.to_owned() } else { format!("{engine} name={name}") }
}

impl Try {
    /// Arguments of its match: those of the command line, and its own.
    fn args(self, common: &Args, pgn: PathBuf) -> Result<Args, String> {
        let mut args = Args {
            queue: None,
            engine: vec![named(&self.new, "new"), named(&self.base, "base")],
            games: self.games.map_or(GAMES, NonZeroU32::get),
            sprt: self.sprt.map_or_else(|| common.sprt.clone(), |bounds| Some(bounds.to_vec())),
            pgn: Some(pgn),
            resume: true,
            ..common.clone()
        };
        let conditions = &mut args.conditions;
        match (self.nodes, self.tc) {
            (Some(_), Some(_)) => return Err("nodes and tc: expected one of them".into()),
            (Some(nodes), None) => conditions.set_nodes(nodes.get()),
            (None, Some(time)) => conditions.set_clock(time.parse().map_err(|error| format!("tc: {error}"))?),
            (None, None) => {}
        }
        if let Some(name) = self.variant {
            conditions.variant = conditions::variant(&name).map_err(|error| format!("variant: {error}"))?;
        }
        conditions.openings = self.openings.or(conditions.openings.take());
        conditions.seed = self.seed.unwrap_or(conditions.seed);
        args.sprt().map_err(|error| error.to_string())?;
        Ok(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_has_the_defaults_but_for_what_it_says() {
        let defaults: Table = toml::from_str("base = 'old'\nnodes = 5000\nsprt = [0, 5]\nseed = 7").unwrap();
        let merged = |text: &str| merged(Value::Table(toml::from_str(text).unwrap()), &defaults);
        let one = merged("name = 'a'\nnew = 'x'\nseed = 8").unwrap();
        assert_eq!(
            (one.base.as_str(), one.nodes.map(NonZeroU64::get), one.seed),
            ("old", Some(5000), Some(8))
        );
        assert_eq!(one.sprt, Some([0.0, 5.0]));
        let one = merged("name = 'a'\nnew = 'x'\ntc = '4+0.04'").unwrap();
        assert_eq!((one.nodes, one.tc.as_deref()), (None, Some("4+0.04")), "one limit in place of the other");
        assert!(merged("name = 'a'").unwrap_err().contains("missing field `new`"));
        assert!(merged("name = 'a'\nnew = 'x'\nnode = 3").unwrap_err().contains("unknown field `node`"));
    }

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(file_name("Razoring: 200 a ply, /etc/passwd"), "razoring-200-a-ply-etc-passwd");
        assert_eq!(file_name("../.."), "");
        assert_eq!(named("a/b uci option.Hash=8", "new"), "a/b uci option.Hash=8 name=new");
        assert_eq!(named("a 'name=the one'", "new"), "a 'name=the one'");
    }
}
