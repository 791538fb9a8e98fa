//! One search of an external engine: what it says is checked and published until it has answered.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use zeitnot_engine::{Best, Progress, Report, Score, Task, score::MAX_PLY};
use zeitnot_rules::{Packed, Tactics};
use zeitnot_wire::{
    engines::Thinking,
    uci::{Go, UciScore},
};

use crate::{
    connection::Connection,
    fault::Fault,
    file_engine::FileEngine,
    protocol::{EngineProtocol, Message, Position, Present},
};

/// Interval at which the stop flag is checked.
pub(crate) const POLL: Duration = Duration::from_millis(5);
/// The engine is stopped this long before the hard limit, at most: the time for the way there and back.
const STOP_MARGIN: Duration = Duration::from_millis(15);
/// Moves of a variation that are read, at most.
const MAX_PV: usize = 64;
/// No engine tells which share of its nodes was spent on the best move: a usual one, in thousandths.
const USUAL_SHARE: u16 = 600;

/// An engine that can be asked.
pub(crate) enum Session {
    Process { engine: Box<Connection>, protocol: Box<dyn EngineProtocol> },
    Files(FileEngine),
}

impl Session {
    /// Prepares it for another game. Whatever it has said before belongs to the last one.
    pub(crate) fn new_game(&mut self, until: Instant) -> Result<(), Fault> {
        match self {
            Session::Process { engine, protocol } => {
                engine.discard_input().and_then(|_| protocol.new_game(engine, until))
            }
            Session::Files(_) => Ok(()),
        }
    }

    /// Makes it end without `quit`.
    pub(crate) fn give_up(&mut self) {
        if let Session::Process { engine, .. } = self {
            engine.give_up();
        }
    }
}

/// A search that the engine has answered.
pub(crate) struct Searched {
    pub report: Report,
    pub whole: Option<Best>,
    pub reply: Reply,
    /// When the answer was read.
    pub read_at: Instant,
}

/// Answer of an engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The move in the decision slot.
    Move,
    NoMove,
    Resigns,
}

/// Asks the engine, and publishes what it says until it has answered.
///
/// `grace` is the time that it has to answer after `stop`.
pub(crate) fn search<G: Tactics>(
    variant: &str,
    session: &mut Session,
    task: &Task<'_, G>,
    grace: Duration,
) -> Result<Searched, Fault> {
    let started_at = Instant::now();
    let stop_at = task.limits.hard.map(|hard| {
        let left = hard.saturating_duration_since(started_at);
        hard - STOP_MARGIN.min(left / 8)
    });
    let go = go(task, started_at, stop_at);
    let follows_watcher = task.limits.clocks.is_none();
    let mut search = Search { task, started_at, follows_watcher, last: None, whole: None, has_warned: false };
    let (engine, protocol) = match session {
        Session::Process { engine, protocol } => (engine, protocol),
        Session::Files(engine) => {
            let mv = engine.play(task.game.now(), &go, || task.stop.is_raised())?;
            search.answer(&mv)?;
            return Ok(search.answered(Reply::Move, Instant::now()));
        }
    };
    if !protocol.supports(&go) {
        return Err(Fault::Unsupported);
    }
    if let Some(line) = engine.discard_input()? {
        protocol.unasked(&line)?;
    }
    let present = if protocol.needs_present() { present(task.game.now()) } else { Present::default() };
    protocol.go(engine, &position(task, variant, present), &go)?;
    let mut stopped_at: Option<Instant> = None;
    loop {
        let now = Instant::now();
        let is_time = task.stop.is_raised() || stop_at.is_some_and(|at| at <= now) || search.has_enough();
        if is_time && stopped_at.is_none() {
            protocol.stop(engine)?;
            stopped_at = Some(now);
        }
        if stopped_at.is_some_and(|since| now - since > grace) {
            return Err(protocol.late());
        }
        let poll = now + POLL;
        let until = stop_at.filter(|_| stopped_at.is_none()).map_or(poll, |at| at.min(poll));
        let Some(line) = engine.receive(until)? else { continue };
        let reply = match protocol.receive(engine, &line)? {
            Message::Thinking(thinking) => {
                search.progress(&thinking);
                continue;
            }
            Message::Other => continue,
            Message::Move(mv) => {
                search.answer(&mv)?;
                Reply::Move
            }
            Message::NoMove => Reply::NoMove,
            Message::Resigns => Reply::Resigns,
        };
        return Ok(search.answered(reply, engine.read_at()));
    }
}

fn position<G: Tactics>(task: &Task<'_, G>, variant: &str, present: Present) -> Position {
    let game = task.game;
    let mut at = game.root().clone();
    let text = |&mv: &G::Move| {
        let text = at.write(mv).to_string();
        at.play(mv);
        text
    };
    let moves = game.moves().iter().map(text).collect();
    let root = game.root().print();
    let (usual, chess960) = (game.root().start_position().print(), game.root().is_chess960());
    Position {
        variant: variant.to_owned(),
        chess960,
        root: (chess960 || root != usual).then_some(root),
        moves,
        to_move: game.now().side_to_move(),
        present,
    }
}

fn present<G: Tactics>(now: &G) -> Present {
    let moves = now.moves().iter().map(|&mv| now.write(mv).to_string()).collect();
    Present { game: now.kind().name(), text: now.print(), moves }
}

