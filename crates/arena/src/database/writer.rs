//! The one writer: a thread that collects changes and commits what waits in one transaction.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use sqlx::{Connection, Error, Executor, SqliteConnection, error::ErrorKind};
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::Instant,
};
use zeitnot_net::{Outage, OutageNews};
use zeitnot_rules::{GameKind, TimeControl};

use super::{
    change::{Change, Key, RefusalRecord, SettingsText},
    error::DatabaseError,
    open::{self, Lock},
    read::{self, History},
    write,
};
use crate::{name::Name, timer::until, tournament::format::Format};

/// Time for which changes that nobody waits for are collected.
const LAZY: Duration = Duration::from_secs(1);
/// Time between two attempts while the disk fails.
const RETRY: Duration = Duration::from_secs(1);
/// Changes that are kept while the disk fails; later ones are lost.
const MAX_KEPT: usize = 65_536;

/// Request to the writer.
#[derive(Debug)]
pub(super) enum Request {
    /// `done`, if there is one, hears of the first attempt to write them, whether it succeeds or not.
    Write {
        changes: Vec<Change>,
        done: Option<oneshot::Sender<()>>,
    },
    Tournament {
        opening: Opening,
        reply: oneshot::Sender<Result<Opened, DatabaseError>>,
    },
}

/// Tournament that an arena is to run.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) name: Name,
    pub(crate) kind: GameKind,
    pub(crate) time_control: TimeControl,
    /// Settings of one that the organiser has just created, which is a new edition in any case.
    pub(crate) created: Option<SettingsText>,
    pub(crate) format: Format,
}

/// Tournament that an arena runs: a new edition, or one that was not complete.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) history: History,
    /// Ids of its games that ran when the last arena was killed, and are broken off now.
    pub(crate) interrupted: Vec<String>,
    /// Whom it has refused, the latest last.
    pub(crate) refusals: Vec<RefusalRecord>,
}

pub(super) struct Writer {
    connection: SqliteConnection,
    _lock: Lock,
    path: PathBuf,
    requests: mpsc::Receiver<Request>,
    /// Games that were running when the database was opened.
    interrupted: Vec<String>,
    /// Changes that are not on the disk yet: the latest of each row.
    kept: BTreeMap<Key, Change>,
    /// Deadline for writing changes that nothing waits for.
    due: Option<Instant>,
    waiting: Vec<oneshot::Sender<()>>,
    outage: Outage,
    /// Changes that did not fit.
    lost: usize,
}

impl Writer {
    /// Opens the file. Games that were running are broken off.
    pub(super) async fn open(
        path: PathBuf,
        requests: mpsc::Receiver<Request>,
    ) -> Result<Writer, DatabaseError> {
        let (mut connection, lock) = open::for_writing(&path).await?;
        let interrupted = read::running(&mut connection).await?;
        write::break_off(&mut connection).await?;
        Ok(Writer {
            connection,
            _lock: lock,
            path,
            requests,
            interrupted,
            kept: BTreeMap::new(),
            due: None,
            waiting: Vec::new(),
            outage: Outage::default(),
            lost: 0,
        })
    }

    /// Writes until no handle is left, and then what is kept.
    pub(super) async fn run(mut self) {
        loop {
            select! {
                request = self.requests.recv() => match request {
                    Some(request) => self.take(request).await,
                    None => break,
                },
                () = until(self.due) => {}
            }
            while let Ok(request) = self.requests.try_recv() {
                self.take(request).await;
            }
            if !self.waiting.is_empty() || self.due.is_some_and(|due| due <= Instant::now()) {
                self.commit().await;
            }
        }
        self.commit().await;
        let lost = self.lost.saturating_add(self.kept.len());
        if lost > 0 {
            tracing::error!("changes lost, as {} could not be written to: {lost}", self.path.display());
        }
        // The file is whole without it: this only tidies up.
        let _ = self.connection.close().await;
    }

