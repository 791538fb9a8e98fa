//! Line connection with an engine process, bounded in length, number and time.

use std::{
    collections::VecDeque,
    env, fs,
    io::{self, BufReader, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::{Builder, TempDir};
use zeitnot_engine::lines::read_lines;
use zeitnot_wire::printable;

use crate::{
    config::{Config, Protocol},
    fault::{Fault, MAX_SHOWN},
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
/// Last lines to stderr that are kept: in most languages, a crash says there where it was.
const MAX_ERRORS: usize = 4;
/// Time to read them after the end of the process; the machine may be busy.
const ERRORS_TIMEOUT: Duration = Duration::from_secs(1);
/// Time after which the processes that it has left behind are killed: they may keep the pipe open.
const ORPHANS_TIMEOUT: Duration = Duration::from_millis(200);
/// Time for an engine to exit after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(300);

/// Running processes of a program and their temporary folders, so that all of them can be ended and removed.
#[derive(Debug, Default)]
pub(crate) struct Processes(Mutex<Registry>);

#[derive(Debug, Default)]
struct Registry {
    is_closed: bool,
    groups: Vec<Weak<Group>>,
    folders: Vec<Weak<TempDir>>,
}

impl Processes {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the registry, unless the program was closed.
    fn open(&self) -> Result<MutexGuard<'_, Registry>, Fault> {
        let registry = self.registry();
        if registry.is_closed { Err(Fault::Closed) } else { Ok(registry) }
    }

    fn add(&self, group: &Arc<Group>) -> Result<(), Fault> {
        let mut registry = self.open()?;
        registry.groups.retain(|group| group.strong_count() > 0);
        registry.groups.push(Arc::downgrade(group));
        Ok(())
    }

    /// Creates a folder that is removed when it is dropped, or when the program is closed.
    pub(crate) fn folder(&self) -> Result<Arc<TempDir>, Fault> {
        let mut registry = self.open()?;
        let folder = Arc::new(Builder::new().prefix("zeitnot-engine-").tempdir().map_err(Fault::Start)?);
        registry.folders.retain(|folder| folder.strong_count() > 0);
        registry.folders.push(Arc::downgrade(&folder));
        Ok(folder)
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.registry().is_closed
    }

    /// Kills all processes, removes their folders, and accepts no others. The engines' own threads may not do so before our
    /// process ends.
    pub(crate) fn close(&self) {
        let mut registry = self.registry();
        registry.is_closed = true;
        registry.groups.drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill());
        for folder in registry.folders.drain(..).filter_map(|folder| folder.upgrade()) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// Connection with an engine process. Dropping it ends the process.
pub(crate) struct Connection {
    child: Child,
    /// Process group, which is killed as a whole.
    group: Option<Arc<Group>>,
    /// `None` once its input was closed.
    to_engine: Option<ChildStdin>,
    lines: Receiver<(Instant, String)>,
    /// When the last line was read.
    read_at: Instant,
    /// Start of the current second or the last command, and the lines received since then.
    received: (Instant, usize),
    /// Command to send before its input is closed.
    farewell: Option<&'static str>,
    errors: Option<Errors>,
    /// The engine would not react to `quit`.
    is_broken: bool,
}

/// Last lines of a process to stderr, and the thread that reads them.
struct Errors {
    last: Arc<Mutex<VecDeque<String>>>,
    reader: JoinHandle<()>,
}

impl Errors {
    fn read(from: impl Read + Send + 'static) -> io::Result<Errors> {
        let last = Arc::<Mutex<VecDeque<String>>>::default();
        let kept = last.clone();
        let keep = move |line: Option<String>| {
            // Some mark the place with a line of signs.
            let says = |line: &String| line.contains(char::is_alphanumeric);
            let line = line.map(|line| printable(line.trim(), MAX_SHOWN)).filter(says);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(line);
            if kept.len() > MAX_ERRORS {
                kept.pop_front();
            }
            true
        };
        let reader = thread::Builder::new().name("engine errors".into());
        let reader = reader.spawn(move || read_lines(BufReader::new(from), MAX_LINE, keep))?;
        Ok(Errors { last, reader })
    }

    /// Returns whether the last of them is read within this time.
    fn are_read_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.reader.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.reader.is_finished()
    }

    /// Fault of a process that has ended, which was the first of this group.
    fn fault(&self, group: Option<&Group>) -> Fault {
        if !self.are_read_within(ORPHANS_TIMEOUT) {
            group.into_iter().for_each(Group::kill);
            self.are_read_within(ERRORS_TIMEOUT);
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = last.iter().map(String::as_str).collect();
        if lines.is_empty() { Fault::Ended } else { Fault::Crashed(lines.join(" | ")) }
    }
}

impl Connection {
    /// Starts the program.
    pub(crate) fn open(config: &Config, processes: &Processes) -> Result<Connection, Fault> {
        let mut command = Command::new(resolve(&config.command));
        // Engines that speak to a GUI may say much there, and seldom crash.
        let is_lines = config.protocol == Protocol::Lines;
        let stderr = if is_lines { Stdio::piped() } else { Stdio::null() };
        command.args(&config.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        if let Some(folder) = &config.folder {
            command.current_dir(folder);
        }
        let mut child = isolate(command).spawn().map_err(Fault::Start)?;
        let group = Arc::new(Group::of(Some(child.id())));
        let (Some(to_engine), Some(from_engine)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::Ended);
        };
        let nonblocking = set_nonblocking(&to_engine);
        let stderr = child.stderr.take();
        let (to_us, lines) = sync_channel(QUEUE);
        // From here on, an error ends the process.
        let mut engine = Connection {
            child,
            group: Some(group.clone()),
            to_engine: Some(to_engine),
            lines,
            read_at: Instant::now(),
            received: (Instant::now(), 0),
            farewell: (!is_lines).then_some("quit"),
            errors: None,
            is_broken: false,
        };
        processes.add(&group)?;
        nonblocking.map_err(Fault::Start)?;
        engine.errors = stderr.map(Errors::read).transpose().map_err(Fault::Start)?;
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
            match self.to_engine.as_mut().map_or(Ok(0), |pipe| pipe.write(rest)) {
                Ok(0) => return self.ended(),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if Instant::now() >= until {
                        return self.broken(Fault::Clogged);
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                Err(_) => return self.ended(),
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
            Err(RecvTimeoutError::Disconnected) => self.ended(),
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

    /// Discards the lines that wait, and returns the first of them.
    pub(crate) fn discard_input(&mut self) -> Result<Option<String>, Fault> {
        let mut first = None;
        for _ in 0..QUEUE {
            match self.lines.try_recv() {
                Ok((_, line)) => first = first.or(Some(line)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return self.ended(),
            }
        }
        Ok(first)
    }

    /// Makes it end without `quit`.
    pub(crate) fn give_up(&mut self) {
        self.is_broken = true;
    }

    fn ended<T>(&mut self) -> Result<T, Fault> {
        let group = self.group.as_deref();
        let fault = self.errors.as_ref().map_or(Fault::Ended, |errors| errors.fault(group));
        self.broken(fault)
    }

    fn broken<T>(&mut self, fault: Fault) -> Result<T, Fault> {
        self.is_broken = true;
        Err(fault)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_broken && self.farewell.is_none_or(|word| self.send(word).is_ok()) {
            self.to_engine = None;
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
pub(crate) fn resolve(command: &Path) -> PathBuf {
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
