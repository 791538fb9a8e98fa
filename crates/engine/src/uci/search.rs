//! From `go` to `bestmove`.

use std::{
    io,
    num::NonZeroU16,
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
    time::{Duration, Instant},
};

use zeitnot_rules::{Color, Outcome, Packed};
use zeitnot_wire::uci::{Go, Info};

use super::{
    board::{Board, Event, Observe, SearchOrder},
    dialect::Dialect,
    error::UciError,
    io::{Message, Output},
    options::Options,
};
use crate::{
    decision::Best,
    driver::SearchHandle,
    limits::Limits,
    score::Score,
    thinker::Report,
    time::{Budget, Clock, Reserve},
    wdl::WinDrawLoss,
};

/// State shared by all searches under a GUI.
#[derive(Clone)]
pub(super) struct Session {
    pub dialect: &'static Dialect,
    pub options: Options,
    pub output: Output,
    pub to_inbox: SyncSender<Message>,
}

/// A search that is not answered yet.
pub(super) struct Search {
    go: Go,
    /// `None` where there is nothing to search.
    handle: Option<SearchHandle>,
    log: Arc<Mutex<InfoLog>>,
    hard_limit: Option<Instant>,
    /// `infinite`, or `ponder` before the hit: no answer, even when the search has ended.
    is_held: bool,
}

/// `info` lines of a search; locked while one is written, so that none follows the answer.
#[derive(Default)]
struct InfoLog {
    /// The last one of the best variation.
    last: Option<Info>,
    bytes: usize,
    is_answered: bool,
}

impl InfoLog {
    fn write(&mut self, output: &Output, info: Info, max_bytes: usize) -> io::Result<()> {
        let line = info.to_string();
        self.bytes = self.bytes.saturating_add(line.len() + 1);
        if info.multipv.is_none_or(|variation| variation == 1) {
            self.last = Some(info);
        }
        if self.bytes <= max_bytes { output.line(&line) } else { Ok(()) }
    }
}

impl Search {
    /// Starts to answer a `go`. `None` if a book has answered it.
    pub(super) fn start(
        session: &Session,
        board: &mut dyn Board,
        go: Go,
    ) -> Result<Option<Search>, UciError> {
        if let Some(mv) = session.book_move(board, &go) {
            session.output.line(&format!("info string {mv} is from the book"))?;
            session.best_move(&mv, None)?;
            return Ok(None);
        }
        let root_moves = session.root_moves(board, &go)?;
        let started_at = Instant::now();
        let budget = if go.ponder { None } else { session.budget(&go, board.to_move()) };
        let hard_limit = budget.map(|budget| started_at + budget.hard);
        let log = Arc::default();
        let handle = root_moves.map(|root_moves| {
            let fallback = root_moves.first().copied().unwrap_or_else(|| board.fallback_move());
            let limits = Limits {
                depth: go.depth,
                nodes: go.nodes,
                mate: go.mate,
                hard: hard_limit,
                root_moves,
                multipv: NonZeroU16::new(session.options.multipv),
                ..Limits::default()
            };
            let observe = session.observer(&log, board.chess_pieces());
            board.search(SearchOrder { limits, fallback, started_at, budget }, observe)
        });
        Ok(Some(Search { is_held: go.ponder || go.infinite, go, handle, log, hard_limit }))
    }

    /// Answers a `go` that has no position to search.
    pub(super) fn of_nothing(go: Go) -> Search {
        let is_held = go.ponder || go.infinite;
        Search { is_held, go, handle: None, log: Arc::default(), hard_limit: None }
    }

    /// Time at which the answer must be sent.
    pub(super) fn hard_limit(&self) -> Option<Instant> {
        self.hard_limit
    }

    /// Returns whether there is nothing more to wait for.
    pub(super) fn is_due(&self) -> bool {
        !self.is_held && self.has_ended()
    }

    /// Returns whether it is finished even if the input ends: its result depends on the work, not on the time.
    pub(super) fn outlives_input(&self) -> bool {
        !self.is_held && (self.go.depth.is_some() || self.go.nodes.is_some())
    }

    fn has_ended(&self) -> bool {
        self.handle.as_ref().is_none_or(|handle| handle.end().is_some())
    }

    /// The expected move was played. Returns whether the answer is due; the time since the start counts.
    pub(super) fn ponder_hit(&mut self, session: &Session, board: &dyn Board) -> bool {
        if !self.go.ponder {
            return false;
        }
        let (budget, now) = (session.budget(&self.go, board.to_move()), Instant::now());
        self.go.ponder = false;
        self.hard_limit = budget.map(|budget| now + budget.hard);
        self.is_held = self.go.infinite;
        let is_used_up = match (&self.handle, budget) {
            (Some(handle), Some(budget)) => handle.set_budget(budget, now).is_break(),
            _ => false,
        };
        (is_used_up || self.has_ended()) && !self.is_held
    }

    /// Cost of a finished search that its nodes limit: whoever counts them expects the number asked for.
    fn cost(&self) -> Option<Report> {
        self.handle.as_ref().filter(|_| self.go.nodes.is_some())?.report()
    }

