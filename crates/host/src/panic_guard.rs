//! Containment of panics: a bug in one game, table or event must not end what serves all others.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use futures_util::FutureExt;

/// A panic that was caught.
#[derive(Debug)]
pub struct Panic(Box<dyn Any + Send>);

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.downcast_ref::<&str>().copied();
        f.write_str(text.or(self.0.downcast_ref().map(String::as_str)).unwrap_or("a panic"))
    }
}

/// Runs a step. After a panic, whatever the step was changing is to be ended or dropped.
pub fn contain<T>(step: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(step)).map_err(Panic)
}

/// Does the same for a future.
pub async fn contain_all<T>(work: impl Future<Output = T>) -> Result<T, Panic> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(Panic)
}
