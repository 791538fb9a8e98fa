//! The arena's page and its API, as browsers and programs see them.

mod api;
mod hostile;
mod live;
mod security;
mod tables;
