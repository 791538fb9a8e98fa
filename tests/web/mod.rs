//! The arena's page and its API, as browsers and programs see them.

mod api;
mod bot;
mod bot_orders;
mod earlier;
mod floods;
mod hostile;
mod live;
mod manage;
mod orders;
mod security;
mod tables;
