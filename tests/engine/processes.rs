//! Programs of others that we start: they see no secrets, and do not outlive us.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use zeitnot_testing::wait_for;

use crate::support::{command::zeitnot, files};

/// Variables of the tests' environment that hold secrets, the last one as the configuration says.
const SECRETS: [&str; 6] = [
    "LICHESS_BOT_TOKEN",
    "LICHESS_EXPLORER_TOKEN",
    "ZEITNOT_TOKEN",
    "ZEITNOT_IMCS_PASSWORD",
    "ZEITNOT_JOIN_KEY",
    "SECOND_BOT",
];

/// A program that, spoken to or without input, notes its environment and two process ids, its own and a child's, says
/// nothing, and never ends: not at the end of its input, nor at a polite signal.
struct Clinging {
    folder: TempDir,
    path: PathBuf,
}

impl Clinging {
    fn write() -> Clinging {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clinging");
        let at = folder.path().display();
        let script = format!(
            "#!/bin/sh\ntrap '' HUP INT TERM\nread -r line\nenv > {at}/environment\nsleep 1000 &\n\
             echo $$ $! > {at}/new-ids\nmv {at}/new-ids {at}/ids\nwhile :; do wait; sleep 1000; done\n"
        );
        files::write(&path, script, 0o755);
        Clinging { folder, path }
    }

    /// Runs one of our commands until it has started the program.
    fn start_by(&self, mut command: Command) -> Child {
        for name in SECRETS {
            command.env(name, "lip_hush");
        }
        let child = command
            .env("OMP_NUM_THREADS", "7")
            // A command that is killed leaves its temporary files.
            .env("TMPDIR", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("the program starts", || self.folder.path().join("ids").exists().then_some(()));
        child
    }

    fn environment(&self) -> String {
        fs::read_to_string(self.folder.path().join("environment")).unwrap()
    }

    /// Waits until both processes are gone. A zombie is.
    fn ends(&self) {
        let ids = fs::read_to_string(self.folder.path().join("ids")).unwrap();
        assert_eq!(ids.split_whitespace().count(), 2);
        for id in ids.split_whitespace() {
            let stat = Path::new("/proc").join(id).join("stat");
            let is_gone = || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
            wait_for("its end", || is_gone().then_some(()));
        }
    }
}

#[test]
fn they_see_no_secrets_and_do_not_outlive_a_program_that_is_killed() {
    for kind in ["check", "match", "referee"] {
        let program = Clinging::write();
        let path = program.path.to_str().unwrap();
        let table = format!(
            "[engines.it]\ncommand = '{path}'\n[[server]]\nprotocol = 'lichess'\ntoken_env = 'SECOND_BOT'\n"
        );
        fs::write(program.folder.path().join("config.toml"), table).unwrap();
        let arguments = match kind {
            "check" => vec!["check"],
            "match" => vec!["match", "--engine", "it", "--engine", "zeitnot"],
            _ => vec!["referee", path, path],
        };
        let mut ours = program.start_by(zeitnot(&arguments));
        ours.kill().unwrap();
        ours.wait().unwrap();
        program.ends();
        let environment = program.environment();
        // The referee reads no configuration, which alone can tell that the last one is a secret.
        let secrets = if kind == "referee" { &SECRETS[..4] } else { &SECRETS[..] };
        for secret in secrets {
            assert!(!environment.contains(&format!("{secret}=")), "{kind}: {secret}");
        }
        assert!(
            environment.contains("OMP_NUM_THREADS=7\n") && environment.contains("PATH="),
            "{environment}"
        );
    }
}
