//! Processes that a test has started, by the lists of children that Linux keeps for each thread.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Thread, kill_children, this_thread};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Thread, kill_children, this_thread};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process};

    pub(crate) type Thread = u32;

    /// Zero, which is no thread, where the system does not tell.
    pub(crate) fn this_thread() -> Thread {
        let link = fs::read_link("/proc/thread-self").unwrap_or_default();
        link.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0)
    }

    /// Kills the processes that these threads of this process have started, and those that they have started in turn.
    pub(crate) fn kill_children(threads: &[Thread]) {
        let own = std::process::id();
        let mut found: Vec<u32> = threads.iter().flat_map(|thread| children(own, *thread)).collect();
        let mut next = 0;
        while let Some(process) = found.get(next).copied() {
            let threads = numbers(fs::read_dir(format!("/proc/{process}/task")));
            found.extend(threads.into_iter().flat_map(|thread| children(process, thread)));
            next += 1;
        }
        for process in found {
            if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    fn children(process: u32, thread: Thread) -> Vec<u32> {
        let list = fs::read_to_string(format!("/proc/{process}/task/{thread}/children")).unwrap_or_default();
        list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
    }

    fn numbers(folder: std::io::Result<fs::ReadDir>) -> Vec<u32> {
        let entries = folder.into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// Threads have no lists of children here.
    pub(crate) type Thread = ();

    pub(crate) fn this_thread() -> Thread {}

    pub(crate) fn kill_children(_: &[Thread]) {}
}
