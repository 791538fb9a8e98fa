//! Integration tests in one program: a module or folder for each subject, and `support` for what they share.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers outside of test functions, too
#![allow(unreachable_pub)] // one program: `pub` in `support` is for its modules

#[macro_use]
extern crate zeitnot_testing;

mod architecture;
mod arena;
mod bot;
mod cerveau;
mod cli;
mod contest;
mod documents;
mod engine;
mod imcs;
mod kits;
mod lichess;
mod rules;
#[allow(dead_code, reason = "tests/alone uses the rest")]
mod support;
mod tuc;
mod web;
