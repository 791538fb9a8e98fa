//! The commands of the README, run as they stand there: in a shell, in an empty folder, by somebody who has just built
//! the program.

use std::{
    fs::{self, File},
    net::TcpListener,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use zeitnot_testing::{LONG, has_engine, signal_group, wait_for};

use crate::support::{
    command::{ENVIRONMENT, ZEITNOT},
    files,
};

/// Commands that run until they are interrupted, and what they write when they have begun.
const RUNNING: [(&str, &str); 5] = [
    ("cargo run --release", " INFO game "),
    ("zeitnot arena", "listening on ws://"),
    ("zeitnot play", "connected; joining tournament class"),
    ("zeitnot play --player second", "connected; joining tournament class"),
    ("zeitnot match", "zeitnot – GNU Chess"),
];
/// Not the ports of the documented configuration: others on this machine may use them.
const PORTS: [u16; 2] = [8000, 8001];

/// A shell in an empty folder, with the program on its path.
struct Shell {
    folder: tempfile::TempDir,
    running: Vec<Running>,
}

/// A command that has not ended.
struct Running {
    line: String,
    child: Child,
    output: std::path::PathBuf,
}

impl Shell {
    fn new() -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        fs::create_dir_all(folder.path().join("here")).unwrap();
        fs::create_dir(&tools).unwrap();
        let [tcp, websocket] = PORTS.map(|port| format!("s/:{port}/:{}/", free_port()));
        let default = format!("'{ZEITNOT}' \"$@\" | sed '{tcp}; {websocket}'");
        script(
            &tools.join("zeitnot"),
            &format!("[ \"$*\" != 'check --default' ] || {{ {default}; exit; }}\nexec '{ZEITNOT}' \"$@\""),
        );
        // The program is built already, and this is one of its tests.
        script(
            &tools.join("cargo"),
            "case \"$*\" in 'run --release') exec zeitnot;; test) ;; *) exit 9;; esac",
        );
        Shell { folder, running: Vec::new() }
    }

    fn command(&self, line: &str, output: &Path) -> Command {
        let paths = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        let output = File::create(output).unwrap();
        command.args(["-c", line]).current_dir(self.folder.path().join("here")).stdin(Stdio::null());
        for variable in ENVIRONMENT {
            command.env_remove(variable);
        }
        command.env("PATH", format!("{}:{paths}:/usr/games", self.folder.path().join("tools").display()));
        command.stdout(output.try_clone().unwrap()).stderr(output).process_group(0);
        command
    }

    /// Runs a line of a page to its end, or until it has begun.
    fn run(&mut self, line: &str) {
        let output = self.folder.path().join(format!("output-{}", self.running.len()));
        let mut child = self.command(line, &output).spawn().unwrap();
        // The longest name that fits is the command.
        let known =
            RUNNING.iter().filter(|(start, _)| line.starts_with(start)).max_by_key(|(start, _)| start.len());
        let Some((_, begun)) = known else {
            let status = wait_for(line, || child.try_wait().unwrap());
            assert!(status.success(), "{line}: {}", fs::read_to_string(output).unwrap());
            return;
        };
        let mut running = Running { line: line.to_owned(), child, output };
        running.await_output(begun);
        self.running.push(running);
    }

    fn find(&mut self, line: &str) -> &mut Running {
        self.running.iter_mut().find(|running| running.line.starts_with(line)).unwrap()
    }
}

impl Running {
    fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    fn await_output(&mut self, text: &str) {
        wait_for(text, || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{}: {status}: {}", self.line, self.output());
            }
            self.output().contains(text).then_some(())
        });
    }

    /// Interrupts it, as often as it takes. Returns what it wrote.
    fn end(mut self) -> String {
        let line = self.line.clone();
        wait_for(&line, || {
            self.interrupt();
            self.child.try_wait().unwrap()
        });
        self.output()
    }

    fn interrupt(&self) {
        signal_group("INT", self.child.id());
    }
}

/// Nothing is left behind by a test that fails.
impl Drop for Running {
    fn drop(&mut self) {
        signal_group("KILL", self.child.id());
        let _ = self.child.wait();
    }
}

/// Outside of those that the system gives to others.
fn free_port() -> u16 {
    wait_for("a free port", || {
        let port = fastrand::u16(20_000..32_000);
        TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
    })
}

fn script(path: &Path, lines: &str) {
    files::write(path, format!("#!/bin/sh\n{lines}\n"), 0o755);
}

/// The lines of all blocks of shell commands, without comments.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines =
        blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap_or_default().trim_end());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test(limit = LONG)]
fn the_tour_of_the_readme_works_as_it_is_written() {
    let mut shell = Shell::new();
    for line in commands(include_str!("../../README.md")) {
        if line.contains("gnuchess") && !has_engine("/usr/games/gnuchess") {
            continue;
        }
        shell.run(&line);
        // These need nothing of what follows, and much of the machine.
        if line.starts_with("cargo run") || line.starts_with("zeitnot match") {
            shell.running.pop().into_iter().for_each(|running| drop(running.end()));
        }
    }
    // In the words of the page: an arena, and two bots that play each other in it.
    let arena = shell.find("zeitnot arena");
    for expected in ["class: zeitnot joined", "class: second joined", "class: game "] {
        arena.await_output(expected);
    }
    let here = shell.folder.path().join("here");
    assert!(here.join("zeitnot.redb").exists() && here.join("second.redb").exists());
    while let Some(running) = shell.running.pop() {
        let line = running.line.clone();
        let output = running.end();
        assert!(!output.contains(" WARN ") && !output.contains(" ERROR "), "{line}: {output}");
        if line == "zeitnot arena" {
            assert!(output.contains("class, standings so far:"), "{output}");
        }
    }
}
