//! Line connection with an engine process, bounded in length, number and time.

use std::{
    env,
    io::{BufReader, ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use zeitnot_engine::lines::read_lines;

use crate::{
    config::Config,
    fault::Fault,
    process::{Group, isolate},
};

/// Longest line; longer ones are skipped.
const MAX_LINE: u64 = 1 << 14;
/// Lines that may wait; beyond that the engine blocks.
const QUEUE: usize = 256;
/// Lines per second, at most, counted anew with each command.
const MAX_LINES: usize = 20_000;
/// Time after which a pipe that accepts nothing is given up.
const WRITE_TIMEOUT: Duration = Duration::from_millis(200);
/// Time for an engine to exit after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(300);

/// Running processes of a program, so that all of them can be ended.
#[derive(Debug, Default)]
pub(crate) struct Processes(Mutex<Registry>);

#[derive(Debug, Default)]
struct Registry {
    is_closed: bool,
    groups: Vec<Weak<Group>>,
}

impl Processes {
    /// Adds a process, unless the program was closed.
    fn add(&self, group: &Arc<Group>) -> Result<(), Fault> {
        let mut registry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if registry.is_closed {
            return Err(Fault::Closed);
        }
        registry.groups.retain(|group| group.strong_count() > 0);
        registry.groups.push(Arc::downgrade(group));
        Ok(())
    }

    /// Kills all processes, and accepts no others.
    pub(crate) fn close(&self) {
        let mut registry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        registry.is_closed = true;
        registry.groups.drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill());
    }
}

/// Connection with an engine process. Dropping it ends the process.
pub(crate) struct Connection {
    child: Child,
    /// Process group, which is killed as a whole.
    group: Option<Arc<Group>>,
    to_engine: ChildStdin,
    lines: Receiver<(Instant, String)>,
    /// When the last line was read.
    read_at: Instant,
    /// Start of the current second or the last command, and the lines received since then.
    received: (Instant, usize),
    /// Whether it is no use to send `quit`.
    is_broken: bool,
}

impl Connection {
    /// Starts the program.
    pub(crate) fn open(config: &Config, processes: &Processes) -> Result<Connection, Fault> {
        let mut command = Command::new(resolve(&config.command));
        command.args(&config.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(folder) = &config.folder {
            command.current_dir(folder);
        }
        let mut child = isolate(command).spawn().map_err(Fault::Start)?;
        let group = Arc::new(Group::of(Some(child.id())));
        let (Some(to_engine), Some(from_engine)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::Ended);
        };
        let (to_us, lines) = sync_channel(QUEUE);
        let engine = Connection {
            child,
            group: Some(group.clone()),
            to_engine,
            lines,
            read_at: Instant::now(),
            received: (Instant::now(), 0),
            is_broken: false,
        };
        processes.add(&group)?;
        set_nonblocking(&engine.to_engine).map_err(Fault::Start)?;
        let reader = thread::Builder::new().name("engine".into());
        let send = move |line| to_us.send((Instant::now(), line)).is_ok();
        let tell = move |line: Option<String>| line.is_none_or(&send);
        reader
            .spawn(move || read_lines(BufReader::new(from_engine), MAX_LINE, tell))
            .map_err(Fault::Start)?;
        Ok(engine)
    }

    pub(crate) fn send(&mut self, line: &str) -> Result<(), Fault> {
        tracing::trace!(line, "to the engine");
        self.received = (Instant::now(), 0);
        let text = format!("{line}\n");
        let mut rest = text.as_bytes();
        let until = Instant::now() + WRITE_TIMEOUT;
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

    /// Waits for the next line; `None` if there is none in time.
    pub(crate) fn receive(&mut self, until: Instant) -> Result<Option<String>, Fault> {
        let now = Instant::now();
        match self.lines.recv_timeout(until.saturating_duration_since(now)) {
            Ok((read_at, line)) => {
                self.read_at = read_at;
                let (since, count) = self.received;
                self.received =
                    if now - since > Duration::from_secs(1) { (now, 1) } else { (since, count + 1) };
                if self.received.1 > MAX_LINES {
                    return self.broken(Fault::Flood);
                }
                tracing::trace!(line, "from the engine");
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.broken(Fault::Ended),
        }
    }

    /// Returns when the last line came out of the pipe; it may have waited for our thread since.
    pub(crate) fn read_at(&self) -> Instant {
        self.read_at
    }

    /// Waits for a line that `find` recognises.
    pub(crate) fn await_line<T>(
        &mut self,
        until: Instant,
        asked: &'static str,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        loop {
            let Some(line) = self.receive(until)? else { return Err(Fault::Silent(asked)) };
            if let Some(found) = find(&line) {
                return Ok(found);
            }
            if Instant::now() >= until {
                return Err(Fault::Silent(asked));
            }
        }
    }

    /// Discards the lines that wait.
    pub(crate) fn discard_input(&mut self) {
        (0..QUEUE).map_while(|_| self.lines.try_recv().ok()).for_each(drop);
    }

    /// Makes it end without `quit`.
    pub(crate) fn give_up(&mut self) {
        self.is_broken = true;
    }

    fn broken<T>(&mut self, fault: Fault) -> Result<T, Fault> {
        self.is_broken = true;
        Err(fault)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_broken && self.send("quit").is_ok() {
            let until = Instant::now() + QUIT_TIMEOUT;
            while Instant::now() < until && self.receive(until).is_ok() {}
        }
        // Before its end is awaited: afterwards its number may belong to another process.
        if let Some(group) = self.group.take() {
            group.kill();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Resolves a relative path from our working directory, not from the engine's.
fn resolve(command: &Path) -> PathBuf {
    if command.components().count() > 1 && command.is_relative() {
        env::current_dir().map(|here| here.join(command)).unwrap_or_else(|_| command.to_owned())
    } else {
        command.to_owned()
    }
}

/// Makes writing to a process that does not read an error.
#[cfg(unix)]
fn set_nonblocking(pipe: &ChildStdin) -> std::io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(pipe, true)?)
}

#[cfg(not(unix))]
fn set_nonblocking(_: &ChildStdin) -> std::io::Result<()> {
    Ok(())
}
