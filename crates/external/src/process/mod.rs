//! Child processes: without our secrets, and each in a process group that is killed as a whole, at our end at the
//! latest.

use std::{
    io,
    process::{Child, Command},
};

mod environment;
#[cfg(unix)]
mod guardian;

pub use environment::withhold;

/// Removes our secrets from the child's environment, and puts the child into a process group of its own, away from the
/// terminal's Ctrl-C. On other systems than Unix there are no process groups.
pub fn isolate(mut command: Command) -> Command {
    environment::clear_of_secrets(&mut command);
    #[cfg(unix)]
    {
        guardian::prepare();
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    command
}

/// Returns whether a child has ended. It still has to be waited for, so that its number, which is that of its group,
/// belongs to no other process.
#[cfg(unix)]
pub(crate) fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(not(unix))]
pub(crate) fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Process group of a child that was started [in one](isolate). Killed when dropped, or when this program ends.
#[cfg(unix)]
#[derive(Debug)]
pub struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    /// Returns the group of the child with this id, which must not have been waited for.
    pub fn of(id: Option<u32>) -> Group {
        let id = id.and_then(|id| i32::try_from(id).ok());
        let group = id.and_then(rustix::process::Pid::from_raw);
        group.into_iter().for_each(guardian::add);
        Group(group)
    }

    /// Sends SIGTERM.
    pub fn end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends SIGKILL.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.0 {
            // Fails if no process is left.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        self.0.into_iter().for_each(guardian::remove);
    }
}

/// Does nothing: without process groups a child is killed by its handle.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Group;

#[cfg(not(unix))]
impl Group {
    pub fn of(_: Option<u32>) -> Group {
        Group
    }

    pub fn end(&self) {}

    pub fn kill(&self) {}
}
