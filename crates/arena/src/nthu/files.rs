//! The files `state` and `action`, and the turn of one program.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{process::Command, time::timeout};
use zeitnot_external::process::{Group, isolate};
use zeitnot_rules::minichess::MiniChess;
use zeitnot_wire::nthu::{Action, print_state};

/// A program that does not end on SIGTERM is killed this much later. The course's referee would wait for ever.
const GRACE: Duration = Duration::from_secs(2);
/// Only the beginning of a longer action counts: a line a microsecond for a minute fits.
const MAX_ACTION: u64 = 1 << 29;

/// The two files.
#[derive(Debug)]
pub struct Files {
    state: PathBuf,
    action: PathBuf,
}

pub(super) struct Turn {
    pub(super) action: Action,
    pub(super) took: Duration,
}

impl Files {
    /// Names the files of a folder.
    pub fn in_folder(folder: &Path) -> Files {
        Files { state: folder.join("state"), action: folder.join("action") }
    }

    /// Shows a position to a program and takes its answer. Dropped before its end, it kills the program.
    pub(super) async fn ask(&self, phrase: &str, position: &MiniChess, limit: Duration) -> io::Result<Turn> {
        remove(&self.action)?;
        fs::write(&self.state, print_state(position))?;
        let began = Instant::now();
        // As `timeout` does in the course's referee: the phrase is a command with its arguments.
        let mut child = Command::from(isolate(std::process::Command::new("/bin/sh")))
            .kill_on_drop(true)
            .args(["-c", &format!("exec {phrase} \"$1\" \"$2\""), "sh"])
            .args([&self.state, &self.action])
            .stdin(Stdio::null())
            .stdout(io::stderr())
            .spawn()?;
        let group = Group::of(child.id());
        if timeout(limit, child.wait()).await.is_err() {
            group.end();
            if timeout(GRACE, child.wait()).await.is_err() {
                group.kill();
                child.wait().await?;
            }
        }
        let took = began.elapsed();
        // Processes left behind must not think on the other's time.
        drop(group);
        let action = Action::parse(&read(&self.action));
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

/// Reads what a program has written; nothing if that is not a regular file that can be read.
fn read(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    // To open a pipe would wait for its other end.
    if fs::metadata(path).is_ok_and(|about| about.is_file())
        && let Ok(file) = File::open(path)
        && file.take(MAX_ACTION).read_to_end(&mut text).is_err()
    {
        text.clear();
    }
    text
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
