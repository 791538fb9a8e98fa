//! Game as the hub knows it: its moves and thoughts, and the views of it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use zeitnot_referee::PlayedMove;
use zeitnot_rules::{ByColor, Color, GameResult};

use super::{
    feed::{ClocksAt, End, Shared},
    game_view::{self, Ended, millis},
    view::{Clocks, Game, GameSummary, LiveMessage, Ply, Source, Thought, Topic},
};
use crate::pgn;

/// Reason of a game whose owner is gone without a word.
const BROKEN_OFF: &str = "The game was broken off";

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) shared: Arc<Shared>,
    plies: Vec<(Arc<PlayedMove>, Option<Thought>)>,
    clocks: Option<ClocksAt>,
    /// Latest thought of each side.
    latest: ByColor<Option<Latest>>,
    is_over: bool,
    correction: Option<Correction>,
}

/// Decision of the organiser about a game that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Correction {
    result: &'static str,
    note: String,
}

/// Thought about the move after `ply` plies.
#[derive(Debug)]
struct Latest {
    ply: usize,
    thought: Thought,
    is_told: bool,
}

impl Entry {
    pub(super) fn new(shared: Arc<Shared>) -> Entry {
        Entry {
            shared,
            plies: Vec::new(),
            clocks: None,
            latest: ByColor::default(),
            is_over: false,
            correction: None,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.shared.info.id
    }

    /// Returns whether the game stands in the lists. A table's does not: it is watched by whoever has its link.
    pub(super) fn is_listed(&self) -> bool {
        self.shared.info.source != Source::Table
    }

    /// Returns the subjects whose watchers hear of each move.
    pub(super) fn topics(&self) -> Vec<Topic> {
        let listed = self.is_listed().then_some(Topic::Games);
        listed.into_iter().chain([Topic::Game(self.id().to_owned())]).collect()
    }

    /// Returns whether the end is known, or the owner is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.shared.end.get().is_some() || Arc::strong_count(&self.shared) == 1
    }

    /// Replaces the moves; thoughts about moves that are the same stay.
    pub(super) fn replace(&mut self, plies: Vec<Arc<PlayedMove>>, clocks: Option<ClocksAt>) {
        let mut before = std::mem::take(&mut self.plies).into_iter();
        let with_thought = |made: Arc<PlayedMove>| {
            let is_same = |(old, _): &(Arc<PlayedMove>, _)| (&old.mv, &old.fen) == (&made.mv, &made.fen);
            let thought = before.next().filter(is_same).and_then(|(_, it)| it);
            (made, thought)
        };
        self.plies = plies.into_iter().map(with_thought).collect();
        self.clocks = clocks;
    }

    /// Adds a move; `None` if earlier ones are missing.
    pub(super) fn play(
        &mut self,
        ply: usize,
        made: Arc<PlayedMove>,
        clocks: Option<ClocksAt>,
    ) -> Option<LiveMessage> {
        if ply != self.plies.len() + 1 || self.is_over {
            return None;
        }
        let of_move = |latest: &&Latest| latest.ply + 1 == ply;
        let thought = self.latest.0.iter().flatten().find(of_move).map(|latest| latest.thought.clone());
        self.plies.push((made, thought));
        self.clocks = clocks;
        let made = self.plies.last().map(view)?;
        Some(LiveMessage::Move { id: self.id().to_owned(), ply, made, clocks: self.clocks() })
    }

    /// Ends the game, with all its moves.
    pub(super) fn end(&mut self) -> LiveMessage {
        self.is_over = true;
        let shared = self.shared.clone();
        if let Some(End { clocks, plies, .. }) = shared.end.get() {
            self.replace(plies.clone(), *clocks);
        } else if let Some(clocks) = &mut self.clocks {
            clocks.running = None;
        }
        self.ending()
    }

    fn ending(&self) -> LiveMessage {
        let (result, reason) = (self.result().to_owned(), self.outcome().1.to_owned());
        LiveMessage::End { id: self.id().to_owned(), result, reason, clocks: self.clocks() }
    }

