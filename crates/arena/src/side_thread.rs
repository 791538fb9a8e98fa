//! Thread of usual priority with a runtime of its own, for what must not delay a move.

use std::{io, thread};

use tokio::{runtime, sync::oneshot};
use zeitnot_engine::priority;

/// A running thread.
#[derive(Debug)]
pub(crate) struct SideThread {
    pub(crate) runtime: runtime::Handle,
    /// Answers when `main` has ended; closed without an answer if it has panicked.
    ended: oneshot::Receiver<()>,
}

impl SideThread {
    /// Starts a thread that runs tasks until `main` ends.
    pub(crate) async fn start(
        name: &str,
        main: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<SideThread> {
        let ((started, handle), (end, ended)) = (oneshot::channel(), oneshot::channel());
        thread::Builder::new().name(name.into()).spawn(move || {
            priority::usual();
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            let running = runtime.as_ref().ok().map(|runtime| runtime.handle().clone());
            let _ = started.send(running);
            if let Ok(runtime) = runtime {
                runtime.block_on(main);
                let _ = end.send(());
            }
        })?;
        let runtime = handle.await.ok().flatten().ok_or(io::ErrorKind::Other)?;
        Ok(SideThread { runtime, ended })
    }

    /// Runs tasks on such a thread until `main` ends. If it fails, the log says that `what` is not served.
    pub(crate) async fn run(name: &str, what: &str, main: impl Future<Output = ()> + Send + 'static) {
        match SideThread::start(name, main).await {
            Ok(thread) => {
                if !thread.join().await {
                    tracing::error!("cannot serve {what}: its thread has failed; please report it");
                }
            }
            Err(error) => tracing::error!("cannot serve {what}: {error}"),
        }
    }

    /// Waits for the end of `main`; returns whether it ended without a panic.
    pub(crate) async fn join(self) -> bool {
        self.ended.await.is_ok()
    }
}
