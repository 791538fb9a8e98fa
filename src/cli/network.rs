//! The network side: the tasks of a command on a thread of their own, which goes before all others.

use std::{panic::resume_unwind, thread};

use tokio::runtime::Builder;

use super::CliError;
use crate::priority::{self, Granted};

/// Runs a command's tasks to the end of `main`. What still runs then is left where it is: a search that
/// hangs on a thread of its own is no reason to stay.
///
/// # Errors
/// [`CliError::Io`] if there is no thread to be had.
pub(super) fn run<F, T>(main: impl FnOnce(Granted) -> F + Send + 'static) -> Result<T, CliError>
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    let doing = "cannot start the network's thread";
    let network = thread::Builder::new().name("network".into()).spawn(move || {
        let granted = priority::raise();
        // Threads for what may block, as looking up a name does, are not to go before everything.
        let runtime = Builder::new_current_thread().enable_all().on_thread_start(priority::usual).build()?;
        let result = runtime.block_on(main(granted));
        runtime.shutdown_background();
        Ok(result)
    });
    let ended = network.map_err(|source| CliError::Io { doing, source })?.join();
    ended.unwrap_or_else(|panic| resume_unwind(panic)).map_err(|source| CliError::Io { doing, source })
}
