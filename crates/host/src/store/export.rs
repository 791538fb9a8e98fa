//! Export of the games of a tournament, or of the Lichess API, from the database to a file of games.
//!
//! A game that is over and has no mark in the database is appended to the file, and then marked. After a kill in between,
//! the next run finds it in that file: beyond the length that is stored with the marks. Files of earlier runs are only
//! read; a game that is torn there is written again, to the new file.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, time::timeout};
use zeitnot_pairing::Name;

use super::{GameFile, tail::ids_beyond};
use crate::{
    database::{Change, DatabaseError, ExportFile, Reader, Unexported, WeakDatabase},
    pgn,
};

/// Games that are read, written and marked at once.
pub(super) const PAGE: usize = 64;
/// Time between two attempts while the database or the disk fails.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Exporter {
    pub(super) database: WeakDatabase,
    /// `None`: the games of the Lichess API.
    tournament: Option<Name>,
    pub(super) file: GameFile,
    reader: Option<Reader>,
    /// The database knows our file.
    is_known: bool,
    /// Games in the file whose marks may not be on the disk yet.
    appended: BTreeSet<Arc<str>>,
}

/// Reason to look again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There are more games.
    Page,
    /// A game ends.
    Game,
    /// The database or the disk has failed.
    Retry,
    /// None: another arena on the database has opened a tournament of that name, and writes its games.
    Over,
}

/// Waits for a while after a failure; returns whether to try again, rather than for the last time.
pub(super) async fn retry(wake: &mut mpsc::Receiver<()>) -> bool {
    !matches!(timeout(RETRY, wake.recv()).await, Ok(None))
}

impl Exporter {
    pub(super) fn new(database: WeakDatabase, tournament: Option<Name>, file: GameFile) -> Exporter {
        let (reader, is_known, appended) = (None, false, BTreeSet::new());
        Exporter { database, tournament, file, reader, is_known, appended }
    }

    /// Writes until no sender is left, or if no more games come, until all are written; returns the file, if there were
    /// games. While another exporter of this arena writes games of the same tournament, waits for it, or if no more games
    /// come, leaves them to it.
    pub(super) async fn run(mut self, wake: &mut mpsc::Receiver<()>, more_come: bool) -> Option<PathBuf> {
        let _turn = loop {
            match self.database.export_turn(self.tournament.as_ref()) {
                Some(turn) => break turn,
                None if more_come && retry(wake).await => {}
                None => return self.file.finish(),
            }
        };
        loop {
            let goes_on = match self.export().await {
                Next::Page => true,
                Next::Game => more_come && wake.recv().await.is_some(),
                Next::Retry => retry(wake).await,
                Next::Over => false,
            };
            if !goes_on {
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
    pub(super) async fn export(&mut self) -> Next {
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
        let file = reader.export_file(self.tournament.as_ref()).await?;
        let is_ours = file.as_ref().is_some_and(|file| file.file == self.export_file(0).file);
        if self.is_known && !is_ours {
            self.reader = Some(reader);
            return Ok(Next::Over);
        }
        self.is_known = is_ours || self.take_over(&mut reader, file).await?;
        let games = reader.unexported(self.tournament.as_ref(), PAGE).await?;
        self.reader = Some(reader);
        if !self.is_known {
            return Ok(Next::Retry);
        }
        self.appended.retain(|id| games.iter().any(|game| game.id == *id));
        let is_last = games.len() < PAGE;
        let fresh: Vec<_> = games.iter().filter(|game| !self.appended.contains(&game.id)).collect();
        match self.append(&fresh).await {
            _ if fresh.is_empty() && !is_last => Ok(Next::Retry),
            Err(_) => Ok(Next::Retry),
            Ok(()) if is_last => Ok(Next::Game),
            Ok(()) => Ok(Next::Page),
        }
    }

    /// Makes our file that of the tournament, and marks the games that the last run has appended to its own. Returns
    /// whether the database has taken it.
    async fn take_over(
        &mut self,
        reader: &mut Reader,
        last: Option<ExportFile>,
    ) -> Result<bool, DatabaseError> {
        // None if the file is gone.
        let appended = last.and_then(|last| ids_beyond(Path::new(&last.file), last.bytes).ok());
        let marks = appended.into_iter().flatten().map(|id| Change::Exported(id.into()));
        let ours = self.export_file(0);
        self.database.commit(marks.chain([Change::ExportFile(ours.clone())]).collect()).await;
        Ok(reader.export_file(self.tournament.as_ref()).await?.as_ref() == Some(&ours))
    }

    /// Appends games to the file, up to the first that it does not take, and marks them. One that cannot be read or does
    /// not fit the rules is explained there.
    async fn append(&mut self, games: &[&Unexported]) -> io::Result<()> {
        let (mut changes, mut appended) = (Vec::new(), Ok(()));
        for Unexported { id, game } in games {
            let tournament = self.tournament.as_ref().map(Name::to_string);
            let shown = game.as_ref().map_err(ToString::to_string);
            let print = |game| pgn::print_stored(tournament, game).map_err(|error| error.to_string());
            let shown = shown.and_then(print);
            appended = match &shown {
                Ok(text) => self.file.append(text),
                Err(why) => self.file.append(&pgn::explain(id, why)),
            };
            if appended.is_err() {
                break;
            }
            if let Err(why) = shown {
                let file = self.file.path().display();
                tracing::warn!("{file}: game {id} cannot be shown: {why}");
            }
            self.appended.insert(id.clone());
            changes.push(Change::Exported(id.clone()));
        }
        if !changes.is_empty() {
            changes.push(Change::ExportLength(self.export_file(self.file.bytes())));
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
