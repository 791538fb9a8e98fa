//! Who plays, as it stands on the command line, and the other small languages of `zeitnot match`.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Duration,
};

use zeitnot_arena::{
    DrawRule, ResignRule,
    matches::{Effort, Entry, EntryEngine},
};
use zeitnot_engine as engine;
use zeitnot_engine::{
    Kind, Playable,
    external::{self, Named, Program, Protocol, Value},
};
use zeitnot_rules::{Game, GameKind};

use super::Args;
use crate::cli::{CliError, config::Config};

/// How this program is called where it plays within itself.
const OURSELVES: &str = "zeitnot";
/// The configuration, where nobody names one.
const CONFIG: &str = "config.toml";
/// A name that is longer spoils every table.
const LONGEST_NAME: usize = 40;
const KEYS: &str = "name, tc, movetime, nodes, depth, protocol, folder, restart, option.NAME";

/// The two who play, both tried.
pub(super) struct Roster {
    pub entries: [Entry; 2],
}

impl Roster {
    /// Reads both, starts and tries them.
    pub fn open<G: Playable>(args: &Args, openings: &[G]) -> Result<Roster, CliError> {
        let [first, second] = args.engine.as_slice() else {
            return Err(CliError::Usage("two engines are needed: give --engine twice".into()));
        };
        let usual = args.effort()?;
        let (first, second) = (Spec::parse(first)?, Spec::parse(second)?);
        let chess960 = openings.iter().any(Game::is_chess960);
        let mut roster =
            Roster { entries: [first.open(args, usual, chess960)?, second.open(args, usual, chess960)?] };
        let [first, second] = &mut roster.entries;
        if first.name == second.name {
            first.name.push_str("-1");
            second.name.push_str("-2");
        }
        Ok(roster)
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        self.entries.iter().for_each(|entry| entry.engine.close());
    }
}

/// What stands behind `--engine`.
#[derive(Debug, Default, PartialEq)]
struct Spec {
    who: String,
    args: Vec<String>,
    name: Option<String>,
    effort: Option<Effort>,
    protocol: Option<Protocol>,
    folder: Option<PathBuf>,
    restart: bool,
    options: BTreeMap<String, Value>,
}

impl Spec {
    fn parse(text: &str) -> Result<Spec, CliError> {
        let wrong = |why: String| CliError::Usage(format!("--engine '{text}': {why}"));
        let words = shlex::split(text).ok_or_else(|| wrong("a quote is not closed".into()))?;
        let mut words = words.into_iter();
        let who =
            words.next().filter(|who| !who.is_empty()).ok_or_else(|| wrong("who is to play?".into()))?;
        let mut spec = Spec { who, ..Spec::default() };
        for word in words {
            match word.split_once('=').filter(|_| !word.starts_with('-')) {
                Some((key, value)) => spec.set(key, value).map_err(wrong)?,
                None => spec.args.push(word),
            }
        }
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |what: &str| format!("{key}={value}: expected {what}");
        match key {
            "name" => self.name = Some(plain(value)),
            "tc" => self.effort = Some(Effort::Clock(value.parse().map_err(|error| format!("{error}"))?)),
            "movetime" => {
                self.effort = Some(Effort::Time(time(value).map_err(|why| format!("{key}={value}: {why}"))?));
            }
            "nodes" => match value.parse() {
                Ok(nodes) if nodes > 0 => self.effort = Some(Effort::Nodes(nodes)),
                _ => return Err(number("a number")),
            },
            "depth" => match value.parse() {
                Ok(depth) if depth > 0 => self.effort = Some(Effort::Depth(depth)),
                _ => return Err(number("a number of plies")),
            },
            "protocol" => match value {
                "uci" => self.protocol = Some(Protocol::Uci),
                "xboard" => self.protocol = Some(Protocol::Xboard),
                _ => return Err(number("uci or xboard")),
            },
            "folder" => self.folder = Some(PathBuf::from(value)),
            "restart" => self.restart = value.parse().map_err(|_| number("true or false"))?,
            _ => match key.strip_prefix("option.") {
                Some(name) if !value.contains(char::is_control) => {
                    self.options.insert(name.to_owned(), value.into());
                }
                Some(_) => return Err(number("text of one line")),
                None => return Err(format!("unknown key {key}; known: {KEYS}")),
            },
        }
        Ok(())
    }

