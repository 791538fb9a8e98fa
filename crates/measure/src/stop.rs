//! Ctrl-C and SIGTERM: the first one ends a measurement after the present row, the second one the process.

use std::sync::Arc;

use zeitnot_engine::StopFlag;

use crate::output::Error;

/// Returns a flag that the first signal raises. On systems without these signals nothing does.
pub(crate) fn flag() -> Result<Arc<StopFlag>, Error> {
    let flag = Arc::new(StopFlag::default());
    #[cfg(unix)]
    listen(flag.clone()).map_err(crate::output::failed("cannot listen for signals"))?;
    Ok(flag)
}

/// Listens from now on.
#[cfg(unix)]
fn listen(flag: Arc<StopFlag>) -> std::io::Result<()> {
    use std::{process, thread};

    use tokio::{
        runtime,
        signal::unix::{SignalKind, signal},
    };

    /// Exit code of a process that Ctrl-C ended, as shells report it.
    const INTERRUPTED: i32 = 130;

    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let inside = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    drop(inside);
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let waiting = async move {
        next().await;
        flag.stop();
        eprintln!("ending after this row; press Ctrl-C again to end now");
        next().await;
        process::exit(INTERRUPTED)
    };
    thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(waiting))?;
    Ok(())
}
