//! An external engine in one game.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use zeitnot_rules::Packed;
use zeitnot_wire::engines::Thinking;

use super::{Fault, Heard, Pace, Position, Program, program::Session, score};
use crate::{Best, Playable, Progress, Report, Score, Task, Thinker};

/// After `stop` the answer comes within this time, or never. Less than a mind waits for its thinker.
const GRACE: Duration = Duration::from_millis(250);
/// How often we look whether the answer is still wanted.
const LOOK: Duration = Duration::from_millis(5);
/// It is told to stop so long before the answer leaves, at most: that is the way there and back.
const WAY: Duration = Duration::from_millis(15);
/// Who fails so often in a row would go on like this.
const MOST_FAULTS: u32 = 3;
/// Of a line that it expects, nobody wants to know more moves.
const MOST_PV: usize = 64;
/// No engine tells us which part of its nodes was spent on the best move: a usual one, in thousandths.
const USUAL_SHARE: u16 = 600;

/// See the module's comment. Dropped, it ends its process.
pub(crate) struct External<G: Playable> {
    program: Arc<Program>,
    state: State<G>,
    /// In a row.
    faults: u32,
    make_ours: Box<dyn Fn() -> Box<dyn Thinker<G>> + Send>,
}

enum State<G: Playable> {
    Ready(Box<Session>),
    /// It is being started.
    Coming(Receiver<Result<Session, Fault>>),
    /// Our own engine plays on.
    Replaced(Box<dyn Thinker<G>>),
}

impl<G: Playable> Thinker<G> for External<G> {
    fn think(&mut self, task: &Task<'_, G>) -> Report {
        loop {
            if let State::Replaced(ours) = &mut self.state {
                return ours.think(task);
            }
            let fault = match self.attempt(task) {
                Ok(report) => return report,
                Err(fault) => fault,
            };
            self.failed(&fault);
            if is_over(task) {
                return Report::default();
            }
        }
    }
}

fn is_over<G: Playable>(task: &Task<'_, G>) -> bool {
    task.stop.is_raised() || task.limits.hard.is_some_and(|hard| hard <= Instant::now())
}

impl<G: Playable> External<G> {
    /// Its process starts now; where it fails too often, what `make_ours` makes takes over.
    pub fn new(program: Arc<Program>, make_ours: Box<dyn Fn() -> Box<dyn Thinker<G>> + Send>) -> Self {
        let state = State::Coming(program.begin());
        External { program, state, faults: 0, make_ours }
    }

    fn failed(&mut self, fault: &Fault) {
        self.faults += 1;
        let engine = self.program.name();
        if self.faults < MOST_FAULTS {
            tracing::warn!("engine {engine} {fault}; starting it again");
            self.state = State::Coming(self.program.begin());
        } else {
            tracing::error!("engine {engine} {fault}, and failed before: our own engine plays this game on");
            self.state = State::Replaced((self.make_ours)());
        }
    }

    fn attempt(&mut self, task: &Task<'_, G>) -> Result<Report, Fault> {
        if let State::Coming(coming) = &self.state {
            match awaited(coming, task)? {
                Some(session) => self.state = State::Ready(Box::new(session)),
                // What stands in the slot must do, and perhaps it is there for the next move.
                None => return Ok(Report::default()),
            }
        }
        let State::Ready(session) = &mut self.state else { return Ok(Report::default()) };
        let searched = search(&self.program, session, task, GRACE);
        match &searched {
            Ok(_) => self.faults = 0,
            Err(_) => session.engine.give_up(),
        }
        searched.map(|searched| searched.report)
    }
}

/// A search that the engine has ended itself.
pub(super) struct Searched {
    pub report: Report,
    pub end: End,
}

/// How.
pub(super) enum End {
    /// Its move stands in the slot.
    Move,
    /// It knows none.
    NoMove,
    /// It gives the game up.
    Resigned,
}

/// Asks the engine, and publishes what it says until it has answered.
pub(super) fn search<G: Playable>(
    program: &Program,
    session: &mut Session,
    task: &Task<'_, G>,
    grace: Duration,
) -> Result<Searched, Fault> {
    let began = Instant::now();
    let stop_at = task.limits.hard.map(|hard| {
        let left = hard.saturating_duration_since(began);
        hard - WAY.min(left / 8)
    });
    let pace = pace(task, began, stop_at);
    let Session { engine, dialect } = session;
    let Some(variant) = program.variant::<G>().filter(|_| dialect.is_able(&pace)) else {
        return Ok(Searched { report: Report::default(), end: End::NoMove });
    };
    engine.forget();
    dialect.go(engine, &position(task, variant), &pace)?;

    let mut search = Search { task, began, is_paced: pace.clocks.is_none(), last: None, complained: false };
    let mut told_to_stop: Option<Instant> = None;
    loop {
        let now = Instant::now();
        let is_time = task.stop.is_raised() || stop_at.is_some_and(|at| at <= now) || search.has_enough();
        if is_time && told_to_stop.is_none() {
            dialect.stop(engine)?;
            told_to_stop = Some(now);
        }
        if told_to_stop.is_some_and(|since| now - since > grace) {
            return Err(Fault::Deaf);
        }
        let look = now + LOOK;
        let until = stop_at.filter(|_| told_to_stop.is_none()).map_or(look, |at| at.min(look));
        let Some(line) = engine.hear(until)? else { continue };
        match dialect.hear(engine, &line)? {
            Heard::Thinks(thinking) => search.thinks(&thinking),
            Heard::Plays(mv) => {
                search.plays(&mv)?;
                return Ok(Searched { report: search.report(), end: End::Move });
            }
            Heard::NoMove => return Ok(Searched { report: search.report(), end: End::NoMove }),
            Heard::Resigns => return Ok(Searched { report: search.report(), end: End::Resigned }),
            Heard::Nothing => {}
        }
    }
}

