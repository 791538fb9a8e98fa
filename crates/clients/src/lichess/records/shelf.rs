//! What is known of games that go on later: a small file each, until they are written down.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use zeitnot_seat::{Eval, Worth};
use zeitnot_wire::lichess::GameId;

use super::{Config, LONGEST, Note};

/// A file that is longer is none of ours.
const LARGEST: u64 = 1 << 20;

/// A ply and what is known of it; one line of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub mv: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i16>,
    #[serde(default)]
    depth: u16,
}

impl Kept {
    fn new(mv: &str, note: &Note) -> Kept {
        let worth = note.eval.map(|eval| eval.worth);
        Kept {
            mv: mv.to_owned(),
            left_ms: note.left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            cp: worth.and_then(|worth| if let Worth::Centipawns(cp) = worth { Some(cp) } else { None }),
            mate: worth.and_then(|worth| if let Worth::Mate(moves) = worth { Some(moves) } else { None }),
            depth: note.eval.map_or(0, |eval| eval.depth),
        }
    }

    pub fn left(&self) -> Option<Duration> {
        self.left_ms.map(Duration::from_millis)
    }

    pub fn eval(&self) -> Option<Eval> {
        let worth = self.cp.map(Worth::Centipawns).or(self.mate.map(Worth::Mate))?;
        Some(Eval { worth, depth: self.depth })
    }
}

/// Where such a file is.
pub(super) fn place(config: &Config, id: GameId) -> PathBuf {
    config.folder.join("unfinished").join(format!("{id}.json"))
}

/// The text of such a file.
pub(super) fn print<'a>(plies: impl Iterator<Item = (&'a str, &'a Note)>) -> String {
    let lines = plies.map_while(|(mv, note)| serde_json::to_string(&Kept::new(mv, note)).ok());
    lines.map(|line| line + "\n").collect()
}

/// What stands there, as far as it can be read.
pub(super) fn read(file: &Path) -> Vec<Kept> {
    let is_ours = fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() <= LARGEST);
    let text = if is_ours { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    text.lines().take(LONGEST).map_while(|line| serde_json::from_str(line).ok()).collect()
}

/// It is needed no more.
pub(super) fn clear(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
