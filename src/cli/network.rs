//! The network thread: the tasks of a command on a thread of their own, with a raised priority.

use std::{
    panic::resume_unwind,
    pin::Pin,
    thread::{self, JoinHandle},
};

use tokio::runtime;

use zeitnot_engine::{
    priority::{self, Granted},
    search::STACK_SIZE,
};

use super::{CliError, io_error};

/// A thread that runs tasks.
pub(super) struct Network<T>(JoinHandle<T>);

/// Runs `main` on a network thread, and waits for it.
pub(super) fn run<F, T>(main: impl FnOnce(Granted) -> F + Send + 'static) -> Result<T, CliError>
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    Ok(Network::start("network", main)?.join())
}

impl<T: Send + 'static> Network<T> {
    /// Starts a thread that runs tasks until `main` ends. Remaining tasks and threads are abandoned then, so that a
    /// search that hangs does not keep the program alive.
    pub(super) fn start<F: Future<Output = T>>(
        name: &'static str,
        main: impl FnOnce(Granted) -> F + Send + 'static,
    ) -> Result<Self, CliError> {
        // Threads for blocking calls keep the usual priority. In a match our own engine runs on them, with a deep
        // stack.
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_start(priority::usual)
            .thread_stack_size(STACK_SIZE)
            .build()
            .map_err(io_error("cannot start the network thread"))?;
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            // Boxed, so that the runtime is compiled once for each result, not for each command.
            let main: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(main(priority::raise()));
            let result = runtime.block_on(main);
            runtime.shutdown_background();
            result
        });
        Ok(Network(thread.map_err(io_error("cannot start the network thread"))?))
    }

    /// Waits for the end of `main`, and passes its panic on.
    pub(super) fn join(self) -> T {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
