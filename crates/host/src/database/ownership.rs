//! Ownership of what a database holds: each tournament, and each state that arenas keep, is one arena's at a time.
//!
//! An arena is known by its [`Run`], a number. The table `owner` says which run has taken a subject last. On a server
//! a run is alive while its session holds an advisory lock of that number, and no longer: the lock goes with the
//! connection, after an unfinished transaction is undone. So whoever is cut off can write nothing any more, and a killed
//! arena's subjects can be taken at once. A file has one user, and so no other run that is alive.

use std::collections::BTreeSet;

use super::{change::Subject, error::DatabaseError, location::DatabaseLocation};
use sqlx::{AnyConnection, Executor, Row, query, query_scalar};

/// Lock of the transactions that change owners: `ZeitnotO`.
const OWNERS: i64 = i64::from_be_bytes(*b"ZeitnotO");
/// Numbers of the advisory locks that are held.
const LOCKS: &str = "
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
/// Ends the session that holds a run's lock: the arena's own, which the server has not missed yet.
const END_SESSION: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
          AND (classid::bigint << 32) | objid::bigint = $1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Number of an arena from its start to its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Run(i64);

impl Run {
    /// Draws a number from the system's random numbers.
    pub(super) fn draw() -> Result<Run, DatabaseError> {
        let drawn = getrandom::u64().map_err(|error| DatabaseError::Other(error.to_string()))?;
        // Zero stands for the games of earlier versions.
        Ok(Run((drawn >> 1).cast_signed().max(1)))
    }

    /// Returns the number for a column.
    pub(super) fn number(self) -> i64 {
        self.0
    }
}

/// Begins a transaction beside which no other arena changes owners.
pub(super) async fn begin_exclusive(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
) -> Result<(), DatabaseError> {
    connection.execute(location.begin()).await?;
    if let DatabaseLocation::Server(_) = location {
        query("SELECT pg_advisory_xact_lock($1)").bind(OWNERS).execute(connection).await?;
    }
    Ok(())
}

/// Ends a transaction by its outcome.
pub(super) async fn finish<T>(
    connection: &mut AnyConnection,
    outcome: Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    match outcome {
        Ok(done) => connection.execute("COMMIT").await.map(|_| done).map_err(DatabaseError::from),
        Err(error) => {
            let _ = connection.execute("ROLLBACK").await;
            Err(error)
        }
    }
}

/// Makes a run alive, again after its connection was lost, and returns the keys of its subjects.
pub(super) async fn claim(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
    run: Run,
) -> Result<BTreeSet<String>, DatabaseError> {
    begin_exclusive(location, connection).await?;
    let claimed = claim_run(location, connection, run).await;
    finish(connection, claimed).await
}

async fn claim_run(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
    Run(run): Run,
) -> Result<BTreeSet<String>, DatabaseError> {
    if let DatabaseLocation::Server(_) = location {
        let lock = query_scalar("SELECT pg_try_advisory_lock($1)").bind(run);
        if !lock.fetch_one(&mut *connection).await? {
            query(END_SESSION).bind(run).execute(connection).await?;
            return Err(DatabaseError::StillConnected);
        }
    }
    let subjects = query("SELECT subject FROM owner WHERE run = $1").bind(run).fetch_all(connection).await?;
    subjects.iter().map(|row| Ok(row.try_get("subject")?)).collect()
}

/// Takes a subject, within an exclusive transaction. Returns whether no other run that is alive has it.
pub(super) async fn take(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
    run: Run,
    subject: Subject,
) -> Result<bool, DatabaseError> {
    let owner = query_scalar("SELECT run FROM owner WHERE subject = $1").bind(subject.key());
    let owner: Option<i64> = owner.fetch_optional(&mut *connection).await?;
    if let Some(owner) = owner.filter(|owner| *owner != run.0)
        && alive(location, connection, run).await?.contains(&owner)
    {
        return Ok(false);
    }
    let update = query(
        "INSERT INTO owner (subject, run) VALUES ($1, $2)
         ON CONFLICT (subject) DO UPDATE SET run = excluded.run",
    );
    update.bind(subject.key()).bind(run.0).execute(connection).await?;
    Ok(true)
}

/// Returns the runs that are alive, this one among them. The numbers of other advisory locks do no harm.
pub(super) async fn alive(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
    Run(run): Run,
) -> Result<BTreeSet<i64>, DatabaseError> {
    let mut alive = BTreeSet::from([run]);
    if let DatabaseLocation::Server(_) = location {
        let locks: Vec<i64> = query_scalar(LOCKS).fetch_all(connection).await?;
        alive.extend(locks);
    }
    Ok(alive)
}
