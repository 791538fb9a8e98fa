//! An engine program that was tested: it starts, tells its features, and has played a move.

use std::{
    fmt, io,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use zeitnot_engine::{Decision, ExternalEngine, Limits, MoveLimits, StopFlag, Task};
use zeitnot_rules::{GameHistory, GameKind, Packed, Tactics, Visitor};
use zeitnot_wire::{
    engines::{Spin, variants},
    uci::Words,
};

use crate::{
    config::{Config, OnEngineFailure, Protocol, Value},
    connection::{Connection, Processes},
    fault::Fault,
    file_engine::FileEngine,
    lines::Lines,
    protocol::{EngineProtocol, Introduction},
    search::{Session, search},
    uci::Uci,
    xboard::Xboard,
};

/// Time for the test move, …
const TEST_MOVE: Duration = Duration::from_millis(200);
/// … and the wait for an engine that exceeds it: this may be its very first search.
const TEST_GRACE: Duration = Duration::from_secs(5);
/// Time for the test move of a program that is started for each move: with a large library, the start takes most of it.
const TEST_FILES: Duration = Duration::from_secs(3);
/// Time for what should not follow the test move of a program that may print nothing else.
const TEST_SILENCE: Duration = Duration::from_millis(50);

/// An engine program; shared by all games that it plays.
pub struct Program {
    /// Name in the configuration.
    name: String,
    config: Config,
    introduction: Introduction,
    processes: Arc<Processes>,
}

/// A tested program, and what the user should know of it.
#[derive(Debug)]
pub struct Opened {
    pub program: Arc<Program>,
    /// Configured options that it does not have.
    pub unknown_options: Vec<String>,
}

/// A program that cannot play: which one, the fault, and advice.
#[derive(Debug, thiserror::Error)]
pub struct OpenError {
    name: String,
    command: PathBuf,
    fault: Fault,
    /// Game in which it was tried, if it does not say which games it plays.
    guessed: Option<GameKind>,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenError { name, command, fault, .. } = self;
        write!(f, "engine {name} ({}) {fault}; {}", command.display(), fault.advice())?;
        self.guessed.map_or(Ok(()), |game| {
            let game = game.name();
            write!(f, " (tried in {game}: if it plays only other games, name them: games = [\"tuc\"])")
        })
    }
}

impl OpenError {
    /// Returns whether the program, or the folder that it runs in, does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(&self.fault, Fault::Start(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Starts the program, sets its options, lets it play a quick move, and ends it again.
    ///
    /// # Errors
    /// [`OpenError`] if any of that fails.
    pub fn open(name: &str, config: &Config) -> Result<Opened, OpenError> {
        let mut program = Program {
            name: name.to_owned(),
            config: config.clone(),
            introduction: Introduction::default(),
            processes: Arc::default(),
        };
        let mut tried = None;
        match program.test(&mut tried) {
            Ok(()) => {
                let is_unknown = |name: &&String| program.introduction.setting(name).is_none();
                let unknown_options = config.options.keys().filter(is_unknown).cloned().collect();
                Ok(Opened { program: Arc::new(program), unknown_options })
            }
            Err(fault) => {
                let is_guess = config.protocol == Protocol::Lines && config.games.is_none();
                let (name, command) = (name.to_owned(), config.command.clone());
                Err(OpenError { name, command, fault, guessed: tried.filter(|_| is_guess) })
            }
        }
    }

    /// Lets it play a move; `tried` is then set to the game.
    fn test(&mut self, tried: &mut Option<GameKind>) -> Result<(), Fault> {
        let (mut session, introduction) = self.connect()?;
        self.introduction = introduction;
        let games = GameKind::ALL.iter().copied();
        let Some((game, variant)) = games.filter_map(|game| Some((game, self.variant(game)?))).next() else {
            return Ok(());
        };
        *tried = Some(game);
        let (time, grace) = match self.config.protocol {
            // Its first answer is all that says that it is ready.
            Protocol::Lines => (TEST_MOVE, self.config.start_within),
            Protocol::Files => (TEST_FILES, TEST_GRACE),
            Protocol::Uci | Protocol::Xboard | Protocol::Ubgi => (TEST_MOVE, TEST_GRACE),
        };
        game.with(TestMove { variant, session: &mut session, time, grace })?;
        match &mut session {
            Session::Process { engine, protocol } if self.config.protocol == Protocol::Lines => {
                let extra = engine.receive(Instant::now() + TEST_SILENCE)?;
                extra.map_or(Ok(()), |line| protocol.unasked(&line))
            }
            _ => Ok(()),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.introduction.settings.iter().map(|setting| setting.name.as_str())
    }

    /// Default and range of an option that is a number.
    pub fn spin(&self, option: &str) -> Option<Spin> {
        self.introduction.setting(option)?.spin
    }

    /// Returns the same program with some options set otherwise. It is not tested again.
    pub fn with_options(&self, options: impl IntoIterator<Item = (String, Value)>) -> Program {
        let mut config = self.config.clone();
        config.options.extend(options);
        let (name, introduction) = (self.name.clone(), self.introduction.clone());
        Program { name, config, introduction, processes: Arc::default() }
    }

    pub(crate) fn limits(&self) -> MoveLimits {
        self.config.limits
    }

    /// Reaction to its failure in a game.
    pub(crate) fn on_failure(&self) -> OnEngineFailure {
        self.config.on_engine_failure
    }

    /// Its name for this game.
    pub(crate) fn variant(&self, game: GameKind) -> Option<&'static str> {
        if self.config.games.as_ref().is_some_and(|games| !games.contains(&game)) {
            return None;
        }
        let told = &self.introduction.variants;
        let names = match self.config.protocol {
            Protocol::Uci => variants::uci_names(game),
            Protocol::Xboard => variants::xboard_names(game),
            Protocol::Ubgi => return (game == GameKind::Minichess2026).then(|| game.name()),
            Protocol::Lines => return Some(game.name()),
            Protocol::Files => return on_files(game).then(|| game.name()),
        };
        names.iter().copied().find(|name| told.iter().any(|told| told.eq_ignore_ascii_case(name)))
    }

