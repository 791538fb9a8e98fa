//! UCI options: one list of offers, each with its name, type and effect.

use std::{env, num::NonZeroUsize, ops::RangeInclusive, path::PathBuf, time::Duration};

use zeitnot_rules::GameKind;
use zeitnot_wire::engines::variants;

#[cfg(any(test, feature = "tuning"))]
use crate::search::tuning::{self, Tunable};
use crate::{
    book::{self, Book, BookError, Selection},
    config::Config,
    memory,
    net::{EvalFile, NetError},
    strength::Elo,
    syzygy::{self, MAX_PIECES, TablebaseError, Tablebases},
};

/// Maximum of the option `Hash` where the machine cannot be asked: 32 TiB.
const MAX_HASH_MIB: u64 = 1 << 25;

#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Configuration of the thinkers.
    pub engine: Config,
    /// Safety margin of each move's time.
    pub overhead: Duration,
    /// Number of variations to report; not zero.
    pub multipv: u16,
    /// Whether scores come with win, draw and loss statistics.
    pub shows_wdl: bool,
    /// Whether positions are analysed, instead of a game being played.
    pub analyses: bool,
    /// Whether castling is written as in Chess960, whatever the position.
    pub chess960: bool,
    /// Whether the engine plays at this strength.
    limits_strength: bool,
    elo: Elo,
    /// Game that is played.
    pub game: GameKind,
    /// Moves that are played without a search.
    pub book: Option<Book>,
    select: Selection,
    book_plies: usize,
    /// Open endgame tables.
    pub endgames: Option<Tablebases>,
}

impl Options {
    /// Returns the defaults.
    pub(super) fn new(engine: Config, game: GameKind, overhead: Duration) -> Options {
        let book::BookConfig { selection: select, max_ply, .. } = book::BookConfig::default();
        Options {
            engine,
            overhead,
            multipv: 1,
            shows_wdl: false,
            analyses: false,
            chess960: false,
            limits_strength: false,
            elo: Elo::MAX,
            game,
            book: None,
            select,
            book_plies: max_ply,
            endgames: None,
        }
    }

    /// Sets the option of this name, in any case of letters.
    ///
    /// # Errors
    /// [`BadOption`]; nothing changes then.
    pub(super) fn set(
        &mut self,
        offers: &[&[Offer]],
        name: &str,
        value: &str,
    ) -> Result<Option<Button>, BadOption> {
        let mut all = offers.iter().copied().flatten();
        let Some(offer) = all.find(|offer| offer.name.eq_ignore_ascii_case(name)) else {
            return set_tunable(name, value).map(|()| None);
        };
        let bad =
            || BadOption::Value { name: offer.name, value: value.to_owned(), range: offer.kind.range() };
        match &offer.kind {
            Kind::Spin { range, set, .. } => {
                set(self, value.parse().ok().filter(|n| range().contains(n)).ok_or_else(bad)?);
            }
            Kind::Check { set, .. } => set(self, value.to_ascii_lowercase().parse().map_err(|_| bad())?),
            Kind::Combo { choices, set, .. } => {
                let chosen = choices().into_iter().find(|choice| choice.eq_ignore_ascii_case(value));
                set(self, chosen.ok_or_else(bad)?);
            }
            Kind::File { set, .. } => set(self, Some(value).filter(|path| !matches!(*path, "" | EMPTY)))?,
            Kind::Button(pressed) => return Ok(Some(*pressed)),
            Kind::Ignored(_) => {}
        }
        Ok(None)
    }

    fn open_book(&mut self, path: Option<&str>) -> Result<(), BookError> {
        let files = path.map(PathBuf::from).into_iter().collect();
        self.book = Book::open(&book::BookConfig { files, ..book::BookConfig::default() })?
            .map(|book| self.using(&book));
        Ok(())
    }

    /// Several folders are separated as in `PATH`.
    fn open_tables(&mut self, path: Option<&str>) -> Result<(), TablebaseError> {
        let folders = path.into_iter().flat_map(env::split_paths).collect();
        let config = syzygy::SyzygyConfig { folders, ..self.engine.syzygy.clone() };
        self.endgames = Tablebases::open(&config)?;
        self.engine.syzygy = config;
        Ok(())
    }

    fn choose_evaluation(&mut self, name: Option<&str>) -> Result<(), BadOption> {
        self.engine.eval_file = name.map_or(Ok(EvalFile::default()), str::parse)?;
        Ok(())
    }

    fn limit_strength(&mut self, limits: bool, elo: Elo) {
        (self.limits_strength, self.elo) = (limits, elo);
        self.engine.elo = limits.then_some(elo);
    }

