//! PGN files: games that are over, and the notes on those that are suspended.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tracing::{error, warn};
use zeitnot_net::{append_whole, http::BaseUrl, replace_file};
use zeitnot_rules::Color;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::GameId;

use super::{record::GameRecord, suspended};

/// Games in one file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PgnGrouping {
    #[default]
    Game,
    Opponent,
    All,
}

#[derive(Clone, Debug)]
pub(crate) struct PgnFiles {
    pub(crate) server: BaseUrl,
    pub(crate) directory: PathBuf,
    pub(crate) grouping: PgnGrouping,
}

impl PgnFiles {
    /// Writes a game that is over, with the notes from before its suspensions. Blocks.
    pub(crate) fn write(&self, record: &mut GameRecord) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.directory)?;
        let notes = self.notes_path(record.id());
        let is_ours = restore(record, &notes);
        let path = self.directory.join(self.file_name(record));
        match self.grouping {
            // A game that is written again, as after a crash, replaces itself.
            PgnGrouping::Game => replace_file(&path, record.pgn(&self.server).as_bytes())?,
            PgnGrouping::Opponent | PgnGrouping::All => append(&path, &record.pgn(&self.server))?,
        }
        if is_ours
            && let Err(error) = fs::remove_file(&notes)
            && error.kind() != io::ErrorKind::NotFound
        {
            // The game is written, and must not be written again.
            error!("cannot remove {}, which is no longer needed: {error}", notes.display());
        }
        Ok(path)
    }

    /// Keeps the notes on a suspended game, with those from before. Blocks.
    pub(crate) fn suspend(&self, record: &mut GameRecord) -> io::Result<PathBuf> {
        let notes = self.notes_path(record.id());
        if !restore(record, &notes) {
            return Ok(notes);
        }
        fs::create_dir_all(notes.parent().unwrap_or(Path::new(".")))?;
        replace_file(&notes, suspended::print(record.notes()).as_bytes())?;
        Ok(notes)
    }

    fn notes_path(&self, id: GameId) -> PathBuf {
        self.directory.join("unfinished").join(format!("{id}.json"))
    }

    fn file_name(&self, record: &GameRecord) -> String {
        let white = safe(&record.name(Color::White));
        let black = safe(&record.name(Color::Black));
        match self.grouping {
            PgnGrouping::Game => format!("{white}_vs_{black}_{}.pgn", record.id()),
            // The prefix keeps it apart from names that some systems reserve.
            PgnGrouping::Opponent => {
                format!("against_{}.pgn", safe(&record.name(!record.color)).to_ascii_lowercase())
            }
            PgnGrouping::All => "games.pgn".to_owned(),
        }
    }
}

/// Adds the notes from before. Returns whether the file is ours: a newer one stays as it is.
fn restore(record: &mut GameRecord, notes: &Path) -> bool {
    match suspended::read(notes) {
        Ok(plies) => {
            record.restore(plies);
            true
        }
        Err(newer) => {
            warn!("notes on a game, {}: {newer}; recording it without them", notes.display());
            false
        }
    }
}

/// Makes text from outside a part of a file name.
fn safe(text: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(30).map(clean).collect()
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    append_whole(&mut OpenOptions::new().create(true).append(true).open(path)?, text)
}

#[cfg(test)]
pub(super) mod tests {
    use zeitnot_seat::{Eval, EvalScore};
    use zeitnot_wire::lichess::GameFull;

    use super::{
        super::record::tests::{full, state},
        *,
    };

    pub(crate) fn files(directory: PathBuf, grouping: PgnGrouping) -> PgnFiles {
        PgnFiles { server: BaseUrl::default(), directory, grouping }
    }

    pub(crate) fn pgn(record: &GameRecord) -> String {
        record.pgn(&BaseUrl::default())
    }

