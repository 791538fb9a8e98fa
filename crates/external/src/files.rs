//! Programs that read a position from a file `state` and write their moves to a file `action`, as the NTHU course of
//! 2023 runs them: each is started anew for each move.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use zeitnot_rules::minichess::MiniChess;
use zeitnot_wire::nthu::{Action, print_state};

use crate::process::{Group, has_ended, isolate};

/// Only the beginning of a longer action counts: a line a microsecond for a minute fits.
const MAX_ACTION: u64 = 1 << 29;
/// Bytes of it that are read at once.
const BLOCK: usize = 1 << 16;
/// Interval at which a program is checked for its end.
const POLL: Duration = Duration::from_millis(1);

/// The two files.
#[derive(Clone, Debug)]
pub struct Files {
    state: PathBuf,
    action: PathBuf,
}

/// Turn of a program.
#[derive(Debug)]
pub struct Turn {
    pub action: Action,
    pub took: Duration,
}

/// Limits of a turn.
#[derive(Copy, Clone, Debug)]
pub struct TurnTime {
    /// Time until SIGTERM.
    pub limit: Duration,
    /// Time from there to SIGKILL.
    pub grace: Duration,
}

impl Files {
    /// Names the files of a folder.
    pub fn in_folder(folder: &Path) -> Files {
        Files { state: folder.join("state"), action: folder.join("action") }
    }

    /// Shows a position to a program, which gets the names of the files as its last arguments, and takes its answer. Kills
    /// it at once when `is_stopped` says so.
    ///
    /// # Errors
    /// [`io::Error`] if the program cannot be started or the files cannot be used.
    pub fn ask(
        &self,
        mut command: Command,
        position: &MiniChess,
        time: TurnTime,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<Turn> {
        remove(&self.action)?;
        fs::write(&self.state, print_state(position))?;
        let began = Instant::now();
        command.args([&self.state, &self.action]).stdin(Stdio::null());
        let mut child = isolate(command).spawn()?;
        let group = Group::of(Some(child.id()));
        let mut ends_within = |time: Duration| {
            while !has_ended(&mut child)? {
                if is_stopped() || began.elapsed() >= time {
                    return Ok::<_, io::Error>(false);
                }
                thread::sleep(POLL);
            }
            Ok(true)
        };
        if !ends_within(time.limit)? {
            group.end();
            ends_within(time.limit.saturating_add(time.grace))?;
        }
        let took = began.elapsed();
        // Processes left behind must not think on the other's time. Their group is killed before the program is waited
        // for: afterwards its number may belong to another process.
        drop(group);
        let _ = child.kill();
        child.wait()?;
        let action = read(&self.action);
        remove(&self.action)?;
        Ok(Turn { action, took })
    }

    /// Removes both files.
    ///
    /// # Errors
    /// [`io::Error`] if one of them cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        remove(&self.state)?;
        remove(&self.action)
    }
}

/// Reads what a program has written, block by block; nothing if that is not a regular file that can be read.
fn read(path: &Path) -> Action {
    // To open a pipe would wait for its other end.
    let is_file = fs::metadata(path).is_ok_and(|about| about.is_file());
    let Some(file) = is_file.then(|| File::open(path).ok()).flatten() else { return Action::default() };
    let text = BufReader::with_capacity(BLOCK, file).take(MAX_ACTION).bytes();
    Action::read(text.map_while(Result::ok))
}

/// Removes a file or whatever a program has made of it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
