//! Tests that need the machine to themselves, and so run one at a time, apart from those of `tests/main.rs`: they measure
//! time, drive a browser, start many programs or boot whole systems.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers outside of test functions, too
#![allow(unreachable_pub)] // one program: `pub` in `support` is for its modules
#![cfg(unix)]

#[macro_use]
extern crate zeitnot_testing;

mod demo;
mod kills;
mod lichess_faults;
mod lichess_many_games;
mod lichess_proxy;
mod many_bots;
mod page;
mod runner;
mod service;
#[allow(dead_code, unused_imports, unused_macros, reason = "tests/main.rs uses the rest")]
#[path = "../support/mod.rs"]
mod support;
mod tour;
