//! Training of the evaluation: self-play data and Texel tuning.
//!
//! A [`SelfPlayer`] plays games of any kind, a [`GameWriter`] stores them, and a [`GameReader`] reads them one by one.
//! [`Dataset`] traces the quiet positions of such a file, [`tune`] fits
//! the weights, and [`format_weights`] writes them as Rust. See `docs/data.md`.
//!
//! Source: Chess Programming Wiki, "Texel's Tuning Method".

mod dataset;
mod game_file;
mod game_file_error;
mod game_reader;
mod game_record;
mod other_game;
mod record;
mod selfplay;
mod small_examples;
mod transcript;
mod tuner;
mod weights_file;

pub use dataset::{Dataset, Objective, Weights, initial_weights, steepness};
pub use game_file::{GameFile, GameWriter, read_quiet};
pub use game_file_error::GameFileError;
pub use game_reader::{GameReader, GameSet};
pub use game_record::{BadGame, GameRecord, Games, PlayedGame, Plies, Ply, UNSCORED, games, is_quiet};
pub use other_game::count_positions;
pub use record::{Label, Record};
pub use selfplay::{BadShard, NodeLimits, SelfPlayer, Shard, self_player};
pub use small_examples::{SmallExample, SmallExamples};
pub use transcript::StoredGame;
pub use tuner::{Epoch, TunerSettings, tune};
pub use weights_file::format_weights;
