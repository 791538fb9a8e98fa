//! This program, started as its user would: a process of its own with a configuration.

use std::{
    env, fs, io,
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::Row;

/// A client that runs; dropped, it is gone.
pub(super) struct Client {
    child: Child,
    _folder: TempDir,
}

impl Client {
    /// Starts it; it will come to this address.
    ///
    /// # Errors
    /// Those of writing a file and of starting a process.
    pub fn start(address: SocketAddr, row: Row) -> io::Result<Client> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("config.toml");
        fs::write(&file, config(address, row))?;
        let child = Command::new(env::current_exe()?)
            .args(["play", "--config"])
            .arg(&file)
            .env_remove("LICHESS_BOT_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Client { child, _folder: folder })
    }

    /// What it has in memory, in bytes, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib << 10)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that is gone already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nothing that answers before a search does, and no hash, which would be counted as the program's own.
fn config(address: SocketAddr, Row { games, think }: Row) -> String {
    let (kind, longest) = match think.is_zero() {
        true => ("random", String::new()),
        false => ("search", format!("longest_move = \"{}\"", humantime::format_duration(think))),
    };
    format!(
        r#"
[engine]
kind = "{kind}"
hash_mib = 1

[bot]
max_games = {games}
{longest}

[cache]
file = ""
memory_mib = 0

[[server]]
protocol = "lichess"
url = "http://{address}"
token = "bench"
max_games = {games}
"#
    )
}
