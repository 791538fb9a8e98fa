//! `zeitnot uci`: being an engine under a chess GUI or a match runner.

use std::{
    io::{self, BufReader},
    marker::PhantomData,
    time::Duration,
};

use zeitnot_engine as engine;
use zeitnot_engine::{PlayVisitor, Playable, Score, wdl::WinDrawLoss, with_game};
use zeitnot_rules::{Game, GameError, GameKind, chess::Chess};
use zeitnot_wire::uci::{UciScore, Words};

use super::{
    CliError,
    gui::{
        Console, Dialect, GuiError, Margin,
        options::{self, Offer, Options},
    },
};

/// Be a chess engine: speak UCI on standard input and output
///
/// For chess GUIs and match runners: give them the command `zeitnot uci`. For those that want a program without
/// arguments, `zeitnot` alone does the same where its input is a pipe.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  printf 'position startpos moves e2e4\\ngo movetime 1000\\n' | zeitnot uci")]
pub struct Args {}

/// GUIs and match runners are near, a pipe away; but the machine may be busy, and wake either side late.
const MARGIN: Margin = Margin { most: Duration::from_millis(50), part: 8 };

/// Runs the command.
///
/// # Errors
/// [`CliError::Gui`].
pub fn run(_: &Args) -> Result<(), CliError> {
    let options = Options::new(engine::Config::default(), MARGIN.most);
    let mut console = Console::open(options, BufReader::new(io::stdin()), io::stdout())?;
    let mut game = Some(GameKind::Chess);
    while let Some(next) = game {
        game = with_game(next, Playing(&mut console))?;
    }
    Ok(())
}

/// One game after the other, as `UCI_Variant` names them.
struct Playing<'c>(&'c mut Console<io::Stdout>);

impl PlayVisitor for Playing<'_> {
    type Out = Result<Option<GameKind>, GuiError>;

    fn visit<G: Playable>(self) -> Self::Out {
        self.0.play(Uci::<G>(PhantomData))
    }
}

/// UCI itself, for one of the games that it has a name for.
struct Uci<G>(PhantomData<G>);

impl<G: Playable> Dialect for Uci<G> {
    type Game = G;
    const WORDS: Words = Words::Uci;
    const MARGIN: Margin = MARGIN;
    const MOST_SAID: usize = usize::MAX;
    const NO_MOVE: &str = "(none)";
    const OFFERS: &[&[Offer]] = &[options::COMMON, options::CHESS];

    fn root(text: Option<&str>, options: &Options) -> Result<G, GameError> {
        match (text, options.chess960) {
            (None, false) => Ok(G::start()),
            (None, true) => G::parse_chess960(&G::start().print()),
            (Some(text), false) => G::parse(text),
            (Some(text), true) => G::parse_chess960(text),
        }
    }

    fn score(score: Score) -> UciScore {
        score.into()
    }

    fn odds(position: &G, score: Score) -> Option<WinDrawLoss> {
        (G::NAME == Chess::NAME).then(|| WinDrawLoss::from_score(score, position.men()))
    }

    fn best_move(mv: &str, reply: Option<&str>) -> String {
        match reply {
            Some(reply) => format!("bestmove {mv} ponder {reply}"),
            None => format!("bestmove {mv}"),
        }
    }
}
