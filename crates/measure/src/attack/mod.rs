//! `zeitnot-measure arena-attack`: measures how much attacks on the arena delay the moves of honest players. It runs a
//! real arena, two contest players, two Lichess bots, people at tables and the organiser on loopback, and attacks it
//! in turn in the ways that [`attacks`] lists.
//!
//! [`cell`] runs one attack, [`contest`], [`lichess`] and [`people`] are the honest players, [`measured`] holds the
//! results.

use std::time::Duration;

use clap::ValueEnum;

use crate::{
    output::{Error, print_row},
    stop,
};

mod attacks;
mod cell;
mod contest;
mod lichess;
mod measured;
mod page_attacks;
mod people;
mod target;

use attacks::Attack;

/// The tournament of the honest players …
const CLASS: &str = "class";
/// … and the one that attackers can join.
const OPEN: &str = "open";
/// … and one with a password.
const GUARDED: &str = "guarded";
const TOKEN: &str = "organiser";
/// Accounts whose names attackers look up.
const PUPILS: usize = 300;
/// Time that an honest player thinks about a move.
const THINK: Duration = Duration::from_millis(2);
/// Pause of an honest player after a game.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for an answer to an honest player.
const PATIENCE: Duration = Duration::from_secs(10);

/// Measure how much attacks on the arena delay honest players
///
/// Runs an arena of its own on this machine, on which two contest players and two bots of the Lichess API play fast
/// games, people play at tables of the page, and the organiser shows the token, and attacks it in turn. The delay is the
/// time from a player's move, before it is written, to the opponent's line with it, after it is read, or from the
/// organiser's request to the answer. The first row is without an attack.
///
/// Attackers have the usual priority, and an address of their own where the system has more than one for itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure arena-attack                             all attacks, in about a minute
  zeitnot-measure arena-attack --attack say --seconds 20   one of them, for longer

Exit code: 0 if p99 is at most 10 ms for programs and 100 ms for people in each row, and no game was lost on time,
otherwise 1.
Ctrl-C ends it after the present attack.")]
pub(crate) struct Args {
    /// Only these attacks
    #[arg(long, value_name = "ATTACK")]
    attack: Vec<Attack>,
    /// Duration of each attack, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let attacks = if args.attack.is_empty() { Attack::value_variants() } else { &args.attack };
    measured::HEADER.lines().try_for_each(print_row)?;
    let mut delayed = 0;
    let stop = stop::flag()?;
    for attack in attacks {
        if stop.is_raised() {
            break;
        }
        let measured = cell::run(*attack, Duration::from_secs(args.seconds.into()))?;
        print_row(&measured.row(*attack))?;
        delayed += usize::from(!measured.is_good());
    }
    match delayed {
        0 => Ok(()),
        _ => {
            Err(format!("{delayed} attacks delayed programs by more than 10 ms or people by more than 100 ms, or cost a game").into())
        }
    }
}
