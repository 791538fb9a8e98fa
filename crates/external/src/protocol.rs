//! Interface shared by the protocols of external engines.

use std::time::{Duration, Instant};

use zeitnot_engine::time::{Clock, Reserve};
use zeitnot_rules::Color;
use zeitnot_wire::{
    engines::{Setting, Thinking},
    uci::Go,
};

use crate::{connection::Connection, fault::Fault};

/// One of the protocols, with its state of the conversation with an engine.
pub(crate) trait EngineProtocol: Send {
    /// Asks the engine for its features.
    fn introduce(&mut self, engine: &mut Connection, until: Instant) -> Result<Introduction, Fault>;

    /// Returns the command that sets an option; `None` where there are no options.
    fn option(&self, setting: &Setting, value: &str) -> Option<String>;

    /// Returns whether the engine can search within these limits.
    fn supports(&self, go: &Go) -> bool;

    /// Returns whether the engine is sent the [present position](Present).
    fn needs_present(&self) -> bool {
        false
    }

    /// Announces another game, and waits until the engine is ready for it.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault>;

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault>;

    fn receive(&mut self, engine: &mut Connection, line: &str) -> Result<Message, Fault>;

    /// Judges the first line that has come since the last answer.
    fn unasked(&self, _line: &str) -> Result<(), Fault> {
        Ok(())
    }

    /// Asks for the move at once.
    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault>;

    /// Fault of an engine that does not answer then.
    fn late(&self) -> Fault {
        Fault::Deaf
    }
}

/// A position in terms of the protocols.
pub(crate) struct Position {
    /// Name of the variant in this protocol.
    pub variant: String,
    /// Whether castling is written as the king that takes its rook.
    pub chess960: bool,
    /// `None` for the usual start.
    pub root: Option<String>,
    /// Moves since then, in coordinates.
    pub moves: Vec<String>,
    pub to_move: Color,
    pub present: Present,
}

/// The present position; empty for protocols that do not need it.
#[derive(Debug, Default)]
pub(crate) struct Present {
    pub game: &'static str,
    /// In the game's text form.
    pub text: String,
    /// Legal moves, in coordinates.
    pub moves: Vec<String>,
}

/// Reserve of an engine that is sent the time for one move in place of its clock.
const RESERVE: Reserve = Reserve { lag: Duration::from_millis(50), measured: true };

/// Time for this move, for engines that know no clocks.
pub(crate) fn move_time(go: &Go, us: Color) -> Option<Duration> {
    let increment = go.increment[us as usize].unwrap_or_default();
    let share = |left| Clock { left, increment, moves_to_go: go.moves_to_go }.budget(RESERVE).soft;
    [go.move_time, go.time[us as usize].map(share)].into_iter().flatten().min()
}

/// Features of an engine, as told by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introduction {
    pub name: Option<String>,
    pub settings: Vec<Setting>,
    /// Names of the variants that it plays.
    pub variants: Vec<String>,
    pub chess960: bool,
}

impl Introduction {
    pub(crate) fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))
    }
}

pub(crate) enum Message {
    Thinking(Thinking),
    Move(String),
    NoMove,
    Resigns,
    Other,
}