    /// Takes what waits and tries to write it.
    #[cfg(test)]
    pub(super) async fn once(&mut self) {
        while let Ok(request) = self.requests.try_recv() {
            self.take(request).await;
        }
        self.commit().await;
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    async fn take(&mut self, request: Request) {
        match request {
            Request::Write { changes, done } => {
                changes.into_iter().for_each(|change| self.keep(change));
                self.waiting.extend(done);
            }
            Request::Tournament { opening, reply } => {
                self.commit().await;
                let _ = reply.send(self.open_tournament(&opening).await);
            }
        }
    }

    fn keep(&mut self, change: Change) {
        let key = change.key();
        if self.kept.len() >= MAX_KEPT && !self.kept.contains_key(&key) {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        self.kept.insert(key, change);
        self.due.get_or_insert_with(|| Instant::now() + LAZY);
    }

    /// Writes all changes, or keeps them, and answers those who wait.
    async fn commit(&mut self) {
        self.due = None;
        if !self.kept.is_empty() {
            let written = self.write_all().await;
            self.report(&written);
            match written {
                Ok(()) => self.kept.clear(),
                Err(_) => self.due = Some(Instant::now() + RETRY),
            }
        }
        for done in self.waiting.drain(..) {
            // An error means that the waiting task has ended.
            let _ = done.send(());
        }
    }

    /// SQLite takes a transaction back by itself when the disk is full, which sqlx's transactions do not expect.
    async fn write_all(&mut self) -> sqlx::Result<()> {
        self.connection.execute("BEGIN IMMEDIATE").await?;
        let written = self.write_each().await;
        if written.is_err() {
            let _ = self.connection.execute("ROLLBACK").await;
        }
        written
    }

    async fn write_each(&mut self) -> sqlx::Result<()> {
        for change in self.kept.values() {
            match write::write(&mut self.connection, change).await {
                // It would fail for ever.
                Err(Error::Database(error)) if error.kind() != ErrorKind::Other => {
                    tracing::error!(
                        "a change does not fit into {}: {error}; please report it: {change:?}",
                        self.path.display()
                    );
                }
                written => written?,
            }
        }
        self.connection.execute("COMMIT").await.map(drop)
    }

    /// Reports the first of several failures, and their end.
    fn report(&mut self, written: &sqlx::Result<()>) {
        let file = self.path.display();
        match (self.outage.note(written), written) {
            (Some(OutageNews::Begins), Err(error)) => tracing::error!(
                "cannot write to the database {file}: {error}; games go on, their results are kept and tried again every second: make room on the disk"
            ),
            (Some(OutageNews::Ends), _) => {
                tracing::info!("the database {file} is written again, changes lost meanwhile: {}", self.lost);
                self.lost = 0;
            }
            _ => {}
        }
    }

    /// Takes up the latest edition, or adds one if that is complete.
    pub(super) async fn open_tournament(&mut self, opening: &Opening) -> Result<Opened, DatabaseError> {
        let Opening { name, kind, time_control, format, created } = opening;
        let latest = read::latest(&mut self.connection, name).await?;
        let unfinished = latest.filter(|it| created.is_none() && it.is_unfinished() && it.kind == *kind);
        let mut tournament = match unfinished {
            Some(tournament) => tournament,
            None => {
                let connection = &mut self.connection;
                write::add_tournament(connection, name, *kind, *time_control, created.as_ref()).await?;
                let added = read::latest(&mut self.connection, name).await?;
                added.ok_or_else(|| DatabaseError::Other("a tournament that was added is missing".into()))?
            }
        };
        write::write_format(&mut self.connection, tournament.id, format).await?;
        tournament.format = format.clone();
        let history = read::history(&mut self.connection, tournament).await?;
        let games: Vec<_> = history.games.iter().map(|game| game.header.id.to_string()).collect();
        let interrupted = games.into_iter().filter(|game| self.interrupted.contains(game)).collect();
        let refusals = read::refusals(&mut self.connection, Some(history.tournament.id)).await?;
        Ok(Opened { history, interrupted, refusals })
    }
}
