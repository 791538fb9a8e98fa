//! Export of the games of a tournament, or of the Lichess API, from the database to a file of games.
//!
//! A game that is over and has no mark in the database is appended to the file, and then marked. After a kill in between,
//! the next run finds it in that file: beyond the length that is stored with the marks.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, time::timeout};
use zeitnot_pairing::Name;

use super::GameFile;
use crate::{
    database::{Change, Database, DatabaseError, ExportFile, GameState, Reader, WeakDatabase},
    pgn,
};

/// Games that are read, written and marked at once.
pub(super) const PAGE: usize = 64;
/// Most bytes that are looked through after a kill: more than a page of games has.
const MAX_TAIL: u64 = 64 << 20;
/// Time between two attempts while the database or the disk fails.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Exporter {
    database: WeakDatabase,
    /// `None`: the games of the Lichess API.
    tournament: Option<Name>,
    pub(super) file: GameFile,
    wake: mpsc::Receiver<()>,
    reader: Option<Reader>,
    /// The database knows our file.
    is_known: bool,
    /// Games in the file whose marks may not be on the disk yet.
    appended: BTreeSet<Arc<str>>,
}

/// Reason to look again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Next {
    /// There are more games.
    Page,
    /// A game ends.
    Game,
    /// The database or the disk has failed.
    Retry,
}

impl Exporter {
    pub(super) fn new(
        database: &Database,
        tournament: Option<Name>,
        file: GameFile,
        wake: mpsc::Receiver<()>,
    ) -> Exporter {
        let (reader, is_known, appended) = (None, false, BTreeSet::new());
        let database = database.downgrade();
        Exporter { database, tournament, file, wake, reader, is_known, appended }
    }

    /// Writes until no sender is left; returns the file, if there were games.
    pub(super) async fn run(mut self) -> Option<PathBuf> {
        loop {
            let next = self.export().await;
            let wakes = match next {
                Next::Page => continue,
                Next::Game => self.wake.recv().await.is_some(),
                Next::Retry => !matches!(timeout(RETRY, self.wake.recv()).await, Ok(None)),
            };
            if !wakes {
                break;
            }
        }
        while self.export().await == Next::Page {}
        if let Some(reader) = self.reader {
            reader.close().await;
        }
        self.file.finish()
    }

    /// Writes the games of a page.
    async fn export(&mut self) -> Next {
        match self.write_page().await {
            Ok(next) => next,
            Err(error) => {
                // The writer reports a database that has failed.
                tracing::debug!("cannot read the games for {}: {error}", self.file.path().display());
                self.reader = None;
                Next::Retry
            }
        }
    }

    async fn write_page(&mut self) -> Result<Next, DatabaseError> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::open(self.database.location()).await?,
        };
        if !self.is_known {
            self.is_known = self.take_over(&mut reader).await?;
        }
        let games = reader.unexported(self.tournament.as_ref(), PAGE).await?;
        self.reader = Some(reader);
        if !self.is_known {
            return Ok(Next::Retry);
        }
        self.appended.retain(|id| games.iter().any(|game| game.header.id == *id));
        let is_last = games.len() < PAGE;
        let fresh: Vec<_> = games.iter().filter(|game| !self.appended.contains(&game.header.id)).collect();
        match self.append(&fresh).await {
            _ if fresh.is_empty() && !is_last => Ok(Next::Retry),
            Err(_) => Ok(Next::Retry),
            Ok(()) if is_last => Ok(Next::Game),
            Ok(()) => Ok(Next::Page),
        }
    }

    /// Makes our file that of the tournament, and marks the games that the last run has appended to its own. Returns
    /// whether the database has taken it.
    async fn take_over(&mut self, reader: &mut Reader) -> Result<bool, DatabaseError> {
        let ours = self.export_file(0);
        let last = reader.export_file(self.tournament.as_ref()).await?;
        if last.as_ref() == Some(&ours) {
            return Ok(true);
        }
        let appended = last.map(|ExportFile { file, bytes, .. }| ids(Path::new(&file), bytes));
        let marks = appended.into_iter().flatten().map(|id| Change::Exported(id.into()));
        self.database.commit(marks.chain([Change::ExportFile(ours.clone())]).collect()).await;
        Ok(reader.export_file(self.tournament.as_ref()).await?.as_ref() == Some(&ours))
    }

    /// Appends games to the file, up to the first that it does not take, and marks them.
    async fn append(&mut self, games: &[&GameState]) -> io::Result<()> {
        let (mut changes, mut appended) = (Vec::new(), Ok(()));
        for game in games {
            let id = &game.header.id;
            let tournament = self.tournament.as_ref().map(Name::to_string);
            appended = self.file.append(&pgn::print_or_explain(tournament, game));
            if appended.is_err() {
                break;
            }
            self.appended.insert(id.clone());
            changes.push(Change::Exported(id.clone()));
        }
        if !changes.is_empty() {
            changes.push(Change::ExportFile(self.export_file(self.file.bytes())));
            self.database.commit(changes).await;
        }
        appended
    }

    fn export_file(&self, bytes: u64) -> ExportFile {
        let path = std::path::absolute(self.file.path());
        let path = path.unwrap_or_else(|_| self.file.path().to_owned());
        ExportFile { tournament: self.tournament.clone(), file: path.display().to_string(), bytes }
    }
}

/// Ids of the games in a file beyond a length. None if there is no such file any more.
fn ids(file: &Path, from: u64) -> Vec<String> {
    let read = || {
        let (mut file, mut tail) = (File::open(file)?, String::new());
        file.seek(SeekFrom::Start(from))?;
        file.take(MAX_TAIL).read_to_string(&mut tail)?;
        Ok::<_, io::Error>(tail)
    };
    let tail = read().unwrap_or_default();
    tail.lines().filter_map(pgn::read_id_tag).map(str::to_owned).collect()
}
