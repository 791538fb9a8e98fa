//! Input and output of the console: bounded lines from a reader thread, whole lines to the GUI.

use std::{
    error::Error,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
};

use crate::lines::read_lines;

/// Longest line read; a game of many thousand moves fits. Longer ones are skipped with an error.
const MAX_LINE: u64 = 1 << 20;

pub(super) enum Message {
    Line(String),
    TooLongLine,
    SearchEnded,
    /// The search cannot write: the GUI is gone.
    OutputFailed(io::Error),
    EndOfInput,
}

/// Reads lines into the inbox until the input ends or nobody listens.
pub(super) fn read_input(input: impl BufRead, inbox: &SyncSender<Message>) {
    let message = |line: Option<String>| line.map_or(Message::TooLongLine, Message::Line);
    read_lines(input, MAX_LINE, |line| inbox.send(message(line)).is_ok());
    let _ = inbox.send(Message::EndOfInput);
}

/// Output that the console and the search share.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Output(Arc::new(Mutex::new(output)))
    }

    /// Writes a line at once.
    pub(super) fn line(&self, line: &str) -> io::Result<()> {
        // A writer that panicked has at worst left half a line.
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(format!("{line}\n").as_bytes())?;
        output.flush()
    }

    pub(super) fn error(&self, error: &dyn Error) -> io::Result<()> {
        self.line(&format!("info string error: {error}"))
    }
}
