//! Conditions of games between engines: limits, openings, rules of adjudication.

use std::{collections::HashSet, path::PathBuf, time::Duration};

use zeitnot_arena as arena;
use zeitnot_engine::{PlayVisitor, Playable, with_game};
use zeitnot_matches::{Effort, Entry, Match, Schedule, openings::BALANCED};
use zeitnot_referee::{Adjudication, DrawRule, ResignRule};
use zeitnot_rules::{DynGame, Game, GameKind, TimeControl, UnknownGame};

use crate::cli::{CliError, config::Overrides};

/// Default margin with a fixed time for each move: engines answer when it is over.
const MOVE_TIME_MARGIN: Duration = Duration::from_millis(100);
const DEFAULT_TIME: TimeControl =
    TimeControl { initial: Duration::from_secs(5), increment: Duration::from_millis(50) };

/// Arguments of commands that let engines play.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct Conditions {
    /// Clock of both in seconds [default: 5+0.05]
    #[arg(long, value_name = "TIME+INCREMENT", conflicts_with_all = ["movetime", "nodes", "depth"])]
    pub(super) tc: Option<TimeControl>,
    /// Fixed time for each move instead, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["nodes", "depth"])]
    pub(super) movetime: Option<Duration>,
    /// Fixed nodes for each move instead, which is fair on a busy machine
    #[arg(long, value_name = "N", conflicts_with = "depth", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) nodes: Option<u64>,
    /// Fixed depth for each move instead
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(super) depth: Option<u16>,
    /// Concurrent games; leave a core to each thinking engine
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(super) concurrency: u16,
    /// File with a FEN or EPD on each line [default: built-in openings of chess]
    #[arg(long, value_name = "FILE")]
    pub(super) openings: Option<PathBuf>,
    /// Seed of the order of the openings; 0 keeps the order of the file
    #[arg(long, default_value_t = 1)]
    pub(in crate::cli) seed: u64,
    /// Game
    #[arg(long, default_value = "chess", value_parser = variant)]
    pub(super) variant: GameKind,
    /// Adjudicate a draw from move FROM if no score of either exceeds CP centipawns for MOVES moves, such as 40,8,10
    #[arg(long, value_name = "FROM,MOVES,CP", value_parser = drawn)]
    pub(super) draw: Option<DrawRule>,
    /// Adjudicate a loss if both scores show at least CP centipawns for MOVES moves, such as 4,600
    #[arg(long, value_name = "MOVES,CP", value_parser = resigned)]
    pub(super) resign: Option<ResignRule>,
    /// Adjudicate after this many moves: a draw, except in TUC-Chess, where points decide
    #[arg(long, value_name = "MOVES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) longest: Option<u32>,
    /// Accept moves that are late by this [default: 0ms with a clock, 100ms with a fixed time for each move]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) margin: Option<Duration>,
    /// Time without an answer after which an engine without a clock loses
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(super) patience: Duration,
    /// Configuration with [engines.NAME] tables [default: config.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) overrides: Overrides,
}

impl Conditions {
    /// Limit of engines without one of their own.
    pub(in crate::cli) fn effort(&self) -> Effort {
        match (self.movetime, self.nodes, self.depth) {
            (Some(time), ..) => Effort::Time(time),
            (_, Some(nodes), _) => Effort::Nodes(nodes),
            (.., Some(depth)) => Effort::Depth(depth),
            _ => Effort::Clock(self.tc.unwrap_or(DEFAULT_TIME)),
        }
    }

    /// Limits all moves by nodes.
    pub(super) fn set_nodes(&mut self, nodes: u64) {
        (self.tc, self.movetime, self.nodes, self.depth) = (None, None, Some(nodes), None);
    }

    /// Limits all moves by a clock.
    pub(super) fn set_clock(&mut self, time_control: TimeControl) {
        (self.tc, self.movetime, self.nodes, self.depth) = (Some(time_control), None, None, None);
    }

    /// Conditions on which results depend besides the engines, as text.
    pub(in crate::cli) fn identity(&self) -> String {
        let Conditions { openings, seed, variant, draw, resign, longest, margin, patience, .. } = self;
        let effort = self.effort();
        format!(
            "{effort:?} {openings:?} {seed} {variant:?} {draw:?} {resign:?} {longest:?} {margin:?} {patience:?}"
        )
    }

