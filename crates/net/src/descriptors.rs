//! File descriptors, of which each connection takes one, and a process a limited number.

#[cfg(unix)]
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

/// Highest limit to ask for: some child programs close every descriptor below their limit when they start.
#[cfg(unix)]
const MOST: rlim_t = 1 << 16;
/// Limit to ask for where that is refused: macOS may refuse what its hard limit allows (setrlimit(2), `OPEN_MAX`).
#[cfg(unix)]
const FALLBACK: rlim_t = 10_240;

/// Raises the limit of this process as far as its user may. A service that forbids that keeps the one it has.
#[cfg(unix)]
pub fn raise_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let raise = |most: rlim_t| {
        let raised = hard.min(most);
        soft >= raised || setrlimit(Resource::RLIMIT_NOFILE, raised, hard).is_ok()
    };
    if ![MOST, FALLBACK].into_iter().any(raise) {
        tracing::debug!("the limit of open files stays at {soft}");
    }
}

/// Does nothing: other systems have no such limit.
#[cfg(not(unix))]
pub fn raise_limit() {}

/// Returns the limit of this process, if it has one.
#[cfg(unix)]
pub fn limit() -> Option<usize> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    Some(usize::try_from(soft).unwrap_or(usize::MAX))
}

/// Returns `None`: other systems have no such limit.
#[cfg(not(unix))]
pub fn limit() -> Option<usize> {
    None
}
