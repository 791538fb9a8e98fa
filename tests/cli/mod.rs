//! The program as its users run it.

mod board;
mod config_errors;
mod config_overrides;
mod datagen;
mod datagen_merge;
mod exit_codes;
mod import_botli;
mod import_lichess_bot;
mod interrupts;
mod match_queue;
mod match_resume;
mod matches;
mod packaging;
mod preflight;
mod referee;
mod relabel;
mod spsa;
mod study;
mod train;
mod ubgi;
mod uci;
mod uci_input;
mod upgrades;
mod watch;
