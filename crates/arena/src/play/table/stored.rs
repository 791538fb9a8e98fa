//! Game of a table for the database.

use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_rules::{ByColor, GameKind};

use super::Table;
use crate::database::{Change, GameEnd, GameHeader, GameState, MoveList, Source};

impl Table {
    /// Returns the game as it stands; `None` if it has not begun.
    pub(in crate::play) fn stored(&self) -> Option<Change> {
        if !self.has_begun {
            return None;
        }
        let header = GameHeader {
            id: self.id.to_string().into(),
            source: Source::Table,
            kind: self.kind,
            tournament: None,
            round: None,
            opening: None,
            names: ByColor(self.players().0.map(|person| person.name)),
            time_control: self.time_control.map(|time_control| time_control.to_string()),
            // The prizes of TUC-Chess are dealt before the first move.
            start: (self.extra.is_own_start || self.kind == GameKind::Tuc)
                .then(|| self.extra.start_fen.clone()),
            repeats: None,
            began: self.started,
        };
        let mut moves = MoveList::default();
        for (made, played) in self.extra.moves.iter().zip(&self.referee.plies) {
            let times = (played.left, played.spent);
            match self.kind {
                GameKind::Tuc => moves.push_dealt(&made.uci, times, &made.fen),
                _ => moves.push(&made.uci, times),
            }
        }
        if self.referee.ending.is_some() {
            moves.stop(self.referee.clock.left(self.referee.turn(), Instant::now()));
        }
        let end = self.referee.ending.map(|ending| GameEnd {
            note: None,
            corrected: None,
            result: ending.result,
            reason: ending.cause.to_string(),
            termination: ending.cause.termination().to_owned(),
            place: None,
            at: OffsetDateTime::now_utc(),
        });
        Some(Change::Game(GameState { header: header.into(), moves, end }))
    }
}
