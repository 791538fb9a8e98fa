//! Engines of a match, as the command line names them.

use std::{
    collections::BTreeMap,
    num::{NonZeroU16, NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use zeitnot_engine as engine;
use zeitnot_engine::{BuiltIn, ExternalEngine, Kind};
use zeitnot_external as external;
use zeitnot_external::{Named, Program, Protocol, Value};
use zeitnot_matches::{Effort, Entry, EntryEngine};
use zeitnot_wire::printable;

use super::conditions::{Conditions, Openings, time};
use crate::cli::{CliError, config::Config, engines::unknown_options};

/// Name of our engine.
const OURSELVES: &str = "zeitnot";
/// Maximum length of a name in characters.
const MAX_NAME: usize = 40;
const KEYS: &str = "name, tc, movetime, nodes, depth, protocol, folder, restart, option.NAME";

/// The engines, whose programs end when this is dropped.
pub(in crate::cli) struct Roster {
    pub(in crate::cli) entries: Vec<Entry>,
}

impl Roster {
    /// Starts and tries all engines.
    pub(in crate::cli) fn open(
        engines: &[String],
        conditions: &Conditions,
        openings: &Openings,
    ) -> Result<Roster, CliError> {
        let specs = engines.iter().map(|spec| Spec::parse(spec)).collect::<Result<Vec<_>, _>>()?;
        // Filled one by one: those that were started end if a later one cannot be.
        let mut roster = Roster { entries: Vec::with_capacity(specs.len()) };
        for spec in specs {
            roster.entries.push(spec.open(conditions, openings)?);
        }
        let names: Vec<_> = roster.entries.iter().map(|entry| entry.name.clone()).collect();
        for (at, entry) in roster.entries.iter_mut().enumerate() {
            if names.iter().filter(|name| **name == entry.name).count() > 1 {
                entry.name = format!("{}-{}", entry.name, at + 1);
            }
        }
        Ok(roster)
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        self.entries.iter().for_each(|entry| entry.engine.close());
    }
}

/// Value of `--engine`.
#[derive(Debug, Default, PartialEq)]
struct Spec {
    /// Name or path.
    engine: String,
    args: Vec<String>,
    name: Option<String>,
    effort: Option<Effort>,
    protocol: Option<Protocol>,
    folder: Option<PathBuf>,
    restart: bool,
    options: BTreeMap<String, Value>,
}

/// Parses an external engine that a command other than `match` uses: its arguments and options.
pub(in crate::cli) fn external_engine(text: &str) -> Result<external::Config, CliError> {
    let spec = Spec::parse(text)?;
    let plain = Spec {
        engine: spec.engine.clone(),
        args: spec.args.clone(),
        folder: spec.folder.clone(),
        options: spec.options.clone(),
        ..Spec::default()
    };
    if spec != plain {
        return Err(CliError::Usage(format!(
            "engine '{text}': it may have arguments, folder= and option.NAME= only"
        )));
    }
    Ok(spec.external(external::Config::new(&spec.engine)))
}

impl Spec {
    fn parse(text: &str) -> Result<Spec, CliError> {
        let wrong = |why: String| CliError::Usage(format!("engine '{text}': {why}"));
        let words = shlex::split(text).ok_or_else(|| wrong("a quote is not closed".into()))?;
        let mut words = words.into_iter();
        let engine = words.next().filter(|engine| !engine.is_empty());
        let engine = engine.ok_or_else(|| wrong("expected the name or path of an engine".into()))?;
        let mut spec = Spec { engine, ..Spec::default() };
        for word in words {
            match word.split_once('=').filter(|_| !word.starts_with('-')) {
                Some((key, value)) => spec.set(key, value).map_err(wrong)?,
                None => spec.args.push(word),
            }
        }
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let expected = |what: &str| format!("{key}={value}: expected {what}");
        match key {
            "name" => self.name = Some(printable(value, MAX_NAME)),
            "tc" => self.effort = Some(Effort::Clock(value.parse().map_err(|error| format!("{error}"))?)),
            "movetime" => {
                self.effort = Some(Effort::Time(time(value).map_err(|why| format!("{key}={value}: {why}"))?));
            }
            "nodes" => {
                let nodes: NonZeroU64 = value.parse().map_err(|_| expected("a number"))?;
                self.effort = Some(Effort::Nodes(nodes.get()));
            }
            "depth" => {
                let depth: NonZeroU16 = value.parse().map_err(|_| expected("a number of plies"))?;
                self.effort = Some(Effort::Depth(depth.get()));
            }
            "protocol" => {
                self.protocol = Some(value.parse().map_err(|error| format!("protocol={value}: {error}"))?);
            }
            "folder" => self.folder = Some(PathBuf::from(value)),
            "restart" => self.restart = value.parse().map_err(|_| expected("true or false"))?,
            _ => match key.strip_prefix("option.") {
                Some(name) if !value.contains(char::is_control) => {
                    self.options.insert(name.to_owned(), value.into());
                }
                Some(_) => return Err(expected("text of one line")),
                None => return Err(format!("unknown key {key}; known: {KEYS}")),
            },
        }
        Ok(())
    }

    fn open(self, conditions: &Conditions, openings: &Openings) -> Result<Entry, CliError> {
        let effort = self.effort.unwrap_or_else(|| conditions.effort());
        let (engine, own_name) = match self.find(conditions)? {
            Named::Own(config) => (self.own(config)?, self.engine.clone()),
            Named::External(mut config) => {
                // It is tested in this game.
                config.games.get_or_insert_with(|| vec![conditions.variant]);
                let opened = Program::open(&self.engine, &config);
                let opened = opened.map_err(|error| CliError::Engine(error.to_string()))?;
                let title = opened.program.title().to_owned();
                let problem = if !opened.program.plays(conditions.variant, openings.are_chess960) {
                    let chess960 = if openings.are_chess960 { " as Chess960" } else { "" };
                    Some(format!("{title} does not play {}{chess960}", conditions.variant.name()))
                } else if matches!(effort, Effort::Nodes(_)) && !config.protocol.counts_nodes() {
                    Some(format!("{title} cannot count nodes in {}: give it a clock", config.protocol))
                } else if matches!(effort, Effort::Depth(_)) && !config.protocol.counts_depth() {
                    Some(format!("{title} cannot search to a depth in {}: give it a clock", config.protocol))
                } else {
                    unknown_options(&self.engine, &opened)
                };
                if let Some(problem) = problem {
                    return Err(CliError::Engine(problem));
                }
                (EntryEngine::External(opened.program), title)
            }
        };
        let name = self.name.unwrap_or_else(|| printable(&own_name, MAX_NAME));
        Ok(Entry { name, engine, effort, restart: self.restart })
    }

    /// Finds the engine by name or path.
    fn find(&self, conditions: &Conditions) -> Result<Named, CliError> {
        if self.engine == OURSELVES {
            return Ok(Named::Own(engine::Config::default()));
        }
        let is_path = Path::new(&self.engine).components().count() > 1;
        if !is_path
            && let Some(mut config) =
                Config::load_if_given(conditions.config.as_ref(), &conditions.overrides)?
        {
            match config.engines.remove(&self.engine) {
                Some(Named::External(config)) => return Ok(Named::External(self.external(config))),
                Some(own) => return Ok(own),
                None => {}
            }
        }
        if let Ok(player) = self.engine.parse::<BuiltIn>() {
            return Ok(Named::Own(player.config()));
        }
        Ok(match self.engine.parse::<Kind>() {
            Ok(kind) => Named::Own(engine::Config { kind, ..engine::Config::default() }),
            Err(_) => Named::External(self.external(external::Config::new(&self.engine))),
        })
    }

    /// Sets options of an engine of ours, which are called as under UCI.
    fn own(&self, mut config: engine::Config) -> Result<EntryEngine, CliError> {
        let wrong = |why: String| CliError::Usage(format!("--engine '{}': {why}", self.engine));
        if !self.args.is_empty() || self.protocol.is_some() || self.folder.is_some() {
            return Err(wrong("it plays within this process, without arguments, protocol or folder".into()));
        }
        let mut overhead = EntryEngine::OVERHEAD;
        for (name, value) in &self.options {
            if name.eq_ignore_ascii_case("EvalFile") {
                let chosen = value.to_string().parse();
                config.eval_file = chosen.map_err(|error| wrong(format!("option.{name}: {error}")))?;
                continue;
            }
            let number = value.to_string().parse::<u16>();
            let number = number.map_err(|_| wrong(format!("option.{name}={value}: expected a number")))?;
            let positive = NonZeroUsize::new(number.into());
            match (name.to_ascii_lowercase().as_str(), positive) {
                ("move overhead", _) => overhead = Duration::from_millis(number.into()),
                ("hash", Some(mib)) => config.hash_mib = mib,
                ("threads", Some(threads)) => config.threads = threads,
                ("hash" | "threads", None) => {
                    return Err(wrong(format!("option.{name}: expected more than 0")));
                }
                _ => {
                    return Err(wrong(format!(
                        "no option {name}; known: EvalFile, Hash, Threads, Move Overhead"
                    )));
                }
            }
        }
        Ok(EntryEngine::Own { config, overhead })
    }

    /// Overrides a configuration.
    fn external(&self, mut config: external::Config) -> external::Config {
        config.args.extend(self.args.iter().cloned());
        config.protocol = self.protocol.unwrap_or(config.protocol);
        config.folder = self.folder.clone().or(config.folder);
        config.options.extend(self.options.clone());
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_its_arguments_and_settings() {
        let text =
            "./a/zeitnot uci --flag=1 'name=the new one' option.Hash=16 'option.Move Overhead=5' nodes=5000";
        let spec = Spec::parse(text).unwrap();
        assert_eq!((spec.engine.as_str(), spec.args.join(" ").as_str()), ("./a/zeitnot", "uci --flag=1"));
        assert_eq!((spec.name.as_deref(), spec.effort), (Some("the new one"), Some(Effort::Nodes(5000))));
        assert_eq!(spec.options["Move Overhead"], "5".into());
        let spec =
            Spec::parse("'/opt/my engine' tc=1+0.01 protocol=xboard restart=true folder=/tmp").unwrap();
        assert_eq!((spec.engine.as_str(), spec.restart), ("/opt/my engine", true));
        assert_eq!(spec.effort, Some(Effort::Clock("1+0.01".parse().unwrap())));
        let spec = Spec::parse("zeitnot 'name=\u{202e}wen\u{1b}[2J'").unwrap();
        assert_eq!(spec.name.as_deref(), Some("wen[2J"));
        let spec = Spec::parse("zeitnot movetime=100ms").unwrap();
        assert_eq!(spec.effort, Some(Effort::Time(Duration::from_millis(100))));
    }

    #[test]
    fn an_engine_of_another_command_has_no_clock() {
        let config = external_engine("./a/engine --flag option.Hash=4").unwrap();
        assert_eq!((config.command.to_str(), config.args.len()), (Some("./a/engine"), 1));
        assert_eq!(config.options["Hash"], "4".into());
        for text in ["engine nodes=5", "engine protocol=xboard", "engine restart=true"] {
            assert!(external_engine(text).is_err());
        }
    }

    #[test]
    fn mistakes_are_reported() {
        for (text, expected) in [
            ("", "expected the name or path of an engine"),
            ("a 'b", "a quote is not closed"),
            ("a cmd=b", "unknown key cmd; known: name, tc"),
            ("a nodes=0", "nodes=0: expected a number"),
            ("a tc=fast", "'fast' is not a time control"),
            (
                "a protocol=ugi",
                "protocol=ugi: unknown variant `ugi`, expected one of `uci`, `xboard`, `ubgi`, `lines`, `files`",
            ),
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let own = |text: &str| Spec::parse(text).unwrap().own(engine::Config::default());
        assert!(own("zeitnot uci").is_err());
        let error = own("zeitnot option.EvalFile=nowhere.net").unwrap_err().to_string();
        assert!(error.contains("option.EvalFile: net nowhere.net: cannot be read"), "{error}");
        assert!(own("zeitnot option.EvalFile=hand-made").is_ok());
        let spec = Spec::parse("zeitnot option.Hash=8 option.threads=2").unwrap();
        let EntryEngine::Own { config, .. } = spec.own(engine::Config::default()).unwrap() else { panic!() };
        assert_eq!((config.hash_mib.get(), config.threads.get()), (8, 2));
    }
}
