//! Databases of PostgreSQL servers: settings of a session, and whose the tables are.

use sqlx::{AnyConnection, Executor, query_as, query_scalar};

use super::{error::DatabaseError, location::Mark};

/// Ends what takes too long, and connections whose arena is gone without a word. Notices are not logged.
const SESSION: &str = "
    SET statement_timeout = '20s';
    SET lock_timeout = '4s';
    SET idle_in_transaction_session_timeout = '20s';
    SET tcp_keepalives_idle = 5;
    SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 2;
    SET tcp_user_timeout = '15s';
    SET client_min_messages = error";
/// Each transaction sees one moment.
const READER: &str = "
    SET default_transaction_read_only = on;
    SET default_transaction_isolation = 'repeatable read'";

/// Sets up a session that writes.
pub(super) async fn begin_writing(connection: &mut AnyConnection) -> Result<(), DatabaseError> {
    connection.execute(SESSION).await?;
    Ok(())
}

/// Sets up a session that only reads.
pub(super) async fn begin_reading(connection: &mut AnyConnection) -> Result<(), DatabaseError> {
    connection.execute(SESSION).await?;
    connection.execute(READER).await?;
    Ok(())
}

/// Returns whose the tables are: ours are known by the checksum of the first step of the schema. Those of
/// extensions do not count. Another arena may be making ours just now, step by step.
pub(super) async fn mark(connection: &mut AnyConnection, first: &[u8]) -> Result<Mark, DatabaseError> {
    let tables = query_as(
        "SELECT COUNT(*) FILTER (WHERE relname <> '_sqlx_migrations'),
                COUNT(*) FILTER (WHERE relname = '_sqlx_migrations')
         FROM pg_class
         WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind IN ('r', 'p', 'v', 'm', 'f')
               AND NOT EXISTS (SELECT FROM pg_depend
                               WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')",
    );
    let (others, migrations): (i64, i64) = tables.fetch_one(&mut *connection).await?;
    let mut checksum: Option<Vec<u8>> = None;
    if migrations > 0 {
        let known = query_scalar("SELECT checksum FROM _sqlx_migrations WHERE version = 1");
        checksum = known.fetch_optional(connection).await?;
    }
    match checksum {
        Some(checksum) if checksum == first => Ok(Mark::Ours),
        None if others == 0 => Ok(Mark::Missing),
        _ => Err(DatabaseError::Foreign),
    }
}
