//! The Universal Chess Interface, towards an external engine.

use std::time::Instant;

use zeitnot_wire::{
    engines::{
        Setting,
        uci::{self, FromEngine, SetOption},
    },
    uci::Go,
};

use crate::{
    connection::Connection,
    fault::Fault,
    protocol::{EngineProtocol, Introduction, Message, Position},
};

const VARIANT: &str = "UCI_Variant";
const CHESS960: &str = "UCI_Chess960";
/// Variant of an engine without that option.
const CHESS: &str = "chess";

#[derive(Debug)]
pub(crate) struct Uci {
    variant: String,
    chess960: bool,
}

impl Uci {
    pub(crate) fn new() -> Uci {
        Uci { variant: CHESS.to_owned(), chess960: false }
    }

    fn set(&self, engine: &mut Connection, name: &str, value: &str) -> Result<(), Fault> {
        engine.send(&SetOption { name, value: Some(value) }.to_string())
    }
}

impl EngineProtocol for Uci {
    fn introduce(&mut self, engine: &mut Connection, until: Instant) -> Result<Introduction, Fault> {
        engine.send("uci")?;
        let mut told = Introduction::default();
        engine.await_line(until, "uci", |line| {
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

    fn option(&self, setting: &Setting, value: &str) -> String {
        SetOption { name: &setting.name, value: (!setting.is_button).then_some(value) }.to_string()
    }

    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        engine.send("ucinewgame")?;
        engine.send("isready")?;
        let is_ready = |line: &str| (FromEngine::parse(line) == FromEngine::ReadyOk).then_some(());
        engine.await_line(until, "isready", is_ready)
    }

    fn supports(&self, _: &Go) -> bool {
        true
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault> {
        if self.variant != position.variant {
            self.set(engine, VARIANT, &position.variant)?;
            self.variant.clone_from(&position.variant);
        }
        if self.chess960 != position.chess960 {
            self.set(engine, CHESS960, if position.chess960 { "true" } else { "false" })?;
            self.chess960 = position.chess960;
        }
        let Position { root, moves, .. } = position;
        engine.send(&uci::Position { root: root.as_deref(), moves }.to_string())?;
        engine.send(&go.to_string())
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
