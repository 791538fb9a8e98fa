//! Guardian of our process groups: a process of its own that kills them when we have ended, however we ended.
//!
//! It reads their numbers from a pipe whose other end only we hold, and which the system closes with us, also after
//! `kill -9`. The parent-death signal of Linux (`PR_SET_PDEATHSIG`) would reach the child only, not what the child has
//! started; it is sent when the thread ends that has started the child; and it needs `unsafe`, and a `fork` of the
//! whole process with its tables in place of `posix_spawn`.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::process::Pid;

/// Kills the groups that were added and not removed at the end of its input. A signal to all processes of a service
/// or terminal must not end it before us.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=
while read -r word group; do
    case $word in
        add) groups="$groups $group" ;;
        remove)
            others=
            for one in $groups; do [ "$one" = "$group" ] || others="$others $one"; done
            groups=$others ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian { groups: BTreeSet::new(), process: None });

/// The process, started before the first group, and the groups that it knows.
struct Guardian {
    groups: BTreeSet<i32>,
    process: Option<Child>,
}

fn guardian() -> MutexGuard<'static, Guardian> {
    GUARDIAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the process, so that a group can be added at once when it comes to be.
pub(super) fn prepare() {
    let mut guardian = guardian();
    if guardian.process.is_none() {
        guardian.restart_or_warn();
    }
}

/// Has a group killed at our end.
pub(super) fn add(group: Pid) {
    let mut guardian = guardian();
    guardian.groups.insert(group.as_raw_nonzero().get());
    guardian.tell("add", group);
}

/// Forgets a group that was killed. Its number may belong to others once its processes have been waited for.
pub(super) fn remove(group: Pid) {
    let mut guardian = guardian();
    guardian.groups.remove(&group.as_raw_nonzero().get());
    guardian.tell("remove", group);
}

impl Guardian {
    /// Tells the process; one that does not listen is replaced.
    fn tell(&mut self, word: &str, group: Pid) {
        let line = format!("{word} {}\n", group.as_raw_nonzero());
        let told = self.process.as_mut().is_some_and(|process| write(process, &line).is_ok());
        if !told && !self.groups.is_empty() {
            self.restart_or_warn();
        }
    }

    fn restart_or_warn(&mut self) {
        if let Err(error) = self.restart() {
            tracing::warn!("cannot start /bin/sh ({error}): if this program is killed, its engines may stay");
        }
    }

    fn restart(&mut self) -> io::Result<()> {
        if let Some(mut old) = self.process.take() {
            old.kill()?;
            old.wait()?;
        }
        let mut process = start()?;
        let lines: String = self.groups.iter().map(|group| format!("add {group}\n")).collect();
        write(&mut process, &lines)?;
        self.process = Some(process);
        Ok(())
    }
}

/// Writes at once or not at all.
fn write(process: &mut Child, lines: &str) -> io::Result<()> {
    process.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(lines.as_bytes())
}

fn start() -> io::Result<Child> {
    let process = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "guardian"])
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // Nobody may wait for it.
    if let Some(pipe) = &process.stdin {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(process)
}
