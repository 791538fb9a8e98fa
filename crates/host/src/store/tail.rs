//! Games in a file of games, found again after a kill.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Seek, SeekFrom},
    path::Path,
};

use crate::pgn;

/// Returns the ids of the whole games in a file beyond a length. The file is only read: its user may have edited it.
pub(super) fn ids_beyond(path: &Path, from: u64) -> io::Result<Vec<String>> {
    let mut file = BufReader::new(File::open(path)?);
    file.seek(SeekFrom::Start(from))?;
    let (mut ids, mut line, mut id, mut is_in_tags) = (Vec::new(), Vec::new(), None, false);
    while file.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        match text.as_ref() {
            // Another one ends the tags.
            "\n" if is_in_tags => is_in_tags = false,
            "\n" => ids.extend(id.take()),
            text => {
                is_in_tags = text.starts_with('[') && text.ends_with("\"]\n");
                id = pgn::read_id_tag(text.trim_end()).map(str::to_owned).or(id);
            }
        }
        line.clear();
    }
    Ok(ids)
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
            let is_whole = torn == second.len();
            let expected = if is_whole { vec!["a", "b"] } else { vec!["a"] };
            assert_eq!(ids_beyond(&path, 0).unwrap(), expected, "{torn}");
            assert_eq!(ids_beyond(&path, GAME.len() as u64).unwrap(), expected[1..], "{torn}");
        }
    }
}
