//! IMCS, the Internet MiniChess Server: players register, offer games and accept them.
//!
//! ```text
//!  socket ◀─▶ guest (commands, answers) ─▶ lobby (users, offers, games) ─▶ game (referee)
//!                 ▲ └──────────────── requests ──────────────────────────▶  │  │
//!                 └────────────────── notices ──────────────────────────────┘  │
//!          users (file), store (games) ◀── lobby (ratings) ◀───────────────────┘
//! ```
//!
//! The lobby is one task that owns the state; each guest and each game is a task. A guest keeps its connection during a
//! game, and closes it at its end, as the protocol demands.

mod config;
mod connection;
mod game;
mod guest;
mod lobby;
mod server;
mod users;

pub(crate) use config::Config;
pub(crate) use server::Imcs;
pub(crate) use users::Users;
