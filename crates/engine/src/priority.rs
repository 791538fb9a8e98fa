//! What the operating system gives its time to first: the threads that answer go before those that search.
//!
//! A thread inherits class and niceness from the one that starts it. So threads that search say
//! themselves, at their start, what they want: one that inherited the network's real-time class would
//! keep everything else from running.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// What the system has granted to a thread that answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// It runs as soon as there is something to do, whatever else wants to.
    RealTime,
    /// It goes before most others.
    Raised,
    /// It is one of many.
    Usual,
}

/// What is asked for, each on the crate's scale of 0 to 99.
#[cfg_attr(not(unix), allow(dead_code))] // On Windows a thread inherits nothing, and only `low` is asked for.
struct Scale {
    /// Above all that is not real time, and below what the system itself runs so.
    real_time: u8,
    /// Before most others.
    raised: u8,
    /// As a thread is that asks for nothing.
    usual: u8,
    /// After the others.
    low: u8,
}

/// On XNU the numbers are the kernel's own priorities: 15 to 47 in every class, and 31 where nobody asks.
#[cfg(any(target_os = "macos", target_os = "ios"))]
const SCALE: Scale = Scale { real_time: 47, raised: 40, usual: 31, low: 22 };
/// Elsewhere 73, 48 and 22 stand for a niceness of −10, 0 and 10: with 10, a thread gets a tenth of what others
/// get beside it.
#[cfg(not(any(target_os = "macos", target_os = "ios")))]
const SCALE: Scale = Scale { real_time: 10, raised: 73, usual: 48, low: 22 };

/// Has any thread of ours been granted more than the usual? Then others may have inherited it.
static RAISED: AtomicBool = AtomicBool::new(false);

/// Asks that this thread go before all others.
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

/// Leaves the class and the niceness that this thread may have inherited from one that was [raised](raise).
/// Where none was, it keeps the niceness that the user gave the program, but no real-time class.
pub fn usual() {
    #[cfg(unix)]
    if RAISED.load(Relaxed) || unix::is_real_time() {
        unix::set_usual_class(SCALE.usual);
    }
}

/// Asks that this thread go after others. To go back is not always allowed.
pub fn lower() {
    #[cfg(unix)]
    unix::set_usual_class(SCALE.low);
    #[cfg(not(unix))]
    // Where it is refused, the search is as the others are.
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

    pub fn set_real_time(priority: u8) -> bool {
        set(priority, ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo))
    }

    pub fn set_usual_class(priority: u8) -> bool {
        set(priority, ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other))
    }

    pub fn is_real_time() -> bool {
        matches!(thread_schedule_policy(), Ok(ThreadSchedulePolicy::Realtime(_)))
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)] // helpers of tests are tests
mod tests {
    use std::{fs, thread};

    use super::*;

    /// Class and niceness of this thread, as the kernel tells them (`proc(5)`, fields 41 and 19).
    fn kernel() -> (u32, i32) {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        (fields[41 - 3].parse().unwrap(), fields[19 - 3].parse().unwrap())
    }

    #[test]
    fn whoever_searches_is_not_what_it_was_started_by() {
        thread::spawn(|| {
            let granted = raise();
            // Without the right to it, as on most machines, nothing changes, and nothing breaks.
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
    fn a_raised_niceness_is_shed_too() {
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
