//! Games in a file of games, found again after a kill.

use std::{
    fs::OpenOptions,
    io::{self, BufRead, BufReader, Seek, SeekFrom},
    path::Path,
};

use crate::pgn;

/// Whole games at the end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) ids: Vec<String>,
    /// Length of the file up to the end of the last of them.
    whole: u64,
    len: u64,
}

impl Tail {
    /// Reads the games of a file beyond a length.
    pub(super) fn read(path: &Path, from: u64) -> io::Result<Tail> {
        let mut file = BufReader::new(OpenOptions::new().read(true).open(path)?);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Tail { ids: Vec::new(), whole: from, len: from };
        let (mut line, mut id, mut is_in_tags) = (Vec::new(), None, false);
        while file.read_until(b'\n', &mut line)? > 0 {
            tail.len += line.len() as u64;
            let text = String::from_utf8_lossy(&line);
            match text.as_ref() {
                // Another one ends the tags.
                "\n" if is_in_tags => is_in_tags = false,
                "\n" => {
                    tail.whole = tail.len;
                    tail.ids.extend(id.take());
                }
                text => {
                    is_in_tags = text.starts_with('[') && text.ends_with("\"]\n");
                    id = pgn::read_id_tag(text.trim_end()).map(str::to_owned).or(id);
                }
            }
            line.clear();
        }
        Ok(tail)
    }

    /// Cuts off a game that a kill has torn.
    pub(super) fn cut(&self, path: &Path) -> io::Result<()> {
        if self.whole == self.len {
            return Ok(());
        }
        tracing::warn!(
            "{}: the last game is cut off, as it is not whole; it is written again",
            path.display()
        );
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(self.whole).and_then(|()| file.sync_data())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Tags, moves that are wrapped within a clock, and the end.
    const GAME: &str = "[Event \"class\"]\n[GameId \"a\"]\n\n1. e4 {\n[%clk 0:00:01] } 1-0\n\n";

    #[test]
    fn a_game_counts_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("class.pgn");
        let second = GAME.replace("\"a\"", "\"b\"");
        for torn in 0..=second.len() {
            fs::write(&path, format!("{GAME}{}", &second[..torn])).unwrap();
            let tail = Tail::read(&path, 0).unwrap();
            let is_whole = torn == second.len();
            assert_eq!(tail.ids, if is_whole { vec!["a", "b"] } else { vec!["a"] }, "{torn}");
            tail.cut(&path).unwrap();
            let whole = if is_whole { second.as_str() } else { "" };
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{GAME}{whole}"));
            assert_eq!(Tail::read(&path, GAME.len() as u64).unwrap().ids.len(), usize::from(is_whole));
        }
    }
}
