//! Output of the measurements: rows, errors, quantiles.

use std::{
    error,
    io::{self, Write},
    time::Duration,
};

/// Error of a measurement, shown as one line.
pub(crate) type Error = Box<dyn error::Error + Send + Sync>;

/// Prints a row at once, as the next one may take long.
pub(crate) fn print_row(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(failed("cannot write the result"))
}

/// Maps an error; `doing` says what failed.
pub(crate) fn failed<E: error::Error>(doing: &'static str) -> impl Fn(E) -> Error {
    move |error| format!("{doing}: {error}").into()
}

/// Quantile of sorted times, in milliseconds.
pub(crate) fn quantile(sorted: &[Duration], part: f64) -> Option<f64> {
    let at = ((sorted.len() as f64 * part).ceil() as usize).max(1) - 1;
    sorted.get(at).map(|time| 1000.0 * time.as_secs_f64())
}
