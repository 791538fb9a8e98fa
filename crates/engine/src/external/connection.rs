//! A process that we talk with, line by line: what it says is bounded in length, number and time.

use std::{
    env,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Config, Fault};
use crate::process::{Group, in_a_group};

/// A longer line is passed over.
const MAX_LINE: u64 = 1 << 14;
/// Lines that may wait; beyond, the engine waits with its next one.
const WAITING: usize = 256;
/// Nobody has so much to say in a second.
const MOST_LINES: usize = 20_000;
/// A pipe that takes nothing for this long leads nowhere.
const CLOGGED: Duration = Duration::from_millis(200);
/// How long an engine may take to leave after `quit`.
const GOODBYE: Duration = Duration::from_millis(300);

/// The processes of a program that live, for the one who must end them all.
#[derive(Debug, Default)]
pub(super) struct Living(Mutex<Roll>);

#[derive(Debug, Default)]
struct Roll {
    is_closed: bool,
    groups: Vec<Weak<Group>>,
}

impl Living {
    /// One more, unless all were ended.
    fn enter(&self, group: &Arc<Group>) -> Result<(), Fault> {
        let mut roll = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if roll.is_closed {
            return Err(Fault::Closed);
        }
        roll.groups.retain(|group| group.strong_count() > 0);
        roll.groups.push(Arc::downgrade(group));
        Ok(())
    }

    /// Kills all, and lets nobody in any more.
    pub fn close(&self) {
        let mut roll = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        roll.is_closed = true;
        roll.groups.drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill());
    }
}

/// See the module's comment. Dropped, it ends the process.
pub(super) struct Connection {
    child: Child,
    /// Killed with all that it has started.
    group: Option<Arc<Group>>,
    to_engine: ChildStdin,
    lines: Receiver<(Instant, String)>,
    /// When the last line was read that we heard of.
    read_at: Instant,
    /// Since this moment so many lines were heard.
    heard: (Instant, usize),
    /// It will not hear our goodbye.
    is_broken: bool,
}

impl Connection {
    /// Starts the program.
    pub fn open(config: &Config, living: &Living) -> Result<Connection, Fault> {
        let mut command = Command::new(place(&config.command));
        command.args(&config.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(folder) = &config.folder {
            command.current_dir(folder);
        }
        let mut child = in_a_group(command).spawn().map_err(Fault::Start)?;
        let group = Arc::new(Group::of(Some(child.id())));
        let (Some(to_engine), Some(from_engine)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::Ended);
        };
        let (to_us, lines) = sync_channel(WAITING);
        let engine = Connection {
            child,
            group: Some(group.clone()),
            to_engine,
            lines,
            read_at: Instant::now(),
            heard: (Instant::now(), 0),
            is_broken: false,
        };
        living.enter(&group)?;
        never_wait(&engine.to_engine).map_err(Fault::Start)?;
        let reader = thread::Builder::new().name("engine".into());
        reader.spawn(move || read(from_engine, &to_us)).map_err(Fault::Start)?;
        Ok(engine)
    }

    /// Tells it a line.
    pub fn say(&mut self, line: &str) -> Result<(), Fault> {
        tracing::trace!(line, "to the engine");
        let text = format!("{line}\n");
        let mut rest = text.as_bytes();
        let until = Instant::now() + CLOGGED;
        while !rest.is_empty() {
            match self.to_engine.write(rest) {
                Ok(0) => return self.broken(Fault::Ended),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if Instant::now() >= until {
                        return self.broken(Fault::Clogged);
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                Err(_) => return self.broken(Fault::Ended),
            }
        }
        Ok(())
    }

    /// The next line, if there is one before this.
    pub fn hear(&mut self, until: Instant) -> Result<Option<String>, Fault> {
        let now = Instant::now();
        match self.lines.recv_timeout(until.saturating_duration_since(now)) {
            Ok((read_at, line)) => {
                self.read_at = read_at;
                let (since, count) = self.heard;
                self.heard = if now - since > Duration::from_secs(1) { (now, 1) } else { (since, count + 1) };
                if self.heard.1 > MOST_LINES {
                    return self.broken(Fault::Flood);
                }
                tracing::trace!(line, "from the engine");
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.broken(Fault::Ended),
        }
    }

    /// When the line that was heard last came out of the pipe: other threads may have run before we did.
    pub fn read_at(&self) -> Instant {
        self.read_at
    }

    /// Waits for a line of which `find` makes something.
    pub fn await_line<T>(
        &mut self,
        until: Instant,
        asked: &'static str,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        loop {
            let Some(line) = self.hear(until)? else { return Err(Fault::Silent(asked)) };
            if let Some(found) = find(&line) {
                return Ok(found);
            }
            if Instant::now() >= until {
                return Err(Fault::Silent(asked));
            }
        }
    }

    /// What it said while nobody listened.
    pub fn forget(&mut self) {
        (0..WAITING).map_while(|_| self.lines.try_recv().ok()).for_each(drop);
    }

    /// It is not worth a goodbye.
    pub fn give_up(&mut self) {
        self.is_broken = true;
    }

    fn broken<T>(&mut self, fault: Fault) -> Result<T, Fault> {
        self.is_broken = true;
        Err(fault)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_broken && self.say("quit").is_ok() {
            let until = Instant::now() + GOODBYE;
            while Instant::now() < until && self.hear(until).is_ok() {}
        }
        // Before its end is waited for: afterwards its number may be somebody else's.
        if let Some(group) = self.group.take() {
            group.kill();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// With another folder to run in, a path is still meant from here.
fn place(command: &Path) -> PathBuf {
    if command.components().count() > 1 && command.is_relative() {
        env::current_dir().map(|here| here.join(command)).unwrap_or_else(|_| command.to_owned())
    } else {
        command.to_owned()
    }
}

/// Writing to a process that does not read is an error, and no waiting.
#[cfg(unix)]
fn never_wait(pipe: &ChildStdin) -> std::io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(pipe, true)?)
}

#[cfg(not(unix))]
fn never_wait(_: &ChildStdin) -> std::io::Result<()> {
    Ok(())
}

/// Ends with the process, or when nobody wants its lines any more.
fn read(engine: ChildStdout, to_us: &SyncSender<(Instant, String)>) {
    let mut engine = BufReader::new(engine);
    let mut line = Vec::new();
    loop {
        line.clear();
        let size = engine.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let is_cut = line.len() as u64 == MAX_LINE && !line.ends_with(b"\n");
        let read_at = Instant::now();
        match if is_cut { engine.skip_until(b'\n') } else { size } {
            Ok(0) | Err(_) => return,
            Ok(_) if is_cut => {}
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if to_us.send((read_at, text)).is_err() {
                    return;
                }
            }
        }
    }
}
