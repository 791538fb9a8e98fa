//! An engine that speaks xboard's protocol (CECP, version 2).
//!
//! It keeps a board of its own, so it is told only what is new; where the game went another way than it thinks,
//! it is told everything again. It is in `force` mode but for the time of its search, and never ponders.

use std::time::{Duration, Instant};

use zeitnot_rules::Color;
use zeitnot_wire::engines::cecp::{self, FromEngine};

use super::{Connection, Dialect, Fault, Heard, Introduction, Pace, Position, Setting};

/// The only variant of an engine that does not speak of variants.
const NORMAL: &str = "normal";
/// Who does not say `feature done=1` within this time, as engines of version 1 do not, has said all.
const FEATURES: Duration = Duration::from_secs(2);

/// What it can do, and what it believes.
#[derive(Debug, Default)]
pub(super) struct Xboard {
    /// Its moves want the word `usermove`.
    usermove: bool,
    /// It takes positions.
    setboard: bool,
    /// It answers to `ping`.
    ping: bool,
    /// It has a clock that can be set.
    time: bool,
    /// What stands on its board, if it is known: the variant, the beginning, and the moves since.
    board: Option<(String, Option<String>, Vec<String>)>,
    /// It searches.
    is_at_it: bool,
}

impl Xboard {
    pub fn new() -> Xboard {
        Xboard { time: true, ..Xboard::default() }
    }

    /// Takes notice of what it can do. Was that all?
    fn features(
        &mut self,
        engine: &mut Connection,
        told: &mut Introduction,
        features: Vec<(String, String)>,
    ) -> Result<Option<bool>, Fault> {
        let mut done = None;
        for (name, value) in features {
            let is_on = value == "1";
            let setting =
                |name: &str| Setting { name: name.to_owned(), is_button: false, choices: Vec::new() };
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
                // We read and write coordinates, and send no signals.
                "san" | "sigint" | "sigterm" if is_on => {
                    engine.say(&format!("rejected {name}"))?;
                    continue;
                }
                _ => {}
            }
            engine.say(&format!("accepted {name}"))?;
        }
        Ok(done)
    }

    /// Waits until it has done all that it was told.
    fn is_there(&self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        if !self.ping {
            return Ok(());
        }
        engine.say("ping 1")?;
        let pong = |line: &str| matches!(FromEngine::parse(line), FromEngine::Pong(_)).then_some(());
        engine.await_line(until, "ping", pong)
    }

    /// Brings its board to where the game stands.
    fn set_up(&mut self, engine: &mut Connection, position: &Position) -> Result<(), Fault> {
        let known = self.board.take().filter(|(variant, root, moves)| {
            *variant == position.variant && *root == position.root && position.moves.starts_with(moves)
        });
        let played = match &known {
            Some((.., moves)) => moves.len(),
            None => {
                engine.say("new")?;
                if position.variant != NORMAL {
                    engine.say(&format!("variant {}", position.variant))?;
                }
                engine.say("force")?;
                engine.say("easy")?;
                engine.say("post")?;
                if let Some(root) = &position.root {
                    engine.say(&format!("setboard {root}"))?;
                }
                0
            }
        };
        let word = if self.usermove { "usermove " } else { "" };
        for mv in &position.moves[played..] {
            engine.say(&format!("{word}{mv}"))?;
        }
        self.board = Some((position.variant.clone(), position.root.clone(), position.moves.clone()));
        Ok(())
    }

    fn set_clock(&self, engine: &mut Connection, side: Color, pace: &Pace) -> Result<(), Fault> {
        if let Some(depth) = pace.depth {
            engine.say(&format!("sd {depth}"))?;
        }
        match (pace.clocks, pace.move_time) {
            (Some(clocks), _) => {
                let (left, moves) = (clocks.left[side].as_secs(), clocks.moves_to_go.unwrap_or(0));
                let increment = clocks.increment.as_secs_f64();
                engine.say(&format!("level {moves} {}:{:02} {increment}", left / 60, left % 60))?;
                if self.time {
                    engine.say(&format!("time {}", clocks.left[side].as_millis() / 10))?;
                    engine.say(&format!("otim {}", clocks.left[!side].as_millis() / 10))?;
                }
            }
            // It knows whole seconds; for what is shorter, we shall tell it when.
            (None, Some(time)) => engine.say(&format!("st {}", time.as_secs().max(1)))?,
            (None, None) => {}
        }
        Ok(())
    }
}

impl Dialect for Xboard {
    fn greet(
        &mut self,
        engine: &mut Connection,
        options: &[(String, String)],
        until: Instant,
    ) -> Result<Introduction, Fault> {
        let mut told = Introduction { variants: vec![NORMAL.into()], ..Introduction::default() };
        engine.say("xboard")?;
        engine.say("protover 2")?;
        let mut patience = until.min(Instant::now() + FEATURES);
        while let Some(line) = engine.hear(patience)? {
            if let FromEngine::Features(features) = FromEngine::parse(&line) {
                match self.features(engine, &mut told, features)? {
                    Some(true) => break,
                    // It asks for time.
                    Some(false) => patience = until,
                    None => {}
                }
            }
        }
        for (name, value) in options {
            let Some(setting) = told.setting(name) else { continue };
            engine.say(&match setting.name.as_str() {
                name @ ("memory" | "cores") => format!("{name} {value}"),
                name if setting.is_button => format!("option {name}"),
                name => format!("option {name}={value}"),
            })?;
        }
        self.is_there(engine, until)?;
        Ok(told)
    }

    /// It is told everything with its first move.
    fn new_game(&mut self, engine: &mut Connection, until: Instant) -> Result<(), Fault> {
        self.board = None;
        self.is_there(engine, until)
    }

    /// Without an end it would have to analyse, and that is another thing; nor can it leave moves out.
    fn is_able(&self, pace: &Pace) -> bool {
        let has_end = pace.clocks.is_some() || pace.move_time.is_some() || pace.depth.is_some();
        has_end && pace.root_moves.is_empty()
    }

    fn go(&mut self, engine: &mut Connection, position: &Position, pace: &Pace) -> Result<(), Fault> {
        self.set_up(engine, position)?;
        self.set_clock(engine, position.side, pace)?;
        self.is_at_it = true;
        engine.say("go")
    }

    fn hear(&mut self, engine: &mut Connection, line: &str) -> Result<Heard, Fault> {
        Ok(match FromEngine::parse(line) {
            FromEngine::Thinking(thinking) => Heard::Thinks(thinking),
            FromEngine::Move(mv) if self.is_at_it => {
                self.is_at_it = false;
                // Now it waits for the other side's move, and would answer it.
                engine.say("force")?;
                if let Some((.., moves)) = &mut self.board {
                    moves.push(mv.clone());
                }
                Heard::Plays(mv)
            }
            FromEngine::GivesUp if self.is_at_it => {
                (self.is_at_it, self.board) = (false, None);
                Heard::Resigns
            }
            FromEngine::Illegal(what) => return Err(Fault::OutOfStep(what)),
            _ => Heard::Nothing,
        })
    }

    fn stop(&mut self, engine: &mut Connection) -> Result<(), Fault> {
        engine.say("?")
    }
}
