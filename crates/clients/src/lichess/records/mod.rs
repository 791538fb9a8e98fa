//! Game records: PGN files, written aside from the games.

pub(crate) mod pgn_files;
pub(crate) mod pgn_writer;
pub(crate) mod record;
pub(crate) mod suspended;
