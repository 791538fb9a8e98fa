//! Signals to processes, without the program `kill`, which a minimal system lacks.

#[cfg(not(unix))]
pub use other::{send_signal, signal_group};
#[cfg(unix)]
pub use unix::{send_signal, signal_group};

#[cfg(unix)]
mod unix {
    use std::fmt::Display;

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    /// Sends a signal, such as `TERM`, to a process by its id.
    pub fn send_signal(name: &str, process: impl Display) {
        if let Err(error) = kill_process(pid(&process), signal(name)) {
            panic!("SIG{name} to {process}: {error}");
        }
    }

    /// Sends a signal to a process group, which may have ended, by the id of its leader.
    pub fn signal_group(name: &str, leader: impl Display) {
        let _ = kill_process_group(pid(&leader), signal(name));
    }

    fn pid(process: &impl Display) -> Pid {
        let number = process.to_string().trim().parse().ok();
        number.and_then(Pid::from_raw).unwrap_or_else(|| panic!("no process id: {process}"))
    }

    fn signal(name: &str) -> Signal {
        match name {
            "CONT" => Signal::CONT,
            "HUP" => Signal::HUP,
            "INT" => Signal::INT,
            "KILL" => Signal::KILL,
            "QUIT" => Signal::QUIT,
            "STOP" => Signal::STOP,
            "TERM" => Signal::TERM,
            _ => panic!("unknown signal: {name}"),
        }
    }
}

#[cfg(not(unix))]
mod other {
    use std::fmt::Display;

    pub fn send_signal(name: &str, process: impl Display) {
        panic!("SIG{name} to {process}: this system has no signals");
    }

    pub fn signal_group(name: &str, leader: impl Display) {
        send_signal(name, leader);
    }
}
