//! Thread of usual priority with a runtime of its own, for what must not delay a move.

use std::{io, thread};

use tokio::{runtime, sync::oneshot};

/// A running thread.
#[derive(Debug)]
pub struct SideThread {
    /// Its runtime.
    pub runtime: runtime::Handle,
    /// Answers when `main` has ended; closed without an answer if it has panicked.
    ended: oneshot::Receiver<()>,
}

impl SideThread {
    /// Starts a thread that runs tasks until `main` ends. It begins with `on_start`, which sets its priority.
    ///
    /// # Errors
    /// The system has no thread or runtime left.
    pub async fn start(
        name: &str,
        on_start: fn(),
        main: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<SideThread> {
        let ((started, handle), (end, ended)) = (oneshot::channel(), oneshot::channel());
        thread::Builder::new().name(name.into()).spawn(move || {
            on_start();
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
    pub(crate) async fn run(
        name: &str,
        what: &str,
        on_start: fn(),
        main: impl Future<Output = ()> + Send + 'static,
    ) {
        match SideThread::start(name, on_start, main).await {
            Ok(thread) => {
                if !thread.join().await {
                    tracing::error!("cannot serve {what}: its thread has failed; please report it");
                }
            }
            Err(error) => tracing::error!("cannot serve {what}: {error}"),
        }
    }

    /// Waits for the end of `main`; returns whether it ended without a panic.
    pub async fn join(self) -> bool {
        self.ended.await.is_ok()
    }
}
