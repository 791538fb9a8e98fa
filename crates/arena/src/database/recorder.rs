//! One game of a front on its way to the database.

use std::{sync::Arc, time::Duration};

use time::OffsetDateTime;
use zeitnot_rules::GameResult;

use super::{
    Database,
    change::{Change, GameEnd, GameHeader, GameState, MoveList, MoveTimes},
};

/// A game that is written as it goes on. Without a database nothing happens.
#[derive(Debug)]
pub(crate) struct GameRecorder {
    database: Option<Database>,
    game: GameState,
    plies: usize,
}

impl GameRecorder {
    /// Begins a game.
    pub(crate) fn begin(database: Option<Database>, header: GameHeader) -> GameRecorder {
        let game = GameState { header: Arc::new(header), moves: MoveList::default(), end: None };
        let recorder = GameRecorder { database, game, plies: 0 };
        recorder.note();
        recorder
    }

    /// Returns the number of moves so far.
    pub(crate) fn plies(&self) -> usize {
        self.plies
    }

    /// Adds a move.
    pub(crate) fn moved(&mut self, mv: &str, times: MoveTimes) {
        self.game.moves.push(mv, times);
        self.plies += 1;
        self.note();
    }

    /// Adds a move in which chance had a part, and the position after it.
    pub(crate) fn dealt(&mut self, mv: &str, times: MoveTimes, position: &str) {
        self.game.moves.push_dealt(mv, times, position);
        self.plies += 1;
        self.note();
    }

    /// Ends the game, once, and waits for the disk: only then the players are told. `None`: it was broken off.
    /// `left` is the clock of the side to move.
    pub(crate) async fn end(
        &mut self,
        result: Option<GameResult>,
        reason: String,
        termination: &str,
        left: Option<Duration>,
    ) {
        if self.game.end.is_some() {
            return;
        }
        self.game.moves.stop(left);
        let (termination, at) = (termination.to_owned(), OffsetDateTime::now_utc());
        self.game.end =
            Some(GameEnd { result, reason, termination, place: None, at, note: None, corrected: None });
        if let Some(database) = &self.database {
            database.commit(vec![Change::Game(self.game.clone())]).await;
        }
    }

    fn note(&self) {
        if let Some(database) = &self.database {
            database.note(vec![Change::Game(self.game.clone())]);
        }
    }
}
