//! The one writer of an arena: a thread that collects changes and commits what waits in one transaction.

use std::{collections::BTreeMap, time::Duration};

use sqlx::{AnyConnection, Connection, Executor, error::ErrorKind};
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::Instant,
};
use zeitnot_net::{Outage, OutageNews, wait::until};

use super::{
    change::{Change, Key, Subject},
    error::DatabaseError,
    location::DatabaseLocation,
    open::{self, within},
    opening::{Opened, Opening},
    ownership::{self, Run},
    pending::Pending,
    sqlite::Lock,
    write,
};

/// Time after which the connection to a server is tried, so that what the arena owns is not free for long.
const PULSE: Duration = Duration::from_secs(2);
/// Advice to whoever asks for what another arena has.
const ANOTHER_DATABASE: &str = "set database = \"…\" in [arena] to another one";
const ANOTHER_NAME: &str = "give this one another name";

/// Request to the writer.
#[derive(Debug)]
pub(super) enum Request {
    /// `done`, if there is one, hears of the first attempt to write them, whether it succeeds or not.
    Write {
        changes: Vec<Change>,
        done: Option<oneshot::Sender<()>>,
    },
    /// Takes a state that one arena has at a time.
    Take {
        subject: Subject,
        reply: oneshot::Sender<Result<(), DatabaseError>>,
    },
    Tournament {
        opening: Opening,
        reply: oneshot::Sender<Result<Opened, DatabaseError>>,
    },
}

pub(super) struct Writer {
    location: DatabaseLocation,
    run: Run,
    /// `None` while the server is away.
    connection: Option<AnyConnection>,
    _lock: Option<Lock>,
    requests: mpsc::Receiver<Request>,
    pending: Pending,
    /// Subjects of this arena, with their names for messages.
    owned: BTreeMap<Subject, String>,
    /// Deadline for the next look at the connection to a server.
    pulse: Option<Instant>,
    outage: Outage,
    #[cfg(test)]
    pub(super) fault: Fault,
}

/// Write that fails, in tests.
#[cfg(test)]
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Fault {
    pub(super) failing: Option<usize>,
    pub(super) writes: usize,
}

