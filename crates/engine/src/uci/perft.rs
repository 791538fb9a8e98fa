//! `go perft`: counts the leaves of the move tree on a thread of its own, so that `stop` and `quit` are heard.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::SyncSender,
    },
    thread,
};

use super::{
    board::{Board, Counts},
    io::{Message, Output},
    search::Session,
};
use crate::limits::StopFlag;

/// A count that runs. Dropping it stops it.
pub(super) struct Perft {
    stop: Arc<StopFlag>,
    has_ended: Arc<AtomicBool>,
}

impl Perft {
    pub(super) fn start(session: &Session, board: &dyn Board, depth: u32) -> io::Result<Perft> {
        let (stop, has_ended) = (Arc::<StopFlag>::default(), Arc::<AtomicBool>::default());
        let counts = board.divide(depth, stop.clone());
        let end = End { has_ended: has_ended.clone(), to_inbox: session.to_inbox.clone() };
        let (output, flag) = (session.output.clone(), stop.clone());
        thread::Builder::new().name("perft".into()).spawn(move || {
            if let Err(error) = write(counts, &flag, &output) {
                // If the inbox is full the console is awake, and the next line meets the same error.
                let _ = end.to_inbox.try_send(Message::OutputFailed(error));
            }
        })?;
        Ok(Perft { stop, has_ended })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Relaxed)
    }
}

impl Drop for Perft {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Writes the counts and their sum as Stockfish does.
fn write(counts: Counts, stop: &StopFlag, output: &Output) -> io::Result<()> {
    let mut total = 0;
    for (mv, nodes) in counts {
        output.line(&format!("{mv}: {nodes}"))?;
        total += nodes;
    }
    match stop.is_raised() {
        true => output.line("info string perft was stopped before its end"),
        false => output.line(&format!("\nNodes searched: {total}\n")),
    }
}

/// Wakes the console at the end of the thread, also after a panic.
struct End {
    has_ended: Arc<AtomicBool>,
    to_inbox: SyncSender<Message>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.has_ended.store(true, Relaxed);
        // If the inbox is full the console is awake, and looks for the end before it sleeps.
        let _ = self.to_inbox.try_send(Message::SearchEnded);
    }
}
