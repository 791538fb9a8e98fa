//! The program itself, with everything that it tells its user.

use std::{
    fs,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    task::JoinHandle,
};
use zeitnot_testing::{send_signal, shows, soon, until};

use crate::support::{
    command::{ENVIRONMENT, ZEITNOT, zeitnot},
    files,
};

/// `zeitnot play` or `zeitnot arena`, as a process.
pub struct Program {
    child: Child,
    told: Arc<Mutex<Vec<String>>>,
    reader: JoinHandle<()>,
}

impl Program {
    /// Plays at random, which is quick; `settings` are those of its `[[server]]` table.
    pub fn start(folder: &Path, url: &str, token: &str, settings: &str) -> Program {
        Program::with("[engine]\nkind = 'random'\n[cache]\nmemory_mib = 0\n", folder, url, token, settings)
    }

    /// The same, with other tables besides.
    pub fn with(tables: &str, folder: &Path, url: &str, token: &str, settings: &str) -> Program {
        let file = folder.join(token);
        files::write(&file, token, 0o600);
        let text = format!(
            "{tables}[[server]]\nprotocol = 'lichess'\nurl = '{url}'\n\
             token_file = '{}'\n{settings}\n",
            file.display()
        );
        Program::configured(folder, token, &text)
    }

    /// Plays by this configuration.
    pub fn configured(folder: &Path, name: &str, text: &str) -> Program {
        Program::with_environment(folder, name, text, &[])
    }

    /// `zeitnot arena` by this configuration.
    pub fn arena(folder: &Path, text: &str) -> Program {
        Program::run("arena", folder, "arena", text, &[])
    }

    /// The same, with these variables besides.
    pub fn with_environment(folder: &Path, name: &str, text: &str, variables: &[(&str, &str)]) -> Program {
        Program::run("play", folder, name, text, variables)
    }

    /// `zeitnot arena` after this command of the shell, such as a limit.
    pub fn arena_after(shell: &str, folder: &Path, text: &str) -> Program {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!(r#"{shell} && exec "$0" "$@""#), ZEITNOT, "arena", "--config"]);
        for variable in ENVIRONMENT {
            command.env_remove(variable);
        }
        Program::spawn(command, folder, "arena", text, &[])
    }

    fn run(subcommand: &str, folder: &Path, name: &str, text: &str, variables: &[(&str, &str)]) -> Program {
        Program::spawn(zeitnot(&[subcommand, "--config"]), folder, name, text, variables)
    }

    /// Starts a command, whose last argument is the configuration file.
    fn spawn(
        mut command: std::process::Command,
        folder: &Path,
        name: &str,
        text: &str,
        variables: &[(&str, &str)],
    ) -> Program {
        let config = folder.join(format!("{name}.toml"));
        fs::write(&config, text).unwrap();
        command.arg(&config).current_dir(folder).envs(variables.iter().copied());
        Program::of(command, name)
    }

    /// Starts any command.
    pub fn of(command: std::process::Command, name: &str) -> Program {
        let mut child = Command::from(command)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let told = Arc::new(Mutex::new(Vec::<String>::new()));
        let shown = told.clone();
        shows(name, move || shown.lock().unwrap().join("\n"));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let all = told.clone();
        let reader = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                all.lock().unwrap().push(line);
            }
        });
        Program { child, told, reader }
    }

    /// Everything so far.
    pub fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    /// Warnings so far. Panics if anything has crashed.
    pub fn warnings(&self) -> Vec<String> {
        let told = self.told();
        let is_crash = |line: &&String| line.contains("panicked") || line.contains(" ERROR ");
        assert_eq!(told.iter().find(is_crash), None, "{told:#?}");
        told.into_iter().filter(|line| line.contains(" WARN ")).collect()
    }

    /// Waits until it says this; returns the line.
    pub async fn tells(&self, what: &str) -> String {
        let line = || self.told().into_iter().find(|line| line.contains(what));
        until(what, async || line().is_some()).await;
        line().unwrap()
    }

    /// Sends a signal, such as `HUP`.
    pub fn signal(&self, name: &str) {
        send_signal(name, self.child.id().unwrap());
    }

    /// `SIGTERM`, which ends it when its games are over.
    #[cfg(feature = "redis")]
    pub async fn stop(self) -> (Option<i32>, Vec<String>) {
        self.signal("TERM");
        self.ends().await
    }

    /// With its exit code, and all that it said.
    pub async fn ends(mut self) -> (Option<i32>, Vec<String>) {
        let status = soon("the program ends", self.child.wait()).await.unwrap();
        self.reader.await.unwrap();
        (status.code(), self.told.lock().unwrap().clone())
    }

    /// In MiB, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? >> 10)
    }

    /// How often its threads have gone to sleep, where the system tells.
    pub fn sleeps(&self) -> Option<u64> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()?)).ok()?;
        let sleeps = tasks.flatten().filter_map(|task| {
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            count.trim().parse::<u64>().ok()
        });
        Some(sleeps.sum())
    }

    /// The limit of open files, where the system tells.
    pub fn open_files(&self) -> Option<u64> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.child.id()?)).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// `SIGKILL`.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
