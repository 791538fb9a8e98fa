//! From `go` to `bestmove`: what is asked for, what is told meanwhile, and when it is answered.

use std::{
    io::Write,
    num::NonZeroU16,
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    time::{Duration, Instant},
};

use zeitnot_engine::{
    Decision, Limits, Playable, Progress, Score, StopFlag,
    mind::Order,
    time::{Budget, Clock, Pacer, Reserve},
};
use zeitnot_rules::{Color, Game, Outcome, Packed};
use zeitnot_wire::uci::{Go, Info};

use super::{Dialect, Engine, GuiError, Mail, Output};

/// A search that is not answered yet.
pub(super) struct Search<G: Playable> {
    go: Go,
    best: Arc<Decision>,
    stop: Arc<StopFlag>,
    told: Arc<Mutex<Told>>,
    pacer: Pacer<G>,
    hard: Option<Instant>,
    /// `infinite`, or `ponder` before the hit: no answer, even when there is nothing more to search.
    held: bool,
    returned: Arc<AtomicBool>,
}

/// What was said of a search; locked while it is said, so that nothing follows the answer.
#[derive(Default)]
struct Told {
    /// Of the first line.
    last: Option<Info>,
    /// Bytes.
    said: usize,
    answered: bool,
}

impl Told {
    fn tell(&mut self, output: &Output<impl Write>, info: Info, most: usize) {
        let line = info.to_string();
        self.said = self.said.saturating_add(line.len() + 1);
        if self.said <= most {
            // Should nobody hear it, the answer will meet the same error.
            let _ = output.say(&line);
        }
        if info.multipv.is_none_or(|line| line == 1) {
            self.last = Some(info);
        }
    }
}

impl<G: Playable> Search<G> {
    /// When the answer must be out.
    pub fn hard(&self) -> Option<Instant> {
        self.hard
    }

    /// Is there nothing more to wait for?
    pub fn is_due(&self) -> bool {
        !self.held && self.has_returned()
    }

    /// Will there be an answer by itself?
    pub fn has_end(&self) -> bool {
        !self.held && self.go.has_end()
    }

    fn has_returned(&self) -> bool {
        self.returned.load(Ordering::Acquire)
    }
}

impl<G: Playable> Drop for Search<G> {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Tells the loop that a search is over, however it ends: also when nobody could be had to do it.
struct Bell {
    returned: Arc<AtomicBool>,
    to_inbox: SyncSender<Mail>,
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.returned.store(true, Ordering::Release);
        // Where the inbox is full the loop is awake, and looks at the flag before it sleeps.
        let _ = self.to_inbox.try_send(Mail::Returned);
    }
}

impl<D: Dialect, W: Write + Send + 'static> Engine<'_, D, W> {
    pub(super) fn go(&mut self, go: Go) -> Result<(), GuiError> {
        if let Some(mv) = self.book_move(&go) {
            let mv = self.line.now().write(mv).to_string();
            self.console.output.say(&format!("info string {mv} is from the book"))?;
            return Ok(self.console.output.say(&D::best_move(&mv, None))?);
        }
        let Some(root_moves) = self.root_moves(&go)? else {
            self.begin(go, Packed::NONE, None);
            return Ok(());
        };
        let first = root_moves.first().copied();
        let first = first.unwrap_or_else(|| self.console.workshop.glance(self.line.now()));
        let limits = Limits {
            depth: go.depth,
            nodes: go.nodes,
            mate: go.mate,
            root_moves,
            lines: NonZeroU16::new(self.console.options.lines),
            ..Limits::default()
        };
        self.begin(go, first, Some(limits));
        Ok(())
    }

    /// Does a book know the move? It plays games; whoever looks at positions wants to see what is thought.
    fn book_move(&self, go: &Go) -> Option<<D::Game as Game>::Move> {
        let options = &self.console.options;
        let plays = go.has_end() && go.mate.is_none() && go.search_moves.is_empty();
        let book = options.book.as_ref().filter(|_| plays && !options.analyses && options.lines == 1)?;
        let now = self.line.now();
        book.pick(now.book_key()?, self.line.moves().len(), |text| now.read(text).ok())
    }

    /// The moves that are asked for, empty for all; `None`: there is none to think about.
    fn root_moves(&self, go: &Go) -> Result<Option<Vec<Packed>>, GuiError> {
        let (now, output) = (self.line.now(), &self.console.output);
        if now.moves().is_empty() {
            let score = if matches!(now.outcome(), Outcome::Win(..)) { "mate 0" } else { "cp 0" };
            output.say(&format!("info depth 0 score {score}"))?;
            return Ok(None);
        }
        let read = go.search_moves.iter().map(|text| now.read(text));
        let (wanted, illegal): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
        if let Some(error) = illegal.into_iter().find_map(Result::err) {
            output.complain(&error)?;
        }
        let wanted: Vec<_> = wanted.into_iter().flatten().map(|mv| now.pack(mv)).collect();
        let none_left = wanted.is_empty() && !go.search_moves.is_empty();
        Ok((!none_left).then_some(wanted))
    }

