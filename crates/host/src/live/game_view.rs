//! JSON of one game, whoever knows it: its owner, the hub or the database.

use std::time::Duration;

use zeitnot_referee::PlayedMove;

use super::view::{Clocks, Game, GamePhase, GameSummary, Ply, Thought};
use crate::{database::moment, game_info::GameInfo};

/// End of a game.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct Ended<'g> {
    /// Result that counts, as in PGN.
    pub result: &'g str,
    pub reason: &'g str,
    /// As in PGN, where it is known.
    pub termination: Option<&'g str>,
    /// Result at the board, if another one counts.
    pub result_at_board: Option<&'g str>,
    /// Note of the organiser.
    pub note: Option<String>,
}

/// Returns the view of a game without its moves, of which there are `ply`.
pub fn summary(
    info: &GameInfo,
    (ply, last): (usize, Option<&PlayedMove>),
    clocks: Option<Clocks>,
    ended: Option<&Ended<'_>>,
) -> GameSummary {
    let tournament = info.tournament.as_ref();
    let [white, black] = info.players.0.clone();
    GameSummary {
        id: info.id.to_string(),
        source: info.source,
        kind: info.kind.name().to_owned(),
        chess960: info.is_chess960(),
        tournament: tournament.map(|it| it.name.clone()),
        round: tournament.and_then(|it| it.numbering.round(Some(it.number))),
        white,
        black,
        time_control: info.time_control.map(|it| it.to_string()),
        state: if ended.is_some() { GamePhase::Ended } else { GamePhase::Running },
        result: ended.map(|ended| ended.result.to_owned()),
        reason: ended.map(|ended| ended.reason.to_owned()),
        fen: last.map_or_else(|| info.start_fen.clone(), |made| made.fen.clone()),
        last_move: last.map(|made| made.mv.to_string()),
        last_san: last.map(|made| made.san.clone()),
        clocks,
        ply,
        started: moment(info.began),
    }
}

/// Returns the view of a game with its moves, each with what its mover thought.
pub fn game<'g>(
    info: &GameInfo,
    plies: impl Iterator<Item = (&'g PlayedMove, Option<&'g Thought>)>,
    clocks: Option<Clocks>,
    ended: Option<Ended<'_>>,
) -> Game {
    let mut last = None;
    let plies: Vec<_> = plies
        .map(|(made, thought)| {
            last = Some(made);
            ply(made, thought)
        })
        .collect();
    let tournament = info.tournament.as_ref();
    Game {
        summary: summary(info, (plies.len(), last), clocks, ended.as_ref()),
        start_fen: info.start_fen.clone(),
        plies,
        number: tournament.map(|it| it.number),
        termination: ended.as_ref().and_then(|ended| ended.termination).map(str::to_owned),
        repeats: tournament.and_then(|it| it.repeats.clone()),
        result_at_board: ended.as_ref().and_then(|ended| ended.result_at_board).map(str::to_owned),
        note: ended.and_then(|ended| ended.note),
    }
}

/// Returns the view of a move, with what its mover thought.
pub fn ply(made: &PlayedMove, thought: Option<&Thought>) -> Ply {
    Ply {
        uci: made.mv.to_string(),
        san: made.san.clone(),
        fen: made.fen.clone(),
        spent_ms: made.spent.map(millis),
        left_ms: made.left.map(millis),
        thought: thought.cloned(),
    }
}

/// Returns a time as the API tells it.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
