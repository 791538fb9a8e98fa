//! The Jobs and the script of docs/data.md, run as Kubernetes and Slurm would run them, but with few games.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;
use zeitnot::cli::import::yaml;
use zeitnot_trainer::games::GameWriter;

use super::page;
use crate::support::{command::ZEITNOT, files};

/// Text of the page and its replacement, so that a test does it.
const POSITIONS: [&str; 2] = ["--positions 25000000", "--nodes 60 --positions 40"];

/// Blocks of the page's part on clusters in this language.
fn blocks(language: &str) -> Vec<String> {
    let page = page("docs/data.md");
    let (_, part) = page.split_once("\n## On a cluster\n").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    let begin = format!("```{language}\n");
    part.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// A folder for the files, and one with the program, which is all that the search path of a node has besides a shell.
struct Node {
    folder: tempfile::TempDir,
}

impl Node {
    fn new() -> Node {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::create_dir(folder.path().join("games")).unwrap();
        std::os::unix::fs::symlink(ZEITNOT, folder.path().join("bin/zeitnot")).unwrap();
        Node { folder }
    }

    fn games(&self) -> PathBuf {
        self.folder.path().join("games")
    }

    /// Runs a command of the page, which must succeed.
    #[track_caller]
    fn run(&self, command: &[&str], environment: &[(&str, String)]) {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        let mut process = Command::new(command[0]);
        process.args(&command[1..]).current_dir(self.games()).env("PATH", path);
        let output = process.envs(environment.iter().cloned()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    }

    /// All shards are joined, and have no game in common.
    #[track_caller]
    fn has_all(&self, shards: u64) {
        let games = |name: &str| GameWriter::open(&self.games().join(name)).unwrap().games();
        let parts = fs::read_dir(self.games()).unwrap().map(|file| file.unwrap().file_name());
        let parts: Vec<_> = parts.filter(|name| name != "all.bin").collect();
        assert_eq!(parts.len() as u64, shards);
        let sum: u64 = parts.iter().map(|name| games(name.to_str().unwrap())).sum();
        assert_eq!(games("all.bin"), sum);
    }
}

/// Words of a list of a manifest.
fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn the_jobs_for_kubernetes_play_and_join_games() {
    let node = Node::new();
    let jobs = blocks("yaml");
    let [games, merge] = &jobs[..] else { panic!("{}", jobs.len()) };
    let games = games.replace(POSITIONS[0], POSITIONS[1]);
    assert!(games.contains(POSITIONS[1]));
    let run = |job: &str, indices: std::ops::Range<u64>| {
        let job = job.replace("/games/", &format!("{}/", node.games().display()));
        let job: Value = yaml::parse(&job).unwrap();
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        for index in indices {
            let command = [words(&container["command"]), words(&container["args"])].concat();
            node.run(&command, &[("JOB_COMPLETION_INDEX", index.to_string())]);
        }
        job["spec"]["completions"].as_u64()
    };
    let completions = run(&games, 0..0).unwrap();
    run(&games, 0..completions);
    run(merge, 0..1);
    node.has_all(completions);
}

#[test]
fn the_script_for_slurm_plays_and_joins_games() {
    let node = Node::new();
    let scripts = blocks("sh");
    let [array, submit] = &scripts[..] else { panic!("{}", scripts.len()) };
    let script = node.folder.path().join("games.sh");
    files::write(&script, array.replace(POSITIONS[0], POSITIONS[1]), 0o755);
    let (_, rest) = array.split_once("--array=1-").unwrap();
    let tasks: u64 = rest.lines().next().unwrap().parse().unwrap();
    for task in 1..=tasks {
        let variables = [("SLURM_ARRAY_TASK_ID", task.to_string()), ("SLURM_CPUS_PER_TASK", "2".to_owned())];
        node.run(&[script.to_str().unwrap()], &variables);
    }
    let (_, wrapped) = submit.split_once("--wrap '").unwrap();
    node.run(&["sh", "-c", wrapped.split('\'').next().unwrap()], &[]);
    node.has_all(tasks);
}
