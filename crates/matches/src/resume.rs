//! Continues a match from the file of its games. That file is its only state: a game that stands in it whole counts.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{self, BufRead, BufReader, ErrorKind, Write},
    path::Path,
};

use crate::{
    entry::Entry,
    file_error::{FileError, content, unwritten},
    record::{Counted, EVENT},
    schedule::Schedule,
};

/// Games of an interrupted match.
#[derive(Debug, Default, PartialEq)]
pub struct Resumed {
    /// Id of the match, if it was begun.
    pub id: Option<String>,
    /// Those that count.
    pub games: Vec<Counted>,
}

/// Reads the games of the last match with these settings from a file, and cuts off a game of a match that a killed
/// process has left torn at its end.
///
/// # Errors
/// [`FileError`] if the file cannot be used, or holds games of other matches only.
pub fn resume(
    path: &Path,
    settings: &str,
    entries: &[Entry],
    schedule: &Schedule,
) -> Result<Resumed, FileError> {
    let file = match OpenOptions::new().read(true).append(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Resumed::default()),
        Err(error) => return Err(unwritten(path)(error)),
    };
    // Some file systems have no locks; with one, nobody appends meanwhile.
    let _ = file.lock();
    let mut games = Games::new(BufReader::new(&file));
    let (mut resumed, mut others) = (Resumed::default(), 0);
    while let Some(tags) = games.next().map_err(unwritten(path))? {
        let Some(id) = tags.get("Match").filter(|id| id.starts_with(settings)) else {
            others += 1;
            continue;
        };
        if resumed.id.as_ref() != Some(id) {
            resumed = Resumed { id: Some(id.clone()), games: Vec::new() };
        }
        let tag = |name: &str| tags.get(name).map(String::as_str);
        resumed.games.extend(Counted::from_tags(tag, entries, schedule));
    }
    let (whole, torn) = (games.whole, games.rest);
    if resumed.id.is_none() && others > 0 {
        return Err(content(
            path,
            "holds no game of this match, with these engines, limits, openings and rules; give those that it was begun \
             with, or another file",
        ));
    }
    let begins = format!("[Event \"{EVENT}\"]\n");
    if !torn.is_empty() && (torn.starts_with(&begins) || begins.starts_with(&torn)) {
        file.set_len(whole).map_err(unwritten(path))?;
    } else if !torn.is_empty() {
        // Of somebody else: the next game begins after an empty line.
        (&file).write_all(b"\n\n").map_err(unwritten(path))?;
    }
    let _ = file.unlock();
    Ok(resumed)
}

/// Whole games of a file, and what follows the last one.
struct Games<R> {
    lines: R,
    /// Length up to the end of the last whole game.
    whole: u64,
    read: u64,
    /// First lines of a game that does not end.
    rest: String,
}

impl<R: BufRead> Games<R> {
    fn new(lines: R) -> Games<R> {
        Games { lines, whole: 0, read: 0, rest: String::new() }
    }

    /// Returns the tags of the next whole game: one whose moves end with its result and an empty line.
    fn next(&mut self) -> io::Result<Option<HashMap<String, String>>> {
        let (mut tags, mut last_word, mut line) = (HashMap::new(), String::new(), Vec::new());
        self.rest.clear();
        loop {
            line.clear();
            self.read += self.lines.read_until(b'\n', &mut line)? as u64;
            if line.is_empty() {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&line);
            if self.rest.is_empty() {
                self.rest.push_str(&text);
            }
            let text = text.trim_end();
            if let Some((name, value)) = tag(text).filter(|_| last_word.is_empty()) {
                tags.insert(name.to_owned(), value);
            } else if let Some(word) = text.split(' ').next_back().filter(|word| !word.is_empty()) {
                word.clone_into(&mut last_word);
            } else if tags.get("Result").is_some_and(|result| *result == last_word) {
                self.whole = self.read;
                return Ok(Some(tags));
            } else if tags.is_empty() {
                // More empty lines than one between two games.
                self.whole = self.read;
                self.rest.clear();
            }
        }
    }
}

/// Parses `[Name "value"]`.
fn tag(line: &str) -> Option<(&str, String)> {
    let (name, value) = line.strip_prefix('[')?.strip_suffix("\"]")?.split_once(" \"")?;
    let mut escaped = false;
    let unescape = |c: &char| {
        escaped = *c == '\\' && !escaped;
        !escaped
    };
    Some((name, value.chars().filter(unescape).collect()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tags(text: &str) -> (Vec<String>, u64, String) {
        let mut games = Games::new(text.as_bytes());
        let mut found = Vec::new();
        while let Some(tags) = games.next().unwrap() {
            found.push(tags["Round"].clone());
        }
        (found, games.whole, games.rest)
    }

    const FIRST: &str =
        "[Event \"Zeitnot match\"]\n[Round \"1.1\"]\n[Result \"1-0\"]\n\n1. e4 e5\n2. Qh5 1-0\n\n";

    #[test]
    fn games_are_whole_when_an_empty_line_follows_their_result() {
        let other = FIRST.replace("1.1", "1.2");
        assert_eq!(
            tags(&[FIRST, &other].concat()),
            (vec!["1.1".into(), "1.2".into()], 2 * FIRST.len() as u64, String::new())
        );
        for cut in 1..FIRST.len() {
            let (found, whole, rest) = tags(&[FIRST, &FIRST[..cut]].concat());
            assert_eq!((found.len(), whole), (1, FIRST.len() as u64), "cut at {cut}");
            let begins = "[Event \"Zeitnot match\"]\n";
            assert!(
                rest == begins || begins.starts_with(&rest) && !rest.is_empty(),
                "cut at {cut}: {rest:?}"
            );
        }
        assert_eq!(tags("\n\n\n"), (vec![], 3, String::new()));
    }

    #[test]
    fn values_of_tags_are_unescaped() {
        assert_eq!(tag(r#"[White "a \"b\" \\ c"]"#), Some(("White", r#"a "b" \ c"#.to_owned())));
        assert_eq!(tag("[%clk 0:01]"), None);
    }

    #[test]
    fn a_torn_game_is_cut_off_and_one_of_somebody_else_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        let schedule = Schedule::new(Default::default(), 2, 2);
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            let resumed = resume(&path, "abc", &[], &schedule);
            (resumed.map(|it| it.id).map_err(|error| error.to_string()), fs::read_to_string(&path).unwrap())
        };
        let ours = FIRST.replace("[Round", "[Match \"abc 1\"]\n[Round");
        assert_eq!(read(&ours), (Ok(Some("abc 1".into())), ours.clone()));
        assert_eq!(read(&[&ours, &ours[..70]].concat()), (Ok(Some("abc 1".into())), ours.clone()));
        let theirs = "[Event \"?\"]\n[Result \"*\"]\n\n1. e4 *\n";
        assert_eq!(read(&[&ours, theirs].concat()).1, [&ours, theirs, "\n\n"].concat());
        let (error, kept) = read(FIRST);
        assert!(error.unwrap_err().contains("games.pgn: holds no game of this match"));
        assert_eq!(kept, FIRST);
        assert_eq!(resume(&folder.path().join("none"), "abc", &[], &schedule).unwrap(), Resumed::default());
    }
}