    /// Time that a process may take to be ready.
    pub(crate) fn start_within(&self) -> Duration {
        self.config.start_within
    }

    /// Starts another process on a thread of its own.
    pub(crate) fn start_in_background(self: &Arc<Self>) -> Receiver<Result<Session, Fault>> {
        let (to_owner, started) = sync_channel(1);
        let program = self.clone();
        let start = move || drop(to_owner.send(program.start()));
        if let Err(error) = thread::Builder::new().name("engine start".into()).spawn(start) {
            tracing::error!(%error, "no thread to start an engine on");
        }
        started
    }

    /// Starts another process, and waits until it is ready.
    pub(crate) fn start(&self) -> Result<Session, Fault> {
        self.connect().map(|(session, _)| session)
    }

    fn connect(&self) -> Result<(Session, Introduction), Fault> {
        let mut protocol: Box<dyn EngineProtocol> = match self.config.protocol {
            Protocol::Uci => Box::new(Uci::new(Words::Uci)),
            Protocol::Ubgi => Box::new(Uci::new(Words::Ubgi)),
            Protocol::Lines => Box::new(Lines),
            Protocol::Xboard => Box::new(Xboard::new()),
            Protocol::Files => {
                let engine = FileEngine::new(&self.config, self.processes.clone())?;
                return Ok((Session::Files(engine), Introduction::default()));
            }
        };
        let mut engine = Box::new(Connection::open(&self.config, &self.processes)?);
        match self.greet(&mut engine, &mut *protocol) {
            Ok(introduction) => Ok((Session::Process { engine, protocol }, introduction)),
            Err(fault) => {
                engine.give_up();
                Err(fault)
            }
        }
    }

    /// Sets the options that the engine has, and waits until it is ready.
    fn greet(
        &self,
        engine: &mut Connection,
        protocol: &mut dyn EngineProtocol,
    ) -> Result<Introduction, Fault> {
        let until = Instant::now() + self.config.start_within;
        let told = protocol.introduce(engine, until)?;
        for (name, value) in &self.config.options {
            let setting = told.setting(name);
            if let Some(command) = setting.and_then(|setting| protocol.option(setting, &value.to_string())) {
                engine.send(&command)?;
            }
        }
        protocol.new_game(engine, until)?;
        Ok(told)
    }
}

/// Returns whether a game is played on the board of a `state` file.
fn on_files(game: GameKind) -> bool {
    matches!(game, GameKind::Minichess2023 | GameKind::Minichess2026 | GameKind::MinichessImcs)
}

/// Has an engine play a quick move at the start of a game.
struct TestMove<'s> {
    variant: &'static str,
    session: &'s mut Session,
    time: Duration,
    grace: Duration,
}

impl Visitor for TestMove<'_> {
    type Out = Result<(), Fault>;

    fn visit<G: Tactics>(self, start: G) -> Self::Out {
        let game = GameHistory::new(start);
        let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
        let limits = Limits { hard: Some(Instant::now() + self.time), ..Limits::default() };
        let watch = |_: &_| ControlFlow::Continue(());
        let task = Task { game: &game, limits: &limits, best: &best, stop: &stop, watch: &watch };
        search(self.variant, self.session, &task, self.grace)?;
        if best.read().mv == Packed::NONE { Err(Fault::Silent("go")) } else { Ok(()) }
    }
}

impl ExternalEngine for Program {
    /// Name that the engine gives itself, or else the one in the configuration.
    fn title(&self) -> &str {
        self.introduction.name.as_deref().unwrap_or(&self.name)
    }

    fn identity(&self) -> String {
        let Config { command, args, options, .. } = &self.config;
        let options: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {} {args:?} {options:?}", self.title(), command.display())
    }

    fn plays(&self, game: GameKind, chess960: bool) -> bool {
        self.variant(game).is_some() && (self.introduction.chess960 || !chess960)
    }

    /// Kills all its processes, and starts no others.
    fn close(&self) {
        self.processes.close();
    }
}
