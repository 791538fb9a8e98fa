//! One iteration at the root: the requested number of best moves (MultiPV), each searched among those not yet found.
//!
//! Source: Stockfish's implementation of the UCI option `MultiPV`.

use std::{cmp::Reverse, mem, num::NonZeroU16, ops::ControlFlow, sync::atomic::Ordering::Relaxed};

use super::{Progress, Score, Worker, multipv::RootLine};
use crate::{
    Stopped,
    eval::{EngineGame, State},
};

impl<G: EngineGame> Worker<'_, G> {
    /// Number of lines to search: as many as requested and possible.
    pub(super) fn line_count(&self, root: &G) -> usize {
        let wanted = self.shared.task.limits.multipv.map_or(1, NonZeroU16::get).into();
        if wanted == 1 {
            return 1;
        }
        let moves = root.moves();
        moves.iter().filter(|&&mv| self.is_wanted(root.pack(mv))).count().clamp(1, wanted)
    }

    /// Searches all lines to the depth of this iteration. Returns the score of the first, expected near `expected`.
    pub(super) fn iterate(&mut self, root: &G, state: &State<G>, expected: Score) -> Result<Score, Stopped> {
        self.multipv.previous = mem::take(&mut self.multipv.found);
        let mut first = expected;
        for index in 0..self.multipv.wanted {
            let expected = self.multipv.next_previous().map_or(first, |line| line.score);
            let score = self.aspiration_search(root, state, self.iteration, expected)?;
            if index == 0 {
                first = score;
            }
            if self.is_main() || self.multipv.wanted > 1 {
                let found = self.found(root, score);
                self.multipv.found.extend(found);
            }
        }
        if self.multipv.wanted > 1 {
            first = self.sort_lines().unwrap_or(first);
        }
        Ok(first)
    }

    fn found(&mut self, root: &G, score: Score) -> Option<RootLine<G::Move>> {
        let pv = self.pv().root(root);
        let mv = root.pack(*pv.first()?);
        Some(RootLine { mv, score, seldepth: self.seldepth, share: self.share(), pv })
    }

    /// Sorts the lines; a secondary line that turned out better than the first gives the move to play.
    fn sort_lines(&mut self) -> Option<Score> {
        let searched_first = self.multipv.found.first()?.mv;
        self.multipv.found.sort_by_key(|line| Reverse(line.score));
        let first = self.multipv.found.first()?;
        let (mv, score) = (first.mv, first.score);
        if mv != searched_first {
            self.publish_move(mv, score);
        }
        Some(score)
    }

    /// Reports the iteration and returns the callback's verdict on the first line.
    pub(super) fn report(&self, depth: u16) -> ControlFlow<()> {
        let (nodes, time) = (self.all_nodes(), self.shared.began.elapsed());
        let hashfull = self.shared.table.hashfull();
        let tb_hits = self.shared.hits.load(Relaxed);
        let tell = |(line, found): (u16, &RootLine<G::Move>)| {
            (self.shared.task.watch)(&Progress {
                multipv: line,
                depth,
                seldepth: found.seldepth.max(depth),
                best_move_share: found.share,
                score: self.shared.reported_score(found.score),
                nodes,
                tb_hits,
                time,
                hashfull,
                pv: found.pv.clone(),
            })
        };
        let mut verdicts = (1..).zip(&self.multipv.found).map(tell);
        let first = verdicts.next().unwrap_or(ControlFlow::Continue(()));
        verdicts.for_each(drop);
        first
    }
}
