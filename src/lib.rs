//! Zeitnot: a chess bot that always has a move ready before the deadline, and the arena it plays in.
//!
//! The way of a move:
//!
//! ```text
//!  server ─bytes─▶ protocol ─▶ wire (parse) ─Event─▶ seat ─▶ bot ─Line, Limits─▶ engine
//!  server ◀─bytes─ protocol ◀─ wire (print) ◀Action─ seat ◀─ bot ◀── at the deadline ── Decision
//! ```
//!
//! Each module is a room with one purpose; `docs/architecture.md` says which may import which, and
//! `tests/tidy.rs` holds them to it.

pub mod arena;
pub mod bot;
pub mod cli;
pub mod engine;
pub mod game;
pub mod matches;
pub mod net;
pub mod online;
pub mod priority;
pub mod process;
pub mod protocol;
pub mod seat;
pub mod training;
pub mod wire;