    /// Without limits there is nothing to search: only the answer is due, in its time.
    fn begin(&mut self, go: Go, first: Packed, limits: Option<Limits>) {
        let asked_at = Instant::now();
        let budget = if go.ponder { None } else { self.budget(&go) };
        let hard = budget.map(|budget| asked_at + budget.hard);
        let search = Search {
            held: go.ponder || go.infinite,
            go,
            best: Arc::new(Decision::new(first)),
            stop: Arc::default(),
            told: Arc::default(),
            pacer: Pacer::new(&self.line, asked_at, budget),
            hard,
            returned: Arc::new(AtomicBool::new(limits.is_none())),
        };
        if let Some(limits) = limits {
            self.mind.order(self.order(&search, Limits { hard, ..limits }));
        }
        self.search = Some(search);
    }

    fn order(&self, search: &Search<D::Game>, limits: Limits) -> Order<D::Game> {
        let (root, output) = (self.line.now().clone(), self.console.output.clone());
        let (told, pacer, shows_odds) =
            (search.told.clone(), search.pacer.clone(), self.console.options.shows_odds);
        let many = limits.lines.is_some_and(|lines| lines > NonZeroU16::MIN);
        let bell = Bell { returned: search.returned.clone(), to_inbox: self.console.to_inbox.clone() };
        Order {
            line: self.line.clone(),
            limits,
            best: search.best.clone(),
            stop: search.stop.clone(),
            watch: Box::new(move |progress| {
                let multipv = many.then_some(progress.line);
                let info = Info { multipv, ..info::<D>(&root, progress, shows_odds) };
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if !told.answered {
                    told.tell(&output, info, D::MOST_SAID);
                }
                // Our time goes by the move that is to be played.
                if progress.line == 1 { pacer.hear(progress) } else { ControlFlow::Continue(()) }
            }),
            done: Box::new(move |_| drop(bell)),
        }
    }

    /// The time for a move; `None`: there is no clock.
    fn budget(&self, go: &Go) -> Option<Budget> {
        let overhead = self.console.options.overhead;
        if let Some(exactly) = go.move_time {
            // Who asks for a fixed time measures it with a margin: most of it is to be used.
            return Some(Budget::exactly(exactly - overhead.min(exactly / D::MARGIN.part)));
        }
        let (us, them) = match self.line.now().side() {
            Color::White => (0, 1),
            Color::Black => (1, 0),
        };
        let increment = go.increment[us].unwrap_or_default();
        // Told only of the other clock, or of an increment alone: ours will not be far from it.
        let left = go.time[us].or(go.time[them]).or(go.increment[us]).or(go.increment[them])?;
        let reserve = Reserve { lag: overhead, measured: true };
        Some(Clock { left, increment, moves_to_go: go.moves_to_go }.budget(reserve))
    }

    pub(super) fn ponder_hit(&mut self) -> Result<(), GuiError> {
        let Some(search) = self.search.as_ref().filter(|s| s.go.ponder) else { return Ok(()) };
        // The search was begun without limits; the time that it has had counts.
        let (budget, now) = (self.budget(&search.go), Instant::now());
        let Some(search) = &mut self.search else { return Ok(()) };
        search.go.ponder = false;
        search.hard = budget.map(|budget| now + budget.hard);
        search.held = search.go.infinite;
        let enough =
            search.has_returned() || budget.is_some_and(|budget| search.pacer.ask(budget, now).is_break());
        if enough && !search.held { self.answer() } else { Ok(()) }
    }

    /// Answers the search that runs, if any.
    pub(super) fn answer(&mut self) -> Result<(), GuiError> {
        let Some(search) = self.search.take() else { return Ok(()) };
        let (now, output) = (self.line.now(), &self.console.output);
        let mut told = search.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.answered = true;
        let best = search.best.read();
        let Some(mv) = now.unpack(best.mv) else {
            return Ok(output.say(&D::best_move(D::NO_MOVE, None))?);
        };
        let mv = now.write(mv).to_string();
        let last = told.last.take();
        let pv = last.as_ref().map_or(&[][..], |info| &info.pv);
        if pv.first() != Some(&mv) {
            // A move that an iteration was broken off with, or that was found before there was one.
            let many = self.console.options.lines > 1;
            let info = Info {
                depth: best.depth.max(1),
                seldepth: best.depth.max(1),
                multipv: many.then_some(1),
                score: D::score(best.score),
                wdl: self.console.options.shows_odds.then(|| wdl::<D>(now, best.score)).flatten(),
                nodes: last.as_ref().map_or(1, |info| info.nodes),
                time: last.as_ref().map_or(Duration::ZERO, |info| info.time),
                hashfull: last.as_ref().map_or(0, |info| info.hashfull),
                tbhits: last.as_ref().map_or(0, |info| info.tbhits),
                pv: vec![mv.clone()],
            };
            told.tell(output, info, D::MOST_SAID);
        }
        let reply = match pv {
            [first, reply, ..] if *first == mv => Some(reply.as_str()),
            _ => None,
        };
        Ok(output.say(&D::best_move(&mv, reply))?)
    }
}

fn info<D: Dialect>(root: &D::Game, progress: &Progress<D::Game>, shows_odds: bool) -> Info {
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
        multipv: None,
        score: D::score(progress.score),
        wdl: shows_odds.then(|| wdl::<D>(root, progress.score)).flatten(),
        nodes: progress.nodes,
        time: progress.time,
        hashfull: progress.hashfull,
        tbhits: progress.table_hits,
    }
}

fn wdl<D: Dialect>(root: &D::Game, score: Score) -> Option<[u16; 3]> {
    D::odds(root, score).map(|odds| [odds.wins, odds.draws, odds.losses])
}
