//! Thread priorities: the threads that answer run before those that search.
//!
//! A thread inherits class and niceness from the one that starts it. So search threads set their own at their start:
//! one that inherited the real-time class of the network threads would starve the machine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Priority that the system has granted to a thread that answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Real time: it preempts all usual threads.
    RealTime,
    /// Above the usual.
    Raised,
    /// No more than usual.
    Usual,
}

/// Priorities to ask for, on the scale of `thread_priority` from 0 to 99.
#[cfg_attr(not(unix), allow(dead_code))] // On Windows nothing is inherited, and only `low` is used.
struct Scale {
    /// The low end of the real-time class, below the threads of the system.
    real_time: u8,
    /// Before most others.
    raised: u8,
    usual: u8,
    /// After the others.
    low: u8,
}

/// On XNU these are the priorities of the kernel: 15 to 47 in every class, 31 by default.
#[cfg(any(target_os = "macos", target_os = "ios"))]
const SCALE: Scale = Scale { real_time: 47, raised: 40, usual: 31, low: 22 };
/// Elsewhere 73, 48 and 22 are a niceness of −10, 0 and 10. At 10 a thread gets a tenth of the time of others.
#[cfg(not(any(target_os = "macos", target_os = "ios")))]
const SCALE: Scale = Scale { real_time: 10, raised: 73, usual: 48, low: 22 };

/// Whether a thread of ours was granted more than the usual, which others may have inherited.
static RAISED: AtomicBool = AtomicBool::new(false);

/// Asks for the highest priority for this thread.
pub fn raise() -> Granted {
    let granted = ask();
    if granted != Granted::Usual {
        RAISED.store(true, Relaxed);
    }
    granted
}

fn ask() -> Granted {
    #[cfg(unix)]
    {
        if unix::set_real_time(SCALE.real_time) {
            return Granted::RealTime;
        }
        if unix::set_usual_class(SCALE.raised) {
            return Granted::Raised;
        }
    }
    #[cfg(not(unix))]
    if ThreadPriority::Max.set_for_current().is_ok() {
        return Granted::Raised;
    }
    Granted::Usual
}

/// Resets the class and niceness that this thread may have inherited from a [raised](raise) one. If none was
/// raised, it keeps the niceness of the process, but no real-time class.
pub fn usual() {
    #[cfg(unix)]
    if RAISED.load(Relaxed) || unix::is_real_time() {
        unix::set_usual_class(SCALE.usual);
    }
}

/// Lowers the priority of this thread. Raising it again may not be permitted.
pub fn lower() {
    #[cfg(unix)]
    unix::set_usual_class(SCALE.low);
    #[cfg(not(unix))]
    // If refused, the search has the usual priority.
    let _ = value(SCALE.low).map(|low| low.set_for_current());
}

fn value(of_99: u8) -> Option<ThreadPriority> {
    ThreadPriorityValue::try_from(of_99).ok().map(ThreadPriority::Crossplatform)
}

#[cfg(unix)]
mod unix {
    use thread_priority::{
        NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id, thread_schedule_policy,
    };

    use super::value;

    fn set(priority: u8, policy: ThreadSchedulePolicy) -> bool {
        value(priority)
            .is_some_and(|value| set_thread_priority_and_policy(thread_native_id(), value, policy).is_ok())
    }

    pub(super) fn set_real_time(priority: u8) -> bool {
        set(priority, ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo))
    }

    pub(super) fn set_usual_class(priority: u8) -> bool {
        set(priority, ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other))
    }

    pub(super) fn is_real_time() -> bool {
        matches!(thread_schedule_policy(), Ok(ThreadSchedulePolicy::Realtime(_)))
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)] // helpers of tests are tests
mod tests {
    use std::{fs, thread};

    use super::*;

    /// Class and niceness of this thread by the kernel (`proc(5)`, fields 41 and 19).
    fn kernel() -> (u32, i32) {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        (fields[41 - 3].parse().unwrap(), fields[19 - 3].parse().unwrap())
    }

    #[test]
    fn a_search_thread_does_not_keep_an_inherited_priority() {
        thread::spawn(|| {
            let granted = raise();
            // Without the privilege, as on most machines, nothing changes.
            assert_eq!(granted == Granted::RealTime, kernel().0 == 1);
            let child = thread::spawn(|| {
                usual();
                let usual = kernel();
                lower();
                (usual, kernel())
            });
            let (usual, lowered) = child.join().unwrap();
            assert!(usual == (0, 0) || granted == Granted::Usual && usual.0 == 0, "{usual:?}");
            assert_eq!(lowered, (0, 10));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_raised_niceness_is_reset_too() {
        thread::spawn(|| {
            if !unix::set_usual_class(SCALE.raised) {
                return;
            }
            RAISED.store(true, Relaxed);
            assert_eq!(kernel(), (0, -10));
            let child = thread::spawn(|| {
                usual();
                kernel()
            });
            assert_eq!(child.join().unwrap(), (0, 0));
        })
        .join()
        .unwrap();
    }
}
