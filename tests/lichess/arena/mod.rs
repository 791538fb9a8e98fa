//! The arena as a server of the Lichess Bot API.

mod api;
mod class;
mod hostile;
mod python;
mod restart;
mod users;
