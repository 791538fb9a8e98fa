//! PGN writer: writes games to disk one after the other, so that no game waits for the disk.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tokio::{sync::mpsc, task::spawn_blocking};
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error};
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{GameFull, GameId};

use super::{record::GameRecord, suspended};

/// Games that may wait; more wait only if the disk does not work.
const INBOX: usize = 64;

/// Games in one file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PgnGrouping {
    #[default]
    Game,
    Opponent,
    All,
}

#[derive(Clone, Debug)]
pub(crate) struct PgnFiles {
    pub(crate) directory: PathBuf,
    pub(crate) grouping: PgnGrouping,
}

impl PgnFiles {
    /// Writes a game that is over, with the notes from before its suspensions. Blocks.
    pub(crate) fn write(&self, record: &mut GameRecord) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.directory)?;
        let notes = self.notes_path(record.id());
        record.restore(suspended::read(&notes));
        let path = self.directory.join(self.file_name(record));
        match self.grouping {
            // A game that is written again, as after a crash, replaces itself.
            PgnGrouping::Game => replace(&path, &record.pgn())?,
            PgnGrouping::Opponent | PgnGrouping::All => append(&path, &record.pgn())?,
        }
        match fs::remove_file(&notes) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(path),
        }
    }

    /// Keeps the notes on a suspended game, with those from before. Blocks.
    pub(crate) fn suspend(&self, record: &mut GameRecord) -> io::Result<PathBuf> {
        let notes = self.notes_path(record.id());
        record.restore(suspended::read(&notes));
        fs::create_dir_all(notes.parent().unwrap_or(Path::new(".")))?;
        replace(&notes, &suspended::print(record.notes()))?;
        Ok(notes)
    }

    fn notes_path(&self, id: GameId) -> PathBuf {
        self.directory.join("unfinished").join(format!("{id}.json"))
    }

    fn file_name(&self, record: &GameRecord) -> String {
        let (white, black) = (safe(&record.name(Color::White)), safe(&record.name(Color::Black)));
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

/// Text from outside as a part of a file name.
fn safe(text: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(30).map(clean).collect()
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Appends in one piece, so that games that end together do not mix.
fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Task {
    Write,
    Suspend,
}

/// Handle of the games to the writer's task. Without files to write to, there are no records.
#[derive(Clone, Debug)]
pub(crate) struct PgnWriter(Option<mpsc::Sender<(GameRecord, Task)>>);

impl PgnWriter {
    /// Starts the writer's task. It ends when everything is written and no [`PgnWriter`] is left.
    pub(crate) fn start(files: Option<PgnFiles>) -> (PgnWriter, AbortOnDropHandle<()>) {
        let (sender, mut inbox) = mpsc::channel::<(GameRecord, Task)>(INBOX);
        let writer = PgnWriter(files.is_some().then_some(sender));
        let work = async move {
            let Some(files) = files else { return };
            while let Some((record, task)) = inbox.recv().await {
                write_aside(files.clone(), record, task).await;
            }
        };
        (writer, AbortOnDropHandle::new(tokio::spawn(work)))
    }

    /// Begins the record of a game, if records are written.
    pub(crate) fn begin(&self, full: &GameFull, color: Color) -> Option<GameRecord> {
        self.0.as_ref().map(|_| GameRecord::new(full.clone(), color))
    }

    pub(crate) fn write(&self, record: GameRecord) {
        self.send(record, Task::Write);
    }

    /// Keeps our evaluations in a game that continues later.
    pub(crate) fn suspend(&self, record: GameRecord) {
        if record.has_evals() {
            self.send(record, Task::Suspend);
        }
    }

    fn send(&self, record: GameRecord, task: Task) {
        if let Some(sender) = &self.0
            && sender.try_send((record, task)).is_err()
        {
            error!("too many games wait to be written; this one is not written");
        }
    }
}

/// Works on a thread that may block.
async fn write_aside(files: PgnFiles, mut record: GameRecord, task: Task) {
    let (id, directory) = (record.id(), files.directory.clone());
    let work = move || match task {
        Task::Write => files.write(&mut record),
        Task::Suspend => files.suspend(&mut record),
    };
    match spawn_blocking(work).await.map_err(io::Error::other).and_then(|done| done) {
        Ok(path) => debug!(game = %id, path = %path.display(), "written"),
        Err(error) => error!(game = %id, %error, directory = %directory.display(), "cannot write the game"),
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_seat::{Eval, EvalScore};
    use zeitnot_wire::lichess::GameFull;

    use super::{
        super::record::tests::{full, state},
        *,
    };

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
            let files = PgnFiles { directory: games.clone(), grouping };
            files.write(&mut record).unwrap();
            assert_eq!(files.write(&mut record).unwrap(), games.join(name));
            let text = fs::read_to_string(games.join(name)).unwrap();
            assert_eq!(text, record.pgn().repeat(games_in_it));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn evaluations_from_before_a_suspension_are_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let files = PgnFiles { directory: folder.path().join("games"), grouping: PgnGrouping::Game };
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

    #[test]
    fn notes_that_cannot_be_read_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let files = PgnFiles { directory: folder.path().to_owned(), grouping: PgnGrouping::All };
        let mut record = GameRecord::new(full("Bob", "e2e4 e7e5"), Color::White);
        let notes = files.suspend(&mut record).unwrap();
        fs::write(notes, "e2e4 {}\nno JSON").unwrap();
        files.write(&mut record).unwrap();
    }

    #[tokio::test]
    async fn a_disk_that_does_not_work_is_only_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = PgnFiles { directory: file.path().join("below"), grouping: PgnGrouping::All };
        write_aside(files, GameRecord::new(full("Bob", ""), Color::White), Task::Write).await;
    }
}
