//! Just enough of HTTP/1.1 for blocking sockets.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Instant,
};

/// Maximum size of a request's head, and of its body.
const MAX_SIZE: u64 = 1 << 16;

/// A request. Its body is read and discarded.
pub(super) struct Request {
    pub method: String,
    pub path: String,
    /// When its first line was read.
    pub at: Instant,
}

impl Request {
    /// Reads the next request; `None` if there are no more.
    pub fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
        let mut head = reader.by_ref().take(MAX_SIZE);
        let (mut first, mut length) = (String::new(), 0);
        if head.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let at = Instant::now();
        let mut line = String::new();
        while head.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        io::copy(&mut reader.by_ref().take(MAX_SIZE.min(length)), &mut io::sink())?;
        let mut words = first.split_whitespace().map(str::to_owned);
        Ok(words.next().zip(words.next()).map(|(method, path)| Request { method, path, at }))
    }
}

/// An answer that is sent line by line.
pub(super) struct Stream(TcpStream);

impl Stream {
    pub fn open(mut stream: TcpStream) -> io::Result<Stream> {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        Ok(Stream(stream))
    }

    /// Sends a line; an empty one keeps the connection alive.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(format!("{:x}\r\n{text}\n\r\n", text.len() + 1).as_bytes())
    }

    /// Ends the answer.
    pub fn end(mut self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }
}

/// Sends a whole answer.
pub(super) fn answer(out: &mut impl Write, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}");
    out.write_all(text.as_bytes())
}
