//! A game that the arena hosts: the one owner of its referee, its record and its view, whatever the front.
//!
//! ```text
//!  front ─ move, offer, end ─▶ HostedGame ─┬─▶ Referee: what is legal, whose clock runs, how it ends
//!  front ◀─ what has changed ──────┘       ├─▶ database: each move within a second, the end before it is told
//!                                          └─▶ hub: what spectators see
//! ```
//!
//! A front drives the referee, reports each change with one call, and translates what has changed to its protocol. It
//! touches neither the database nor the live view. Nothing here waits: every instant is passed in.
//!
//! An end is told to nobody before it is on the disk, or before the disk has failed to answer for 5 s, so that a kill never
//! takes back a result that somebody has seen:
//! [`HostedGame::take_end`] hands it over, and [`HostedGame::tell_end`] shows it. A game that runs when its arena is
//! killed is broken off at the next start, by the database; a front whose players come back begins it again with its
//! id and its moves. A game that a panic drops is broken off at once.

use std::{sync::Arc, thread};

use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_referee::{Board, Cause, Ending, Referee};
use zeitnot_rules::GameResult;

use crate::{
    database::{Change, Database, GameEnd, GameHeader, GameRow, MoveList, Place},
    game_info::GameInfo,
    live::{Feed, LiveGame},
    note::Note,
};

/// Where the games of an arena are written and shown.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Those who watch.
    pub feed: Feed,
    /// Keeps the games, if there is one.
    pub database: Option<Database>,
}

/// Way of a game to the database and to those who watch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Progress {
    /// Nobody knows of it.
    New,
    Begun,
    /// Its end is on its way to the disk.
    Ending,
    Told,
}

/// Game of a front.
#[derive(Debug)]
pub struct HostedGame<B: Board> {
    /// Facts that no move changes.
    pub info: Arc<GameInfo>,
    /// Driven by the front.
    pub referee: Referee<B>,
    /// The same facts for the database.
    header: Arc<GameHeader>,
    host: Host,
    live: LiveGame,
    progress: Progress,
}

impl<B: Board> HostedGame<B> {
    /// Creates a game. [`HostedGame::begin`] writes and shows it.
    pub fn new(info: GameInfo, referee: Referee<B>, host: Host) -> Self {
        let (header, info) = (Arc::new(info.header()), Arc::new(info));
        HostedGame { info, referee, header, host, live: LiveGame::default(), progress: Progress::New }
    }

    /// Writes and shows the game from now on, with the moves that were played before a restart.
    pub fn begin(&mut self, now: Instant) {
        if self.progress == Progress::New {
            self.progress = Progress::Begun;
            self.note();
            self.live = self.host.feed.begin(self.info.clone(), &self.referee, now);
        }
    }

    /// Reports the last move; the next clock runs already.
    pub fn moved(&mut self, now: Instant) {
        self.note();
        self.live.moved(&self.referee, now);
    }

    /// Reports a change that is no move: moves were taken back, or clocks were set.
    pub fn changed(&mut self, now: Instant) {
        self.note();
        self.live.changed(&self.referee, now);
    }

    /// Returns whether the referee has an end, told or not.
    pub fn is_over(&self) -> bool {
        self.referee.ending.is_some()
    }

    /// Returns whether the end is on its way to the disk: nobody may hear of it.
    pub fn is_ending(&self) -> bool {
        self.progress == Progress::Ending
    }

    /// Takes the end, once, for a caller that writes it itself, in the order of its other changes, and then calls
    /// [`HostedGame::tell_end`]. `None`: there is no end yet, or nothing to write.
    pub fn take_end(
        &mut self,
        place: impl FnOnce(Option<GameResult>) -> Option<Place>,
        note: Option<Note>,
    ) -> Option<GameRow> {
        let Ending { result, cause } = self.referee.ending?;
        if self.progress != Progress::Begun {
            return None;
        }
        self.progress = Progress::Ending;
        let end = GameEnd {
            result,
            reason: cause.to_string(),
            termination: cause.termination().to_owned(),
            place: place(result),
            at: OffsetDateTime::now_utc(),
            note,
            corrected: None,
        };
        Some(GameRow { end: Some(end), ..self.state() })
    }

    /// Tells spectators the end.
    pub fn tell_end(&mut self, now: Instant) {
        if let Some(Ending { result, cause }) = self.referee.ending {
            self.progress = Progress::Told;
            self.live.ended(result, cause.to_string(), cause.termination(), &self.referee, now);
        }
    }

    /// Writes the end, if it is new; the future ends when it is on the disk and may be told.
    pub fn settling(&mut self) -> Option<impl Future<Output = ()> + Send + use<B>> {
        let game = self.take_end(|_| None, None)?;
        let database = self.host.database.clone();
        Some(async move {
            if let Some(database) = database {
                database.commit(vec![Change::Game(game)]).await;
            }
        })
    }

    /// Returns the game as the database is to hold it, without its end.
    pub fn state(&self) -> GameRow {
        let mut moves = MoveList::of(self.info.kind, &self.referee.plies);
        if self.is_over() {
            moves.stop(self.referee.clock.left(self.referee.turn(), Instant::now()));
        }
        GameRow { header: self.header.clone(), moves, end: None }
    }

    fn note(&self) {
        if let Some(database) = self.host.database.as_ref().filter(|_| self.progress == Progress::Begun) {
            database.note(vec![Change::Game(self.state())]);
        }
    }
}

impl<B: Board> Drop for HostedGame<B> {
    fn drop(&mut self) {
        if !thread::panicking() || self.progress != Progress::Begun {
            return;
        }
        self.referee.end(None, Cause::InternalError, Instant::now());
        if let (Some(database), Some(game)) = (self.host.database.clone(), self.take_end(|_| None, None)) {
            database.note(vec![Change::Game(game)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_referee::{Allowance, RefereeRules};
    use zeitnot_rules::{ByColor, DynGame, GameKind};

    use super::*;
    use crate::{
        database::{Reader, Source},
        panic_guard,
    };

    #[test]
    async fn a_game_that_a_panic_drops_is_broken_off_in_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeitnot.db");
        let (database, writer) = Database::open(path.clone().into(), || ()).await.unwrap();
        let now = Instant::now();
        let board = DynGame::begin(GameKind::Chess, None).unwrap();
        let rules = RefereeRules::default();
        let referee = Referee::new(board, ByColor::both(Allowance::Unlimited), rules, now);
        let info = GameInfo::new(Source::Imcs, &referee.board, ByColor(["alice", "bob"]));
        let host = Host { feed: Feed::default(), database: Some(database) };
        let mut game = HostedGame::new(info, referee, host);
        game.begin(now);
        let broken_down = panic_guard::contain(move || {
            let _game = game;
            panic!("a bug in a front");
        });
        assert!(broken_down.is_err());
        writer.join().await;
        let mut reader = Reader::open(&path.into()).await.unwrap();
        let games = reader.games(Source::Imcs).await.unwrap();
        assert_eq!(games[0].end.as_ref().unwrap().reason, Cause::InternalError.to_string());
    }
}
