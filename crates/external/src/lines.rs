//! The `lines` protocol, towards a program that reads one line for each position and prints its move.

use std::time::{Duration, Instant};

use zeitnot_rules::CHESS960;
use zeitnot_wire::{
    engines::{
        Setting,
        lines::{Question, parse_answer},
    },
    printable,
    uci::Go,
};

use crate::{
    connection::Connection,
    fault::{Fault, MAX_SHOWN},
    protocol::{EngineProtocol, Introduction, Message, Position, Present},
};

/// It has no state: each question says everything.
#[derive(Debug)]
pub(crate) struct Lines;

impl EngineProtocol for Lines {
    fn introduce(&mut self, _: &mut Connection, _: Instant) -> Result<Introduction, Fault> {
        Ok(Introduction { chess960: true, ..Introduction::default() })
    }

    fn option(&self, _: &Setting, _: &str) -> Option<String> {
        None
    }

    /// It has only a time: it cannot search without end, to a depth, or a number of nodes.
    fn supports(&self, go: &Go) -> bool {
        let has_time = go.time[0].is_some() || go.move_time.is_some();
        has_time && go.depth.is_none() && go.nodes.is_none() && go.mate.is_none()
    }

    fn needs_present(&self) -> bool {
        true
    }

    fn new_game(&mut self, _: &mut Connection, _: Instant) -> Result<(), Fault> {
        Ok(())
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault> {
        let (us, Present { game, text, moves }) = (position.to_move, &position.present);
        let clocks = go.time[us as usize].zip(go.time[!us as usize]).filter(|_| go.move_time.is_none());
        let (time, opponent) = match clocks {
            // Zero says that there are no clocks.
            Some((ours, theirs)) => (ours, theirs.max(Duration::from_millis(1))),
            None => {
                let times = [go.time[us as usize], go.move_time];
                (times.into_iter().flatten().min().unwrap_or_default(), Duration::ZERO)
            }
        };
        let increment = clocks.and(go.increment[us as usize]).unwrap_or_default();
        // The moves that are not to be played are left out.
        let moves = if go.search_moves.is_empty() { moves } else { &go.search_moves };
        let game = if position.chess960 { CHESS960 } else { game };
        engine.send(&Question { game, position: text, time, opponent, increment, moves }.to_string())
    }

    fn receive(&mut self, _: &mut Connection, line: &str) -> Result<Message, Fault> {
        match parse_answer(line) {
            Some(mv) => Ok(Message::Move(mv.to_owned())),
            None => Err(Fault::NotAMove(printable(line, MAX_SHOWN))),
        }
    }

    /// It would count as the answer to the next question.
    fn unasked(&self, line: &str) -> Result<(), Fault> {
        Err(Fault::Unasked(printable(line, MAX_SHOWN)))
    }

    /// There is no such command; what has no answer soon is killed.
    fn stop(&mut self, _: &mut Connection) -> Result<(), Fault> {
        Ok(())
    }

    fn late(&self) -> Fault {
        Fault::Late
    }
}
