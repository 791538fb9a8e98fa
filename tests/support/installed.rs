//! Programs that only some machines have.

use std::{env, io::Write, path::Path};

/// Whether a test can run that needs this. Without it the test is skipped, and says so. In CI on Linux,
/// where `.ci/run` installs what the tests need, it fails.
pub fn is_installed(what: &str, is_there: bool, advice: &str) -> bool {
    if !is_there {
        let told = format!("SKIPPED: {what} is missing; {advice}");
        let is_needed = cfg!(target_os = "linux") && env::var_os("CI").is_some();
        assert!(!is_needed, "{told}, or unset CI");
        // Not by a macro: what those print is shown of failed tests only.
        let _ = writeln!(std::io::stderr(), "{told}");
    }
    is_there
}

/// The same for an engine from the system's packages.
pub fn has_engine(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    is_installed(path, Path::new(path).exists(), &format!("install the package {name}"))
}
