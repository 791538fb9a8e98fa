//! `zeitnot openings`: makes balanced openings for matches.

use std::{fs, io::Write, path::PathBuf};

use shakmaty::CastlingMode;

use zeitnot_arena::matches::openings::{Openings, Recipe};
use zeitnot_engine::{PlayVisitor, Playable, with_game};
use zeitnot_rules::{Game, GameKind, UnknownGame, chess};

use super::{CliError, print};

/// Make balanced openings for matches
///
/// Random moves from the start, of which those are kept that our engine finds nearly even; no two lead to the same
/// position. The same arguments make the same openings, as long as the engine is the same: the set that is built in was
/// made by `zeitnot openings`, without any.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot openings > openings.epd
  zeitnot openings --count 2000 --plies 6 --seed 7 --output openings.epd
  zeitnot openings --variant atomic --plies 4 --within 100 > atomic.epd")]
pub struct Args {
    /// How many
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
    /// Random moves of each
    #[arg(long, default_value_t = Recipe::default().plies, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub plies: u32,
    /// Nodes of the search that judges each
    #[arg(long, default_value_t = Recipe::default().nodes, value_parser = clap::value_parser!(u64).range(100..))]
    pub nodes: u64,
    /// How far from even it may find them, in centipawns
    #[arg(long, value_name = "CP", default_value_t = Recipe::default().most, value_parser = clap::value_parser!(i32).range(0..=10_000))]
    pub within: i32,
    /// Another one makes other openings
    #[arg(long, default_value_t = Recipe::default().seed)]
    pub seed: u64,
    /// By which rules; chess960 begins with a random one of its 960 positions
    #[arg(long, default_value = "chess", value_parser = variant)]
    pub variant: Variant,
    /// Write them there [default: the standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A game of ours, or chess with shuffled pieces.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As it begins.
    Usual(GameKind),
    /// From one of 960 positions.
    Chess960,
}

fn variant(name: &str) -> Result<Variant, String> {
    match name {
        "chess960" => Ok(Variant::Chess960),
        name => name.parse().map(Variant::Usual).map_err(|error: UnknownGame| format!("{error}, chess960")),
    }
}

/// So many bad ones in a row, and the recipe asks for too much.
const PATIENCE: u32 = 100_000;

/// Runs the command.
///
/// # Errors
/// [`CliError`] where too few are found, or cannot be written.
pub fn run(args: &Args) -> Result<(), CliError> {
    let positions = match args.variant {
        Variant::Usual(game) => with_game(game, Usual(args))?,
        Variant::Chess960 => {
            // Its positions stand in the text of the rules' own generator: they are legal.
            let start = |random: &mut fastrand::Rng| {
                let text = chess::shuffled(random);
                chess::Chess::parse_as(&text, CastlingMode::Chess960)
                    .unwrap_or_else(|_| chess::Chess::start())
            };
            args.make(start)?
        }
    };
    let text = positions.join("\n") + "\n";
    match &args.output {
        Some(path) => {
            fs::write(path, text).map_err(|source| CliError::Unwritten { path: path.clone(), source })
        }
        None => print(|out| out.write_all(text.as_bytes())),
    }
}

struct Usual<'a>(&'a Args);

impl PlayVisitor for Usual<'_> {
    type Out = Result<Vec<String>, CliError>;

    fn visit<G: Playable>(self) -> Self::Out {
        self.0.make(|_: &mut fastrand::Rng| G::start())
    }
}

impl Args {
    fn make<G: Playable>(&self, start: impl FnMut(&mut fastrand::Rng) -> G) -> Result<Vec<String>, CliError> {
        let recipe = Recipe { plies: self.plies, nodes: self.nodes, most: self.within, seed: self.seed };
        let mut openings = Openings::new(recipe, start);
        let (mut found, mut bad) = (Vec::new(), 0);
        while found.len() < self.count as usize {
            match openings.candidate::<G>()? {
                Some(position) => {
                    found.push(position.print());
                    bad = 0;
                }
                None if bad == PATIENCE => {
                    return Err(CliError::Usage(format!(
                        "only {} were found; allow more with --within, or other lines with --plies",
                        found.len()
                    )));
                }
                None => bad += 1,
            }
        }
        Ok(found)
    }
}
