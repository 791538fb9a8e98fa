//! Metrics of the process: memory, processor time and start, under the names that all Prometheus clients use.

#[cfg(target_os = "linux")]
use std::fs;
use std::{
    fmt::Display,
    time::{SystemTime, UNIX_EPOCH},
};

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};

const MEMORY: &str = "process_resident_memory_bytes";
const CPU: &str = "process_cpu_seconds_total";
const START: &str = "process_start_time_seconds";
const BUILD: &str = "zeitnot_build_info";

/// Describes the metrics to the exporter, and sets those that do not change.
pub(super) fn start() {
    describe_gauge!(MEMORY, Unit::Bytes, "Resident memory");
    describe_counter!(CPU, Unit::Seconds, "Processor time used, in whole seconds");
    describe_gauge!(START, Unit::Seconds, "Start of the program, in seconds since 1970");
    describe_gauge!(BUILD, "Version of the program; always 1");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    gauge!(START).set(now);
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// Reads what changes, where the kernel tells it. Cheap enough for each scrape.
pub(super) fn update() {
    if let Some(seconds) = processor_seconds() {
        counter!(CPU).absolute(seconds);
    }
    if let Some(bytes) = resident_memory("self") {
        gauge!(MEMORY).set(bytes as f64);
    }
}

/// Returns the processor time of this process (`proc(5)`, fields 14 and 15 of `stat`).
#[cfg(target_os = "linux")]
fn processor_seconds() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(14 - 3);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let ticks = next()?.saturating_add(next()?);
    ticks.checked_div(rustix::param::clock_ticks_per_second())
}

/// Returns the resident memory of a process in bytes: `self`, or by its number (`proc(5)`, `statm`).
#[cfg(target_os = "linux")]
fn resident_memory(process: impl Display) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn processor_seconds() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn resident_memory(_: impl Display) -> Option<u64> {
    None
}
