//! Views of games that stand in the database only.

use std::time::Duration;

use zeitnot_referee::PlayedMove;
use zeitnot_rules::{ByColor, Color, DynGame, GameError, GameResult, TimeControl};

use super::{
    game_view::{self, Ended, millis},
    view::{Clocks, Game, Numbering},
};
use crate::{
    database::{GameEnd, GameRow},
    game_info::GameInfo,
};

/// Returns the view of a stored game of a tournament of that name with that numbering. It has no thoughts.
///
/// # Errors
/// [`GameError`] of the first move that does not fit the rules.
pub fn view(game: &GameRow, tournament: Option<(String, Numbering)>) -> Result<Game, GameError> {
    let (start, plies) = replay(game)?;
    let info = GameInfo::stored(&game.header, start, tournament);
    let ended = game.end.as_ref().map(|end: &GameEnd| Ended {
        result: end.result_text(),
        reason: &end.reason,
        termination: Some(&end.termination),
        result_at_board: (end.counted() != end.result).then(|| end.result.map_or("*", GameResult::as_str)),
        note: end.note.as_ref().map(ToString::to_string),
    });
    let clocks = info.time_control.map(|it| clocks(it, &info.start_fen, &plies, game.moves.stopped()));
    Ok(game_view::game(&info, plies.iter().map(|made| (made, None)), clocks, ended))
}

/// Plays a game again; returns its start and its moves. Where chance had a part in a move, the stored position follows it.
fn replay(game: &GameRow) -> Result<(String, Vec<PlayedMove>), GameError> {
    let kind = game.header.kind;
    let mut board = DynGame::begin(kind, game.header.start.as_deref())?;
    let start = board.root();
    let mut dealt = game.moves.positions();
    let mut plies = Vec::new();
    for (text, (left, spent)) in game.moves.iter() {
        let mv = board.read(text)?;
        let san = board.san(&mv)?;
        match dealt.next() {
            Some(position) => board = DynGame::begin(kind, Some(position))?,
            None => board.play(&mv)?,
        }
        plies.push(PlayedMove { mv, san, fen: board.now(), left, spent, opinion: None });
    }
    Ok((start, plies))
}

/// Returns the clocks after the last moves; `stopped` is that of the side that was to move at the end.
fn clocks(time_control: TimeControl, start: &str, plies: &[PlayedMove], stopped: Option<Duration>) -> Clocks {
    let is_black = start.split(' ').nth(1).is_some_and(|side| side.eq_ignore_ascii_case("b"));
    let begins = if is_black { Color::Black } else { Color::White };
    let mut left = ByColor::both(time_control.initial);
    let lefts = plies.iter().map(|ply| ply.left).chain([stopped]);
    for (number, time) in lefts.enumerate() {
        let mover = if number % 2 == 0 { begins } else { !begins };
        left[mover] = time.unwrap_or(left[mover]);
    }
    let ByColor([white, black]) = left;
    Clocks { white_ms: millis(white), black_ms: millis(black), running: None }
}
