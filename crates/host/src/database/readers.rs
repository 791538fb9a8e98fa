//! Connections that only read, of which visitors share a few.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{error::DatabaseError, location::DatabaseLocation, read::Reader};

/// A few connections, which all visitors share.
#[derive(Clone, Debug)]
pub struct Readers {
    location: Arc<DatabaseLocation>,
    turns: Arc<Semaphore>,
    /// Connections that nobody uses now.
    idle: Arc<Mutex<Vec<Reader>>>,
}

/// Right to use one of the connections, until it is dropped. It may be kept while work on the answer goes on.
#[derive(Debug)]
pub struct Turn {
    readers: Readers,
    _permit: OwnedSemaphorePermit,
}

impl Readers {
    /// Creates the access; at most `at_once` connections are in use at the same time.
    pub fn new(location: Arc<DatabaseLocation>, at_once: usize) -> Readers {
        Readers { location, turns: Arc::new(Semaphore::new(at_once)), idle: Arc::default() }
    }

    /// Returns the database.
    pub fn location(&self) -> &DatabaseLocation {
        &self.location
    }

    /// Waits for a turn; `None` after the end.
    pub async fn turn(&self) -> Option<Turn> {
        let permit = self.turns.clone().acquire_owned().await.ok()?;
        Some(Turn { readers: self.clone(), _permit: permit })
    }

    /// Ends the turns and closes the connections, so that the writer, which closes last, leaves nothing beside the
    /// database.
    pub async fn close(&self) {
        self.turns.close();
        let idle = std::mem::take(&mut *self.idle());
        for reader in idle {
            reader.close().await;
        }
    }

    /// Returns the number of turns that nobody has, and of connections that nobody uses.
    pub fn free(&self) -> (usize, usize) {
        (self.turns.available_permits(), self.idle().len())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        // Nothing in here is half done after a panic.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Asks by a connection that another one has left, or by a new one.
    pub async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&mut Reader) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut reader = self.reader().await?;
        // One that has failed, or was left in the middle, is not used again.
        let answer = question(&mut reader).await?;
        self.readers.idle().push(reader);
        Ok(answer)
    }

    async fn reader(&self) -> Result<Reader, DatabaseError> {
        let idle = self.readers.idle().pop();
        if let Some(mut reader) = idle
            && reader.is_alive().await
        {
            return Ok(reader);
        }
        Reader::open(&self.readers.location).await
    }
}
