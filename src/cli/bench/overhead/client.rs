//! The measured client: this program as a process of its own, with a configuration file.

use std::{
    env, fs, io,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use zeitnot_engine::process::{Group, isolate};

use crate::cli::service::process_metrics::resident_memory;

/// A running client; killed when dropped.
pub(super) struct Client {
    child: Child,
    _group: Group,
    _folder: TempDir,
}

impl Client {
    /// Starts a client of the server at this address, which thinks this long about each move, with these keys set.
    pub(super) fn start(
        address: SocketAddr,
        games: u8,
        think: Duration,
        set: &[String],
    ) -> io::Result<Client> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("config.toml");
        fs::write(&file, config(address, games, think))?;
        // Without the variables whose tokens would go before the one in the file.
        let child = isolate(Command::new(env::current_exe()?))
            .args(["play", "--config"])
            .arg(&file)
            .args(set.iter().flat_map(|key| ["--set", key]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let _group = Group::of(Some(child.id()));
        Ok(Client { child, _group, _folder: folder })
    }

    /// Returns its memory in bytes, where the system tells.
    pub(super) fn memory(&self) -> Option<u64> {
        resident_memory(self.child.id())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration without move sources, and with the smallest tables, so that they do not count as overhead.
fn config(address: SocketAddr, games: u8, think: Duration) -> String {
    let (kind, longest) = match think.is_zero() {
        true => ("random", String::new()),
        false => ("search", format!("max_move_time = \"{}\"", humantime::format_duration(think))),
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
concurrency = {games}
"#
    )
}
