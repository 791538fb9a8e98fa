//! A Redis server of Debian's package, on a port of its own, and a client that shares no code with ours.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use zeitnot_testing::{has_program, send_signal, wait_for};

const REDIS: &str = "redis-server";
/// A server that takes longer for an answer has failed.
const ANSWER: Duration = Duration::from_secs(10);

/// A running server; killed when dropped. Its data is in memory only.
pub struct Redis {
    pub port: u16,
    child: Child,
    options: Vec<String>,
    folder: TempDir,
}

impl Redis {
    /// Starts a server with these options besides; `None` if Redis is not here.
    pub fn start(options: &[&str]) -> Option<Redis> {
        if !has_program(REDIS, REDIS) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let options: Vec<_> = options.iter().map(ToString::to_string).collect();
        let port = free_port();
        let child = spawn(port, &options, folder.path());
        Some(Redis { port, child, options, folder })
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A connection of the test's own.
    pub fn client(&self) -> RedisClient {
        RedisClient::connect(self.port).unwrap()
    }

    /// `SIGKILL`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, on its port and without its data.
    pub fn restart(&mut self) {
        self.child = spawn(self.port, &self.options, self.folder.path());
    }

    /// Stops the process: connections are accepted, and nothing is answered.
    pub fn pause(&self) {
        send_signal("STOP", self.child.id());
    }

    pub fn resume(&self) {
        send_signal("CONT", self.child.id());
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns when the server listens.
fn spawn(port: u16, options: &[String], folder: &Path) -> Child {
    let child = Command::new(REDIS)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .args(options)
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the server to listen", || TcpStream::connect(("127.0.0.1", port)).ok());
    child
}

/// A client that waits for each answer.
pub struct RedisClient(BufReader<TcpStream>);

impl RedisClient {
    fn connect(port: u16) -> io::Result<RedisClient> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(ANSWER))?;
        Ok(RedisClient(BufReader::new(stream)))
    }

    /// Sends a command of words without spaces, and returns the answer as text.
    pub fn ask(&mut self, command: &str) -> String {
        let words: Vec<_> = command.split(' ').map(str::as_bytes).collect();
        String::from_utf8_lossy(&self.send(&words)).into_owned()
    }

    /// Sets a key to any bytes.
    pub fn set(&mut self, key: &str, value: &[u8]) {
        assert_eq!(self.send(&[b"SET", key.as_bytes(), value]), b"OK");
    }

    /// Keys that begin so.
    pub fn keys(&mut self, prefix: &str) -> Vec<String> {
        let keys = self.ask(&format!("KEYS {prefix}*"));
        keys.lines().map(str::to_owned).collect()
    }

    /// Waits until there are this many keys.
    pub fn has_keys(&mut self, count: usize) {
        wait_for("entries on the server", || (self.ask("DBSIZE") == count.to_string()).then_some(()));
    }

    /// The value of a reply; those of a list, one a line.
    fn send(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> Vec<u8> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at(1);
        match (kind, rest.parse::<i64>().unwrap_or(0)) {
            ("$", ..0) => Vec::new(),
            ("$", length) => {
                let mut bytes = vec![0; length as usize + 2];
                self.0.read_exact(&mut bytes).unwrap();
                bytes.truncate(length as usize);
                bytes
            }
            ("*", count) => (0..count).map(|_| self.reply()).collect::<Vec<_>>().join(&b'\n'),
            _ => rest.as_bytes().to_vec(),
        }
    }
}