#[cfg(test)]
impl Fault {
    fn strike(&mut self) -> Result<(), DatabaseError> {
        self.writes += 1;
        match self.failing {
            Some(failing) if failing + 1 == self.writes => {
                Err(DatabaseError::Other("the disk is full".into()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failing.is_some_and(|failing| failing < self.writes)
    }
}

/// Reason why a batch is not written.
enum Failure {
    /// One change fails, and would fail for ever.
    Misfit(Key, sqlx::Error),
    Database(DatabaseError),
}

impl<E: Into<DatabaseError>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Database(error.into())
    }
}

impl Writer {
    /// Opens the database. Games of arenas that are gone are broken off.
    pub(super) async fn open(
        location: DatabaseLocation,
        requests: mpsc::Receiver<Request>,
    ) -> Result<Writer, DatabaseError> {
        let (lock, run) = (open::lock(&location)?, Run::draw()?);
        let mut connection = open::for_writing(&location).await?;
        let begin = async {
            ownership::claim(&location, &mut connection, run).await?;
            ownership::begin_exclusive(&location, &mut connection).await?;
            let broken_off = write::break_off(&location, &mut connection, run).await;
            ownership::finish(&mut connection, broken_off).await
        };
        within(location.max_history(), begin).await?;
        let pulse = location.max_answer().map(|_| Instant::now() + PULSE);
        Ok(Writer {
            location,
            run,
            connection: Some(connection),
            _lock: lock,
            requests,
            pending: Pending::default(),
            owned: BTreeMap::new(),
            pulse,
            outage: Outage::default(),
            #[cfg(test)]
            fault: Fault::default(),
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
                () = until(self.pending.due()) => {}
                () = until(self.pulse) => self.check().await,
            }
            while let Ok(request) = self.requests.try_recv() {
                self.take(request).await;
            }
            let is_awaited = self.pending.is_awaited() && self.connection.is_some();
            if is_awaited || self.pending.is_due(Instant::now()) {
                self.commit().await;
            }
            // While the server is away, nobody waits for the next attempt.
            self.pending.answer();
        }
        self.commit().await;
        let lost = self.pending.lost().saturating_add(self.pending.changes().len());
        if lost > 0 {
            tracing::error!("{}: {lost} changes are lost, as it could not be written", self.location);
        }
        if let Some(connection) = self.connection {
            let close = async { Ok(connection.close().await?) };
            // The database is whole without it: this only tidies up.
            let _ = within(self.location.max_answer(), close).await;
        }
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
    pub(super) fn keeps_changes(&self) -> bool {
        !self.pending.changes().is_empty()
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self) -> &mut AnyConnection {
        self.connection.as_mut().unwrap()
    }

    async fn take(&mut self, request: Request) {
        match request {
            Request::Write { changes, done } => self.pending.add(changes, done),
            Request::Take { subject, reply } => drop(reply.send(self.take_subject(subject).await)),
            Request::Tournament { opening, reply } => {
                self.commit().await;
                let _ = reply.send(self.open_tournament(&opening).await);
            }
        }
    }

    /// Writes all changes, or keeps them, and answers those who wait.
    async fn commit(&mut self) {
        let mut written = Ok(());
        if !self.pending.changes().is_empty() || self.connection.is_none() {
            written = self.write_all().await;
            self.report(&written);
        }
        self.pending.tried(written.is_ok(), Instant::now());
    }

    async fn write_all(&mut self) -> Result<(), DatabaseError> {
        loop {
            self.connect().await?;
            match self.write_each().await {
                Ok(()) => return Ok(()),
                Err(Failure::Misfit(key, error)) => {
                    self.roll_back(None).await;
                    let change = self.pending.remove(&key);
                    tracing::error!(
                        "a change does not fit into {}: {error}; please report it: {change:?}",
                        self.location
                    );
                }
                Err(Failure::Database(error)) => {
                    self.roll_back(Some(&error)).await;
                    return Err(error);
                }
            }
        }
    }

    /// SQLite takes a transaction back by itself when the disk is full, which sqlx's transactions do not expect.
    async fn write_each(&mut self) -> Result<(), Failure> {
        let Some(connection) = &mut self.connection else { return Err(DatabaseError::gone().into()) };
        let limit = self.location.max_answer();
        #[cfg(test)]
        self.fault.strike()?;
        within(limit, async { Ok(connection.execute(self.location.begin()).await?) }).await?;
        for (key, change) in self.pending.changes() {
            #[cfg(test)]
            self.fault.strike()?;
            let write = async { Ok(write::write(connection, self.run, change).await) };
            match within(limit, write).await? {
                Err(error) if is_misfit(&error) => return Err(Failure::Misfit(key.clone(), error)),
                written => written?,
            }
        }
        #[cfg(test)]
        self.fault.strike()?;
        within(limit, async { Ok(connection.execute("COMMIT").await?) }).await?;
        Ok(())
    }

    /// Takes a transaction back after an error, and gives up a connection that is lost.
    async fn roll_back(&mut self, error: Option<&DatabaseError>) {
        if error.is_some_and(DatabaseError::is_outage) {
            self.connection = None;
        }
        if let Some(connection) = &mut self.connection {
            // An error means that there is no transaction any more.
            let roll_back = async { Ok(connection.execute("ROLLBACK").await?) };
            let _ = within(self.location.max_answer(), roll_back).await;
        }
        self.check().await;
    }

    /// Gives up a connection that is lost; the next attempt makes another one.
    async fn check(&mut self) {
        let limit = self.location.max_answer();
        self.pulse = limit.map(|_| Instant::now() + PULSE);
        if let Some(connection) = &mut self.connection
            && within(limit, async { Ok(connection.ping().await?) }).await.is_err()
        {
            self.connection = None;
        }
        if self.connection.is_none() {
            self.pending.hurry(Instant::now());
        }
    }

    /// Connects again where the connection was lost, and sees what is this arena's still.
    async fn connect(&mut self) -> Result<(), DatabaseError> {
        if self.connection.is_some() {
            return Ok(());
        }
        let mut connection = open::for_writing(&self.location).await?;
        let claim = ownership::claim(&self.location, &mut connection, self.run);
        let owned = within(self.location.max_answer(), claim).await?;
        self.connection = Some(connection);
        for (subject, name) in self.owned.extract_if(.., |subject, _| !owned.contains(&subject.key())) {
            tracing::error!(
                "another arena took over {name} while the database {} was unreachable; this arena no longer records it: stop one of the two",
                self.location
            );
            self.pending.disown(subject);
        }
        Ok(())
    }

    /// Reports the first of several failures, and their end.
    fn report(&mut self, written: &Result<(), DatabaseError>) {
        let location = &self.location;
        let advice = match location {
            DatabaseLocation::File(_) => ": free some disk space",
            DatabaseLocation::Server(_) => "",
        };
        match (self.outage.note(written), written) {
            (Some(OutageNews::Begins), Err(error)) => tracing::error!(
                "cannot write to the database {location}: {error}; games go on, and their results are kept; retrying every second{advice}"
            ),
            (Some(OutageNews::Ends(_)), _) => {
                let lost = self.pending.take_lost();
                tracing::info!("writing to the database {location} again; changes lost meanwhile: {lost}");
            }
            _ => {}
        }
    }

    async fn take_subject(&mut self, subject: Subject) -> Result<(), DatabaseError> {
        self.connect().await?;
        let Some(connection) = &mut self.connection else { return Err(DatabaseError::gone()) };
        let location = &self.location;
        let take = async {
            ownership::begin_exclusive(location, connection).await?;
            let taken = ownership::take(location, connection, self.run, subject).await;
            ownership::finish(connection, taken).await
        };
        let taken = within(location.max_answer(), take).await;
        match taken {
            Ok(true) => self.note_owned(subject, subject.to_string()),
            Ok(false) => {
                self.pending.disown(subject);
                return Err(DatabaseError::Taken { subject: subject.to_string(), advice: ANOTHER_DATABASE });
            }
            Err(ref error) => self.roll_back(Some(error)).await,
        }
        taken.map(drop)
    }

    /// Takes up the latest edition, or adds one if that is complete.
    pub(super) async fn open_tournament(&mut self, opening: &Opening) -> Result<Opened, DatabaseError> {
        self.connect().await?;
        let Some(connection) = &mut self.connection else { return Err(DatabaseError::gone()) };
        let location = &self.location;
        let open = async {
            ownership::begin_exclusive(location, connection).await?;
            let opened = opening.open((location, connection), self.run).await;
            ownership::finish(connection, opened).await
        };
        let opened = within(location.max_history(), open).await;
        let name = format!("the tournament '{}'", opening.name);
        match opened {
            Ok(Some(opened)) => {
                self.note_owned(Subject::Tournament(opened.history.tournament.id), name);
                Ok(opened)
            }
            Ok(None) => Err(DatabaseError::Taken { subject: name, advice: ANOTHER_NAME }),
            Err(error) => {
                self.roll_back(Some(&error)).await;
                Err(error)
            }
        }
    }

    fn note_owned(&mut self, subject: Subject, name: String) {
        self.pending.own(subject);
        self.owned.insert(subject, name);
    }
}

/// Returns whether a change would fail for ever: by a constraint, or by a value that the database does not take.
fn is_misfit(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| {
        // Class 22 of PostgreSQL's codes, which are longer than those of SQLite.
        let is_value = error.code().is_some_and(|code| code.len() == 5 && code.starts_with("22"));
        is_value || error.kind() != ErrorKind::Other
    })
}
