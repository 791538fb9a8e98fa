//! Interface shared by the protocols of external engines.

use std::time::{Duration, Instant};

use zeitnot_rules::Color;
use zeitnot_wire::engines::{Setting, Thinking};

use super::{connection::Connection, fault::Fault};
use crate::limits::Clocks;

/// One of the protocols, with its state of the conversation with an engine.
pub(super) trait EngineProtocol: Send {
    /// Asks the engine for its features, and sets the options that it has.
    fn greet(
        &mut self,
        engine: &mut Connection,
        options: &[(String, String)],
        until: Instant,
    ) -> Result<Introduction, Fault>;

    /// Returns whether the engine can search within these limits.
    fn supports(&self, limits: &GoLimits) -> bool;

    /// Announces another game, and waits until the engine is ready for it.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault>;

    /// Starts a search.
    fn go(&mut self, engine: &mut Connection, position: &Position, limits: &GoLimits) -> Result<(), Fault>;

    /// Interprets a line.
    fn receive(&mut self, engine: &mut Connection, line: &str) -> Result<Message, Fault>;

    /// Asks for the move at once.
    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault>;
}

/// A position in terms of the protocols.
pub(super) struct Position {
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

/// Limits of a search in terms of the protocols.
#[derive(Clone, Debug, Default)]
pub(super) struct GoLimits {
    /// The engine manages its time by these.
    pub clocks: Option<Clocks>,
    pub move_time: Option<Duration>,
    pub depth: Option<u16>,
    pub nodes: Option<u64>,
    pub mate: Option<u16>,
    /// Moves to consider; empty for all.
    pub root_moves: Vec<String>,
}

/// Features of an engine, as told by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Introduction {
    pub name: Option<String>,
    pub settings: Vec<Setting>,
    /// Names of the variants that it plays.
    pub variants: Vec<String>,
    pub chess960: bool,
}

impl Introduction {
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))
    }
}

/// A message of an engine during a search.
pub(super) enum Message {
    Thinking(Thinking),
    Move(String),
    /// There is no legal move.
    NoMove,
    Resigns,
    Other,
}
