//! Programs that only some machines have.

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
};

/// Whether a test can run that needs this. Without it the test is skipped, and says what is missing and which command
/// installs it. In CI on Linux, where `.ci/run` installs what the tests need, it fails.
pub fn is_installed(what: &str, is_there: bool, advice: &str) -> bool {
    if !is_there {
        let told = format!("{what} is missing; {advice}");
        let is_needed = cfg!(target_os = "linux") && env::var_os("CI").is_some();
        assert!(!is_needed, "{told}, or unset CI");
        // The thread of a test has its name. Not by a macro: what those print is shown of failed tests only.
        let line = format!("SKIPPED: {}: {told}\n", thread::current().name().unwrap_or_default());
        let _ = io::stderr().write_all(line.as_bytes());
    }
    is_there
}

/// The same for a program on the path, by its package in Debian.
pub fn has_program(name: &str, package: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    let file = |folder: PathBuf| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX)).is_file();
    is_installed(name, env::split_paths(&paths).any(file), &format!("apt-get install {package}"))
}

/// The same for an engine at this path, in a package of its own name.
pub fn has_engine(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_installed(name, Path::new(path).exists(), &format!("apt-get install {name}"))
}
