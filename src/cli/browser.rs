//! The browser of the desktop.

use std::{
    io,
    process::{Command, Stdio},
};

/// Program that opens a page, and its arguments before the address.
const OPENER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    ("rundll32", &["url.dll,FileProtocolHandler"])
} else {
    ("xdg-open", &[])
};

/// Opens a page, and waits for nothing.
pub(super) fn open(url: &str) -> io::Result<()> {
    let (program, arguments) = OPENER;
    let mut child = Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    // It is reaped when it ends.
    std::thread::spawn(move || child.wait());
    Ok(())
}
