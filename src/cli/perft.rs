//! `zeitnot perft`: counts the leaves of the move tree for each root move.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use zeitnot_rules::{Game, GameKind, MAX_PERFT_DEPTH, Tactics, Visitor, divide};

use super::{CliError, print};

/// Count the leaf nodes of the move tree, to verify the rules
///
/// Prints one line for each root move in the format of other engines, so that outputs can be compared with diff.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot perft 5
  zeitnot perft 4 r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")]
pub(super) struct Args {
    /// Depth in plies
    #[arg(value_parser = depth)]
    depth: u32,
    /// Position, quoted or not [default: the start position]
    #[arg(value_name = "FEN", trailing_var_arg = true)]
    position: Vec<String>,
    /// Game
    #[arg(long, default_value = "chess", value_parser = str::parse::<GameKind>)]
    game: GameKind,
}

fn depth(text: &str) -> Result<u32, String> {
    let depth = text.parse().ok().filter(|depth| *depth <= MAX_PERFT_DEPTH);
    depth.ok_or_else(|| {
        format!("expected a number of plies from 0 to {MAX_PERFT_DEPTH}, as in `zeitnot perft 5`")
    })
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let position = args.position.join(" ");
    let count = Count { depth: args.depth, position: Some(position).filter(|text| !text.is_empty()) };
    args.game.with(count)
}

struct Count {
    depth: u32,
    position: Option<String>,
}

impl Visitor for Count {
    type Out = Result<(), CliError>;

    fn visit<G: Tactics>(self, start: G) -> Self::Out {
        let root = match &self.position {
            Some(text) => start.parse_position(text)?,
            None => start,
        };
        print(|out| write_counts(root, self.depth, out))
    }
}

fn write_counts<G: Game>(root: G, depth: u32, out: &mut dyn Write) -> io::Result<()> {
    let began = Instant::now();
    // The root itself is the only leaf of depth 0.
    let mut total = u64::from(depth == 0);
    for (mv, nodes) in divide(root.clone(), depth, || false) {
        writeln!(out, "{}: {nodes}", root.write(mv))?;
        total += nodes;
    }
    let time = began.elapsed();
    writeln!(out, "\nNodes searched: {total}")?;
    writeln!(out, "Time: {time:.2?}, {} nodes/s", per_second(total, time))
}

fn per_second(nodes: u64, time: Duration) -> u128 {
    u128::from(nodes) * 1_000_000_000 / time.as_nanos().max(1)
}