/// With clocks the engine manages its time; else it has the time until the answer is sent.
fn go<G: Tactics>(task: &Task<'_, G>, now: Instant, stop_at: Option<Instant>) -> Go {
    let limits = task.limits;
    let position = task.game.now();
    let clocks = limits.clocks.map(|mut clocks| {
        let left = &mut clocks.left[position.side_to_move()];
        let gone = now.saturating_duration_since(clocks.read_at);
        *left = left.saturating_sub(gone).max(Duration::from_millis(1));
        clocks
    });
    let until = stop_at.filter(|_| clocks.is_none());
    let until = until.map(|at| at.saturating_duration_since(now).max(Duration::from_millis(1)));
    let text = |&mv: &Packed| Some(position.write(position.unpack(mv)?).to_string());
    let go = Go {
        time: clocks.map_or([None; 2], |clocks| clocks.left.0.map(Some)),
        increment: clocks.map_or([None; 2], |clocks| [Some(clocks.increment); 2]),
        moves_to_go: clocks.and_then(|clocks| clocks.moves_to_go),
        move_time: limits.move_time.or(until),
        depth: limits.depth,
        nodes: limits.nodes,
        mate: limits.mate,
        ..Go::default()
    };
    let search_moves = limits.root_moves.iter().filter_map(text).collect();
    Go { infinite: go == Go::default(), search_moves, ..go }
}

struct Search<'s, 't, G: Tactics> {
    task: &'s Task<'t, G>,
    started_at: Instant,
    /// Whether the task's watcher ends the search, and not the engine's own time management.
    follows_watcher: bool,
    last: Option<(Progress<G>, ControlFlow<()>)>,
    /// Result of the iteration before the last.
    whole: Option<Best>,
    has_warned: bool,
}

impl<G: Tactics> Search<'_, '_, G> {
    fn has_enough(&self) -> bool {
        self.follows_watcher && self.last.as_ref().is_some_and(|(_, verdict)| verdict.is_break())
    }

    fn is_wanted(&self, mv: Packed) -> bool {
        let wanted = &self.task.limits.root_moves;
        wanted.is_empty() || wanted.contains(&mv)
    }

    fn progress(&mut self, told: &Thinking) {
        let pv = self.legal_moves(&told.pv);
        let (Some(&mv), Some(told_score)) = (pv.first(), told.score) else { return };
        let mv = self.task.game.now().pack(mv);
        if !self.is_wanted(mv) {
            return;
        }
        let depth = told.depth.max(1);
        let progress = Progress {
            multipv: 1,
            depth,
            seldepth: told.seldepth.max(depth),
            best_move_share: USUAL_SHARE,
            score: score(told_score),
            nodes: told.nodes,
            time: self.started_at.elapsed(),
            tb_hits: 0,
            hashfull: told.hashfull,
            pv,
        };
        let before = self.last.as_ref();
        if before.is_some_and(|(last, _)| last.depth < depth) {
            self.whole = Some(self.task.best.read());
        }
        self.task.best.publish(Best { mv, score: progress.score, depth });
        let is_new =
            before.is_none_or(|(last, _)| last.depth < depth || last.pv.first() != progress.pv.first());
        let verdict = if is_new {
            (self.task.watch)(&progress)
        } else {
            before.map_or(ControlFlow::Continue(()), |(_, verdict)| *verdict)
        };
        self.last = Some((progress, verdict));
    }

    /// Returns the moves up to the first illegal one.
    fn legal_moves(&mut self, pv: &[String]) -> Vec<G::Move> {
        let mut position = self.task.game.now().clone();
        let mut moves = Vec::new();
        for text in pv.iter().take(MAX_PV) {
            let Ok(mv) = position.read(text) else { break };
            position.play(mv);
            moves.push(mv);
        }
        if moves.is_empty()
            && let Some(illegal) = pv.first()
            && !std::mem::replace(&mut self.has_warned, true)
        {
            let position = self.task.game.now().print();
            tracing::warn!(mv = illegal, position, "the engine's variation begins with an illegal move");
        }
        moves
    }

    /// Publishes the answer. It may differ from the best move so far, as of engines of limited strength.
    fn answer(&mut self, text: &str) -> Result<(), Fault> {
        let now = self.task.game.now();
        let mv = now.read(text).map_err(|_| Fault::IllegalMove(text.chars().take(16).collect()))?;
        let (mv, best) = (now.pack(mv), self.task.best.read());
        if !self.is_wanted(mv) {
            tracing::warn!(mv = text, "the engine plays a move that was refused; playing another");
            // Without one of its other moves, the move in the slot was not searched by anybody.
            return if self.last.is_some() { Ok(()) } else { Err(Fault::Unsupported) };
        } else if mv != best.mv || self.last.is_none() {
            let last = self.last.as_ref().map(|(last, _)| (last.score, last.depth));
            let (score, depth) = last.unwrap_or((Score::ZERO, 0));
            self.task.best.publish(Best { mv, score, depth });
        }
        Ok(())
    }

    fn answered(&self, reply: Reply, read_at: Instant) -> Searched {
        Searched { report: self.report(), whole: self.whole, reply, read_at }
    }

    fn report(&self) -> Report {
        let last = self.last.as_ref().map(|(last, _)| last);
        Report {
            nodes: last.map_or(0, |last| last.nodes),
            depth: last.map_or(0, |last| last.depth),
            time: self.started_at.elapsed(),
        }
    }
}

fn score(told: UciScore) -> Score {
    let plies = |moves: i16| moves.unsigned_abs().min(MAX_PLY / 2);
    match told {
        UciScore::Cp(cp) => Score::cp(cp),
        UciScore::Mate(moves) if moves > 0 => Score::mate_in(2 * plies(moves) - 1),
        UciScore::Mate(moves) => Score::mated_in(2 * plies(moves)),
    }
}
