//! Captures what a test logs.

use std::{cell::RefCell, io::Write, sync::Once, time::Duration};

use zeitnot_testing::soon;

/// The log of this thread, from debug messages on.
///
/// One subscriber serves all tests of the process: with one for each thread, a callsite that is first reached by a
/// test without any may stay silent for all.
pub struct Log;

thread_local! {
    static LOGGED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

impl Log {
    pub fn capture() -> Log {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            tracing_subscriber::fmt()
                .with_writer(|| Log)
                .with_ansi(false)
                .with_max_level(tracing::Level::DEBUG)
                .init();
        });
        LOGGED.set(Some(Vec::new()));
        Log
    }

    pub fn text(&self) -> String {
        LOGGED
            .with_borrow(|logged| String::from_utf8_lossy(logged.as_deref().unwrap_or_default()).into_owned())
    }

    /// Lines without debug messages that contain this.
    pub fn count(&self, what: &str) -> usize {
        self.text().lines().filter(|line| line.contains(what) && !line.contains(" DEBUG ")).count()
    }

    /// Waits until something was logged.
    pub async fn shows(&self, what: &str) {
        soon(what, async {
            while !self.text().contains(what) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| logged.iter_mut().for_each(|logged| logged.extend(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