    fn using(&self, book: &Book) -> Book {
        book.with_selection(self.select, self.book_plies)
    }

    fn use_book(&mut self, select: Selection, plies: usize) {
        (self.select, self.book_plies) = (select, plies);
        self.book = self.book.as_ref().map(|book| self.using(book));
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum BadOption {
    #[error("no option '{0}'")]
    Unknown(String),
    #[error("'{value}' is not a value for {name} ({range}); it stays as it is")]
    Value { name: &'static str, value: String, range: String },
    #[error("{0}; it stays as it is")]
    Book(#[from] BookError),
    #[error("{0}; it stays as it is")]
    Tables(#[from] TablebaseError),
    #[error("{0}; it stays as it is")]
    Evaluation(#[from] NetError),
}

/// Option without a value that triggers an action.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Button {
    /// Forgets everything that was searched.
    ClearHash,
}

pub(super) struct Offer {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    Spin {
        range: fn() -> RangeInclusive<u64>,
        get: fn(&Options) -> u64,
        set: fn(&mut Options, u64),
    },
    Check {
        get: fn(&Options) -> bool,
        set: fn(&mut Options, bool),
    },
    Combo {
        choices: fn() -> Vec<&'static str>,
        get: fn(&Options) -> &'static str,
        set: fn(&mut Options, &str),
    },
    /// Path, or none.
    File {
        get: fn(&Options) -> String,
        set: fn(&mut Options, Option<&str>) -> Result<(), BadOption>,
    },
    Button(Button),
    /// Accepted without effect; its type and default.
    Ignored(&'static str),
}

impl Kind {
    fn range(&self) -> String {
        match self {
            Kind::Spin { range, .. } => format!("{} to {}", range().start(), range().end()),
            Kind::Combo { choices, .. } => choices().join(", "),
            Kind::Check { .. } => "true or false".to_owned(),
            Kind::File { .. } | Kind::Button(_) | Kind::Ignored(_) => String::new(),
        }
    }
}

/// UCI's spelling of an empty string.
const EMPTY: &str = "<empty>";

impl Offer {
    /// Returns its `option` line.
    pub(super) fn line(&self, options: &Options) -> String {
        let name = self.name;
        let kind = match &self.kind {
            Kind::Spin { range, get, .. } => {
                format!("spin default {} min {} max {}", get(options), range().start(), range().end())
            }
            Kind::Check { get, .. } => format!("check default {}", get(options)),
            Kind::Combo { choices, get, .. } => {
                let choices: String = choices().iter().flat_map(|choice| [" var ", choice]).collect();
                format!("combo default {}{choices}", get(options))
            }
            Kind::File { get, .. } => format!("string default {}", get(options)),
            Kind::Button(_) => "button".to_owned(),
            Kind::Ignored(kind) => (*kind).to_owned(),
        };
        format!("option name {name} type {kind}")
    }
}

const fn spin(
    name: &'static str,
    range: fn() -> RangeInclusive<u64>,
    get: fn(&Options) -> u64,
    set: fn(&mut Options, u64),
) -> Offer {
    Offer { name, kind: Kind::Spin { range, get, set } }
}

const fn check(name: &'static str, get: fn(&Options) -> bool, set: fn(&mut Options, bool)) -> Offer {
    Offer { name, kind: Kind::Check { get, set } }
}

const fn combo(
    name: &'static str,
    choices: fn() -> Vec<&'static str>,
    get: fn(&Options) -> &'static str,
    set: fn(&mut Options, &str),
) -> Offer {
    Offer { name, kind: Kind::Combo { choices, get, set } }
}

const fn file(
    name: &'static str,
    get: fn(&Options) -> String,
    set: fn(&mut Options, Option<&str>) -> Result<(), BadOption>,
) -> Offer {
    Offer { name, kind: Kind::File { get, set } }
}

/// Options of all dialects.
pub(super) const COMMON: &[Offer] = &[
    spin(
        "Hash",
        || 1..=memory_mib().clamp(1, MAX_HASH_MIB),
        |options| options.engine.hash_mib.get() as u64,
        |options, mib| options.engine.hash_mib = at_least_one(mib),
    ),
    spin(
        "Threads",
        || 1..=256,
        |options| options.engine.threads.get() as u64,
        |options, threads| options.engine.threads = at_least_one(threads),
    ),
    spin(
        "Move Overhead",
        || 0..=10_000,
        |options| options.overhead.as_millis() as u64,
        |options, millis| options.overhead = Duration::from_millis(millis),
    ),
];

/// Further options of UCI.
pub(super) const CHESS: &[Offer] = &[
    file("EvalFile", |options| options.engine.eval_file.to_string(), Options::choose_evaluation),
    Offer { name: "Clear Hash", kind: Kind::Button(Button::ClearHash) },
    // By this the GUI says whether it will ponder.
    Offer { name: "Ponder", kind: Kind::Ignored("check default false") },
    spin(
        "MultiPV",
        || 1..=256,
        |options| options.multipv.into(),
        |options, count| options.multipv = count as u16,
    ),
    file("BookFile", |_| EMPTY.to_owned(), |options, path| Ok(options.open_book(path)?)),
    spin(
        "BookDepth",
        || 0..=1000,
        |options| options.book_plies as u64,
        |options, plies| options.use_book(options.select, plies as usize),
    ),
    combo(
        "BookSelect",
        || SELECTS.map(|(name, _)| name).into(),
        |options| SELECTS.iter().find(|row| row.1 == options.select).map_or("", |row| row.0),
        |options, chosen| {
            let row = SELECTS.iter().find(|row| row.0 == chosen);
            options.use_book(row.map_or(options.select, |row| row.1), options.book_plies);
        },
    ),
    file("SyzygyPath", |_| EMPTY.to_owned(), |options, path| Ok(options.open_tables(path)?)),
    spin(
        "SyzygyProbeDepth",
        || 1..=100,
        |options| options.engine.syzygy.min_depth.into(),
        |options, depth| options.engine.syzygy.min_depth = depth as u16,
    ),
    spin(
        "SyzygyProbeLimit",
        || 0..=MAX_PIECES as u64,
        |options| options.engine.syzygy.max_pieces as u64,
        |options, pieces| options.engine.syzygy.max_pieces = pieces as usize,
    ),
    combo(
        "UCI_Variant",
        || variants::uci_variants().map(|row| row.1).collect(),
        |options| variants::uci_variants().find(|row| row.0 == options.game).map_or("", |row| row.1),
        |options, chosen| {
            let row = variants::uci_variants().find(|row| row.1 == chosen);
            options.game = row.map_or(options.game, |row| row.0);
        },
    ),
    check("UCI_Chess960", |options| options.chess960, |options, chess960| options.chess960 = chess960),
    check(
        "UCI_LimitStrength",
        |options| options.limits_strength,
        |options, limits| options.limit_strength(limits, options.elo),
    ),
    spin(
        "UCI_Elo",
        || Elo::MIN.get().into()..=Elo::MAX.get().into(),
        |options| options.elo.get().into(),
        |options, elo| {
            let elo = u16::try_from(elo).ok().and_then(|elo| Elo::try_from(elo).ok());
            options.limit_strength(options.limits_strength, elo.unwrap_or(options.elo));
        },
    ),
    check("UCI_ShowWDL", |options| options.shows_wdl, |options, shows| options.shows_wdl = shows),
    check("UCI_AnalyseMode", |options| options.analyses, |options, analyses| options.analyses = analyses),
    Offer { name: "UCI_EngineAbout", kind: Kind::Ignored(ABOUT) },
];

const ABOUT: &str = concat!(
    "string default Zeitnot ",
    env!("CARGO_PKG_VERSION"),
    ", free software under the GPL 3.0 or later; see docs/uci.md"
);

const SELECTS: [(&str, Selection); 3] =
    [("best", Selection::Best), ("weighted", Selection::Weighted), ("uniform", Selection::Uniform)];

/// Sets a tunable of the search, where they are options.
#[cfg(any(test, feature = "tuning"))]
fn set_tunable(name: &str, value: &str) -> Result<(), BadOption> {
    let tunable = tuning::all().find(|tunable| tunable.name.eq_ignore_ascii_case(name));
    let tunable = tunable.ok_or_else(|| BadOption::Unknown(name.to_owned()))?;
    if value.parse().is_ok_and(|value| tunable.set(value)) {
        return Ok(());
    }
    let range = format!("{} to {}", tunable.min, tunable.max);
    Err(BadOption::Value { name: tunable.name, value: value.to_owned(), range })
}

#[cfg(not(any(test, feature = "tuning")))]
fn set_tunable(name: &str, _: &str) -> Result<(), BadOption> {
    Err(BadOption::Unknown(name.to_owned()))
}

/// Returns the `option` lines of the search's tunables, where they are options.
#[cfg(any(test, feature = "tuning"))]
pub(super) fn tunable_lines() -> Vec<String> {
    let line = |tunable: &Tunable| {
        let (name, value, min, max) = (tunable.name, tunable.get(), tunable.min, tunable.max);
        format!("option name {name} type spin default {value} min {min} max {max}")
    };
    tuning::all().map(line).collect()
}

#[cfg(not(any(test, feature = "tuning")))]
pub(super) fn tunable_lines() -> Vec<String> {
    Vec::new()
}

fn at_least_one(number: u64) -> NonZeroUsize {
    usize::try_from(number).ok().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN)
}

/// Memory of the machine.
fn memory_mib() -> u64 {
    memory::total_mib().map_or(MAX_HASH_MIB, |mib| mib as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[&[Offer]] = &[COMMON, CHESS];

    fn options() -> Options {
        Options::new(Config::default(), GameKind::Chess, Duration::from_millis(50))
    }

    fn line(name: &str, options: &Options) -> String {
        let mut all = ALL.iter().copied().flatten();
        all.find(|offer| offer.name == name).unwrap().line(options)
    }

    #[test]
    fn what_is_set_is_what_is_told() {
        let mut options = options();
        for (name, before, value, after) in [
            ("Threads", "spin default 1 min 1 max 256", "256", "spin default 256 min 1 max 256"),
            ("MultiPV", "spin default 1 min 1 max 256", "4", "spin default 4 min 1 max 256"),
            ("UCI_Elo", "spin default 2900 min 700 max 2900", "1500", "spin default 1500 min 700 max 2900"),
            ("UCI_LimitStrength", "check default false", "true", "check default true"),
            ("Move Overhead", "spin default 50 min 0 max 10000", "0", "spin default 0 min 0 max 10000"),
            ("UCI_ShowWDL", "check default false", "TRUE", "check default true"),
            ("UCI_Chess960", "check default false", "true", "check default true"),
            ("BookDepth", "spin default 40 min 0 max 1000", "12", "spin default 12 min 0 max 1000"),
            (
                "BookSelect",
                "combo default weighted var best var weighted var uniform",
                "Best",
                "combo default best var best var weighted var uniform",
            ),
        ] {
            assert_eq!(line(name, &options), format!("option name {name} type {before}"));
            assert_eq!(options.set(ALL, &name.to_uppercase(), value).unwrap(), None);
            assert_eq!(line(name, &options), format!("option name {name} type {after}"));
        }
        assert_eq!(options.engine.elo, Elo::try_from(1500).ok());
        let variants = line("UCI_Variant", &options);
        assert!(variants.contains(" combo default chess var chess var minichess-imcs "), "{variants}");
        assert!(variants.contains(" var crazyhouse var atomic "), "{variants}");
        options.set(ALL, "UCI_Variant", "3check").unwrap();
        assert_eq!(options.game, GameKind::ThreeCheck);
        assert_eq!(options.set(ALL, "clear hash", "").unwrap(), Some(Button::ClearHash));
    }

    #[test]
    fn tunables_of_the_search_are_options() {
        let lines = tunable_lines();
        let told = "option name ReverseFutilityMargin type spin default 75 min 10 max 250";
        assert!(lines.iter().any(|line| line == told), "{lines:?}");
        // Other tests search meanwhile: the value stays as it is.
        assert_eq!(options().set(ALL, "reversefutilitymargin", "75").unwrap(), None);
        for value in ["9", "251", "", "many"] {
            let error = options().set(ALL, "ReverseFutilityMargin", value).unwrap_err().to_string();
            let expected = format!("'{value}' is not a value for ReverseFutilityMargin (10 to 250)");
            assert!(error.contains(&expected), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut options = options();
        let memory = (memory_mib() + 1).to_string();
        for (name, value, complaint) in [
            ("Hash", "0", "'0' is not a value for Hash (1 to "),
            ("hash", &memory, "is not a value for Hash"),
            ("Hash", "", "'' is not a value for Hash"),
            ("Threads", "-1", "'-1' is not a value for Threads"),
            ("MultiPV", "257", "'257' is not a value for MultiPV"),
            ("UCI_ShowWDL", "yes", "'yes' is not a value for UCI_ShowWDL"),
            ("UCI_Elo", "699", "'699' is not a value for UCI_Elo (700 to 2900)"),
            ("UCI_Variant", "shogi", "'shogi' is not a value for UCI_Variant"),
            ("BookFile", "/nowhere/at all.bin", "book /nowhere/at all.bin: cannot be read"),
            ("EvalFile", "/nowhere/at all", "net /nowhere/at all: cannot be read"),
            ("SyzygyPath", "/nowhere/at all", "endgame tables: /nowhere/at all: cannot be read"),
            ("SyzygyProbeLimit", "8", "'8' is not a value for SyzygyProbeLimit (0 to 7)"),
            ("Wings", "2", "no option 'Wings'"),
        ] {
            let error = options.set(ALL, name, value).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
        let lines = |options: &Options| -> Vec<_> {
            ALL.iter().copied().flatten().map(|offer| offer.line(options)).collect()
        };
        assert_eq!(lines(&options), lines(&super::tests::options()));
    }
}
