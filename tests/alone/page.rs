//! The page in a real browser: `web/e2e/` plays its cases against the program in headless Chromium.

use std::{path::Path, process::Stdio};

use tokio::process::Command;
use zeitnot_testing::{VERY_LONG, has_program, is_installed, soon};

use crate::support::command::{ENVIRONMENT, ZEITNOT};
#[cfg(feature = "postgres")]
use crate::support::storage::postgres::PostgresServer;

/// Browsers that it works with.
const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Arenas of the cases with stored data, at most.
#[cfg(feature = "postgres")]
const ARENAS: usize = 8;
/// Words in the names of those cases.
#[cfg(feature = "postgres")]
const STORED: [&str; 4] = ["aSwiss", "keysAdmit", "aTournament", "AfterAKill"];

#[test(limit = VERY_LONG)]
async fn its_cases_pass_in_a_browser() {
    run(&[], None).await;
    #[cfg(feature = "postgres")]
    if let Some(server) = PostgresServer::shared() {
        let urls: Vec<_> = (0..ARENAS).map(|_| server.url(&server.create())).collect();
        run(&STORED, Some(urls.join(" "))).await;
    }
}

/// Each line is a case; the script ends by itself, and its children with it.
async fn run(words: &[&str], databases: Option<String>) {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let browser = BROWSERS.into_iter().find(|path| Path::new(path).exists());
    let packages = web.join("node_modules/playwright-core").exists();
    // Names all that is missing.
    if !is_installed("chromium", browser.is_some(), "apt-get install chromium")
        | !has_program("node", "nodejs")
        | !is_installed("web/node_modules", packages, "scripts/build-web")
    {
        return;
    }
    let mut script = Command::new("node");
    for variable in ENVIRONMENT {
        script.env_remove(variable);
    }
    script.arg("e2e/run.mjs").args(words).current_dir(web);
    script.env("ZEITNOT", ZEITNOT).env("CHROMIUM", browser.unwrap());
    script.envs(databases.map(|urls| ("DATABASES", urls)));
    let child = script.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let output = soon("the cases of the page", child.unwrap().wait_with_output()).await.unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let passed = told.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(output.status.success() && passed >= words.len().max(1), "{told}");
}