    #[test]
    fn names_of_users_are_not_paths() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games");
        let mut record = GameRecord::new(full("../../con <x>", "e2e4"), Color::Black);
        for (grouping, name, games_in_it) in [
            (PgnGrouping::Game, "______con__x__vs_Zeitnot_abcdefgh.pgn", 1),
            (PgnGrouping::Opponent, "against_______con__x_.pgn", 2),
            (PgnGrouping::All, "games.pgn", 2),
        ] {
            let files = files(games.clone(), grouping);
            files.write(&mut record).unwrap();
            assert_eq!(files.write(&mut record).unwrap(), games.join(name));
            let text = fs::read_to_string(games.join(name)).unwrap();
            assert_eq!(text, pgn(&record).repeat(games_in_it));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn evaluations_from_before_a_suspension_are_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path().join("games"), PgnGrouping::Game);
        let eval = |cp, depth| Eval { score: EvalScore::Centipawns(cp), depth };
        let full = full("Bob", "");
        let mut moves = String::new();
        // After each suspension nothing is known of before.
        for (ply, mv, thought) in [
            (1, "e7e5", eval(-25, 12)),
            (3, "b8c6", Eval { score: EvalScore::Mate(2), depth: 7 }),
            (5, "g8f6", eval(0, 3)),
        ] {
            let theirs = ["", "e2e4", "", "g1f3", "", "f1c4"][ply];
            let woken = state(&full, format!("{moves} {theirs}").trim(), [180, 179]);
            let mut record = GameRecord::new(GameFull { state: woken, ..full.clone() }, Color::Black);
            record.set_eval(ply, thought);
            moves = format!("{moves} {theirs} {mv}").trim().to_owned();
            record.update(state(&full, &moves, [180, 150]));
            files.suspend(&mut record).unwrap();
        }
        // The last of ours was taken back, and another played.
        moves = moves.replace("g8f6", "g8h6");
        let mut record =
            GameRecord::new(GameFull { state: state(&full, &moves, [9, 9]), ..full }, Color::Black);
        let text = fs::read_to_string(files.write(&mut record).unwrap()).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("1... e5 {[%eval 0.25,12] [%clk 0:02:30.00]}"), "{text}");
        assert!(text.contains("2... Nc6 {[%eval #-2,7] [%clk 0:02:30.00]}"), "{text}");
        assert!(text.contains("Nh6") && !text.contains(",3]"), "{text}");
        assert_eq!(fs::read_dir(&files.directory).unwrap().count(), 2, "the game, and the folder of notes");
        assert_eq!(fs::read_dir(files.directory.join("unfinished")).unwrap().count(), 0);
    }

    /// Notes of release 0.1, those of the days before their version, and newer ones, which stay as they are.
    #[test]
    fn notes_have_a_version() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path().to_owned(), PgnGrouping::All);
        let record = || GameRecord::new(full("Bob", "e2e4 e7e5"), Color::Black);
        let notes = files.suspend(&mut record()).unwrap();
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/files-0.1/unfinished-game.json");
        let kept = fs::read_to_string(kept).unwrap();
        let (head, plies) = kept.split_once('\n').unwrap();
        assert_eq!(head, r#"{"version":1}"#);
        let evaluated = "1... e5 {[%eval 0.25,12]";
        for (text, is_read) in
            [(kept.as_str(), true), (plies, true), (&kept.replace("\"version\":1", "\"version\":2"), false)]
        {
            fs::write(&notes, text).unwrap();
            let mut written = record();
            files.write(&mut written).unwrap();
            assert_eq!(pgn(&written).contains(evaluated), is_read, "{}", pgn(&written));
            assert_eq!(notes.exists(), !is_read);
            files.suspend(&mut record()).unwrap();
            assert_eq!(fs::read_to_string(&notes).unwrap() == text, !is_read);
        }
    }

    #[test]
    fn notes_that_cannot_be_read_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path().to_owned(), PgnGrouping::All);
        let mut record = GameRecord::new(full("Bob", "e2e4 e7e5"), Color::White);
        let notes = files.suspend(&mut record).unwrap();
        fs::write(notes, "e2e4 {}\nno JSON").unwrap();
        files.write(&mut record).unwrap();
    }
}
