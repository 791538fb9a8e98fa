//! The best moves at the root, as many as are asked for: each is searched for among those that are not found yet.
//!
//! Source: as Stockfish does it for UCI's option `MultiPV`.

use std::{cmp::Reverse, mem, num::NonZeroU16, ops::ControlFlow, sync::atomic::Ordering::Relaxed};

use zeitnot_rules::Packed;

use super::{Progress, Score, Worker};
use crate::{
    Stopped,
    eval::{EngineGame, State},
};

/// A move at the root, and how it goes on.
struct Found<M> {
    mv: Packed,
    score: Score,
    seldepth: u16,
    /// The part of the nodes that was spent on it, in thousandths.
    share: u16,
    pv: Vec<M>,
}

/// The lines of the iteration that runs, and those of the one before, the best first.
pub(super) struct Lines<M> {
    wanted: usize,
    found: Vec<Found<M>>,
    before: Vec<Found<M>>,
}

impl<M> Lines<M> {
    /// So many in each iteration.
    pub fn new(wanted: usize) -> Self {
        Lines { wanted, found: Vec::new(), before: Vec::new() }
    }

    /// Is a line that is not the first searched for?
    pub fn is_behind_first(&self) -> bool {
        !self.found.is_empty()
    }

    /// Is the move the first of a line that is found already?
    pub fn has(&self, mv: Packed) -> bool {
        self.found.iter().any(|line| line.mv == mv)
    }

    /// What the next line was an iteration before, and its score.
    fn next_before(&self) -> Option<&Found<M>> {
        self.before.iter().find(|line| !self.has(line.mv))
    }

    /// With which move a line that is not the first is likely to begin: the table tells that of the first only.
    pub fn hint(&self) -> Option<Packed> {
        self.next_before().filter(|_| self.is_behind_first()).map(|line| line.mv)
    }
}

impl<G: EngineGame> Worker<'_, G> {
    /// How many lines there can be of those that are wanted.
    pub(super) fn most_lines(&self, root: &G) -> usize {
        let wanted = self.shared.task.limits.multipv.map_or(1, NonZeroU16::get).into();
        if wanted == 1 {
            return 1;
        }
        let moves = root.moves();
        moves.iter().filter(|&&mv| self.is_wanted(root.pack(mv))).count().clamp(1, wanted)
    }

    /// Searches the root to the depth of this iteration, line by line. The score is that of the first, which was
    /// expected near this.
    pub(super) fn iterate(&mut self, root: &G, state: &State<G>, expected: Score) -> Result<Score, Stopped> {
        self.lines.before = mem::take(&mut self.lines.found);
        let mut first = expected;
        for index in 0..self.lines.wanted {
            let expected = self.lines.next_before().map_or(first, |line| line.score);
            let score = self.aspire(root, state, self.iteration, expected)?;
            if index == 0 {
                first = score;
            }
            if self.leads() || self.lines.wanted > 1 {
                let found = self.found(root, score);
                self.lines.found.extend(found);
            }
        }
        if self.lines.wanted > 1 {
            first = self.sort_lines().unwrap_or(first);
        }
        Ok(first)
    }

    fn found(&mut self, root: &G, score: Score) -> Option<Found<G::Move>> {
        let pv = self.pv().root(root);
        let mv = root.pack(*pv.first()?);
        Some(Found { mv, score, seldepth: self.seldepth, share: self.share(), pv })
    }

    /// A later line may turn out better than the first: then its move is the one to play.
    fn sort_lines(&mut self) -> Option<Score> {
        let searched_first = self.lines.found.first()?.mv;
        self.lines.found.sort_by_key(|line| Reverse(line.score));
        let first = self.lines.found.first()?;
        let (mv, score) = (first.mv, first.score);
        if mv != searched_first {
            self.decide(mv, score);
        }
        Some(score)
    }

    /// Tells of the iteration. Is another one wanted, by what is heard of the first line?
    pub(super) fn tell(&self, depth: u16) -> ControlFlow<()> {
        let (nodes, time) = (self.all_nodes(), self.shared.began.elapsed());
        let hashfull = self.shared.table.hashfull();
        let tb_hits = self.shared.hits.load(Relaxed);
        let tell = |(line, found): (u16, &Found<G::Move>)| {
            (self.shared.task.watch)(&Progress {
                multipv: line,
                depth,
                seldepth: found.seldepth.max(depth),
                best_move_share: found.share,
                score: self.shared.told(found.score),
                nodes,
                tb_hits,
                time,
                hashfull,
                pv: found.pv.clone(),
            })
        };
        let mut verdicts = (1..).zip(&self.lines.found).map(tell);
        let first = verdicts.next().unwrap_or(ControlFlow::Continue(()));
        verdicts.for_each(drop);
        first
    }
}
