//! Programs that we start: each in a group of its own, which is killed with all that it has started in turn.

use std::process::Command;

/// A command whose children are told of with it, and which does not hear the terminal's Ctrl-C.
#[cfg(unix)]
pub fn in_a_group(mut command: Command) -> Command {
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Where there are no groups.
#[cfg(not(unix))]
pub fn in_a_group(command: Command) -> Command {
    command
}

/// A program that was started [in a group](in_a_group), and all that it has started; killed when this is dropped.
#[cfg(unix)]
#[derive(Debug)]
pub struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    /// The group of the program with this id, as long as nobody has waited for its end.
    pub fn of(id: Option<u32>) -> Group {
        let id = id.and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Asks it to end.
    pub fn end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Does not ask.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.0 {
            // An error: nobody is left in it.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where there are no such signals, a program is killed with its handle.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Group;

#[cfg(not(unix))]
#[allow(missing_docs)]
impl Group {
    pub fn of(_: Option<u32>) -> Group {
        Group
    }

    pub fn end(&self) {}

    pub fn kill(&self) {}
}
