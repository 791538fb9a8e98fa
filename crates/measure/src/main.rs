//! `zeitnot-measure`: measurements for developers, on this machine and over loopback. One file or folder each.

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;

mod attack;
mod bench_game;
mod busy;
mod client;
mod deadline;
mod faults;
mod output;
mod overhead;
mod random_move;
mod ratings;
mod simulate;
mod spectators;
mod stop;
mod web_socket;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures the bot and the arena on this machine
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    Deadline(deadline::Args),
    Overhead(overhead::Args),
    Faults(faults::Args),
    ArenaAttack(attack::Args),
    Ratings(ratings::Args),
    Spectators(spectators::Args),
    Simulate(simulate::Args),
    /// Keep one core busy until the standard input ends
    #[command(hide = true)]
    Busy,
}

fn main() -> ExitCode {
    // Both ends of all connections are here.
    zeitnot_net::descriptors::raise_limit();
    let measured = match Cli::parse().measurement {
        Measurement::Deadline(args) => deadline::run(&args),
        Measurement::Overhead(args) => overhead::run(&args),
        Measurement::Faults(args) => faults::run(&args),
        Measurement::ArenaAttack(args) => attack::run(&args),
        Measurement::Ratings(args) => ratings::run(&args),
        Measurement::Spectators(args) => spectators::run(&args),
        Measurement::Simulate(args) => simulate::run(&args),
        Measurement::Busy => busy::run(),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

// As in the program, so that the measurements hold for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