    /// Stops the search without an answer.
    pub(super) fn silence(self) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).is_answered = true;
    }

    /// Stops the search and sends its best move.
    pub(super) fn answer(self, session: &Session, board: &dyn Board) -> Result<(), UciError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.is_answered = true;
        let best = self.handle.as_ref().map_or(Best::unsearched(Packed::NONE), SearchHandle::best);
        let Some(mv) = board.write(best.mv) else {
            return session.best_move(session.dialect.no_move, None);
        };
        let last = log.last.take();
        let pv = last.as_ref().map_or(&[][..], |info| &info.pv);
        // An aborted iteration is not reported: its nodes are missing, and its move may be another one.
        let is_told = pv.first() == Some(&mv);
        let cost = self.cost().filter(|cost| last.as_ref().is_none_or(|last| last.nodes < cost.nodes));
        if !is_told || cost.is_some() {
            let told = last.clone().filter(|_| is_told);
            let wdl = session.wdl(board.chess_pieces(), best.score);
            let mut info = told.unwrap_or_else(|| session.info(&mv, best, wdl, last.as_ref()));
            if let Some(cost) = cost {
                (info.nodes, info.time) = (cost.nodes, cost.time);
            }
            log.write(&session.output, info, session.dialect.max_info_bytes)?;
        }
        let reply = match pv {
            [first, reply, ..] if *first == mv => Some(reply.as_str()),
            _ => None,
        };
        session.best_move(&mv, reply)
    }
}

impl Session {
    /// The book's move, if a game is played; in analysis the user wants to see a search.
    fn book_move(&self, board: &dyn Board, go: &Go) -> Option<String> {
        let options = &self.options;
        let is_game = go.has_end() && go.mate.is_none() && go.search_moves.is_empty();
        let book = options.book.as_ref().filter(|_| is_game && !options.analyses && options.multipv == 1)?;
        board.book_move(book)
    }

    /// The moves to search, empty for all; `None` if there is nothing to search.
    fn root_moves(&self, board: &dyn Board, go: &Go) -> Result<Option<Vec<Packed>>, UciError> {
        if let Some(outcome) = board.final_outcome() {
            let score = if matches!(outcome, Outcome::Win(..)) { "mate 0" } else { "cp 0" };
            self.output.line(&format!("info depth 0 score {score}"))?;
            return Ok(None);
        }
        let moves = go.search_moves.iter().map(|text| board.read(text));
        let (legal, illegal): (Vec<_>, Vec<_>) = moves.partition(Result::is_ok);
        if let Some(error) = illegal.into_iter().find_map(Result::err) {
            self.output.error(&error)?;
        }
        let legal: Vec<_> = legal.into_iter().flatten().collect();
        let is_none_left = legal.is_empty() && !go.search_moves.is_empty();
        Ok((!is_none_left).then_some(legal))
    }

    /// The time for a move; `None` without a clock.
    fn budget(&self, go: &Go, to_move: Color) -> Option<Budget> {
        let overhead = self.options.overhead;
        if let Some(time) = go.move_time {
            // A GUI that sets a fixed time allows some margin itself: most of the time is to be used.
            return Some(Budget::exactly(time - overhead.min(time / self.dialect.margin.divisor)));
        }
        let (us, them) = match to_move {
            Color::White => (0, 1),
            Color::Black => (1, 0),
        };
        let increment = go.increment[us].unwrap_or_default();
        // If only the other clock or an increment is given, ours will not be far from it.
        let left = go.time[us].or(go.time[them]).or(go.increment[us]).or(go.increment[them])?;
        let reserve = Reserve { lag: overhead, measured: true };
        Some(Clock { left, increment, moves_to_go: go.moves_to_go }.budget(reserve))
    }

    /// Writes `info` lines on the thread of the search, and wakes the console at its end.
    fn observer(&self, log: &Arc<Mutex<InfoLog>>, pieces: Option<usize>) -> Observe {
        let (log, session) = (log.clone(), self.clone());
        let is_multipv = self.options.multipv > 1;
        Box::new(move |event| match event {
            Event::Progress(variation, score, info) => {
                let multipv = is_multipv.then_some(variation);
                let (wdl, score) = (session.wdl(pieces, score), (session.dialect.score)(score));
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                if !log.is_answered {
                    let info = Info { multipv, wdl, score, ..info };
                    let written = log.write(&session.output, info, session.dialect.max_info_bytes);
                    if let Err(error) = written {
                        // If the inbox is full the console is awake, and the next line meets the same error.
                        let _ = session.to_inbox.try_send(Message::OutputFailed(error));
                    }
                }
            }
            // If the inbox is full the console is awake, and looks for the end before it sleeps.
            Event::Ended => drop(session.to_inbox.try_send(Message::SearchEnded)),
        })
    }

    /// Of a thousand games, those won, drawn and lost, if that is wanted.
    fn wdl(&self, chess_pieces: Option<usize>, score: Score) -> Option<[u16; 3]> {
        let odds = WinDrawLoss::from_score(score, chess_pieces.filter(|_| self.options.shows_wdl)?);
        Some([odds.wins, odds.draws, odds.losses])
    }

    /// The `info` line of a move that no iteration has reported.
    fn info(&self, mv: &str, best: Best, wdl: Option<[u16; 3]>, last: Option<&Info>) -> Info {
        let depth = best.depth.max(1);
        Info {
            depth,
            seldepth: depth,
            multipv: (self.options.multipv > 1).then_some(1),
            score: (self.dialect.score)(best.score),
            wdl,
            nodes: last.map_or(1, |info| info.nodes),
            time: last.map_or(Duration::ZERO, |info| info.time),
            hashfull: last.map_or(0, |info| info.hashfull),
            tbhits: last.map_or(0, |info| info.tbhits),
            pv: vec![mv.to_owned()],
        }
    }

    fn best_move(&self, mv: &str, reply: Option<&str>) -> Result<(), UciError> {
        let line = match reply.filter(|_| self.dialect.tells_reply) {
            Some(reply) => format!("bestmove {mv} ponder {reply}"),
            None => format!("bestmove {mv}"),
        };
        Ok(self.output.line(&line)?)
    }
}
