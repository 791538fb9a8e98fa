//! The program in a real terminal, of 80 columns and 24 rows, by `script`.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use zeitnot_testing::{has_program, shows, wait_for};

use crate::support::command::{ENVIRONMENT, ZEITNOT};

/// Sequences that take over the alternate screen, and give it back.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ROWS: usize = 24;
const COLUMNS: usize = 80;

pub struct Pty {
    script: Child,
    keyboard: ChildStdin,
    output: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Pty {
    /// Starts the program with these arguments, which need no quotes, and writes its id to `pid` in the folder. `None`
    /// where there is no `script`.
    pub fn start(folder: &Path, arguments: &str) -> Option<Pty> {
        if !has_program("script", "bsdutils") {
            return None;
        }
        // Programs in the folder go before those of the system.
        let line =
            format!("stty rows 24 cols 80; echo $$ > pid; PATH=\"$PWD:$PATH\" exec {ZEITNOT} {arguments}");
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(folder);
        for variable in ENVIRONMENT {
            command.env_remove(variable);
        }
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env_remove("NO_COLOR");
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = Arc::<Mutex<Vec<u8>>>::default();
        let mut stdout = script.stdout.take().unwrap();
        let all = output.clone();
        let shown = output.clone();
        shows("the terminal", move || String::from_utf8_lossy(&shown.lock().unwrap()).into_owned());
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                all.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        let keyboard = script.stdin.take().unwrap();
        Some(Pty { script, keyboard, output, reader })
    }

    /// The terminal's screen now: ratatui writes only the cells that change.
    pub fn screen(&self) -> String {
        let output = self.output.lock().unwrap();
        let mut cells = vec![vec![' '; COLUMNS]; ROWS];
        let mut row = 0;
        let mut column = 0;
        let output = String::from_utf8_lossy(&output);
        let mut letters = output.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\u{1b}' => {
                    let sequence = sequence(&mut letters);
                    let place = sequence.strip_prefix('[').and_then(|rest| rest.strip_suffix('H'));
                    if let Some(place) = place {
                        let mut numbers = place.split(';').map(|number| number.parse().unwrap_or(1_usize));
                        row = numbers.next().unwrap_or(1) - 1;
                        column = numbers.next().unwrap_or(1) - 1;
                    } else if sequence.ends_with('J') {
                        cells = vec![vec![' '; COLUMNS]; ROWS];
                    }
                }
                '\r' => column = 0,
                '\n' => row += 1,
                _ => {
                    if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                        *cell = letter;
                    }
                    column += 1;
                }
            }
        }
        cells.iter().map(|row| row.iter().collect::<String>() + "\n").collect()
    }

    /// Waits until the terminal shows this.
    pub fn until(&self, text: &str) {
        wait_for(text, || self.screen().contains(text).then_some(()));
    }

    /// Waits until the terminal shows this no more.
    pub fn until_gone(&self, text: &str) {
        wait_for(&format!("no {text}"), || (!self.screen().contains(text)).then_some(()));
    }

    /// Closes the terminal, as its window is closed.
    pub fn hang_up(mut self) {
        self.script.kill().unwrap();
        self.script.wait().unwrap();
        self.reader.join().unwrap();
    }

    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the end. Returns the exit code, and what was written once the terminal was given back.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.script.wait().unwrap();
        drop(self.keyboard);
        self.reader.join().unwrap();
        let output = String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned();
        assert_eq!(output.matches(ENTER).count(), output.matches(LEAVE).count(), "{output:?}");
        let after = output.rsplit(LEAVE).next().unwrap_or_default().replace(SHOW_CURSOR, "");
        (status.code(), after)
    }
}

/// The rest of an escape sequence.
fn sequence(letters: &mut impl Iterator<Item = char>) -> String {
    let mut sequence = String::new();
    for letter in letters {
        sequence.push(letter);
        let is_parameter = sequence.len() == 1 && letter == '[' || !letter.is_ascii_alphabetic();
        if !is_parameter {
            break;
        }
    }
    sequence
}
