//! Work on several threads at once.

use std::{panic::resume_unwind, slice::Chunks, thread};

/// Cuts something into one part for each thread, or less.
pub(crate) fn shares<T>(all: &[T], threads: usize) -> Chunks<'_, T> {
    all.chunks(all.len().div_ceil(threads.max(1)).max(1))
}

/// Does one thing on this thread and each other one on another; the results are in order.
pub(crate) fn in_parallel<R: Send>(mut work: impl Iterator<Item = impl FnOnce() -> R + Send>) -> Vec<R> {
    thread::scope(|scope| {
        let Some(first) = work.next() else { return Vec::new() };
        let others: Vec<_> = work.map(|other| scope.spawn(other)).collect();
        let mut results = vec![first()];
        results.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))),
        );
        results
    })
}
