//! The measured client: the program `zeitnot` with a configuration file, or another one, as a process of its own.

use std::{
    env::{self, consts::EXE_SUFFIX},
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use zeitnot_external::process::{Group, isolate};

use crate::output::Error;

/// Returns the path of the program, by default `zeitnot` in the folder of this one.
///
/// # Errors
/// A line if there is no such file.
pub(crate) fn program(path: Option<&Path>) -> Result<PathBuf, Error> {
    let beside = || Ok::<_, Error>(env::current_exe()?.with_file_name(format!("zeitnot{EXE_SUFFIX}")));
    let program = path.map_or_else(beside, |path| Ok(path.to_owned()))?;
    match program.is_file() {
        true => Ok(program),
        false => Err(format!("{} is missing: run `cargo build --release` first", program.display()).into()),
    }
}

/// A running client; killed when dropped.
pub(crate) struct Client {
    child: Child,
    group: Option<Group>,
    /// Of its configuration, which is deleted after the process has ended.
    _folder: Option<TempDir>,
}

impl Client {
    /// Starts a client of the server at this address, which thinks this long about each move, with these keys set.
    pub(crate) fn start(
        program: &Path,
        address: SocketAddr,
        games: u8,
        think: Duration,
        set: &[String],
    ) -> io::Result<Client> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("config.toml");
        fs::write(&file, config(address, games, think))?;
        let mut command = Command::new(program);
        command.args(["play", "--config"]).arg(&file).args(set.iter().flat_map(|key| ["--set", key]));
        Client::run(command, Some(folder))
    }

    /// Starts another client.
    pub(crate) fn other(command: Command) -> io::Result<Client> {
        Client::run(command, None)
    }

    fn run(command: Command, _folder: Option<TempDir>) -> io::Result<Client> {
        // Without the variables whose tokens would go before the one in the file.
        let child =
            isolate(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let group = Some(Group::of(Some(child.id())));
        Ok(Client { child, group, _folder })
    }

    /// Returns its resident memory in bytes, where the kernel tells it.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Returns the part of it that is the program's own. The rest are pages of files, above all of the program itself.
    pub(crate) fn own_memory(&self) -> Option<u64> {
        self.status("RssAnon:")
    }

    /// Returns a size of `/proc/PID/status` in bytes (`proc(5)`).
    fn status(&self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Kills the group before its end is awaited: afterwards its number may belong to another process.
        self.group = None;
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
