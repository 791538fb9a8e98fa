//! Being an engine under a GUI or a match runner: one loop for all [dialects](Dialect) of UCI.
//!
//! The loop owns everything; a thread reads the input into its inbox, the search reports to it. As the
//! bot's player, it never waits for a search: at the hard limit the slot's move is the answer. What outlives a
//! change of the game that is played belongs to the [`Console`], the game itself to an engine at it.

use std::{
    io::{self, BufRead, Read, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use zeitnot_engine::{OutOfMemory, Workshop, mind::Mind};
use zeitnot_rules::{Game, GameError, GameHistory, GameKind};
use zeitnot_wire::uci::FromGui;

mod dialect;
pub mod options;
mod thinking;

pub use dialect::{Dialect, Margin};
use options::{BadOption, Options, Pressed};
use thinking::Search;

/// The longest line read: a game of many thousand moves fits.
const MAX_LINE: u64 = 1 << 20;
/// Lines that may wait.
const INBOX: usize = 64;

/// Why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum GuiError {
    /// Nobody hears us any more.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    /// At the start.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// The ways in and out, what was set, and who thinks.
pub struct Console<W> {
    inbox: Receiver<Mail>,
    to_inbox: SyncSender<Mail>,
    input_ended: bool,
    output: Output<W>,
    options: Options,
    workshop: Workshop,
}

/// What comes to the loop.
enum Mail {
    Line(String),
    /// A search has returned: look which.
    Returned,
    EndOfInput,
}

impl<W: Write + Send + 'static> Console<W> {
    /// Begins to read.
    ///
    /// # Errors
    /// [`GuiError`].
    pub fn open(options: Options, input: impl BufRead + Send + 'static, output: W) -> Result<Self, GuiError> {
        let (to_inbox, inbox) = sync_channel(INBOX);
        let reader = to_inbox.clone();
        thread::Builder::new().name("input".into()).spawn(move || read(input, &reader))?;
        let workshop = Workshop::new(&options.engine)?;
        let output = Output(Arc::new(Mutex::new(output)));
        Ok(Console { inbox, to_inbox, input_ended: false, output, options, workshop })
    }

    /// Runs until `quit` or the end of the input, or until another game is to be played: that one is the
    /// result. A search that still runs at the end of the input is finished, unless it has no end.
    ///
    /// # Errors
    /// [`GuiError`].
    pub fn play<D: Dialect>(&mut self, dialect: D) -> Result<Option<GameKind>, GuiError> {
        let start = D::root(None, &self.options).unwrap_or_else(|_| D::Game::start());
        let mind = Mind::new(self.workshop.clone());
        Engine { dialect, line: GameHistory::new(start), mind, search: None, console: self }.run()
    }
}

fn read(mut input: impl BufRead, inbox: &SyncSender<Mail>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let size = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let cut = line.len() as u64 == MAX_LINE && !line.ends_with(b"\n");
        match if cut { input.skip_until(b'\n') } else { size } {
            Ok(0) | Err(_) => break,
            Ok(_) if cut => {}
            Ok(_) if inbox.send(Mail::Line(String::from_utf8_lossy(&line).into_owned())).is_err() => return,
            Ok(_) => {}
        }
    }
    let _ = inbox.send(Mail::EndOfInput);
}

/// Where lines go: whole, and at once.
struct Output<W>(Arc<Mutex<W>>);

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Output(self.0.clone())
    }
}

impl<W: Write> Output<W> {
    fn say(&self, line: &str) -> io::Result<()> {
        // A writer that panicked in the middle of a line has at worst left half of it.
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(format!("{line}\n").as_bytes())?;
        output.flush()
    }

    fn complain(&self, error: &dyn std::error::Error) -> io::Result<()> {
        self.say(&format!("info string error: {error}"))
    }
}

/// One game at a console.
struct Engine<'c, D: Dialect, W> {
    dialect: D,
    line: GameHistory<D::Game>,
    mind: Mind<D::Game>,
    search: Option<Search<D::Game>>,
    console: &'c mut Console<W>,
}

