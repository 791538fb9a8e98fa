//! Notes on suspended games, kept in a small file each until the game is over: a line with the version, and one for each
//! ply.

use std::{fs, path::Path, time::Duration};

use serde::{Deserialize, Serialize};
use zeitnot_net::{FileVersion, NewerFile};
use zeitnot_seat::{Eval, EvalScore};

/// Longer files are not ours.
const MAX_FILE_BYTES: u64 = 1 << 20;
const VERSION: u64 = 1;
/// Maximum length of a game; the server ends longer ones.
pub(crate) const MAX_PLIES: usize = 4096;

/// Note on a ply: the mover's clock and our evaluation.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct PlyNote {
    pub(crate) left: Option<Duration>,
    pub(crate) eval: Option<Eval>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    mv: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i16>,
    #[serde(default)]
    depth: u16,
}

impl Line {
    fn new(mv: &str, note: &PlyNote) -> Line {
        let (cp, mate) = match note.eval.map(|eval| eval.score) {
            Some(EvalScore::Centipawns(cp)) => (Some(cp), None),
            Some(EvalScore::Mate(moves)) => (None, Some(moves)),
            None => (None, None),
        };
        Line {
            mv: mv.to_owned(),
            left_ms: note.left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            cp,
            mate,
            depth: note.eval.map_or(0, |eval| eval.depth),
        }
    }

    fn note(&self) -> PlyNote {
        let score = self.cp.map(EvalScore::Centipawns).or(self.mate.map(EvalScore::Mate));
        PlyNote {
            left: self.left_ms.map(Duration::from_millis),
            eval: score.map(|score| Eval { score, depth: self.depth }),
        }
    }
}

pub(crate) fn print<'a>(plies: impl Iterator<Item = (&'a str, &'a PlyNote)>) -> String {
    let lines = plies.map_while(|(mv, note)| serde_json::to_string(&Line::new(mv, note)).ok());
    format!("{{\"version\":{VERSION}}}\n") + &lines.map(|line| line + "\n").collect::<String>()
}

/// Reads such a file, as far as it is readable: moves with their notes.
///
/// # Errors
/// [`NewerFile`]
pub(crate) fn read(file: &Path) -> Result<Vec<(String, PlyNote)>, NewerFile> {
    let is_ours = fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE_BYTES);
    let text = if is_ours { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    let mut lines = text.lines().peekable();
    // Files of the first version may begin with a ply.
    let is_head = |line: &&str| serde_json::from_str::<Line>(line).is_err();
    if let Some(Ok(version)) = lines.next_if(is_head).map(serde_json::from_str::<FileVersion>) {
        version.check(VERSION)?;
    }
    let plies = lines.take(MAX_PLIES).map_while(|line| serde_json::from_str::<Line>(line).ok());
    Ok(plies.map(|line| (line.mv.clone(), line.note())).collect())
}
