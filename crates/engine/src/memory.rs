//! Memory of the machine, which bounds the tables.

/// The requested table does not fit into memory.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a table of {mib} MiB does not fit into memory{}; choose a smaller one", total(), mib = .0)]
pub struct OutOfMemory(pub usize);

fn total() -> String {
    total_mib().map_or_else(String::new, |total| format!(" (this machine has {total} MiB)"))
}

/// Refuses a table that is larger than the memory. The system may promise it all the same; but a search of which each
/// node waits for a new page cannot be stopped in time.
pub(crate) fn check(mib: usize) -> Result<(), OutOfMemory> {
    if total_mib().is_some_and(|total| mib > total) { Err(OutOfMemory(mib)) } else { Ok(()) }
}

/// Returns the memory of the machine or of its container in MiB; `None` if the system does not tell.
#[cfg(target_os = "linux")]
pub fn total_mib() -> Option<usize> {
    let info = rustix::system::sysinfo();
    let machine = (u128::from(info.totalram) * u128::from(info.mem_unit)) >> 20;
    // Of control groups, version 2. "max" is no limit.
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse::<u128>().ok()).map(|bytes| bytes >> 20);
    usize::try_from(limit.map_or(machine, |limit| limit.min(machine))).ok()
}

/// Returns `None`: only Linux is asked.
#[cfg(not(target_os = "linux"))]
pub fn total_mib() -> Option<usize> {
    None
}
