//! What the operating system gives its time to first: the threads that answer go before those that search.
//!
//! A thread inherits class and niceness from the one that starts it. So threads that search say
//! themselves, at their start, what they want: one that inherited the network's real-time class would
//! keep everything else from running.

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

/// Above all that is not real time, and below what the system itself runs so.
const REAL_TIME: u8 = 10;
/// On the crate's scale of 0 to 99, a niceness of −10 …
const RAISED: u8 = 73;
/// … of 0 …
const USUAL: u8 = 48;
/// … and of 10: beside others it gets a tenth of what they get.
const LOW: u8 = 22;

/// Asks that this thread go before all others.
pub fn raise() -> Granted {
    #[cfg(unix)]
    {
        if unix::set_real_time(REAL_TIME) {
            return Granted::RealTime;
        }
        if unix::set_usual_class(RAISED) {
            return Granted::Raised;
        }
    }
    #[cfg(not(unix))]
    if ThreadPriority::Max.set_for_current().is_ok() {
        return Granted::Raised;
    }
    Granted::Usual
}

/// Leaves a real-time class that this thread has inherited.
pub fn usual() {
    #[cfg(unix)]
    if unix::is_real_time() {
        unix::set_usual_class(USUAL);
    }
}

/// Asks that this thread go after others. To go back is not always allowed.
pub fn lower() {
    #[cfg(unix)]
    unix::set_usual_class(LOW);
    #[cfg(not(unix))]
    // Where it is refused, the search is as the others are.
    let _ = value(LOW).map(|low| low.set_for_current());
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
                assert_eq!(kernel().0, 0);
                lower();
                kernel()
            });
            assert_eq!(child.join().unwrap(), (0, 10));
        })
        .join()
        .unwrap();
    }
}