impl<D: Dialect, W: Write + Send + 'static> Engine<'_, D, W> {
    fn run(&mut self) -> Result<Option<GameKind>, GuiError> {
        let game = self.console.options.game;
        loop {
            if self.search.as_ref().is_some_and(Search::is_due) {
                self.answer()?;
            }
            if self.console.input_ended && self.search.is_none() {
                return Ok(None);
            }
            let inbox = &self.console.inbox;
            let mail = match self.search.as_ref().and_then(Search::hard) {
                Some(hard) => inbox.recv_timeout(hard.saturating_duration_since(Instant::now())),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match mail {
                Ok(Mail::Line(line)) => match FromGui::parse(&line, D::WORDS) {
                    Ok(FromGui::Quit) => return Ok(None),
                    Ok(command) => self.obey(command)?,
                    Err(_) if line.trim().is_empty() => {}
                    Err(error) => self.console.output.complain(&error)?,
                },
                Ok(Mail::Returned) => {}
                Ok(Mail::EndOfInput) => {
                    self.console.input_ended = true;
                    if self.search.as_ref().is_some_and(|search| !search.has_end()) {
                        self.answer()?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.answer()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
            if self.console.options.game != game {
                return Ok(Some(self.console.options.game));
            }
        }
    }

    fn obey(&mut self, command: FromGui) -> Result<(), GuiError> {
        match command {
            FromGui::Uci => self.introduce("uciok")?,
            FromGui::Ubgi => self.introduce("ubgiok")?,
            FromGui::Display => self.console.output.say(&D::show(&self.line))?,
            FromGui::IsReady => self.console.output.say("readyok")?,
            FromGui::NewGame => {
                self.answer()?;
                self.refit(&self.console.options.clone())?;
                self.set_up(None, &[])?;
            }
            FromGui::Position { root, moves } => {
                self.answer()?;
                self.set_up(root.as_deref(), &moves)?;
            }
            FromGui::Go(go) => {
                self.answer()?;
                self.go(D::complete(go))?;
            }
            FromGui::Stop => self.answer()?,
            FromGui::PonderHit => self.ponder_hit()?,
            FromGui::SetOption { name, value } => {
                self.answer()?;
                self.set_option(&name, &value)?;
            }
            FromGui::Quit | FromGui::Ignored => {}
        }
        Ok(())
    }

    fn introduce(&self, done: &str) -> io::Result<()> {
        let Console { options, output, .. } = &*self.console;
        output.say(&format!("id name Zeitnot {}", env!("CARGO_PKG_VERSION")))?;
        output.say("id author the Zeitnot founders")?;
        let offers = D::OFFERS.iter().copied().flatten().map(|offer| offer.line(options));
        offers.chain(self.dialect.more_options()).try_for_each(|line| output.say(&line))?;
        output.say(done)
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), GuiError> {
        let mut options = self.console.options.clone();
        let pressed = match options.set(D::OFFERS, name, value) {
            Ok(pressed) => pressed,
            Err(BadOption::Unknown(_)) if D::IS_LENIENT => return Ok(()),
            Err(error) => return Ok(self.console.output.complain(&error)?),
        };
        let is_other = options.engine != self.console.options.engine;
        if (is_other || pressed == Some(Pressed::ClearHash)) && !self.refit(&options)? {
            return Ok(());
        }
        let has_others = options.engine.syzygy.folders != self.console.options.engine.syzygy.folders;
        if let Some(endgames) = options.endgames.as_ref().filter(|_| has_others) {
            self.console.output.say(&format!("info string endgame tables of {endgames}"))?;
        }
        self.console.options = options;
        Ok(())
    }

    /// A new mind with an empty table; where there is no memory for it the old one stays.
    fn refit(&mut self, options: &Options) -> Result<bool, GuiError> {
        match Workshop::new(&options.engine) {
            Ok(workshop) => {
                let workshop = workshop.asking(options.endgames.clone(), &options.engine.syzygy);
                self.mind = Mind::new(workshop.clone());
                self.console.workshop = workshop;
                Ok(true)
            }
            Err(error) => {
                self.console.output.complain(&error)?;
                Ok(false)
            }
        }
    }

    /// The position to think about; one that is none, or that a move does not lead to, changes nothing.
    fn set_up(&mut self, root: Option<&str>, moves: &[String]) -> io::Result<()> {
        let line = D::root(root, &self.console.options).and_then(|root| played(root, moves));
        match line {
            Ok(line) => self.line = line,
            Err(error) => self.console.output.complain(&error)?,
        }
        Ok(())
    }
}

fn played<G: Game>(root: G, moves: &[String]) -> Result<GameHistory<G>, GameError> {
    let mut line = GameHistory::new(root);
    for text in moves {
        line.play(line.now().read(text)?);
    }
    Ok(line)
}
