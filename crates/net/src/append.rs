//! Appending to files of records, each of which is in its file whole or not at all.

use std::{
    fs::File,
    io::{self, Write},
};

/// Appends a text to a file that is open for appending, and waits until it is on the disk. On a disk that gets full on
/// the way, the file is cut back to its length before.
///
/// The file is locked meanwhile, so that others who append to it by this function neither mix with us nor are cut off.
///
/// # Errors
/// [`io::Error`] of the write. If the file cannot be cut back, either, the text says so.
pub fn append_whole(file: &mut File, text: &str) -> io::Result<()> {
    // Some file systems have no locks.
    let is_locked = file.lock().is_ok();
    let appended = append(file, text);
    if is_locked {
        let _ = file.unlock();
    }
    appended
}

fn append(file: &mut File, text: &str) -> io::Result<()> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        // A pipe or a terminal: it can neither be cut back nor synchronised.
        return file.write_all(text.as_bytes());
    }
    file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| {
        match file.set_len(metadata.len()) {
            Ok(()) => error,
            Err(cut) => {
                let torn =
                    format!("{error}; and what was written stays, as the file cannot be cut back: {cut}");
                io::Error::new(error.kind(), torn)
            }
        }
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{
        env,
        fs::{self, OpenOptions},
        path::Path,
        process::Command,
    };

    use rustix::process::{Resource, Rlimit, setrlimit};

    use super::*;

    const FILE: &str = "ZEITNOT_TEST_SMALL_DISK";

    fn record(letter: &str) -> String {
        letter.repeat(600) + "\n"
    }

    fn set_limit(bytes: Option<u64>) {
        setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    }

    /// The other half of the next test, in a process of its own: its files grow to a thousand bytes at most, and a
    /// write that goes beyond is done in part.
    #[test]
    fn with_room_for_one_record() {
        let Some(path) = env::var_os(FILE) else { return };
        let path = Path::new(&path);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        set_limit(Some(1_000));
        append_whole(&mut file, &record("a")).unwrap();
        for _ in 0..2 {
            let error = append_whole(&mut file, &record("b")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
            assert_eq!(fs::read_to_string(path).unwrap(), record("a"), "half of a record stays");
        }
        set_limit(None);
        append_whole(&mut file, &record("b")).unwrap();
        append_whole(&mut file, &record("c")).unwrap();
    }

    #[test]
    fn what_is_no_file_is_written_to() {
        let mut null = OpenOptions::new().append(true).open("/dev/null").unwrap();
        append_whole(&mut null, &record("a")).unwrap();
    }

    #[test]
    fn a_full_disk_leaves_only_whole_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        // The signal at the limit would end the process.
        let ignoring = r#"trap "" XFSZ; exec "$0" "$@""#;
        let output = Command::new("sh")
            .args(["-c", ignoring, env::current_exe().unwrap().to_str().unwrap()])
            .args(["append::tests::with_room_for_one_record", "--exact"])
            .env(FILE, &path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(fs::read_to_string(&path).unwrap(), record("a") + &record("b") + &record("c"));
    }
}
