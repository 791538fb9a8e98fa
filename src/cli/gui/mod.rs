//! Being an engine under a GUI or a match runner: one loop for all [dialects](Dialect) of UCI.
//!
//! The loop owns everything; a thread reads the input into its inbox, the search reports to it. As the
//! bot's player, it never waits for a search: at the hard limit the slot's move is the answer.

use std::{
    io::{self, BufRead, Read, Write},
    num::NonZeroUsize,
    ops::RangeInclusive,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    bot::clock::{Budget, Clock, Pacer, Reserve},
    engine::{
        self, Decision, Judged, Limits, OutOfMemory, Progress, StopFlag, Workshop,
        mind::{Mind, Order},
    },
    game::{Game, GameError, Line, Outcome, Packed, Side},
    wire::uci::{FromGui, Go, Info},
};

mod dialect;

pub use dialect::{Dialect, Margin, Setting};

/// The longest line read: a game of many thousand moves fits.
const MAX_LINE: u64 = 1 << 20;
/// Lines that may wait.
const INBOX: usize = 64;

const HASH_MIB: RangeInclusive<usize> = 1..=33_554_432;
const THREADS: RangeInclusive<usize> = 1..=256;
const OVERHEAD_MS: RangeInclusive<usize> = 0..=10_000;

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

/// Runs until `quit` or the end of the input; a search that still runs then is finished, unless it has
/// no end.
///
/// # Errors
/// [`GuiError`].
pub fn serve<D: Dialect>(
    dialect: D,
    config: engine::Config,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), GuiError> {
    let (to_inbox, inbox) = sync_channel(INBOX);
    let reader = to_inbox.clone();
    thread::Builder::new().name("input".into()).spawn(move || read(input, &reader))?;
    let workshop = Workshop::new(&config)?;
    let mut engine = Engine {
        dialect,
        mind: Mind::new(workshop.clone()),
        workshop,
        config,
        overhead: D::MARGIN.most,
        line: Line::new(D::Game::start()),
        search: None,
        searches: 0,
        output: Output(Arc::new(Mutex::new(output))),
        to_inbox,
    };
    engine.run(&inbox)
}

/// What comes to the loop.
enum Mail {
    Line(String),
    /// The search of this number has returned.
    Done(u64),
    EndOfInput,
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
}

struct Engine<D: Dialect, W> {
    dialect: D,
    config: engine::Config,
    /// Kept in hand of each move's time.
    overhead: Duration,
    line: Line<D::Game>,
    workshop: Workshop,
    mind: Mind<D::Game>,
    search: Option<Search<D::Game>>,
    searches: u64,
    output: Output<W>,
    to_inbox: SyncSender<Mail>,
}

/// A search that is not answered yet.
struct Search<G: Judged> {
    number: u64,
    go: Go,
    best: Arc<Decision>,
    stop: Arc<StopFlag>,
    told: Arc<Mutex<Told>>,
    pacer: Pacer<G>,
    hard: Option<Instant>,
    /// `infinite`, or `ponder` before the hit: no answer, even when there is nothing more to search.
    held: bool,
    done: bool,
}

/// What was said of a search; locked while it is said, so that nothing follows the answer.
#[derive(Default)]
struct Told {
    last: Option<Info>,
    /// Bytes.
    said: usize,
    answered: bool,
}

