//! Time limits, seen from outside: this program starts itself to run one test that exceeds its limit.

#![allow(clippy::unwrap_used, clippy::zombie_processes)] // in helpers, too; the limit ends the processes

#[macro_use]
extern crate zeitnot_testing;

use std::{
    env, fs,
    future::pending,
    io::Read,
    path::Path,
    process::{Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use zeitnot_testing::{LONG, shows, soon, wait_for, waits_for};

/// Set in the programs that this one starts; a path for the numbers of their processes.
const CHILD: &str = "ZEITNOT_TEST_LIMITS";
const SHORT: Duration = Duration::from_millis(300);

/// Runs one of the tests below in a program of its own.
fn play(test: &str, pid: &Path) -> (Output, String) {
    let mut program = Command::new(env::current_exe().unwrap());
    let output = program.args([test, "--exact"]).env(CHILD, pid).output().unwrap();
    let told = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
    (output, told)
}

fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Starts a process that starts another one, and writes down the number of that.
fn start_processes() -> std::process::Child {
    let script = "sleep 1000 & echo $! >\"$ZEITNOT_TEST_LIMITS.part\"
        mv \"$ZEITNOT_TEST_LIMITS.part\" \"$ZEITNOT_TEST_LIMITS\"; echo started; wait";
    let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = [0; 8];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    child
}

#[cfg(target_os = "linux")]
fn assert_is_gone(pid: &Path) {
    let process = format!("/proc/{}/cmdline", fs::read_to_string(pid).unwrap().trim());
    wait_for("the end of the process", || fs::read(&process).unwrap_or_default().is_empty().then_some(()));
}

#[cfg(not(target_os = "linux"))]
fn assert_is_gone(_: &Path) {}

#[test(limit = SHORT)]
async fn endless_wait() {
    if is_child() {
        shows("the bot", || (0..99).map(|line| format!("line {line}\n")).collect());
        start_processes();
        let _other = waits_for("a good day");
        soon("a message", pending::<()>()).await;
    }
}

#[test(limit = SHORT)]
fn waits_for_a_process() {
    if is_child() {
        assert!(!start_processes().wait().unwrap().success());
        panic!("its process was killed");
    }
}

#[test(limit = SHORT)]
fn endless_sleep() {
    if is_child() {
        start_processes();
        sleep(LONG);
    }
}

#[test]
fn leaves_a_process_behind() {
    if is_child() {
        start_processes();
    }
}

#[test(workers = 2)]
async fn leaves_a_process_of_a_worker_behind() {
    if is_child() {
        tokio::spawn(async { drop(start_processes()) }).await.unwrap();
    }
}

#[test]
fn an_endless_wait_fails_with_all_that_is_known() {
    let folder = env::temp_dir().join(format!("zeitnot-limits-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let pid = folder.join("pid");
    let (output, told) = play("endless_wait", &pid);
    assert_eq!(output.status.code(), Some(101), "{told}");
    for expected in [
        "endless_wait: not done after its time limit of 300ms, waits for: a good day, waits for: a message",
        "--- last output of the bot:\nline 79\n",
        "line 98\n",
        "test endless_wait ... FAILED",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert_is_gone(&pid);

    let (_, told) = play("waits_for_a_process", &pid);
    assert!(told.contains("its process was killed"), "{told}");
    assert_is_gone(&pid);

    let (output, told) = play("endless_sleep", &pid);
    assert_eq!(output.status.code(), Some(101), "{told}");
    assert!(told.contains("endless_sleep does not end: the program ends here"), "{told}");
    assert_is_gone(&pid);

    for name in ["leaves_a_process_behind", "leaves_a_process_of_a_worker_behind"] {
        let (output, told) = play(name, &pid);
        assert!(output.status.success(), "{told}");
        assert_is_gone(&pid);
    }
    fs::remove_dir_all(folder).unwrap();
}
