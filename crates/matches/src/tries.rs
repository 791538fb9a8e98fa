//! Tries of a queue that are done: a file beside the queue, and their rows in a log for people.

use std::{
    fs::{self, OpenOptions},
    io::ErrorKind,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use zeitnot_net::{FileVersion, append_whole, replace_file};

use crate::{
    file_error::{FileError, content, unwritten},
    sprt::{Sprt, Verdict},
    tally::Tally,
};

/// Head of a log that is not there yet.
const HEAD: &str = "| date | change | match | score | Elo | verdict |\n|---|---|---|---|---|---|\n";

/// Version of the file.
const VERSION: u64 = 1;

/// The tries that are done.
#[derive(Debug)]
pub struct Tries {
    path: PathBuf,
    log: Option<PathBuf>,
    done: Done,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    #[serde(default)]
    version: u64,
    #[serde(default)]
    result: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Its row in the log.
    row: String,
    /// Whether the log has the row.
    logged: bool,
}

impl Tries {
    /// Reads the file, if there is one.
    pub fn read(path: PathBuf, log: Option<PathBuf>) -> Result<Tries, FileError> {
        let wrong = |why: String| content(&path, why);
        let done = match fs::read_to_string(&path) {
            Ok(text) => {
                let broken = |error| wrong(format!("no results of a queue: {error}; mend or remove it"));
                let version: FileVersion = toml::from_str(&text).map_err(broken)?;
                version.check(VERSION).map_err(|newer| wrong(newer.to_string()))?;
                toml::from_str(&text).map_err(broken)?
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Done::default(),
            Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
        };
        Ok(Tries { path, log, done })
    }

    pub fn is_done(&self, name: &str) -> bool {
        self.done.result.iter().any(|entry| entry.name == name)
    }

    /// Notes a try as done, and writes its row.
    pub fn add(&mut self, name: &str, row: &str) -> Result<(), FileError> {
        self.done.result.push(Entry { name: name.to_owned(), row: row.to_owned(), logged: false });
        self.save()?;
        self.write_log()
    }

    /// Writes the rows that the log does not have. A kill between a row and its note leaves no second row.
    pub fn write_log(&mut self) -> Result<(), FileError> {
        let Some(path) = &self.log else { return Ok(()) };
        if self.done.result.iter().all(|entry| entry.logged) {
            return Ok(());
        }
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(unwritten(path))?,
        };
        let mut more = match text.as_str() {
            "" => HEAD.to_owned(),
            text if text.ends_with('\n') => String::new(),
            _ => "\n".to_owned(),
        };
        for entry in self.done.result.iter_mut().filter(|entry| !entry.logged) {
            if !text.lines().any(|line| line == entry.row) {
                more = more + &entry.row + "\n";
            }
            entry.logged = true;
        }
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| append_whole(&mut file, &more)).map_err(unwritten(path))?;
        self.save()
    }

    fn save(&mut self) -> Result<(), FileError> {
        self.done.version = VERSION;
        let text = toml::to_string(&self.done).map_err(|error| content(&self.path, error))?;
        replace_file(&self.path, text.as_bytes()).map_err(unwritten(&self.path))
    }
}

/// Row of the log about a try.
pub fn row(name: &str, conditions: &str, tally: &Tally, sprt: Option<Sprt>) -> String {
    let name = name.replace(['\n', '\r'], " ").replace('|', "\\|");
    let [won, drawn, lost] = tally.results();
    let pairs = tally.pairs();
    let elo = pairs.elo().map_or_else(|| "–".to_owned(), |elo| format!("{elo:.0}"));
    let (test, verdict) = match sprt {
        Some(sprt) => {
            let state = sprt.state(pairs);
            let word = match state.verdict() {
                Verdict::Accepted => "passed",
                Verdict::Rejected => "failed",
                Verdict::Open => "open",
            };
            (format!(", [{}, {}]", sprt.elo0, sprt.elo1), format!("{word}, LLR {:.2}", state.llr))
        }
        None => (String::new(), "no test".to_owned()),
    };
    let share = 100.0 * tally.share();
    let date = OffsetDateTime::now_utc().date();
    // Minus signs as elsewhere on the page; the hyphens of date, name and conditions stay.
    let figures =
        format!("{test} | +{won} ={drawn} -{lost}, {share:.1} % | {elo} | {verdict} |").replace('-', "−");
    format!("| {date} | {name} | {conditions}{figures}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::Model;

    fn tally(pairs: usize, halves: [u8; 2]) -> Tally {
        let mut tally = Tally::default();
        (0..2 * pairs).for_each(|game| tally.record(game, halves[game / 2 % 2]));
        tally
    }

    #[test]
    fn a_row_has_the_score_the_bounds_and_the_verdict() {
        let sprt = Some(Sprt { elo0: -4.0, elo1: 1.0, error: 0.05, model: Model::Logistic });
        let told = |tally: &Tally, sprt| {
            let row = row("a|b, 2-ply", "40 games of minichess-2026, 4+0.04", tally, sprt);
            row.split_once(" | ").unwrap().1.to_owned()
        };
        assert_eq!(
            told(&tally(20, [0, 1]), sprt),
            "a\\|b, 2-ply | 40 games of minichess-2026, 4+0.04, [−4, 1] | +0 =20 −20, 25.0 % | −191 ± 107 | open, LLR −0.29 |"
        );
        assert!(told(&tally(1, [2, 2]), None).ends_with(" | +2 =0 −0, 100.0 % | – | no test |"));
    }

    #[test]
    fn a_row_is_written_once_also_after_a_kill() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path().join("tries.results.toml"), folder.path().join("log.md"));
        let read = || Tries::read(path.clone(), Some(log.clone())).unwrap();
        read().add("first", "| a |").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), format!("{HEAD}| a |\n"));
        // As if it had been killed before the note, or before the row.
        let noted = fs::read_to_string(&path).unwrap();
        fs::write(&path, noted.replace("logged = true", "logged = false")).unwrap();
        read().write_log().unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), format!("{HEAD}| a |\n"));
        fs::write(&path, noted.replace("logged = true", "logged = false")).unwrap();
        fs::write(&log, "# Log\n\n| b |").unwrap();
        read().write_log().unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "# Log\n\n| b |\n| a |\n");
        assert!(read().is_done("first") && !read().is_done("second"));
        fs::write(&path, "[[result]]\nname = 3\n").unwrap();
        assert!(Tries::read(path.clone(), None).is_err());
    }

    #[test]
    fn a_file_of_this_release_is_read_and_a_newer_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tries.results.toml");
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/files-0.1/tries.results.toml");
        let kept = &fs::read_to_string(kept).unwrap();
        for text in [kept, &kept.replace("version = 1\n", "")] {
            fs::write(&path, text).unwrap();
            let mut results = Tries::read(path.clone(), None).unwrap();
            assert!(results.is_done("first") && !results.is_done("second"));
            results.save().unwrap();
            assert_eq!(&fs::read_to_string(&path).unwrap(), kept);
        }
        fs::write(&path, kept.replace("version = 1", "version = 2\nnew = 1")).unwrap();
        let told = Tries::read(path.clone(), None).err().unwrap().to_string();
        assert!(told.ends_with(": is of a newer zeitnot (version 2, known is 1); update this one"), "{told}");
    }
}
