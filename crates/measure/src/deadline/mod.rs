//! `zeitnot-measure deadline`: measures whether every move is sent in time. It plays real games over real sockets on an
//! arena of its own, in a grid of clocks and numbers of games: on an idle machine, beside busy processes, over a bad
//! network, on a server with Nagle's algorithm, and with broken thinkers.
//!
//! [`grid`] lists the cells, [`cell`] plays one of them, [`measured`] holds the results.

use std::time::Duration;

use zeitnot_engine::Kind;

use crate::{
    output::{Error, print_row},
    stop,
};

mod cell;
mod grid;
mod measured;

use grid::{Budget, Under};
use measured::Measured;

/// Measure whether every move is ready in time
///
/// Plays real games against itself on an arena of its own, over real sockets, and counts late moves. A budget such
/// as 20ms is a clock that starts with this time and gains as much for each move.
///
/// Under overload, twice as many busy processes as cores run at the same time. Under jitter, every line is delayed, so
/// that a round trip takes up to 80 ms at random while the clock runs. No answer takes 20 ms over such a network, so
/// every clock gains 80 ms more for each move; the program must find out by itself which part the network takes.
///
/// Under nagle, the server leaves Nagle's algorithm on and acknowledges late, as many do: a request for a move that
/// follows another line is held back until our machine acknowledges that line, while the clock runs. Half of the
/// players are connected over TCP, half over WebSocket.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure deadline --quick                       a selection, in about a minute
  zeitnot-measure deadline                               the whole grid, in about half an hour
  zeitnot-measure deadline --budget 1+0.01 --games 2 --under overload --total-games 200

Exit code: 0 if nothing was late, 1 if something was; budgets below 20ms are shown, and not counted.
Ctrl-C ends it after the present cell.")]
pub(crate) struct Args {
    /// Play only a selection of the grid
    #[arg(long, conflicts_with_all = ["budget", "games", "under", "thinker"])]
    quick: bool,
    /// Only these clocks: 20ms for each move, or 1+0.01 seconds
    #[arg(long, value_name = "CLOCK")]
    budget: Vec<Budget>,
    /// Only this many games at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    games: Vec<u8>,
    /// Only under these conditions
    #[arg(long, value_name = "CONDITION")]
    under: Vec<Under>,
    /// Only these thinkers: search, or a broken one: deaf, panics, silent, hangs
    #[arg(long, value_name = "WHO", value_parser = grid::thinker)]
    thinker: Vec<Kind>,
    /// Duration of each cell, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,
    /// End a cell after this many games
    #[arg(long, value_name = "N")]
    total_games: Option<usize>,
}

/// Duration of a cell of the whole grid …
const CELL: Duration = Duration::from_secs(15);
/// … and of the selection.
const QUICK_CELL: Duration = Duration::from_secs(5);
/// Maximum duration of a cell that ends by its number of games.
const MAX_CELL: Duration = Duration::from_secs(24 * 3600);

impl Args {
    fn length(&self) -> Duration {
        match (self.seconds, self.total_games) {
            (Some(seconds), _) => Duration::from_secs(seconds.into()),
            (None, Some(_)) => MAX_CELL,
            (None, None) if self.quick => QUICK_CELL,
            (None, None) => CELL,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let cells = grid::cells(args);
    measured::HEADER.lines().try_for_each(print_row)?;
    let mut all = Measured::default();
    let mut late = 0;
    let stop = stop::flag()?;
    for cell in cells {
        if stop.is_raised() {
            break;
        }
        let measured = cell::play(&cell, args.length(), args.total_games)?;
        print_row(&measured.row(&cell))?;
        if cell.counts() {
            late += measured.late() + measured.forfeits();
        }
        all.add(measured);
    }
    print_row(&all.total())?;
    if late == 0 { Ok(()) } else { Err(format!("{late} moves or games were late").into()) }
}
