//! The experiments, with results of course reports: VinUni's on chess, TUC's on TUC-Chess.

use std::num::NonZeroU16;

use zeitnot_engine::{
    Kind, OutOfMemory, Playable,
    textbook::{Algorithm, MoveOrder, Options},
};
use zeitnot_rules::{Color, Game, GameHistory, chess::Chess, tuc::Tuc};

use super::{
    Settings,
    compare::{Contestant, Subject, compare},
    findings::Row,
    match_play::{Effort, Match, Player},
    openings,
};
use crate::cli::{CliError, progress::Work};

/// Position of a report that shows the horizon effect.
pub(super) const HORIZON: &str = "r1b1kb1r/pppp1pp1/4p3/2n5/2Q1BN1q/3P4/PP2PP2/RNB1K2R b KQkq - 0 1";
/// Mate in one for Black.
const MATE: &str = "1K6/8/qk6/8/8/8/8/8 b - - 0 1";
/// Fine 70: few moves, many transpositions.
const FINE_70: &str = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";

/// All algorithms; minimax and plain alpha-beta only to these depths.
fn everybody(minimax: u16, alpha_beta: u16) -> Vec<Contestant> {
    let contestant = |algorithm| match algorithm {
        Algorithm::Minimax => Contestant { deepest: minimax, ..algorithm.into() },
        Algorithm::AlphaBeta => Contestant { deepest: alpha_beta, ..algorithm.into() },
        other => other.into(),
    };
    Algorithm::ALL.map(contestant).to_vec()
}

/// Adds the results of reports to an algorithm, unless the positions are other ones.
fn reported(
    settings: &Settings,
    contestants: &mut [Contestant],
    algorithm: Algorithm,
    reports: &'static [(u16, &'static str)],
) {
    if settings.args.positions.is_some() {
        return;
    }
    contestants.iter_mut().filter(|one| one.algorithm == algorithm).for_each(|one| one.reports = reports);
}

fn average<'p>(settings: &'p Settings<'_>) -> Subject<'p> {
    let positions = &settings.positions[..];
    let name = format!("average of {}", positions.len());
    Subject { name, positions: positions.into(), evaluation: settings.evaluation() }
}

/// One position with this name, or those of `--positions`.
fn single<'p>(settings: &'p Settings<'_>, name: &str, fen: &str) -> Result<Subject<'p>, CliError> {
    if settings.args.positions.is_some() {
        return Ok(average(settings));
    }
    let positions = vec![Chess::parse(fen)?].into();
    Ok(Subject { name: name.into(), positions, evaluation: settings.evaluation() })
}

pub(super) fn positions(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let mut contestants = everybody(4, 5);
    let before: &[_] = &[(3, "8,587 nodes before ordering"), (4, "64,049 nodes before ordering")];
    let after: &[_] = &[(3, "1,828 nodes"), (4, "3,923 nodes"), (5, "30,169 nodes in 14.3 s")];
    reported(settings, &mut contestants, Algorithm::AlphaBeta, before);
    reported(settings, &mut contestants, Algorithm::AlphaBetaOrdered, after);
    let deepest = settings.depth(6, 3);
    Ok(compare(&average(settings), &contestants, deepest.min(3)..=deepest, work))
}

pub(super) fn horizon(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let mut contestants = everybody(5, 6);
    reported(
        settings,
        &mut contestants,
        Algorithm::Minimax,
        &[(4, "2,252,057 nodes at depths 1 to 4 with hashing, h4h1")],
    );
    reported(
        settings,
        &mut contestants,
        Algorithm::AlphaBeta,
        &[(4, "117,961 nodes at depths 1 to 4 with hashing, h4h1")],
    );
    let subject = single(settings, "horizon", HORIZON)?;
    Ok(compare(&subject, &contestants, 1..=settings.depth(5, 4), work))
}

pub(super) fn mate(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let mut contestants = everybody(6, 6);
    reported(settings, &mut contestants, Algorithm::Minimax, &[(1, "a6b7"), (2, "a6b7"), (3, "a6b7")]);
    let subject = single(settings, "mate in one", MATE)?;
    Ok(compare(&subject, &contestants, 1..=settings.depth(3, 2), work))
}

pub(super) fn table(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let options = Options { order: Some(MoveOrder::Captures), ..Options::default() };
    let with = Options { table: true, ..options };
    let one = |name, algorithm: Algorithm, options| Contestant { name, options, ..algorithm.into() };
    let contestants = [
        one("alpha-beta without table", Algorithm::AlphaBeta, options),
        one("alpha-beta with table", Algorithm::AlphaBeta, with),
        one("mtd-f without table", Algorithm::MtdF, options),
        one("mtd-f with table", Algorithm::MtdF, with),
    ];
    let deepest = settings.depth(5, 3);
    let mut rows = compare(&average(settings), &contestants, deepest.min(3)..=deepest, work);
    // With few moves, deeper searches are affordable.
    if settings.args.positions.is_none() {
        let subject = single(settings, "Fine 70", FINE_70)?;
        rows.extend(compare(&subject, &contestants, deepest + 3..=deepest + 7, work));
    }
    Ok(rows)
}

