//! Games of a match as PGN, and what the score needs of them, from there too.

use zeitnot_referee::{Cause, GameRecord, Opinion, PlayedMove};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};
use zeitnot_wire::{pgn, uci::UciScore};

use crate::{
    entry::{Effort, Entry},
    run::Played,
    schedule::{Fixture, Schedule},
};

/// Value of the tag `Event`.
pub(crate) const EVENT: &str = "Zeitnot match";

/// Facts of a finished game that the score needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its place on the schedule.
    pub fixture: Fixture,
    pub(crate) result: GameResult,
    pub(crate) reason: String,
    pub(crate) plies: usize,
    /// Faults for which the engines of both entries are started again.
    pub(crate) faults: [Option<String>; 2],
}

impl Counted {
    pub(crate) fn of(played: &Played) -> Counted {
        let GameRecord { plies, ending, .. } = &played.record;
        Counted {
            fixture: played.fixture,
            result: ending.result.unwrap_or(GameResult::Draw),
            reason: reason(ending.cause),
            plies: plies.len(),
            faults: played.faults.clone(),
        }
    }

    /// Finds the game of these tags on the schedule. `None` if it is not on it.
    pub(crate) fn from_tags<'t>(
        tag: impl Fn(&str) -> Option<&'t str>,
        entries: &[Entry],
        schedule: &Schedule,
    ) -> Option<Counted> {
        let seat = |name: &str| entries.iter().position(|entry| Some(entry.name.as_str()) == tag(name));
        let (white, black) = (seat("White")?, seat("Black")?);
        let (round, half) = tag("Round")?.split_once('.')?;
        let (round, half): (usize, usize) = (round.parse().ok()?, half.parse().ok()?);
        let game = round.checked_sub(1)?.checked_mul(2)?.checked_add(half.checked_sub(1)?)?;
        let mut pairings = schedule.pairings().iter();
        let pairing = pairings.position(|pair| *pair == [white, black] || *pair == [black, white])?;
        let fixture = schedule.find(pairing, game)?;
        let fault = |color: Color| tag(FAULTS[color as usize]).map(str::to_owned);
        let mut faults = Color::BOTH.map(fault);
        faults.rotate_left(fixture.half);
        (fixture.entry(Color::White) == white).then_some(Counted {
            fixture,
            result: RESULTS.into_iter().find(|result| tag("Result") == Some(result.as_str()))?,
            reason: tag("Reason")?.to_owned(),
            plies: tag("PlyCount")?.parse().ok()?,
            faults,
        })
    }
}

const RESULTS: [GameResult; 3] =
    [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
/// Tags of faults for which an engine was started again.
const FAULTS: [&str; 2] = ["WhiteFault", "BlackFault"];

/// A game as PGN, with scores and clocks. `id` is that of the match.
pub fn pgn(played: &Played, entries: &[Entry], variant: GameKind, id: &str) -> String {
    let Played { fixture, record: GameRecord { began, fen, plies, ending }, faults } = played;
    let seats = ByColor(Color::BOTH.map(|color| &entries[fixture.entry(color)]));
    let mut tags = vec![
        ("Event", EVENT.to_owned()),
        ("Site", "?".to_owned()),
        ("Date", pgn::date(*began)),
        ("Round", format!("{}.{}", fixture.round + 1, fixture.half + 1)),
        ("White", seats[Color::White].name.clone()),
        ("Black", seats[Color::Black].name.clone()),
        ("Result", ending.result_text().to_owned()),
        ("UTCTime", pgn::time(*began)),
        ("WhiteTimeControl", effort(seats[Color::White].effort)),
        ("BlackTimeControl", effort(seats[Color::Black].effort)),
        ("PlyCount", plies.len().to_string()),
        ("Termination", ending.cause.termination().to_owned()),
        ("Reason", reason(ending.cause)),
        ("Match", id.to_owned()),
    ];
    if variant != GameKind::Chess {
        tags.push(("Variant", variant.name().to_owned()));
    }
    for color in Color::BOTH {
        tags.extend(faults[fixture.side(color)].clone().map(|fault| (FAULTS[color as usize], fault)));
    }
    let black_first = fen.as_deref().is_some_and(|fen| fen.split(' ').nth(1) == Some("b"));
    let plies = plies.iter().enumerate().map(|(at, ply)| {
        let side = Color::BOTH[(at + usize::from(black_first)) % 2];
        let has_clock = matches!(seats[side].effort, Effort::Clock(_));
        let PlayedMove { san, left, opinion, .. } = &**ply;
        let (left, eval) = (left.filter(|_| has_clock), opinion.map(|it| eval(it, side)));
        pgn::Ply { text: san.clone(), left, eval, ..pgn::Ply::default() }
    });
    let plies = plies.collect();
    pgn::Pgn { tags, fen: fen.clone(), plies, result: ending.result_text() }.print()
}

/// Name of a cause; an engine that disconnects has failed.
pub(crate) fn reason(cause: Cause) -> String {
    match cause {
        Cause::Disconnect => "Engine failed".to_owned(),
        cause => cause.to_string(),
    }
}

pub(crate) fn effort(effort: Effort) -> String {
    match effort {
        Effort::Clock(time_control) => time_control.to_string(),
        Effort::Time(time) => format!("{} a move", humantime::format_duration(time)),
        Effort::Nodes(nodes) => format!("{nodes} nodes a move"),
        Effort::Depth(depth) => format!("{depth} plies a move"),
    }
}

/// Score from White's view, and depth.
fn eval(Opinion { score, depth }: Opinion, side: Color) -> String {
    let sign = if side == Color::White { 1 } else { -1 };
    match score {
        UciScore::Cp(cp) => format!("{:.2},{depth}", f64::from(sign * cp) / 100.0),
        UciScore::Mate(moves) => format!("#{},{depth}", sign * i32::from(moves)),
    }
}
