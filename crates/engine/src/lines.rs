//! Lines from outside, bounded in length.

use std::io::{BufRead, Read};

/// Reads lines until the input ends or `take` returns `false`. It gets `None` for a longer line, which is skipped.
pub fn read_lines(mut input: impl BufRead, max_bytes: u64, mut take: impl FnMut(Option<String>) -> bool) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let size = input.by_ref().take(max_bytes).read_until(b'\n', &mut line);
        let is_cut = line.len() as u64 == max_bytes && !line.ends_with(b"\n");
        let whole = (!is_cut).then(|| String::from_utf8_lossy(&line).trim_end().to_owned());
        match if is_cut { input.skip_until(b'\n') } else { size } {
            Ok(0) | Err(_) => return,
            Ok(_) if take(whole) => {}
            Ok(_) => return,
        }
    }
}
