//! The program as an engine: a real process, spoken to as a GUI does.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use zeitnot_testing::waits_for;

use crate::support::command::zeitnot;

pub struct Engine {
    process: Child,
    /// Dropped to end the input.
    pub input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    pub fn start(arguments: &[&str]) -> Engine {
        let mut process = zeitnot(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (tell, lines) = channel();
        let output = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Engine { input: process.stdin.take(), process, lines }
    }

    pub fn say(&mut self, text: &str) {
        writeln!(self.input.as_mut().unwrap(), "{text}").unwrap();
    }

    pub fn hear(&self) -> String {
        let _waiting = waits_for("a line of the engine");
        self.lines.recv().expect("the engine has ended")
    }

    /// Returns all lines up to the first that begins like this.
    pub fn until(&self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|last: &String| !last.starts_with(start)) {
            lines.push(self.hear());
        }
        lines
    }

    /// Says each of these, and expects an error with the text beside it.
    pub fn complains(&mut self, rows: &[(&str, &str)]) {
        for (text, complaint) in rows {
            self.say(text);
            let line = self.hear();
            assert!(line.starts_with("info string error: ") && line.contains(complaint), "{text}: {line}");
        }
    }

    /// Says this, and returns the move of the answer.
    pub fn move_for(&mut self, text: &str) -> String {
        self.say(text);
        self.best_move()
    }

    /// Says this, and returns the lines of the answer.
    pub fn answer(&mut self, text: &str) -> Vec<String> {
        self.say(text);
        self.until("bestmove")
    }

    /// The move, after at least one line with a score.
    pub fn best_move(&self) -> String {
        let lines = self.until("bestmove");
        assert!(lines.iter().any(|l| l.starts_with("info ") && l.contains(" score ")), "{lines:?}");
        lines.last().unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    pub fn is_silent(&mut self) -> bool {
        self.say("isready");
        self.hear() == "readyok"
    }

    pub fn wait(mut self) -> i32 {
        drop(self.input.take());
        self.process.wait().unwrap().code().unwrap()
    }
}

impl Drop for Engine {
    /// A test that fails leaves no search behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
