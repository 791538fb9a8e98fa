//! Live view of the arena for spectators: what happens in games and tournaments, on its way to the page.
//!
//! ```text
//!  owners of games ─▶ feed (bounded, never waits) ─▶ hub (one task on the thread of the web server) ─▶ subscribers
//! ```
//!
//! An owner of a game never waits for anybody here. Where the queue is full, the next event of that game is the whole
//! game. The hub keeps the views of running and of the latest ended games, and prints each message once for all who
//! watch; whoever does not read is left out until a whole view fits again.

mod bot;
mod bot_view;
mod entry;
mod feed;
pub mod game_view;
mod hub;
pub mod stored;
mod subscribers;
mod tournament;
pub mod view;

#[cfg(test)]
mod tests;

pub use bot::{BotFeed, BotGame};
pub use feed::Thoughts;
pub use feed::{Event, Feed, LiveGame};
pub use hub::{Hub, MAX_LISTED, print};
pub use subscribers::SubscriberId;
pub use tournament::{MAX_PAIRINGS, TournamentReport};