pub(super) fn quiescence(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let contestants = [
        Contestant { name: "without quiescence", ..Algorithm::AlphaBetaTable.into() },
        Contestant { name: "with quiescence", ..Algorithm::AlphaBetaQuiescence.into() },
        Contestant { name: "and checks", ..Algorithm::AlphaBetaChecks.into() },
    ];
    Ok(compare(&average(settings), &contestants, 1..=settings.depth(5, 3), work))
}

/// TUC-Chess: speed of Monte Carlo tree search, and matches against random moves and against minimax.
pub(super) fn mcts(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let start = GameHistory::new(Tuc::start());
    let mut rows = Vec::new();
    work.bar.inc_length(2);
    for (kind, report) in [(Kind::Uct, "25,000 to 40,000 in 6 s"), (Kind::Mcts, "")] {
        if work.is_stopped() {
            return Ok(rows);
        }
        work.bar.set_message(format!("{kind} from the start"));
        let effort = Effort::Time(settings.seconds());
        let player = Player { kind, evaluation: settings.evaluation(), effort };
        let chosen = player.choose(&mut *player.factory()?.thinker(), &start);
        rows.extend(chosen.map(|(mv, cost)| Row {
            position: "start of TUC-Chess".into(),
            who: kind.to_string(),
            nodes: Some(cost.nodes),
            time: Some(cost.time),
            mv: start.now().write(mv).to_string(),
            report: report.into(),
            ..Row::default()
        }));
        work.bar.inc(1);
    }
    let minimax = by_depth(settings, Algorithm::AlphaBetaTable, const { NonZeroU16::new(4).unwrap() });
    let random = Player { kind: Kind::Random, evaluation: settings.evaluation(), effort: Effort::None };
    let opponents = [random, minimax];
    let pair = |kind| opponents.map(|opponent| [by_time(kind, settings), opponent]);
    let pairs = [pair(Kind::Uct), pair(Kind::Mcts)].concat();
    // Without new prizes and mates games may not end, so points decide after the maximum length.
    let leader = |position: &Tuc| match position.lead() {
        0 => None,
        lead => Some(if lead > 0 { Color::White } else { Color::Black }),
    };
    rows.extend(matches(settings, &pairs, &openings::random(&Tuc::start()), 200, leader, work)?);
    Ok(rows)
}

/// Chess: matches between the engines and textbook alpha-beta.
pub(super) fn duels(settings: &Settings, work: &Work) -> Result<Vec<Row>, CliError> {
    let alpha_beta = by_depth(settings, Algorithm::AlphaBetaOrdered, const { NonZeroU16::new(3).unwrap() });
    let [search, mcts] = [Kind::Search, Kind::Mcts].map(|kind| by_time(kind, settings));
    let pairs = [[mcts, alpha_beta], [search, alpha_beta], [search, mcts]];
    Ok(matches(settings, &pairs, &openings::chess(), 400, |_| None, work)?)
}

fn by_depth(settings: &Settings, algorithm: Algorithm, depth: NonZeroU16) -> Player {
    let (kind, evaluation) = (Kind::Textbook(algorithm), settings.evaluation());
    Player { kind, evaluation, effort: Effort::Depth(depth) }
}

fn by_time(kind: Kind, settings: &Settings) -> Player {
    Player { kind, evaluation: settings.evaluation(), effort: Effort::Time(settings.move_time()) }
}

/// Plays one match after the other, each a row.
fn matches<G: Playable>(
    settings: &Settings,
    pairs: &[[Player; 2]],
    openings: &[GameHistory<G>],
    max_plies: usize,
    leader: fn(&G) -> Option<Color>,
    work: &Work,
) -> Result<Vec<Row>, OutOfMemory> {
    let games = settings.games();
    let game = openings.first().map_or("", |opening| opening.now().kind().name());
    work.bar.inc_length((games * pairs.len()) as u64);
    let row = |&players: &[Player; 2]| {
        let tally = Match { players, openings, games, max_plies, leader }.play(work)?;
        let [first, second] = players;
        Ok(Row {
            position: format!("{} games of {game}", tally.games()),
            who: format!("{first} against {second}"),
            finding: tally.to_string(),
            ..Row::default()
        })
    };
    pairs.iter().take_while(|_| !work.is_stopped()).map(row).collect()
}
