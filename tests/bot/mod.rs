//! Players: clocks, cache, pondering, move sources.

mod books;
mod cache_disk;
#[cfg(feature = "redis")]
mod cache_fleet;
mod cache_lost_game;
mod cache_repetition;
mod cache_second_game;
#[cfg(feature = "redis")]
mod cache_shared;
mod player;
mod ponder;
mod sources;
mod watchdog;
