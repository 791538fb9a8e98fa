//! Folder and database of an arena: a file in that folder, or a database of its own on a PostgreSQL server.

use std::path::Path;

use tempfile::TempDir;

#[cfg(feature = "postgres")]
pub mod postgres;

#[cfg(feature = "postgres")]
use postgres::PostgresServer;

/// Runs tests on both kinds of database: each takes a [`Storage`].
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[test]
            async fn $test() {
                super::$test(super::Storage::file()).await;
            })+
        }
        #[cfg(feature = "postgres")]
        mod on_postgres {
            $(#[test]
            async fn $test() {
                if let Some(storage) = super::Storage::server() {
                    super::$test(storage).await;
                }
            })+
        }
    };
}

pub(crate) use on_both_databases;

/// Where an arena keeps its files and its database, also for a later run.
pub struct Storage {
    folder: TempDir,
    /// URL of the database, if it is not a file.
    url: Option<String>,
}

impl Storage {
    /// An empty folder, with the database in a file.
    pub fn file() -> Storage {
        tempfile::tempdir().unwrap().into()
    }

    /// An empty folder, with a database on the shared server; `None` where there is none.
    #[cfg(feature = "postgres")]
    pub fn server() -> Option<Storage> {
        let server = PostgresServer::shared()?;
        Some(Storage::of(server.url(&server.create())))
    }

    /// An empty folder, with the database of this URL.
    #[cfg(feature = "postgres")]
    pub fn of(url: String) -> Storage {
        Storage { url: Some(url), ..Storage::file() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// URL of the database, if it is not a file.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The database as the configuration names it.
    pub fn database(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.path().join("games/zeitnot.db").display().to_string())
    }
}

impl From<TempDir> for Storage {
    fn from(folder: TempDir) -> Storage {
        Storage { folder, url: None }
    }
}
