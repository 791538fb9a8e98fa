//! The network side: the tasks of a command on a thread of their own, which goes before all others.

use std::{
    panic::resume_unwind,
    thread::{self, JoinHandle},
};

use tokio::runtime::{self, Runtime};

use zeitnot_engine::{
    priority::{self, Granted},
    search::STACK_SIZE,
};

use super::CliError;

/// A thread that runs tasks.
pub(super) struct Network<T>(JoinHandle<T>);

/// Runs a command's tasks to the end of `main`.
///
/// # Errors
/// As [`Network::start`].
pub(super) fn run<F, T>(main: impl FnOnce(Granted) -> F + Send + 'static) -> Result<T, CliError>
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    Ok(Network::start("network", main)?.join())
}

impl<T: Send + 'static> Network<T> {
    /// Starts a thread that runs tasks to the end of `main`. What still runs then is left where it is: a
    /// search that hangs on a thread of its own is no reason to stay.
    ///
    /// # Errors
    /// [`CliError::Io`] if there is no thread to be had.
    pub fn start<F: Future<Output = T>>(
        name: &'static str,
        main: impl FnOnce(Granted) -> F + Send + 'static,
    ) -> Result<Self, CliError> {
        let error = |source| CliError::Io { doing: "cannot start the network's thread", source };
        let runtime = runtime().map_err(error)?;
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            let result = runtime.block_on(main(priority::raise()));
            runtime.shutdown_background();
            result
        });
        Ok(Network(thread.map_err(error)?))
    }

    /// Waits for its end.
    pub fn join(self) -> T {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn runtime() -> std::io::Result<Runtime> {
    // Threads for what may block, as looking up a name does, are not to go before everything. In a match our own
    // engine thinks on them, and its lines are deep.
    runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_start(priority::usual)
        .thread_stack_size(STACK_SIZE)
        .build()
}
