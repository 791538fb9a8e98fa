//! Players: clocks, cache, pondering, move sources.

mod cache_disk;
mod cache_fleet;
mod cache_lost_game;
mod cache_repetition;
mod cache_second_game;
mod cache_shared;
mod player;
mod ponder;
mod sources;
mod watchdog;