    /// Loads the openings, in the order of the seed.
    pub(in crate::cli) fn openings(&self) -> Result<Openings, CliError> {
        with_game(self.variant, Load(self))
    }

    /// Returns a match under these conditions.
    pub(in crate::cli) fn games(
        &self,
        entries: &[Entry],
        schedule: Schedule,
        openings: Vec<DynGame>,
    ) -> Match {
        let has_move_time = entries.iter().any(|entry| matches!(entry.effort, Effort::Time(_)));
        let usual_margin = if has_move_time { MOVE_TIME_MARGIN } else { Duration::ZERO };
        Match {
            entries: entries.to_vec(),
            schedule,
            done: HashSet::new(),
            variant: self.variant,
            openings,
            concurrency: self.concurrency.into(),
            margin: self.margin.unwrap_or(usual_margin),
            adjudication: Adjudication { draw: self.draw, resign: self.resign, max_moves: self.longest },
            patience: self.patience,
        }
    }
}

/// Openings of a match.
pub(in crate::cli) struct Openings {
    pub(in crate::cli) positions: Vec<DynGame>,
    pub(super) are_chess960: bool,
}

struct Load<'a>(&'a Conditions);

impl PlayVisitor for Load<'_> {
    type Out = Result<Openings, CliError>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let Load(conditions) = self;
        let mut openings: Vec<G> = match &conditions.openings {
            Some(path) => arena::openings::load(path, &start)?,
            None if conditions.variant == GameKind::Chess => {
                BALANCED.lines().map(|line| start.parse_position(line)).collect::<Result<_, _>>()?
            }
            None => {
                return Err(CliError::Usage(format!(
                    "--variant {0} needs --openings FILE; make one with: zeitnot openings --variant {0} > openings.epd",
                    conditions.variant.name()
                )));
            }
        };
        if conditions.seed != 0 {
            fastrand::Rng::with_seed(conditions.seed).shuffle(&mut openings);
        }
        let are_chess960 = openings.iter().any(Game::is_chess960);
        Ok(Openings { positions: openings.into_iter().map(DynGame::from).collect(), are_chess960 })
    }
}

/// Parses the name of a game.
pub(super) fn variant(name: &str) -> Result<GameKind, String> {
    name.parse().map_err(|error: UnknownGame| format!("{error}; chess960 is chess with its own openings"))
}

/// Maximum of times on the command line.
const MAX_TIME: Duration = Duration::from_secs(24 * 3600);

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok().filter(|time| *time <= MAX_TIME);
    time.ok_or_else(|| "expected a time of at most a day, as in 100ms".to_owned())
}

pub(super) fn error_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-6..0.5).contains(rate));
    rate.ok_or_else(|| "expected a number between 0 and 0.5".to_owned())
}

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

pub(super) fn drawn(text: &str) -> Result<DrawRule, String> {
    match numbers(text) {
        Some([move_number, move_count, score]) if move_count > 0 => {
            Ok(DrawRule { move_number, move_count, score })
        }
        _ => Err("expected move, moves and centipawns, as in 40,8,10".to_owned()),
    }
}

pub(super) fn resigned(text: &str) -> Result<ResignRule, String> {
    match numbers(text) {
        Some([move_count, score]) if move_count > 0 && score > 0 => Ok(ResignRule { move_count, score }),
        _ => Err("expected moves and centipawns, as in 4,600".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_games_and_times() {
        assert_eq!(drawn("40,8,10"), Ok(DrawRule { move_number: 40, move_count: 8, score: 10 }));
        assert_eq!(resigned("4, 600"), Ok(ResignRule { move_count: 4, score: 600 }));
        assert!(drawn("40,8").is_err() && resigned("0,600").is_err() && resigned("4,-600").is_err());
        assert_eq!(variant("atomic"), Ok(GameKind::Atomic));
        assert!(time("100").is_err() && time("2 days").is_err());
        assert!(variant("tuc").is_ok() && variant("chess960").is_err());
        assert!(error_rate("0.5").is_err() && error_rate("nan").is_err());
    }
}
