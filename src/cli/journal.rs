//! Log to systemd's journal with its fields, by the journal's native protocol (systemd.io, "Native Journal Protocol").

use std::{env, io, io::Write, os::unix::net::UnixDatagram};

use rustix::fs::fstat;
use serde_json::{Map, Value};

const SOCKET: &str = "/run/systemd/journal/socket";
/// Device and inode of the stream that the service manager has connected to the journal.
const STREAM: &str = "JOURNAL_STREAM";
/// Longest name of a field.
const MAX_NAME: usize = 64;

/// Connection to the journal. Takes the log's lines of JSON.
pub(super) struct Journal(UnixDatagram);

impl Journal {
    /// Connects to the journal if stderr leads there.
    pub(super) fn of_stderr() -> Option<Journal> {
        let stream = env::var(STREAM).ok()?;
        let stderr = fstat(io::stderr()).ok()?;
        if stream != format!("{}:{}", stderr.st_dev, stderr.st_ino) {
            return None;
        }
        let socket = UnixDatagram::unbound().ok()?;
        socket.connect(SOCKET).ok()?;
        Some(Journal(socket))
    }
}

impl Write for Journal {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let sent = entry(line).is_some_and(|entry| self.0.send(&entry).is_ok());
        if !sent {
            // Too long for a datagram, or the journal restarts: its stream takes it without fields.
            io::stderr().write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the journal's entry of a line of the log.
fn entry(line: &[u8]) -> Option<Vec<u8>> {
    let line: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let mut entry = Vec::new();
    add(&mut entry, "PRIORITY", priority(line.get("level")?.as_str()?));
    add(&mut entry, "SYSLOG_IDENTIFIER", env!("CARGO_PKG_NAME"));
    add(&mut entry, "TARGET", line.get("target")?.as_str()?);
    let spans =
        line.get("spans").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    for (name, value) in
        spans.flatten().filter(|(name, _)| *name != "name").chain(line.get("fields")?.as_object()?)
    {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        add(&mut entry, name, &text);
    }
    Some(entry)
}

/// Severity by syslog(3).
fn priority(level: &str) -> &'static str {
    match level {
        "ERROR" => "3",
        "WARN" => "4",
        "INFO" => "6",
        _ => "7",
    }
}

fn add(entry: &mut Vec<u8>, name: &str, text: &str) {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(letter).take(MAX_NAME).collect();
    // The journal keeps names that begin so to itself.
    let name = name.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit());
    if name.is_empty() {
        return;
    }
    entry.extend_from_slice(name.as_bytes());
    match text.contains('\n') {
        false => entry.push(b'='),
        true => {
            entry.push(b'\n');
            entry.extend_from_slice(&(text.len() as u64).to_le_bytes());
        }
    }
    entry.extend_from_slice(text.as_bytes());
    entry.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_spans_become_fields_of_the_journal() {
        let line = br#"{"timestamp":"2026-11-24T12:00:00Z","level":"WARN","fields":{"message":"lost","left":3,"_x-y":"z"},
            "target":"zeitnot_clients::lost","span":{"id":"abcdefgh","name":"game"},
            "spans":[{"server":"https://lichess.org/","name":"lichess"},{"id":"abcdefgh","name":"game"}]}"#;
        let expected = "PRIORITY=4\nSYSLOG_IDENTIFIER=zeitnot\nTARGET=zeitnot_clients::lost\n\
                        SERVER=https://lichess.org/\nID=abcdefgh\nX_Y=z\nLEFT=3\nMESSAGE=lost\n";
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&String::from_utf8(entry(line).unwrap()).unwrap()), sorted(expected));
    }

    #[test]
    fn text_of_several_lines_has_its_length_before_it() {
        let line = br#"{"level":"INFO","target":"t","fields":{"message":"a\nb"}}"#;
        let entry = entry(line).unwrap();
        assert!(entry.ends_with(b"MESSAGE\n\x03\0\0\0\0\0\0\0a\nb\n"), "{entry:?}");
        assert_eq!(super::entry(b"not JSON"), None);
    }
}
