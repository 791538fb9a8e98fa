//! Processes that keep the machine busy. They end with whoever started them, however that ends: their
//! standard input is a pipe from there.

use std::{
    env,
    io::{self, Read},
    process::{Child, Command, Stdio, exit},
    thread,
};

/// Being such a process.
pub(super) fn run() -> ! {
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        exit(0)
    });
    loop {
        std::hint::spin_loop();
    }
}

/// Some of them; dropped, they are gone.
pub(super) struct Crowd(Vec<Child>);

impl Crowd {
    /// Starts so many.
    ///
    /// # Errors
    /// Those of starting a process.
    pub fn start(size: usize) -> io::Result<Crowd> {
        let mut crowd = Crowd(Vec::with_capacity(size));
        let program = env::current_exe()?;
        for _ in 0..size {
            let one = Command::new(&program).args(["bench", "busy"]).stdin(Stdio::piped()).spawn()?;
            crowd.0.push(one);
        }
        Ok(crowd)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for one in &mut self.0 {
            // One that is gone already is as good.
            let _ = one.kill();
            let _ = one.wait();
        }
    }
}
