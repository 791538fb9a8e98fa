//! Processes that keep the machine busy. They end with their parent in every case, as their standard input is a pipe
//! from it.

use std::{
    env,
    io::{self, Read},
    process::{Child, Command, Stdio, exit},
    thread,
};

use zeitnot_external::process::isolate;

/// Keeps a core busy until the standard input ends.
pub(crate) fn run() -> ! {
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        exit(0)
    });
    loop {
        std::hint::spin_loop();
    }
}

/// Busy processes; killed when dropped.
pub(crate) struct Crowd(Vec<Child>);

impl Crowd {
    pub(crate) fn start(size: usize) -> io::Result<Crowd> {
        let mut crowd = Crowd(Vec::with_capacity(size));
        let program = env::current_exe()?;
        for _ in 0..size {
            let one = isolate(Command::new(&program)).arg("busy").stdin(Stdio::piped()).spawn()?;
            crowd.0.push(one);
        }
        Ok(crowd)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for one in &mut self.0 {
            // Fails only if it has ended already.
            let _ = one.kill();
            let _ = one.wait();
        }
    }
}
