//! Input and output of the console: bounded lines from a reader thread, whole lines to the GUI.

use std::{
    error::Error,
    io::{self, BufRead, Read, Write},
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
};

/// Longest line read; a game of many thousand moves fits. Longer ones are skipped.
const MAX_LINE: u64 = 1 << 20;

/// Input of the console.
pub(super) enum Message {
    Line(String),
    /// A search has ended.
    SearchEnded,
    EndOfInput,
}

/// Reads lines into the inbox until the input ends or nobody listens.
pub(super) fn read_lines(mut input: impl BufRead, inbox: &SyncSender<Message>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let size = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let is_cut = line.len() as u64 == MAX_LINE && !line.ends_with(b"\n");
        match if is_cut { input.skip_until(b'\n') } else { size } {
            Ok(0) | Err(_) => break,
            Ok(_) if is_cut => {}
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).into_owned();
                if inbox.send(Message::Line(text)).is_err() {
                    return;
                }
            }
        }
    }
    let _ = inbox.send(Message::EndOfInput);
}

/// Output that the console and the search share.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    pub fn new(output: Box<dyn Write + Send>) -> Self {
        Output(Arc::new(Mutex::new(output)))
    }

    /// Writes a line at once.
    pub fn line(&self, line: &str) -> io::Result<()> {
        // A writer that panicked has at worst left half a line.
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(format!("{line}\n").as_bytes())?;
        output.flush()
    }

    pub fn error(&self, error: &dyn Error) -> io::Result<()> {
        self.line(&format!("info string error: {error}"))
    }
}
