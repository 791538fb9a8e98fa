//! The Universal Chess Interface, and UBGI, which extends it, towards an external engine.

use std::time::Instant;

use zeitnot_wire::{
    engines::{
        Setting,
        uci::{self, FromEngine, SetOption},
    },
    uci::{Go, Words},
};

use crate::{
    connection::Connection,
    fault::Fault,
    protocol::{EngineProtocol, Introduction, Message, Position, move_time},
};

const VARIANT: &str = "UCI_Variant";
const CHESS960: &str = "UCI_Chess960";
/// Variant of an engine without that option.
const CHESS: &str = "chess";

#[derive(Debug)]
pub(crate) struct Uci {
    words: Words,
    variant: String,
    chess960: bool,
}

impl Uci {
    pub(crate) fn new(words: Words) -> Uci {
        Uci { words, variant: CHESS.to_owned(), chess960: false }
    }

    /// Returns the words that begin the conversation, and a game.
    fn begin(&self) -> (&'static str, &'static str) {
        match self.words {
            Words::Uci => ("uci", "ucinewgame"),
            Words::Ubgi => ("ubgi", "ubginewgame"),
        }
    }

    fn set(&self, engine: &mut Connection, name: &str, value: &str) -> Result<(), Fault> {
        engine.send(&SetOption { name, value: Some(value) }.to_string())
    }
}

impl EngineProtocol for Uci {
    fn introduce(&mut self, engine: &mut Connection, until: Instant) -> Result<Introduction, Fault> {
        let (hello, _) = self.begin();
        engine.send(hello)?;
        let mut told = Introduction::default();
        engine.await_line(until, hello, |line| {
            match FromEngine::parse(line) {
                FromEngine::UciOk => return Some(()),
                FromEngine::Name(name) => told.name = Some(name),
                FromEngine::Option(setting) => told.settings.push(setting),
                _ => {}
            }
            None
        })?;
        told.variants = told.setting(VARIANT).map_or_else(|| vec![CHESS.into()], |set| set.choices.clone());
        told.chess960 = told.setting(CHESS960).is_some();
        Ok(told)
    }

    fn option(&self, setting: &Setting, value: &str) -> Option<String> {
        Some(SetOption { name: &setting.name, value: (!setting.is_button).then_some(value) }.to_string())
    }

    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        engine.send(self.begin().1)?;
        engine.send("isready")?;
        let is_ready = |line: &str| (FromEngine::parse(line) == FromEngine::ReadyOk).then_some(());
        engine.await_line(until, "isready", is_ready)
    }

    /// UBGI has only `depth`, `movetime` and `infinite`.
    fn supports(&self, go: &Go) -> bool {
        self.words == Words::Uci || (go.nodes.is_none() && go.mate.is_none() && go.search_moves.is_empty())
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault> {
        if self.words == Words::Uci && self.variant != position.variant {
            self.set(engine, VARIANT, &position.variant)?;
            self.variant.clone_from(&position.variant);
        }
        if self.chess960 != position.chess960 {
            self.set(engine, CHESS960, if position.chess960 { "true" } else { "false" })?;
            self.chess960 = position.chess960;
        }
        let (words, Position { root, moves, .. }) = (self.words, position);
        engine.send(&uci::Position { words, root: root.as_deref(), moves }.to_string())?;
        let Go { depth, infinite, .. } = *go;
        match words {
            Words::Uci => engine.send(&go.to_string()),
            Words::Ubgi => {
                let move_time = move_time(go, position.to_move);
                engine.send(&Go { move_time, depth, infinite, ..Go::default() }.to_string())
            }
        }
    }

    fn receive(&mut self, _: &mut Connection, line: &str) -> Result<Message, Fault> {
        Ok(match FromEngine::parse(line) {
            FromEngine::Info(thinking) => Message::Thinking(thinking),
            FromEngine::BestMove(Some(mv)) => Message::Move(mv),
            FromEngine::BestMove(None) => Message::NoMove,
            _ => Message::Other,
        })
    }

    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault> {
        engine.send("stop")
    }
}
