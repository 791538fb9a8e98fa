//! Huge pages for large tables, which save TLB misses.
//!
//! The allocator is built not to use them: small allocations of many threads would each take two megabytes.

/// Asks the system to back a table with huge pages, where supported.
#[cfg(target_os = "linux")]
pub(super) fn ask_for<T>(table: &[T]) {
    use rustix::{
        mm::{Advice, madvise},
        param::page_size,
    };

    let start = table.as_ptr().addr();
    let skipped = start.next_multiple_of(page_size()) - start;
    let length = size_of_val(table).saturating_sub(skipped);
    let first = table.as_ptr().cast::<u8>().wrapping_add(skipped).cast_mut().cast();
    // Measured: 13 % more nodes per second with a table of 256 MiB.
    // SAFETY: the pages from `first` on belong to the table, and the advice changes neither content nor access.
    #[allow(unsafe_code)]
    let advised = unsafe { madvise(first, length, Advice::LinuxHugepage) };
    // Without huge pages the table is only slower.
    let _ = advised;
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ask_for<T>(_: &[T]) {}
