//! Views of games that stand in the database only.

use std::time::Duration;

use zeitnot_rules::{ByColor, Color, GameError, GameResult, TimeControl};

use super::{
    feed::person,
    view::{Clocks, Game, GameState, GameSummary, Numbering, Ply, Source},
};
use crate::{
    database::{self, GameEnd, moment},
    replay::{Replay, Replayed},
};

impl From<database::Source> for Source {
    fn from(source: database::Source) -> Source {
        match source {
            database::Source::Contest => Source::Contest,
            database::Source::Imcs => Source::Imcs,
            database::Source::Tuc => Source::Tuc,
            database::Source::Lichess => Source::Lichess,
            database::Source::Table => Source::Table,
        }
    }
}

/// Returns the view of a stored game of a tournament of that name with that numbering. It has no thoughts.
///
/// # Errors
/// [`GameError`] of the first move that does not fit the rules.
pub(crate) fn view(
    game: &database::GameState,
    tournament: Option<(String, Numbering)>,
) -> Result<Game, GameError> {
    let header = &game.header;
    let Replay { start, plies } = Replay::new(game)?;
    let ByColor([white, black]) = header.names.clone();
    let (last, end) = (plies.last(), game.end.as_ref());
    let (tournament, numbering) = tournament.unzip();
    let stopped = game.moves.stopped();
    let summary = GameSummary {
        id: header.id.to_string(),
        source: header.source.into(),
        kind: header.kind.name().to_owned(),
        tournament,
        round: numbering.and_then(|numbering| numbering.round(header.round)),
        white: person(white),
        black: person(black),
        time_control: header.time_control.clone(),
        state: if end.is_some() { GameState::Ended } else { GameState::Running },
        result: end.map(|end| end.result_text().to_owned()),
        reason: end.map(|end: &GameEnd| end.reason.clone()),
        fen: last.map_or_else(|| start.clone(), |ply| ply.fen.clone()),
        last_move: last.map(|ply| ply.text.clone()),
        clocks: clocks(header.time_control.as_deref(), &start, &plies, stopped),
        ply: plies.len(),
        started: moment(header.began),
    };
    let ply = |Replayed { text, san, fen, left, spent }| Ply {
        uci: text,
        san,
        fen,
        spent_ms: spent.map(millis),
        left_ms: left.map(millis),
        thought: None,
    };
    let corrected = end.filter(|end| end.counted() != end.result);
    Ok(Game {
        summary,
        start_fen: start,
        plies: plies.into_iter().map(ply).collect(),
        number: header.round,
        termination: end.map(|end| end.termination.clone()),
        repeats: header.repeats.clone(),
        result_at_board: corrected.map(|end| end.result.map_or("*", GameResult::as_str).to_owned()),
        note: end.and_then(|end| end.note.as_ref()).map(ToString::to_string),
    })
}

/// Clocks after the last moves; `stopped` is that of the side that was to move at the end.
fn clocks(
    time_control: Option<&str>,
    start: &str,
    plies: &[Replayed],
    stopped: Option<Duration>,
) -> Option<Clocks> {
    let initial = time_control?.parse::<TimeControl>().ok()?.initial;
    let begins = if start.split(' ').nth(1) == Some("b") { Color::Black } else { Color::White };
    let mut left = ByColor::both(initial);
    let lefts = plies.iter().map(|ply| ply.left).chain([stopped]);
    for (number, time) in lefts.enumerate() {
        let mover = if number % 2 == 0 { begins } else { !begins };
        left[mover] = time.unwrap_or(left[mover]);
    }
    let ByColor([white, black]) = left;
    Some(Clocks { white_ms: millis(white), black_ms: millis(black), running: None })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
