//! Games for training: played against itself, stored, read, and given another engine's scores.
//!
//! A [`SelfPlayer`] plays games of any kind, a [`GameWriter`] stores them, a [`GameReader`] reads them one by one, and a
//! [`Teacher`] gives them another engine's scores. See `docs/data.md`.

mod game_file;
mod game_file_error;
mod game_reader;
mod game_record;
mod other_game;
mod record;
mod selfplay;
mod teacher;
mod transcript;

pub use game_file::{GameFile, GameWriter, read_quiet};
pub use game_file_error::GameFileError;
pub use game_reader::{GameReader, GameSet};
pub use game_record::{BadGame, GameRecord, Games, PlayedGame, Plies, Ply, UNSCORED, games, is_quiet};
pub use other_game::count_positions;
pub(crate) use other_game::{OtherPly, for_each_ply};
pub use record::{Label, Record};
pub use selfplay::{BadShard, NodeLimits, SelfPlayer, Shard, self_player};
pub use teacher::{Teacher, TeacherError};
pub(crate) use transcript::SelfPlayed;
pub use transcript::StoredGame;
