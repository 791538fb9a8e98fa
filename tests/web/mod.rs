//! The arena's page and its API, as browsers and programs see them.

mod api;
mod bot;
mod hostile;
mod live;
mod manage;
mod security;
mod tables;
