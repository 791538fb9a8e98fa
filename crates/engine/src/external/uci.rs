//! An engine that speaks UCI.

use std::time::Instant;

use zeitnot_wire::{
    engines::uci::{self, FromEngine, SetOption},
    uci::Go,
};

use super::{Connection, Dialect, Fault, Heard, Introduction, Pace, Position};

const VARIANT: &str = "UCI_Variant";
const CHESS960: &str = "UCI_Chess960";
/// What an engine without the option plays.
const CHESS: &str = "chess";

/// What was set in it last.
#[derive(Debug)]
pub(super) struct Uci {
    variant: String,
    chess960: bool,
}

impl Uci {
    pub fn new() -> Uci {
        Uci { variant: CHESS.to_owned(), chess960: false }
    }

    fn set(&self, engine: &mut Connection, name: &str, value: &str) -> Result<(), Fault> {
        engine.say(&SetOption { name, value: Some(value) }.to_string())
    }
}

impl Dialect for Uci {
    fn greet(
        &mut self,
        engine: &mut Connection,
        options: &[(String, String)],
        until: Instant,
    ) -> Result<Introduction, Fault> {
        engine.say("uci")?;
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
        for (name, value) in options {
            if let Some(setting) = told.setting(name) {
                let value = (!setting.is_button).then_some(value.as_str());
                engine.say(&SetOption { name: &setting.name, value }.to_string())?;
            }
        }
        self.new_game(engine, until)?;
        Ok(told)
    }

    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        engine.say("ucinewgame")?;
        engine.say("isready")?;
        let is_ready = |line: &str| (FromEngine::parse(line) == FromEngine::ReadyOk).then_some(());
        engine.await_line(until, "isready", is_ready)
    }

    fn is_able(&self, _: &Pace) -> bool {
        true
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, pace: &Pace) -> Result<(), Fault> {
        if self.variant != position.variant {
            self.set(engine, VARIANT, &position.variant)?;
            self.variant.clone_from(&position.variant);
        }
        if self.chess960 != position.chess960 {
            self.set(engine, CHESS960, if position.chess960 { "true" } else { "false" })?;
            self.chess960 = position.chess960;
        }
        let Position { root, moves, .. } = position;
        engine.say(&uci::Position { root: root.as_deref(), moves }.to_string())?;
        engine.say(&order(pace).to_string())
    }

    fn hear(&mut self, _: &mut Connection, line: &str) -> Result<Heard, Fault> {
        Ok(match FromEngine::parse(line) {
            FromEngine::Info(thinking) => Heard::Thinks(thinking),
            FromEngine::BestMove(Some(mv)) => Heard::Plays(mv),
            FromEngine::BestMove(None) => Heard::NoMove,
            _ => Heard::Nothing,
        })
    }

    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault> {
        engine.say("stop")
    }
}

fn order(pace: &Pace) -> Go {
    let &Pace { clocks, move_time, depth, nodes, mate, .. } = pace;
    Go {
        time: clocks.map_or([None; 2], |clocks| clocks.left.0.map(Some)),
        increment: clocks.map_or([None; 2], |clocks| [Some(clocks.increment); 2]),
        moves_to_go: clocks.and_then(|clocks| clocks.moves_to_go),
        move_time,
        depth,
        nodes,
        mate,
        infinite: clocks.is_none()
            && move_time.is_none()
            && depth.is_none()
            && nodes.is_none()
            && mate.is_none(),
        ponder: false,
        search_moves: pace.root_moves.clone(),
    }
}