/// A session that is on its way; `None`: the answer is wanted before it is there.
fn awaited<G: Playable>(
    coming: &Receiver<Result<Session, Fault>>,
    task: &Task<'_, G>,
) -> Result<Option<Session>, Fault> {
    while !is_over(task) {
        match coming.recv_timeout(LOOK) {
            Ok(session) => return session.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Ended),
        }
    }
    Ok(None)
}

fn position<G: Playable>(task: &Task<'_, G>, variant: &str) -> Position {
    let line = task.line;
    let mut at = line.root().clone();
    let text = |&mv: &G::Move| {
        let text = at.write(mv).to_string();
        at.play(mv);
        text
    };
    let moves = line.moves().iter().map(text).collect();
    let root = line.root().print();
    let chess960 = line.root().is_chess960();
    Position {
        variant: variant.to_owned(),
        chess960,
        root: (chess960 || root != G::start().print()).then_some(root),
        moves,
        side: line.now().side(),
    }
}

/// Where there is a clock, the engine shares out its time; else it has what there is until the answer leaves.
fn pace<G: Playable>(task: &Task<'_, G>, now: Instant, stop_at: Option<Instant>) -> Pace {
    let limits = task.limits;
    let position = task.line.now();
    let clocks = limits.clocks.map(|mut clocks| {
        let left = &mut clocks.left[position.side()];
        let gone = now.saturating_duration_since(clocks.read_at);
        *left = left.saturating_sub(gone).max(Duration::from_millis(1));
        clocks
    });
    let until = stop_at.filter(|_| clocks.is_none());
    let until = until.map(|at| at.saturating_duration_since(now).max(Duration::from_millis(1)));
    let text = |&mv: &Packed| Some(position.write(position.unpack(mv)?).to_string());
    Pace {
        clocks,
        move_time: limits.move_time.or(until),
        depth: limits.depth,
        nodes: limits.nodes,
        mate: limits.mate,
        root_moves: limits.root_moves.iter().filter_map(text).collect(),
    }
}

/// What one search has said so far.
struct Search<'s, 't, G: Playable> {
    task: &'s Task<'t, G>,
    began: Instant,
    /// It goes by our pace, and not by its own.
    is_paced: bool,
    last: Option<(Progress<G>, ControlFlow<()>)>,
    complained: bool,
}

impl<G: Playable> Search<'_, '_, G> {
    fn has_enough(&self) -> bool {
        self.is_paced && self.last.as_ref().is_some_and(|(_, verdict)| verdict.is_break())
    }

    fn is_wanted(&self, mv: Packed) -> bool {
        let wanted = &self.task.limits.root_moves;
        wanted.is_empty() || wanted.contains(&mv)
    }

    fn thinks(&mut self, told: &Thinking) {
        let pv = self.moves(&told.pv);
        let (Some(&mv), Some(told_score)) = (pv.first(), told.score) else { return };
        let now = self.task.line.now();
        let mv = now.pack(mv);
        let depth = told.depth.max(1);
        let progress = Progress {
            line: 1,
            depth,
            seldepth: told.seldepth.max(depth),
            share: USUAL_SHARE,
            score: score(told_score),
            nodes: told.nodes,
            time: self.began.elapsed(),
            table_hits: 0,
            hashfull: told.hashfull,
            pv,
        };
        if !self.is_wanted(mv) {
            return;
        }
        self.task.best.publish(Best { mv, score: progress.score, depth });
        let before = self.last.as_ref();
        let is_news =
            before.is_none_or(|(last, _)| last.depth < depth || last.pv.first() != progress.pv.first());
        let verdict = if is_news {
            (self.task.watch)(&progress)
        } else {
            before.map_or(ControlFlow::Continue(()), |(_, verdict)| *verdict)
        };
        self.last = Some((progress, verdict));
    }

    /// As far as they are legal.
    fn moves(&mut self, pv: &[String]) -> Vec<G::Move> {
        let mut position = self.task.line.now().clone();
        let mut moves = Vec::new();
        for text in pv.iter().take(MOST_PV) {
            let Ok(mv) = position.read(text) else { break };
            position.play(mv);
            moves.push(mv);
        }
        if moves.is_empty()
            && let Some(illegal) = pv.first()
            && !std::mem::replace(&mut self.complained, true)
        {
            tracing::warn!(mv = illegal, position = %self.task.line.now().print(), "the engine thinks of an illegal move");
        }
        moves
    }

    /// Its answer. Some play another move than they thought best, as where they were told to be weak.
    fn plays(&mut self, text: &str) -> Result<(), Fault> {
        let now = self.task.line.now();
        let mv = now.read(text).map_err(|_| Fault::NoMove(text.chars().take(16).collect()))?;
        let (mv, best) = (now.pack(mv), self.task.best.read());
        if !self.is_wanted(mv) {
            tracing::warn!(mv = text, "the engine plays a move that was refused; playing another");
        } else if mv != best.mv || self.last.is_none() {
            let last = self.last.as_ref().map(|(last, _)| (last.score, last.depth));
            let (score, depth) = last.unwrap_or((Score::ZERO, 0));
            self.task.best.publish(Best { mv, score, depth });
        }
        Ok(())
    }

    fn report(&self) -> Report {
        let last = self.last.as_ref().map(|(last, _)| last);
        Report {
            nodes: last.map_or(0, |last| last.nodes),
            depth: last.map_or(0, |last| last.depth),
            time: self.began.elapsed(),
        }
    }
}

#[cfg(test)]
impl<G: Playable> External<G> {
    /// So often it failed lately; as often as can be, where ours plays on.
    pub fn faults(&self) -> u32 {
        self.faults
    }
}
