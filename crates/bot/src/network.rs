//! The network thread: the tasks of a command on a thread of their own, with a raised priority.

use std::{
    io,
    panic::resume_unwind,
    pin::Pin,
    thread::{self, JoinHandle},
};

use tokio::runtime;

use zeitnot_engine::{
    priority::{self, Granted},
    search::STACK_SIZE,
};

/// A thread that runs tasks.
#[derive(Debug)]
pub struct Network<T>(JoinHandle<T>);

/// Failure to start the network thread.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the network thread: {0}")]
pub struct StartError(#[from] io::Error);

/// Runs `main` on a network thread, and waits for it.
///
/// # Errors
/// [`StartError`] if the system refuses a thread.
pub fn run<F, T>(main: impl FnOnce(Granted) -> F + Send + 'static) -> Result<T, StartError>
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    Ok(Network::start("network", main)?.join())
}

impl<T: Send + 'static> Network<T> {
    /// Starts a thread that runs tasks until `main` ends. Remaining tasks and threads are abandoned then, so that a
    /// search that hangs does not keep the program alive.
    ///
    /// # Errors
    /// [`StartError`] if the system refuses a thread.
    pub fn start<F: Future<Output = T>>(
        name: &'static str,
        main: impl FnOnce(Granted) -> F + Send + 'static,
    ) -> Result<Self, StartError> {
        // Threads for blocking calls keep the usual priority. In a match our own engine runs on them, with a deep
        // stack.
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(priority::usual)
            .thread_stack_size(STACK_SIZE)
            .build()?;
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            // Boxed, so that the runtime is compiled once for each result, not for each command.
            let main: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(main(priority::raise()));
            let result = runtime.block_on(main);
            runtime.shutdown_background();
            result
        });
        Ok(Network(thread?))
    }

    /// Waits for the end of `main`, and passes its panic on.
    pub fn join(self) -> T {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
