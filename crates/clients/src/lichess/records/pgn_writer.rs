//! PGN writer: writes games to disk one after the other, so that no game waits for the disk. A game that cannot be
//! written, as on a full disk, is kept and tried again.

use std::{
    collections::VecDeque,
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{select, sync::mpsc, task::spawn_blocking, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error, info, warn};
use zeitnot_net::{append_whole, http::BaseUrl, replace_file};
use zeitnot_rules::Color;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::{GameFull, GameId};

use super::{record::GameRecord, suspended};
use crate::wait::until;

/// Games that may wait; more wait only if the disk does not work.
const INBOX: usize = 64;
/// Games that are kept after a failure.
const MAX_UNWRITTEN: usize = 256;
/// After a failure the kept games are tried again this often.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

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
        let is_newer = !restore(record, &notes);
        let path = self.directory.join(self.file_name(record));
        match self.grouping {
            // A game that is written again, as after a crash, replaces itself.
            PgnGrouping::Game => replace_file(&path, record.pgn(&self.server).as_bytes())?,
            PgnGrouping::Opponent | PgnGrouping::All => append(&path, &record.pgn(&self.server))?,
        }
        if is_newer {
            return Ok(path);
        }
        match fs::remove_file(&notes) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The game is written, and must not be written again.
                error!("cannot remove {}, which is needed no more: {error}", notes.display());
            }
            _ => {}
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

/// Text from outside as a part of a file name.
fn safe(text: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(30).map(clean).collect()
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    append_whole(&mut OpenOptions::new().create(true).append(true).open(path)?, text)
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
            let mut queue = WriteQueue { files, unwritten: VecDeque::new() };
            let mut retry_at = None;
            loop {
                select! {
                    task = inbox.recv() => match task {
                        Some((record, task)) => queue.take(record, task).await,
                        None => break,
                    },
                    () = until(retry_at) => queue.retry().await,
                }
                retry_at = (!queue.unwritten.is_empty()).then(|| Instant::now() + RETRY_INTERVAL);
            }
            queue.close().await;
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

/// Games on their way to the disk.
struct WriteQueue {
    files: PgnFiles,
    /// Games that could not be written, oldest first.
    unwritten: VecDeque<GameRecord>,
}

impl WriteQueue {
    /// Writes a game, after those that could not be written before.
    async fn take(&mut self, record: GameRecord, task: Task) {
        self.retry().await;
        let id = record.id();
        let (record, written) = self.write(record, task).await;
        let Err(error) = written else { return };
        let directory = self.files.directory.display();
        match (task, record) {
            (Task::Write, Some(record)) => {
                error!(game = %id, "cannot write the game to {directory}: {error}; it is kept and tried again");
                self.keep(record);
            }
            _ => {
                error!(game = %id, "cannot write to {directory}: {error}; what we noted on the game is lost")
            }
        }
    }

    fn keep(&mut self, record: GameRecord) {
        if self.unwritten.len() >= MAX_UNWRITTEN
            && let Some(oldest) = self.unwritten.pop_front()
        {
            error!(game = %oldest.id(), "too many games could not be written; this one is lost");
        }
        self.unwritten.push_back(record);
    }

    /// Tries the kept games again.
    async fn retry(&mut self) {
        for record in std::mem::take(&mut self.unwritten) {
            let id = record.id();
            match self.write(record, Task::Write).await {
                (_, Ok(())) => info!(game = %id, "the game that was kept is written"),
                (record, Err(_)) => self.unwritten.extend(record),
            }
        }
    }

    /// Tries the kept games for the last time.
    async fn close(mut self) {
        self.retry().await;
        if !self.unwritten.is_empty() {
            let games = self.unwritten.len();
            let directory = self.files.directory.display();
            error!("games lost, as {directory} could not be written to: {games}");
        }
    }

    /// Works on a thread that may block. Gives the record back, unless that panicked.
    async fn write(&self, mut record: GameRecord, task: Task) -> (Option<GameRecord>, io::Result<()>) {
        let id = record.id();
        let files = self.files.clone();
        let work = move || {
            let path = match task {
                Task::Write => files.write(&mut record),
                Task::Suspend => files.suspend(&mut record),
            };
            (record, path.map(|path| debug!(game = %id, path = %path.display(), "written")))
        };
        match spawn_blocking(work).await {
            Ok((record, written)) => (Some(record), written),
            Err(panic) => (None, Err(io::Error::other(panic))),
        }
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

    fn files(directory: PathBuf, grouping: PgnGrouping) -> PgnFiles {
        PgnFiles { server: BaseUrl::default(), directory, grouping }
    }

    fn pgn(record: &GameRecord) -> String {
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

    #[test(start_paused = true)]
    async fn games_that_cannot_be_written_are_kept_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("games");
        // No folder can be made in the place of a file.
        fs::write(&directory, "").unwrap();
        let files = files(directory.clone(), PgnGrouping::All);
        let game = |moves| GameRecord::new(full("Bob", moves), Color::White);
        let first = game("e2e4");
        let second = game("d2d4");
        let mut queue = WriteQueue { files, unwritten: VecDeque::new() };
        for task in [Task::Suspend, Task::Write] {
            queue.take(first.clone(), task).await;
        }
        assert_eq!(queue.unwritten.len(), 1);
        queue.retry().await;
        assert_eq!(queue.unwritten.len(), 1);
        fs::remove_file(&directory).unwrap();
        queue.take(second.clone(), Task::Write).await;
        assert!(queue.unwritten.is_empty());
        let text = fs::read_to_string(directory.join("games.pgn")).unwrap();
        assert_eq!(text, pgn(&first) + &pgn(&second));
    }

    #[test]
    async fn the_writer_tries_once_more_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("games");
        fs::write(&directory, "").unwrap();
        let files = files(directory.clone(), PgnGrouping::All);
        let record = GameRecord::new(full("Bob", "e2e4"), Color::White);
        let unwritten = VecDeque::from([record.clone()]);
        WriteQueue { files: files.clone(), unwritten: unwritten.clone() }.close().await;
        fs::remove_file(&directory).unwrap();
        WriteQueue { files, unwritten }.close().await;
        assert_eq!(fs::read_to_string(directory.join("games.pgn")).unwrap(), pgn(&record));
    }
}
