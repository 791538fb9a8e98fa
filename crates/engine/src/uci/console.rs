//! The loop of an engine under a GUI.

use std::{
    io::{self, BufRead, Write},
    mem,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Instant,
};

use zeitnot_wire::uci::{FromGui, Go};

use super::{
    board::{self, Board},
    dialect::Dialect,
    error::{CommandError, UciError},
    io::{Message, Output, read_input},
    options::{BadOption, Button, Options, tunable_lines},
    perft::Perft,
    search::{Search, Session},
};
use crate::{factory::EngineFactory, net::EvalFile};

const INBOX: usize = 64;
/// Commands that wait for the end of a search; a further one ends it.
const MAX_DEFERRED: usize = 64;

type Command = Result<FromGui, CommandError>;

pub(super) struct Console {
    session: Session,
    board: Box<dyn Board>,
    /// Whether the board holds what the GUI has set up last. If that was invalid, there is nothing to search.
    has_position: bool,
    search: Option<Search>,
    /// Never beside a search.
    perft: Option<Perft>,
    /// Commands that concern the next search and came during this one, and those that came during a count.
    deferred: Vec<Command>,
    inbox: Receiver<Message>,
    input_ended: bool,
    factory: EngineFactory,
}

impl Console {
    /// Starts to read.
    pub(super) fn open(
        dialect: &'static Dialect,
        options: Options,
        input: impl BufRead + Send + 'static,
        output: Box<dyn Write + Send>,
    ) -> Result<Self, UciError> {
        let (to_inbox, inbox) = sync_channel(INBOX);
        let reader = to_inbox.clone();
        thread::Builder::new().name("input".into()).spawn(move || read_input(input, &reader))?;
        let factory = EngineFactory::new(&options.engine)?;
        Ok(Console {
            board: board::open(options.game, &factory, options.chess960),
            session: Session { dialect, options, output: Output::new(output), to_inbox },
            has_position: true,
            search: None,
            perft: None,
            deferred: Vec::new(),
            inbox,
            input_ended: false,
            factory,
        })
    }