    /// Notes the result that counts, with the organiser's note. Returns the end of the game as it is now, if that is
    /// new.
    pub(super) fn correct(&mut self, result: &str, note: &str) -> Option<LiveMessage> {
        let results = [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
        let result =
            results.map(GameResult::as_str).into_iter().find(|known| *known == result).unwrap_or("*");
        // A game without a result is reported with the reason as its note.
        let is_as_it_ended = (result, note) == self.outcome();
        let correction = (!is_as_it_ended).then(|| Correction { result, note: note.to_owned() });
        let is_new = correction != self.correction;
        self.correction = correction;
        is_new.then(|| self.ending())
    }

    /// Result that counts.
    fn result(&self) -> &'static str {
        self.correction.as_ref().map_or(self.outcome().0, |it| it.result)
    }

    /// Result at the board, if another one counts.
    fn result_at_board(&self) -> Option<&'static str> {
        let (at_board, _) = self.outcome();
        (self.result() != at_board).then_some(at_board)
    }

    /// Result at the board and its reason.
    fn outcome(&self) -> (&'static str, &str) {
        match self.shared.end.get() {
            Some(end) => (end.result.map_or("*", GameResult::as_str), &end.reason),
            None => ("*", BROKEN_OFF),
        }
    }

    /// Notes what a side thinks about the move after `ply` plies.
    pub(super) fn think(&mut self, ply: usize, side: Color, thought: Thought) {
        if let Some((_, of_move)) = self.plies.get_mut(ply) {
            *of_move = Some(thought.clone());
        }
        // Players may hear of a move before the event of it is here.
        if ply <= self.plies.len() + 1 {
            self.latest[side] = Some(Latest { ply, thought, is_told: false });
        }
    }

    /// Takes the thoughts since the last time.
    pub(super) fn take_thoughts(&mut self) -> Vec<LiveMessage> {
        let Entry { shared, latest, .. } = self;
        let fresh = Color::BOTH.into_iter().zip(&mut latest.0).filter_map(|(side, latest)| {
            let Latest { ply, thought, is_told } = latest.as_mut()?;
            let (id, thought) = (shared.info.id.to_string(), thought.clone());
            (!std::mem::replace(is_told, true)).then_some(LiveMessage::Thought {
                id,
                ply: *ply,
                side,
                thought,
            })
        });
        fresh.collect()
    }

    fn clocks(&self) -> Option<Clocks> {
        let ClocksAt { left, running, at } = self.clocks?;
        let gone = Instant::now().saturating_duration_since(at);
        let now = |color: Color| {
            let used = if running == Some(color) { gone } else { Duration::ZERO };
            millis(left[color].saturating_sub(used))
        };
        Some(Clocks { white_ms: now(Color::White), black_ms: now(Color::Black), running })
    }

    /// Returns the end, once it is told.
    fn ended(&self) -> Option<Ended<'_>> {
        let termination = self.shared.end.get().map(|end| end.termination.as_str());
        self.is_over.then(|| Ended {
            result: self.result(),
            reason: self.outcome().1,
            termination,
            result_at_board: self.result_at_board(),
            note: self.correction.as_ref().map(|it| it.note.clone()),
        })
    }

    pub(super) fn summary(&self) -> GameSummary {
        let last = self.plies.last().map(|(made, _)| &**made);
        let played = (self.plies.len(), last);
        game_view::summary(&self.shared.info, played, self.clocks(), self.ended().as_ref())
    }

    pub(super) fn game(&self) -> Game {
        let plies = self.plies.iter().map(|(made, thought)| (&**made, thought.as_ref()));
        game_view::game(&self.shared.info, plies, self.clocks(), self.ended())
    }

    pub(super) fn pgn(&self) -> String {
        pgn::print(&self.game(), self.shared.info.site.as_deref())
    }
}

fn view((made, thought): &(Arc<PlayedMove>, Option<Thought>)) -> Ply {
    game_view::ply(made, thought.as_ref())
}