impl<G: Judged> Drop for Search<G> {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl<D: Dialect, W: Write + Send + 'static> Engine<D, W> {
    fn run(&mut self, inbox: &Receiver<Mail>) -> Result<(), GuiError> {
        let mut input_ended = false;
        loop {
            if input_ended && self.search.is_none() {
                return Ok(());
            }
            let mail = match self.search.as_ref().and_then(|s| s.hard) {
                Some(hard) => inbox.recv_timeout(hard.saturating_duration_since(Instant::now())),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match mail {
                Ok(Mail::Line(line)) => match FromGui::parse(&line, D::WORDS) {
                    Ok(FromGui::Quit) => return Ok(()),
                    Ok(command) => self.obey(command)?,
                    Err(_) if line.trim().is_empty() => {}
                    Err(error) => self.complain(&error)?,
                },
                Ok(Mail::Done(number)) => self.returned(number)?,
                Ok(Mail::EndOfInput) => {
                    input_ended = true;
                    if self.search.as_ref().is_some_and(|s| s.held) {
                        self.answer()?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.answer()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn obey(&mut self, command: FromGui) -> Result<(), GuiError> {
        match command {
            FromGui::Uci => self.introduce("uciok")?,
            FromGui::Ubgi => self.introduce("ubgiok")?,
            FromGui::Display => self.output.say(&D::show(&self.line))?,
            FromGui::IsReady => self.output.say("readyok")?,
            FromGui::NewGame => {
                self.answer()?;
                self.refit(self.config.clone())?;
                self.line = Line::new(D::Game::start());
            }
            FromGui::Position { root, moves } => {
                self.answer()?;
                match self.set_up(root.as_deref(), &moves) {
                    Ok(line) => self.line = line,
                    Err(error) => self.complain(&error)?,
                }
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

    fn complain(&self, error: &dyn std::error::Error) -> io::Result<()> {
        self.output.say(&format!("info string error: {error}"))
    }

    fn introduce(&self, done: &str) -> io::Result<()> {
        let (hash, threads) = (self.config.hash_mib, self.config.threads);
        let spin = |name: &str, default: usize, range: RangeInclusive<usize>| {
            format!(
                "option name {name} type spin default {default} min {} max {}",
                range.start(),
                range.end()
            )
        };
        let lines = [
            format!("id name Zeitnot {}", env!("CARGO_PKG_VERSION")),
            "id author the Zeitnot founders".to_owned(),
            spin("Hash", hash.get(), HASH_MIB),
            spin("Threads", threads.get(), THREADS),
            spin("Move Overhead", D::MARGIN.most.as_millis() as usize, OVERHEAD_MS),
        ];
        for line in lines.into_iter().chain(self.dialect.options()).chain([done.to_owned()]) {
            self.output.say(&line)?;
        }
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), GuiError> {
        let number = |range: RangeInclusive<usize>| value.parse().ok().filter(|n| range.contains(n));
        let mut config = self.config.clone();
        match name.to_ascii_lowercase().as_str() {
            "hash" => match number(HASH_MIB).and_then(NonZeroUsize::new) {
                Some(mib) => config.hash_mib = mib,
                None => return Ok(self.bad_value(name, value)?),
            },
            "threads" => match number(THREADS).and_then(NonZeroUsize::new) {
                Some(threads) => config.threads = threads,
                None => return Ok(self.bad_value(name, value)?),
            },
            "move overhead" => match number(OVERHEAD_MS) {
                Some(millis) => self.overhead = Duration::from_millis(millis as u64),
                None => return Ok(self.bad_value(name, value)?),
            },
            known => match self.dialect.set_option(known, value) {
                Setting::Taken => {}
                Setting::Unknown => {
                    return Ok(self.output.say(&format!("info string error: no option '{name}'"))?);
                }
            },
        }
        if config != self.config {
            self.refit(config)?;
        }
        Ok(())
    }

    fn bad_value(&self, name: &str, value: &str) -> io::Result<()> {
        self.output.say(&format!("info string error: '{value}' is no value for {name}; it stays as it is"))
    }

    /// A new mind with an empty table; where there is no memory for it the old one stays.
    fn refit(&mut self, config: engine::Config) -> Result<(), GuiError> {
        match Workshop::new(&config) {
            Ok(workshop) => {
                self.mind = Mind::new(workshop.clone());
                self.workshop = workshop;
                self.config = config;
            }
            Err(error) => self.complain(&error)?,
        }
        Ok(())
    }

    fn set_up(&self, root: Option<&str>, moves: &[String]) -> Result<Line<D::Game>, GameError> {
        let mut line = Line::new(self.dialect.root(root)?);
        for text in moves {
            line.play(line.now().read(text)?);
        }
        Ok(line)
    }

    fn go(&mut self, go: Go) -> Result<(), GuiError> {
        let now = self.line.now();
        if now.moves().is_empty() {
            let score = if now.outcome() == Outcome::Ongoing { "cp 0" } else { "mate 0" };
            self.output.say(&format!("info depth 0 score {score}"))?;
            return Ok(self.output.say(&format!("bestmove {}", D::NO_MOVE))?);
        }
        let root_moves: Vec<Packed> =
            go.search_moves.iter().filter_map(|text| now.read(text).ok()).map(|mv| now.pack(mv)).collect();
        let first = root_moves.first().copied().unwrap_or_else(|| self.workshop.glance(now));
        let mut limits =
            Limits { depth: go.depth, nodes: go.nodes, mate: go.mate, root_moves, ..Limits::default() };
        let asked_at = Instant::now();
        let budget = if go.ponder { None } else { self.budget(&go) };
        limits.hard = budget.map(|budget| asked_at + budget.hard);
        let pacer = Pacer::new(&self.line, asked_at, budget);

        self.searches += 1;
        let (number, to_inbox) = (self.searches, self.to_inbox.clone());
        let (best, stop) = (Arc::new(Decision::new(first)), Arc::new(StopFlag::default()));
        let told = Arc::new(Mutex::new(Told::default()));
        self.search = Some(Search {
            number,
            held: go.ponder || go.infinite,
            go,
            best: best.clone(),
            stop: stop.clone(),
            told: told.clone(),
            pacer: pacer.clone(),
            hard: limits.hard,
            done: false,
        });
        let (root, output) = (now.clone(), self.output.clone());
        self.mind.order(Order {
            line: self.line.clone(),
            limits,
            best,
            stop,
            watch: Box::new(move |progress| {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if !told.answered {
                    let info = info::<D>(&root, progress);
                    let line = info.to_string();
                    told.said = told.said.saturating_add(line.len() + 1);
                    if told.said <= D::MOST_SAID {
                        // Should nobody hear it, the answer will meet the same error.
                        let _ = output.say(&line);
                    }
                    told.last = Some(info);
                }
                pacer.hear(progress)
            }),
            done: Box::new(move |_| {
                let _ = to_inbox.send(Mail::Done(number));
            }),
        });
        Ok(())
    }

    /// The time for a move; `None`: there is no clock.
    fn budget(&self, go: &Go) -> Option<Budget> {
        if let Some(exactly) = go.move_time {
            // Who asks for a fixed time measures it with a margin: most of it is to be used.
            return Some(Budget::exactly(exactly - self.overhead.min(exactly / D::MARGIN.part)));
        }
        let (us, them) = match self.line.now().side() {
            Side::First => (0, 1),
            Side::Second => (1, 0),
        };
        let increment = go.increment[us].unwrap_or_default();
        // Told only of the other clock, or of an increment alone: ours will not be far from it.
        let left = go.time[us].or(go.time[them]).or(go.increment[us]).or(go.increment[them])?;
        let reserve = Reserve { lag: self.overhead, measured: true };
        Some(Clock { left, increment, moves_to_go: go.moves_to_go }.budget(reserve))
    }

    fn ponder_hit(&mut self) -> Result<(), GuiError> {
        let Some(search) = self.search.as_ref().filter(|s| s.go.ponder) else { return Ok(()) };
        // The search was begun without limits; the time that it has had counts.
        let (budget, now) = (self.budget(&search.go), Instant::now());
        let Some(search) = &mut self.search else { return Ok(()) };
        search.hard = budget.map(|budget| now + budget.hard);
        search.held = search.go.infinite;
        let enough = search.done || budget.is_some_and(|budget| search.pacer.ask(budget, now).is_break());
        if enough && !search.held { self.answer() } else { Ok(()) }
    }

    fn returned(&mut self, number: u64) -> Result<(), GuiError> {
        match &mut self.search {
            Some(search) if search.number == number => {
                search.done = true;
                if search.held { Ok(()) } else { self.answer() }
            }
            _ => Ok(()),
        }
    }

    /// Answers the search that runs, if any.
    fn answer(&mut self) -> Result<(), GuiError> {
        let Some(search) = self.search.take() else { return Ok(()) };
        let mut told = search.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.answered = true;
        let now = self.line.now();
        let best = search.best.read();
        let mv = now.unpack(best.mv).map_or_else(|| D::NO_MOVE.to_owned(), |mv| now.write(mv).to_string());
        let last = told.last.take();
        if last.is_none() {
            let pv = vec![mv.clone()];
            let depth = best.depth.max(1);
            let score = D::score(best.score);
            let info =
                Info { depth, seldepth: depth, score, nodes: 1, time: Duration::ZERO, hashfull: 0, pv };
            self.output.say(&info.to_string())?;
        }
        let reply = last.as_ref().and_then(|info| match info.pv.as_slice() {
            [first, reply, ..] if *first == mv => Some(reply.as_str()),
            _ => None,
        });
        Ok(self.output.say(&D::best_move(&mv, reply))?)
    }
}

fn info<D: Dialect>(root: &D::Game, progress: &Progress<D::Game>) -> Info {
    let mut position = root.clone();
    let pv = progress.pv.iter().map(|&mv| {
        let text = position.write(mv).to_string();
        position.play(mv);
        text
    });
    Info {
        pv: pv.collect(),
        depth: progress.depth,
        seldepth: progress.seldepth,
        score: D::score(progress.score),
        nodes: progress.nodes,
        time: progress.time,
        hashfull: progress.hashfull,
    }
}
