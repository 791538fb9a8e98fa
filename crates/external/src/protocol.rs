//! Interface shared by the protocols of external engines.

use std::time::Instant;

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

    /// Returns the command that sets an option.
    fn option(&self, setting: &Setting, value: &str) -> String;

    /// Returns whether the engine can search within these limits.
    fn supports(&self, go: &Go) -> bool;

    /// Announces another game, and waits until the engine is ready for it.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault>;

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault>;

    fn receive(&mut self, engine: &mut Connection, line: &str) -> Result<Message, Fault>;

    /// Asks for the move at once.
    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault>;
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