    fn open(self, args: &Args, usual: Effort, chess960: bool) -> Result<Entry, CliError> {
        let effort = self.effort.unwrap_or(usual);
        let (engine, own_name) = match self.engine(args)? {
            Named::Own(config) => (self.ours(config)?, self.who.clone()),
            Named::External(config) => {
                let tried = Program::open(&self.who, &config)
                    .map_err(|failure| CliError::Engine(failure.to_string()))?;
                if !tried.unknown_options.is_empty() {
                    let (unknown, known) = (tried.unknown_options, tried.program.options());
                    return Err(CliError::Engine(format!(
                        "engine {} has no option {}; it has: {}",
                        self.who,
                        unknown.join(", "),
                        known.collect::<Vec<_>>().join(", ")
                    )));
                }
                let title = tried.program.title().to_owned();
                if !tried.program.plays(args.variant, chess960) {
                    let chess960 = if chess960 { " as Chess960" } else { "" };
                    let game = args.variant.name();
                    return Err(CliError::Engine(format!("{title} does not play {game}{chess960}")));
                }
                if matches!(effort, Effort::Nodes(_)) && config.protocol == Protocol::Xboard {
                    let text = format!("{title} cannot count nodes in xboard's protocol: give it a clock");
                    return Err(CliError::Engine(text));
                }
                (EntryEngine::External(tried.program), title)
            }
        };
        let name = self.name.unwrap_or_else(|| plain(&own_name));
        Ok(Entry { name, engine, effort, restart: self.restart })
    }

    /// By name or path.
    fn engine(&self, args: &Args) -> Result<Named, CliError> {
        let ours = |kind| Named::Own(engine::Config { kind, ..engine::Config::default() });
        if self.who == OURSELVES {
            return Ok(ours(Kind::default()));
        }
        if let Some(named) = self.configured(args.config.as_deref())? {
            return Ok(match named {
                Named::External(config) => Named::External(self.theirs(config)),
                own => own,
            });
        }
        let theirs = || Named::External(self.theirs(external::Config::new(&self.who)));
        Ok(self.who.parse().map_or_else(|_| theirs(), ours))
    }

    /// A table of the configuration, where there is one of that name.
    fn configured(&self, config: Option<&Path>) -> Result<Option<Named>, CliError> {
        let is_path = Path::new(&self.who).components().count() > 1;
        let path = config.unwrap_or(Path::new(CONFIG));
        if is_path || config.is_none() && !path.exists() {
            return Ok(None);
        }
        Ok(Config::load(path)?.engines.remove(&self.who))
    }

    /// One of ours has the options that it has under UCI.
    fn ours(&self, mut config: engine::Config) -> Result<EntryEngine, CliError> {
        let wrong = |why: String| CliError::Usage(format!("--engine '{}': {why}", self.who));
        if !self.args.is_empty() || self.protocol.is_some() || self.folder.is_some() {
            return Err(wrong("it plays within this process, without arguments, protocol or folder".into()));
        }
        let mut overhead = EntryEngine::OVERHEAD;
        for (name, value) in &self.options {
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
                        "it has no option {name} here, but Hash, Threads and Move Overhead"
                    )));
                }
            }
        }
        Ok(EntryEngine::Own { config, overhead })
    }

    /// What stands here goes before the configuration.
    fn theirs(&self, mut config: external::Config) -> external::Config {
        config.args.extend(self.args.iter().cloned());
        config.protocol = self.protocol.unwrap_or(config.protocol);
        config.folder = self.folder.clone().or(config.folder);
        config.options.extend(self.options.clone());
        config
    }
}