    /// Runs until `quit` or the end of the input. A search that runs then is stopped and answered; one that is
    /// limited by its work is finished, as long as the output can be written, and so is a count.
    pub(super) fn run(mut self) -> Result<(), UciError> {
        loop {
            if self.perft.take_if(|perft| perft.has_ended()).is_some() {
                self.execute_deferred()?;
            }
            let is_answered =
                |search: &Search| search.is_due() || self.input_ended && !search.outlives_input();
            if self.search.as_ref().is_some_and(is_answered) {
                self.answer()?;
                continue;
            }
            if self.input_ended && self.search.is_none() && self.perft.is_none() {
                return Ok(());
            }
            let message = match self.search.as_ref().and_then(Search::hard_limit) {
                Some(hard) => self.inbox.recv_timeout(hard.saturating_duration_since(Instant::now())),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Line(line)) if line.trim().is_empty() => {}
                Ok(Message::Line(line)) => match FromGui::parse(&line, self.session.dialect.words) {
                    Ok(FromGui::Quit) => return Ok(()),
                    command => self.receive(command.map_err(CommandError::from))?,
                },
                Ok(Message::TooLongLine) => self.receive(Err(CommandError::TooLongLine))?,
                Ok(Message::SearchEnded) => {}
                Ok(Message::OutputFailed(error)) => return Err(error.into()),
                Ok(Message::EndOfInput) => self.input_ended = true,
                Err(RecvTimeoutError::Timeout) => self.answer()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Executes a command now, or after the search, so that a `go` that follows it can silence the search, or after the
    /// count: as in Stockfish, only `stop` and `quit` end that.
    fn receive(&mut self, command: Command) -> Result<(), UciError> {
        let concerns_next_search = match &command {
            Ok(command) => {
                matches!(command, FromGui::NewGame | FromGui::Position { .. } | FromGui::SetOption { .. })
            }
            Err(error) => error.hides_position(),
        };
        let may_be_silenced = self.session.dialect.go_silences && self.search.is_some();
        let waits_for_count =
            self.perft.is_some() && !matches!(command, Ok(FromGui::Stop | FromGui::IsReady));
        if may_be_silenced && concerns_next_search || waits_for_count {
            if self.deferred.len() < MAX_DEFERRED {
                self.deferred.push(command);
                return Ok(());
            }
            self.answer()?;
        }
        match command {
            Ok(command) => self.execute(command),
            Err(error) => Ok(self.refuse(&error)?),
        }
    }

    fn execute(&mut self, command: FromGui) -> Result<(), UciError> {
        match command {
            FromGui::Uci => self.introduce("uciok")?,
            FromGui::Ubgi => self.introduce("ubgiok")?,
            FromGui::Display | FromGui::Eval | FromGui::Perft(_) if !self.has_position => {
                self.session.output.error(&CommandError::NoPosition)?;
            }
            FromGui::Eval => self.session.output.line(&self.board.evaluation())?,
            FromGui::Perft(depth) => {
                self.answer()?;
                match Perft::start(&self.session, &*self.board, depth) {
                    Ok(perft) => self.perft = Some(perft),
                    Err(error) => self.session.output.error(&error)?,
                }
            }
            FromGui::Display => self.session.output.line(&self.board.diagram())?,
            FromGui::IsReady => self.session.output.line("readyok")?,
            FromGui::NewGame => {
                self.answer()?;
                self.reset(&self.session.options.clone())?;
                self.set_up(None, &[])?;
            }
            FromGui::Position { root, moves } => {
                self.answer()?;
                self.set_up(root.as_deref(), &moves)?;
            }
            FromGui::Go { go, ignored } => {
                if self.session.dialect.go_silences {
                    self.silence()?;
                }
                self.answer()?;
                if !ignored.is_empty() {
                    self.session.output.error(&CommandError::Ignored(ignored))?;
                }
                self.go((self.session.dialect.complete)(go))?;
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

    fn introduce(&self, last: &str) -> io::Result<()> {
        let Session { dialect, options, output, .. } = &self.session;
        output.line(&format!("id name Zeitnot {}", env!("CARGO_PKG_VERSION")))?;
        output.line("id author the Zeitnot founders")?;
        let offers = dialect.offers.iter().copied().flatten().map(|offer| offer.line(options));
        offers
            .chain((dialect.other_options)(options))
            .chain(tunable_lines())
            .try_for_each(|line| output.line(&line))?;
        output.line(last)
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), UciError> {
        let mut options = self.session.options.clone();
        let pressed = match options.set(self.session.dialect.offers, name, value) {
            Ok(pressed) => pressed,
            Err(BadOption::Unknown(_)) if self.session.dialect.ignores_unknown_options => return Ok(()),
            Err(error) => return Ok(self.session.output.error(&error)?),
        };
        let is_other_engine = options.engine != self.session.options.engine;
        if (is_other_engine || pressed == Some(Button::ClearHash)) && !self.reset(&options)? {
            return Ok(());
        }
        let has_other_tables = options.engine.syzygy.folders != self.session.options.engine.syzygy.folders;
        if let Some(endgames) = options.endgames.as_ref().filter(|_| has_other_tables) {
            self.session.output.line(&format!("info string endgame tables of {endgames}"))?;
        }
        if options.engine.eval_file != self.session.options.engine.eval_file {
            let evaluation = evaluation(&options.engine.eval_file);
            self.session.output.line(&format!("info string evaluation: {evaluation}"))?;
        }
        let is_other_game = options.game != self.session.options.game;
        self.session.options = options;
        if is_other_game {
            self.board = board::open(self.session.options.game, &self.factory, self.session.options.chess960);
            self.has_position = true;
        }
        Ok(())
    }

    /// Starts anew with an empty table. Returns `false`, and changes nothing, if there is no memory for it.
    fn reset(&mut self, options: &Options) -> Result<bool, UciError> {
        match EngineFactory::new(&options.engine) {
            Ok(factory) => {
                self.factory = factory.with_endgames(options.endgames.clone(), &options.engine.syzygy);
                self.board.reset(self.factory.clone());
                Ok(true)
            }
            Err(error) => {
                self.session.output.error(&error)?;
                Ok(false)
            }
        }
    }

    fn ponder_hit(&mut self) -> Result<(), UciError> {
        let Some(search) = &mut self.search else { return Ok(()) };
        if search.ponder_hit(&self.session, &*self.board) { self.answer() } else { Ok(()) }
    }

    fn go(&mut self, go: Go) -> Result<(), UciError> {
        self.search = if self.has_position {
            Search::start(&self.session, &mut *self.board, go)?
        } else {
            self.session.output.error(&CommandError::NoPosition)?;
            Some(Search::of_nothing(go))
        };
        Ok(())
    }

    /// Answers the search that runs, if any, and stops a count.
    fn answer(&mut self) -> Result<(), UciError> {
        let was_counting = self.perft.take().is_some();
        let Some(search) = self.search.take() else {
            return if was_counting { self.execute_deferred() } else { Ok(()) };
        };
        search.answer(&self.session, &*self.board)?;
        self.execute_deferred()
    }

    /// Ends the search that runs, if any, without an answer.
    fn silence(&mut self) -> Result<(), UciError> {
        let Some(search) = self.search.take() else { return Ok(()) };
        search.silence();
        self.execute_deferred()
    }

    fn execute_deferred(&mut self) -> Result<(), UciError> {
        mem::take(&mut self.deferred).into_iter().try_for_each(|command| self.receive(command))
    }

    fn set_up(&mut self, root: Option<&str>, moves: &[String]) -> io::Result<()> {
        let done = self.board.set_up(root, self.session.options.chess960, moves);
        self.has_position = done.is_ok();
        done.or_else(|error| self.session.output.error(&error))
    }

    fn refuse(&mut self, error: &CommandError) -> io::Result<()> {
        self.has_position &= !error.hides_position();
        self.session.output.error(error)
    }
}

/// Evaluation of chess as it is told.
fn evaluation(eval_file: &EvalFile) -> String {
    match eval_file.net() {
        Some(net) => format!("{eval_file}, {} values a side", net.shape().hidden()),
        None => eval_file.to_string(),
    }
}
