//! The xboard protocol (CECP, version 2), towards an external engine.
//!
//! The engine keeps a board of its own and is sent only new moves; if the game took another course, everything is sent
//! again. It is in `force` mode except during its search, and never ponders.

use std::time::{Duration, Instant};

use zeitnot_rules::Color;
use zeitnot_wire::{
    engines::{
        Setting,
        cecp::{self, FromEngine},
    },
    uci::Go,
};

use crate::{
    connection::Connection,
    fault::Fault,
    protocol::{EngineProtocol, Introduction, Message, Position},
};

/// Variant of an engine that lists none.
const NORMAL: &str = "normal";
/// Time to send `feature done=1`. Engines of version 1 never do.
const FEATURES_TIMEOUT: Duration = Duration::from_secs(2);

/// Features of the engine, and its state.
#[derive(Debug, Default)]
pub(crate) struct Xboard {
    /// Moves are prefixed with `usermove`.
    usermove: bool,
    setboard: bool,
    ping: bool,
    /// It understands `time` and `otim`.
    time: bool,
    /// Its board, if known: the variant, the root, and the moves since.
    board: Option<(String, Option<String>, Vec<String>)>,
    is_searching: bool,
}

impl Xboard {
    pub(crate) fn new() -> Xboard {
        Xboard { time: true, ..Xboard::default() }
    }

    /// Takes note of features. `Some(true)` if these were the last, `Some(false)` if it asks for time.
    fn features(
        &mut self,
        engine: &mut Connection,
        told: &mut Introduction,
        features: Vec<(String, String)>,
    ) -> Result<Option<bool>, Fault> {
        let mut done = None;
        for (name, value) in features {
            let is_on = value == "1";
            let setting = |name: &str| Setting {
                name: name.to_owned(),
                is_button: false,
                choices: Vec::new(),
                spin: None,
            };
            match name.as_str() {
                "myname" => told.name = Some(value),
                "usermove" => self.usermove = is_on,
                "setboard" => self.setboard = is_on,
                "ping" => self.ping = is_on,
                "time" => self.time = is_on,
                "variants" => told.variants = value.split(',').map(|name| name.trim().to_owned()).collect(),
                "memory" if is_on => told.settings.push(setting("memory")),
                "smp" if is_on => told.settings.push(setting("cores")),
                "option" => told.settings.extend(cecp::setting(&value)),
                "done" => done = Some(is_on),
                // Moves are in coordinates, and no signals are sent.
                "san" | "sigint" | "sigterm" if is_on => {
                    engine.send(&format!("rejected {name}"))?;
                    continue;
                }
                _ => {}
            }
            engine.send(&format!("accepted {name}"))?;
        }
        Ok(done)
    }

    /// Brings its board up to date.
    fn set_up(&mut self, engine: &mut Connection, position: &Position) -> Result<(), Fault> {
        let known = self.board.take().filter(|(variant, root, moves)| {
            *variant == position.variant && *root == position.root && position.moves.starts_with(moves)
        });
        let played = match &known {
            Some((.., moves)) => moves.len(),
            None => {
                engine.send("new")?;
                if position.variant != NORMAL {
                    engine.send(&format!("variant {}", position.variant))?;
                }
                engine.send("force")?;
                engine.send("easy")?;
                engine.send("post")?;
                if let Some(root) = &position.root {
                    engine.send(&format!("setboard {root}"))?;
                }
                0
            }
        };
        let word = if self.usermove { "usermove " } else { "" };
        for mv in &position.moves[played..] {
            engine.send(&format!("{word}{mv}"))?;
        }
        self.board = Some((position.variant.clone(), position.root.clone(), position.moves.clone()));
        Ok(())
    }

    fn set_clock(&self, engine: &mut Connection, color: Color, go: &Go) -> Result<(), Fault> {
        if let Some(depth) = go.depth {
            engine.send(&format!("sd {depth}"))?;
        }
        match (go.time[color as usize].zip(go.time[!color as usize]), go.move_time) {
            (Some((ours, theirs)), _) => {
                let (left, moves) = (ours.as_secs(), go.moves_to_go.unwrap_or(0));
                let increment = go.increment[color as usize].unwrap_or_default().as_secs_f64();
                engine.send(&format!("level {moves} {}:{:02} {increment}", left / 60, left % 60))?;
                if self.time {
                    engine.send(&format!("time {}", ours.as_millis() / 10))?;
                    engine.send(&format!("otim {}", theirs.as_millis() / 10))?;
                }
            }
            // It knows whole seconds only; shorter times end with a command.
            (None, Some(time)) => engine.send(&format!("st {}", time.as_secs().max(1)))?,
            (None, None) => {}
        }
        Ok(())
    }
}

impl EngineProtocol for Xboard {
    fn introduce(&mut self, engine: &mut Connection, until: Instant) -> Result<Introduction, Fault> {
        let mut told = Introduction { variants: vec![NORMAL.into()], ..Introduction::default() };
        engine.send("xboard")?;
        engine.send("protover 2")?;
        let mut features_until = until.min(Instant::now() + FEATURES_TIMEOUT);
        while let Some(line) = engine.receive(features_until)? {
            if let FromEngine::Features(features) = FromEngine::parse(&line) {
                match self.features(engine, &mut told, features)? {
                    Some(true) => break,
                    Some(false) => features_until = until,
                    None => {}
                }
            }
        }
        Ok(told)
    }

    fn option(&self, setting: &Setting, value: &str) -> Option<String> {
        Some(match setting.name.as_str() {
            name @ ("memory" | "cores") => format!("{name} {value}"),
            name if setting.is_button => format!("option {name}"),
            name => format!("option {name}={value}"),
        })
    }

    /// Waits until all commands are executed. Everything else is sent with the first move.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        self.board = None;
        if !self.ping {
            return Ok(());
        }
        engine.send("ping 1")?;
        let pong = |line: &str| matches!(FromEngine::parse(line), FromEngine::Pong(_)).then_some(());
        engine.await_line(until, "ping", pong)
    }

    /// It cannot search without limits, except in analysis, nor exclude moves.
    fn supports(&self, go: &Go) -> bool {
        let has_end = go.time[0].is_some() || go.move_time.is_some() || go.depth.is_some();
        has_end && go.search_moves.is_empty()
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, go: &Go) -> Result<(), Fault> {
        self.set_up(engine, position)?;
        self.set_clock(engine, position.to_move, go)?;
        self.is_searching = true;
        engine.send("go")
    }

    fn receive(&mut self, engine: &mut Connection, line: &str) -> Result<Message, Fault> {
        Ok(match FromEngine::parse(line) {
            FromEngine::Thinking(thinking) => Message::Thinking(thinking),
            FromEngine::Move(mv) if self.is_searching => {
                self.is_searching = false;
                // Otherwise it would answer the next move.
                engine.send("force")?;
                if let Some((.., moves)) = &mut self.board {
                    moves.push(mv.clone());
                }
                Message::Move(mv)
            }
            FromEngine::GivesUp if self.is_searching => {
                (self.is_searching, self.board) = (false, None);
                Message::Resigns
            }
            FromEngine::Illegal(what) => return Err(Fault::OutOfStep(what)),
            _ => Message::Other,
        })
    }

    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault> {
        engine.send("?")
    }
}