/// A name that is short and moves no cursor.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

/// A game that engines can be told of.
pub(super) fn variant(name: &str) -> Result<GameKind, String> {
    let games = || external::uci_variants().map(|(game, _)| game);
    let known = || games().map(GameKind::name).collect::<Vec<_>>().join(", ");
    let found = name.parse().ok().filter(|game| games().any(|it| it == *game));
    found.ok_or_else(|| format!("known: {}; chess960 is chess with openings of its own", known()))
}

/// Nothing in a match takes longer.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok().filter(|time| *time <= LONGEST);
    time.ok_or_else(|| "expected a time of at most a day, as in 100ms".to_owned())
}

pub(super) fn error_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..0.5).contains(rate));
    rate.ok_or_else(|| "expected a number between 0 and 0.5".to_owned())
}

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

pub(super) fn drawn(text: &str) -> Result<DrawRule, String> {
    match numbers(text) {
        Some([move_number, move_count, score]) if move_count > 0 => {
            Ok(DrawRule { move_number, move_count, score })
        }
        _ => Err("expected move, moves and centipawns, as in 40,8,10".to_owned()),
    }
}

pub(super) fn resigned(text: &str) -> Result<ResignRule, String> {
    match numbers(text) {
        Some([move_count, score]) if move_count > 0 && score > 0 => Ok(ResignRule { move_count, score }),
        _ => Err("expected moves and centipawns, as in 4,600".to_owned()),
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
        assert_eq!(
            (spec.who.as_str(), spec.args.as_slice()),
            ("./a/zeitnot", &["uci".into(), "--flag=1".into()][..])
        );
        assert_eq!((spec.name.as_deref(), spec.effort), (Some("the new one"), Some(Effort::Nodes(5000))));
        assert_eq!(spec.options["Move Overhead"], "5".into());
        let spec =
            Spec::parse("'/opt/my engine' tc=1+0.01 protocol=xboard restart=true folder=/tmp").unwrap();
        assert_eq!((spec.who.as_str(), spec.restart), ("/opt/my engine", true));
        assert_eq!(spec.effort, Some(Effort::Clock("1+0.01".parse().unwrap())));
        let spec = Spec::parse("zeitnot movetime=100ms").unwrap();
        assert_eq!(spec.effort, Some(Effort::Time(Duration::from_millis(100))));
    }

    #[test]
    fn a_mistake_is_told() {
        for (text, expected) in [
            ("", "who is to play?"),
            ("a 'b", "a quote is not closed"),
            ("a cmd=b", "unknown key cmd; known: name, tc"),
            ("a nodes=0", "nodes=0: expected a number"),
            ("a tc=fast", "'fast' is no time control"),
            ("a protocol=ugi", "expected uci or xboard"),
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let spec = Spec::parse("zeitnot uci").unwrap();
        assert!(spec.ours(engine::Config::default()).is_err());
        let spec = Spec::parse("zeitnot option.Hash=8 option.threads=2").unwrap();
        match spec.ours(engine::Config::default()).unwrap() {
            EntryEngine::Own { config, .. } => {
                assert_eq!((config.hash_mib.get(), config.threads.get()), (8, 2))
            }
            EntryEngine::External(_) => panic!("it is ours"),
        }
    }

    #[test]
    fn small_languages() {
        assert_eq!(drawn("40,8,10"), Ok(DrawRule { move_number: 40, move_count: 8, score: 10 }));
        assert_eq!(resigned("4, 600"), Ok(ResignRule { move_count: 4, score: 600 }));
        assert!(drawn("40,8").is_err() && resigned("0,600").is_err() && resigned("4,-600").is_err());
        assert_eq!(variant("atomic"), Ok(GameKind::Atomic));
        assert!(time("100").is_err() && time("2 days").is_err());
        assert!(variant("tuc").is_err() && error_rate("0.5").is_err() && error_rate("nan").is_err());
    }
}
