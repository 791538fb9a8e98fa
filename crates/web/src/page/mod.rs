//! The web server: the page, and the JSON and WebSocket API behind it.
//!
//! ```text
//!  thread "web": socket ─▶ server (places, rates) ─▶ router (security, limits) ─▶ assets, games, tournaments, live
//!                                                                     │                   │ sockets of seats
//!  owners of games ─▶ live::feed ─▶ live::hub ◀── jobs, subscriptions ┘                   ▼
//!                                                              thread "tables": seat ─▶ play::Tables
//! ```
//!
//! Both are threads of usual priority, apart from the games: no spectator delays a program's move, and no request to
//! the page a person's.

mod answer;
mod archive;
mod archive_lists;
mod assets;
mod bot;
mod config;
mod games;
mod live;
mod organiser;
mod requests;
mod router;
mod seat;
mod security;
mod server;
mod socket;
mod state;
mod tables;
mod talk;
mod tournaments;

pub use answer::{ApiError, ApiJson, ErrorBody, Param};
pub use archive::ViewStored;
pub use config::Config;
pub use server::Web;
pub use state::{BotControl, ByOrganiser, WebState};
pub use tournaments::{edition, unknown_tournament};
