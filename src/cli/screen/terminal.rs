//! Takes the terminal over, and gives it back on every way out: the end, an error, a panic, a signal.

use std::{
    io::{self, IsTerminal, Write},
    panic,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use ratatui::{
    DefaultTerminal, Frame,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};
use zeitnot_engine::StopFlag;

use crate::cli::{CliError, io_error, signals, usage};

/// Time between two looks at what is new, also the step of the clocks.
const TICK: Duration = Duration::from_millis(50);

/// The terminal in raw mode on its alternate screen, until this is dropped.
pub(in crate::cli) struct Screen {
    terminal: DefaultTerminal,
    /// Raised by the first signal.
    stop: Arc<StopFlag>,
    /// Panics of other threads, told when the terminal is back.
    panics: Arc<Mutex<Vec<String>>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Key {
    Char(char),
    /// With the control key.
    Control(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    Enter,
    Escape,
    Tab,
    Backspace,
    /// A signal, or Ctrl-C.
    Stop,
}

impl Screen {
    /// Checks that there is a terminal. `instead` says what to do where there is none.
    pub(in crate::cli) fn require(instead: &str) -> Result<(), CliError> {
        match io::stdin().is_terminal() && io::stdout().is_terminal() {
            true => Ok(()),
            false => Err(usage(format!("this is not a terminal; {instead}"))),
        }
    }

    /// Takes the terminal over.
    pub(in crate::cli) fn open() -> Result<Screen, CliError> {
        let stop = signals::stop_flag("")?;
        let terminal = ratatui::try_init().map_err(io_error("cannot use the terminal"))?;
        let panics = Arc::default();
        set_hook(Arc::clone(&panics));
        Ok(Screen { terminal, stop, panics })
    }

    pub(in crate::cli) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), CliError> {
        self.terminal.draw(draw).map(drop).map_err(io_error("cannot draw on the terminal"))
    }

    /// Waits for the user, but not for long.
    pub(in crate::cli) fn input(&self) -> Result<Option<Key>, CliError> {
        let failed = io_error("cannot read from the terminal");
        if self.stop.is_raised() {
            return Ok(Some(Key::Stop));
        }
        if !event::poll(TICK).map_err(&failed)? {
            return Ok(None);
        }
        Ok(match event::read().map_err(&failed)? {
            Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key),
            _ => None,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // After a panic of this thread its hook has done that. Twice, some terminals put the cursor back to where it was
        // before, and what follows is written over the message.
        if !thread::panicking() {
            ratatui::restore();
        }
        for panic in self.panics.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = writeln!(io::stderr(), "{panic}");
        }
    }
}

/// A panic of this thread gives the terminal back before it is told. That of another one is told when the terminal is
/// back: many are caught, as those of thinkers, and nothing may be written over the board.
fn set_hook(panics: Arc<Mutex<Vec<String>>>) {
    let ours = thread::current().id();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == ours {
            before(panic);
        } else {
            panics.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
        }
    }));
}

fn pressed(key: KeyEvent) -> Option<Key> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if is_control => Key::Stop,
        KeyCode::Char(letter) if is_control => Key::Control(letter.to_ascii_lowercase()),
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace | KeyCode::Delete => Key::Backspace,
        _ => return None,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use zeitnot_testing::has_program;

    use super::*;

    /// Not a test of its own: [`the_terminal_is_whole_after_a_crash`] runs it in a terminal.
    #[test]
    #[ignore = "crashes on purpose, in the terminal of another test"]
    fn crashes() {
        let mut screen = Screen::open().unwrap();
        screen.draw(|frame| frame.render_widget("a board", frame.area())).unwrap();
        panic!("on purpose");
    }

    #[test]
    fn the_terminal_is_whole_after_a_crash() {
        if !has_program("script", "bsdutils") {
            return;
        }
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "stty rows 24 cols 80; {} --exact cli::screen::terminal::tests::crashes --ignored --nocapture; stty -a",
            program.display()
        );
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("SHELL", "/bin/sh");
        let output = script.env("TERM", "xterm-256color").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let (drawn, after) = text.split_once("\u{1b}[?1049l").expect("the alternate screen is left");
        assert!(!after.contains("\u{1b}[?1049l"), "left once: {text:?}");
        assert!(drawn.contains("\u{1b}[?1049h") && drawn.contains("board"), "{text:?}");
        assert!(after.contains("on purpose") && after.contains("\u{1b}[?25h"), "{text:?}");
        // As shells need it: lines, echo, signals by keys.
        let modes: Vec<_> = after.split_whitespace().map(|mode| mode.trim_end_matches(';')).collect();
        for mode in ["icanon", "echo", "isig", "opost"] {
            assert!(modes.contains(&mode), "{mode}: {text:?}");
        }
    }
}
