//! A program that was tried: it starts, it says what it can do, and it has played a move.

use std::{
    fmt,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use zeitnot_rules::{Game, GameHistory, Packed, chess::Chess};

use super::{
    Config, Connection, Dialect, Fault, Introduction, Protocol, connection::Living, rules, thinker::search,
    uci::Uci, xboard::Xboard,
};
use crate::{Decision, Limits, StopFlag, Task};

/// The time for the move that it plays for us at the start …
const QUICK_MOVE: Duration = Duration::from_millis(200);
/// … and how long after it we still wait: it may be the first time that it thinks at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that plays; all games that it plays share this.
pub struct Program {
    /// As the configuration calls it.
    name: String,
    config: Config,
    told: Introduction,
    living: Living,
}

/// A program that has passed, and what the user should know of it.
#[derive(Debug)]
pub struct Tried {
    /// The program.
    pub program: Arc<Program>,
    /// Options that it does not have.
    pub unknown_options: Vec<String>,
}

/// Why a program cannot play: which, what happened, what to do.
#[derive(Debug, thiserror::Error)]
#[error("engine {name} ({}) {fault}; {advice}", command.display(), advice = fault.advice())]
pub struct Failure {
    name: String,
    command: std::path::PathBuf,
    fault: Fault,
}

/// An engine that runs and is ready.
pub(super) struct Session {
    pub engine: Connection,
    pub dialect: Box<dyn Dialect>,
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
    /// [`Failure`], where it cannot do that.
    pub fn open(name: &str, config: &Config) -> Result<Tried, Failure> {
        let told = Introduction::default();
        let mut program =
            Program { name: name.to_owned(), config: config.clone(), told, living: Living::default() };
        match program.examine() {
            Ok(()) => {
                let unknown = |name: &&String| program.told.setting(name).is_none();
                let unknown_options = config.options.keys().filter(unknown).cloned().collect();
                Ok(Tried { program: Arc::new(program), unknown_options })
            }
            Err(fault) => Err(Failure { name: name.to_owned(), command: config.command.clone(), fault }),
        }
    }

    fn examine(&mut self) -> Result<(), Fault> {
        let mut session = self.session()?;
        let line = GameHistory::new(Chess::start());
        let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
        let limits = Limits { hard: Some(Instant::now() + QUICK_MOVE), ..Limits::default() };
        let watch = |_: &_| std::ops::ControlFlow::Continue(());
        let task = Task { line: &line, limits: &limits, best: &best, stop: &stop, watch: &watch };
        if self.plays::<Chess>(false) {
            search(self, &mut session, &task, PATIENCE)?;
            if best.read().mv == Packed::NONE {
                return Err(Fault::Silent("go"));
            }
        }
        Ok(())
    }

    /// As the configuration calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As it calls itself, or as we do.
    pub fn title(&self) -> &str {
        self.told.name.as_deref().unwrap_or(&self.name)
    }

    /// Options that it has.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.told.settings.iter().map(|setting| setting.name.as_str())
    }

    /// What its findings depend on, as text.
    pub(crate) fn identity(&self) -> String {
        let Config { command, args, options, .. } = &self.config;
        let options: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {} {args:?} {options:?}", self.title(), command.display())
    }

    /// Can it play this?
    pub fn plays<G: Game>(&self, chess960: bool) -> bool {
        let speaks_of_it = self.config.protocol == Protocol::Uci && self.told.chess960;
        self.variant::<G>().is_some() && (speaks_of_it || !chess960)
    }

    /// What it calls this game.
    pub(super) fn variant<G: Game>(&self) -> Option<&'static str> {
        let names = rules::names::<G>(self.config.protocol).iter();
        names.copied().find(|name| self.told.variants.iter().any(|told| told.eq_ignore_ascii_case(name)))
    }

    /// How long a process may take to be ready.
    pub(super) fn start_within(&self) -> Duration {
        self.config.start_within
    }

    /// Starts another process, aside: it may take its time.
    pub(super) fn begin(self: &Arc<Self>) -> Receiver<Result<Session, Fault>> {
        let (tell, told) = sync_channel(1);
        let program = self.clone();
        let start = move || drop(tell.send(Program::started(&program)));
        if let Err(error) = thread::Builder::new().name("engine's start".into()).spawn(start) {
            tracing::error!(%error, "no thread to start an engine on");
        }
        told
    }

    /// Starts another process, and waits until it is ready.
    pub(super) fn started(program: &Program) -> Result<Session, Fault> {
        let (engine, dialect) = (Connection::open(&program.config, &program.living)?, program.dialect());
        let mut session = Session { engine, dialect };
        program.greet(&mut session)?;
        Ok(session)
    }

    /// A process for the trial; what it says of itself is kept.
    fn session(&mut self) -> Result<Session, Fault> {
        let (engine, dialect) = (Connection::open(&self.config, &self.living)?, self.dialect());
        let mut session = Session { engine, dialect };
        self.told = self.greet(&mut session)?;
        Ok(session)
    }

    fn greet(&self, session: &mut Session) -> Result<Introduction, Fault> {
        let until = Instant::now() + self.config.start_within;
        let options: Vec<_> =
            self.config.options.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let greeted = session.dialect.greet(&mut session.engine, &options, until);
        if greeted.is_err() {
            session.engine.give_up();
        }
        greeted
    }

    fn dialect(&self) -> Box<dyn Dialect> {
        match self.config.protocol {
            Protocol::Uci => Box::new(Uci::new()),
            Protocol::Xboard => Box::new(Xboard::new()),
        }
    }

    /// Kills all its processes, and starts no others.
    pub fn close(&self) {
        self.living.close();
    }
}
