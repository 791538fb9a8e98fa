//! Changes for the database. Each names one row and its whole new value, so that writing it twice does no harm.

use std::{fmt, fmt::Write as _, sync::Arc, time::Duration};

use time::OffsetDateTime;
use zeitnot_pairing::{Name, format::Format};
use zeitnot_referee::PlayedMove;
use zeitnot_rules::{ByColor, GameKind, GameResult, TimeControl};

use crate::{
    live::view::{Person, Source},
    note::Note,
    origin::Origin,
};

/// Termination of a game that was not played.
pub const FORFEIT: &str = "forfeit";

/// Identifier of one edition of a tournament.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TournamentId(pub(super) i64);

/// Place of a fact or result in the history of its tournament.
pub type Place = u64;

/// Part of a database that one arena has at a time.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Tournament(TournamentId),
    /// Accounts, challenges and games of the Lichess API.
    Lichess,
    /// Refusals of no tournament.
    Refusals,
}

impl Subject {
    pub(super) fn key(self) -> String {
        match self {
            Subject::Tournament(TournamentId(id)) => format!("tournament:{id}"),
            Subject::Lichess => "lichess".into(),
            Subject::Refusals => "refusals".into(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Tournament(TournamentId(id)) => write!(f, "the tournament {id}"),
            Subject::Lichess => f.write_str("the Lichess API"),
            Subject::Refusals => f.write_str("the list of refused joins"),
        }
    }
}

/// New value of one row.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub enum Change {
    /// Where a tournament stands.
    State(TournamentId, TournamentState),
    /// New settings of a tournament that the organiser has created.
    Settings(TournamentId, GameKind, TimeControl, Format, SettingsText),
    /// Somebody who was refused, in place of an earlier one; `None`: by no tournament.
    Refusal(Option<TournamentId>, RefusalRecord),
    /// An event of a tournament that is no result.
    Event { tournament: TournamentId, place: Place, at: OffsetDateTime, fact: Fact },
    /// Another result for a game that is over.
    Correction { tournament: TournamentId, game: Arc<str>, result: Option<GameResult>, note: Note },
    /// A game that has begun, goes on or is over. The end tells all moves, so those in between may be lost.
    Game(GameRow),
    /// The game of this id is in a file of games.
    Exported(Arc<str>),
    /// A new file of games takes the place of the last one.
    ExportFile(ExportFile),
    /// A file of games has another length, unless a new one has taken its place.
    ExportLength(ExportFile),
    /// State of the Lichess API.
    Lichess(LichessRow),
    /// A tournament without games is forgotten.
    Deletion(TournamentId),
}

/// Row that a change is about; in the order in which rows need each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    State(TournamentId),
    Settings(TournamentId),
    Refusal(Option<TournamentId>, usize),
    Event(TournamentId, Place),
    Game(Arc<str>),
    Correction(Arc<str>),
    Exported(Arc<str>),
    ExportFile(Option<Name>),
    ExportLength(Option<Name>),
    Lichess(&'static str, String),
    /// After all else about it.
    Deletion(TournamentId),
}

impl Change {
    pub(super) fn key(&self) -> Key {
        match self {
            Change::State(tournament, _) => Key::State(*tournament),
            Change::Refusal(tournament, refusal) => Key::Refusal(*tournament, refusal.slot),
            Change::Settings(tournament, ..) => Key::Settings(*tournament),
            Change::Event { tournament, place, .. } => Key::Event(*tournament, *place),
            Change::Game(game) => Key::Game(game.header.id.clone()),
            Change::Correction { game, .. } => Key::Correction(game.clone()),
            Change::Exported(game) => Key::Exported(game.clone()),
            Change::ExportFile(ExportFile { tournament, .. }) => Key::ExportFile(tournament.clone()),
            Change::ExportLength(ExportFile { tournament, .. }) => Key::ExportLength(tournament.clone()),
            Change::Lichess(row) => Key::Lichess(row.kind.as_str(), row.id.clone()),
            Change::Deletion(tournament) => Key::Deletion(*tournament),
        }
    }

    /// Returns whose it is; `None` for a game of no tournament, which is of the arena that plays it, and for exports, which
    /// do no harm to others.
    pub(super) fn subject(&self) -> Option<Subject> {
        match self {
            Change::State(tournament, _)
            | Change::Settings(tournament, ..)
            | Change::Refusal(Some(tournament), _)
            | Change::Event { tournament, .. }
            | Change::Correction { tournament, .. }
            | Change::Deletion(tournament) => Some(Subject::Tournament(*tournament)),
            Change::Game(game) if game.header.source == Source::Lichess => Some(Subject::Lichess),
            Change::Game(game) => game.header.tournament.map(Subject::Tournament),
            Change::Refusal(None, _) => Some(Subject::Refusals),
            Change::Lichess(_) => Some(Subject::Lichess),
            Change::Exported(_) | Change::ExportFile(_) | Change::ExportLength(_) => None,
        }
    }
}

/// File of games to which the games of the tournaments of a name are appended, or those of the Lichess API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFile {
    pub(crate) tournament: Option<Name>,
    pub(crate) file: String,
    /// Its length when games were marked last.
    pub(crate) bytes: u64,
}

/// Refusal of somebody who wanted to join, or who was thrown out.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalRecord {
    /// Its row among those of its tournament.
    pub slot: usize,
    /// Later ones have higher numbers.
    pub number: u64,
    pub at: OffsetDateTime,
    pub name: String,
    pub reason: String,
}

/// Settings of a tournament as JSON, with a password or keys in it.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsText(pub String);

impl fmt::Debug for SettingsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SettingsText(…)")
    }
}

macro_rules! texts {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $name {
            $($variant),*
        }

        impl $name {
            pub(crate) fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            pub(crate) fn read(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

texts! {
    /// Where a tournament stands.
    TournamentState {
        Running = "running",
        Paused = "paused",
        Complete = "complete",
    }
}

texts! {
    /// Subject of a row of the Lichess API.
    LichessKind {
        Account = "account",
        Challenge = "challenge",
        Game = "game",
    }
}

/// Row of the Lichess API.
#[allow(missing_docs)]
#[derive(Clone, PartialEq, Eq)]
pub struct LichessRow {
    pub kind: LichessKind,
    pub id: String,
    /// JSON; `None` removes the row.
    pub value: Option<String>,
}

impl fmt::Debug for LichessRow {
    /// Omits the value: there are tokens in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.as_str(), self.id)
    }
}

impl fmt::Display for TournamentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Event of a tournament that is no result. A new kind needs a line in `write.rs` and in `tournaments.rs`.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A player has a seat, and the address the name; `None` if a key proves whose it is.
    Seated {
        player: Name,
        seat: usize,
        holder: Option<Origin>,
    },
    /// A seat is free for somebody else; the games of its player count no longer.
    Freed {
        player: Name,
    },
    /// A player forfeits what is left; the forfeited games follow as games.
    Withdrawn {
        player: Name,
    },
    /// A player who was out plays again.
    Returned {
        player: Name,
    },
    /// A player has a point without a game.
    Bye {
        player: Name,
        round: u32,
    },
    /// The organiser has begun the tournament.
    Started,
    /// Stops pairing until it is resumed.
    Paused,
    Resumed,
    /// Players may join after the beginning, or no longer.
    LateEntries {
        allowed: bool,
    },
    /// A round is paired, with the results known by then.
    Round {
        round: u32,
    },
    /// A bye of the present round is the player's no longer.
    ByeRevoked {
        player: Name,
        round: u32,
    },
    /// A player is out for good and cannot join again.
    Removed {
        player: Name,
        note: Option<Note>,
    },
    /// The organiser has paired two players.
    PairedByHand {
        white: Name,
        black: Name,
    },
    /// A game has another result from here on.
    Corrected {
        game: Arc<str>,
        result: Option<GameResult>,
        note: Note,
    },
}

/// Game without its moves and its end.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameHeader {
    pub id: Arc<str>,
    pub source: Source,
    pub kind: GameKind,
    pub tournament: Option<TournamentId>,
    /// Round, or where there are none the number of the game in its tournament, from 1.
    pub round: Option<u32>,
    /// Number of the opening.
    pub opening: Option<u64>,
    pub players: ByColor<Person>,
    pub time_control: Option<String>,
    /// Initial position, unless it is the usual one.
    pub start: Option<String>,
    /// An earlier game without a result, which this one repeats.
    pub repeats: Option<String>,
    pub began: OffsetDateTime,
}

/// End of a game.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// Result at the board; `None` if it was broken off.
    pub result: Option<GameResult>,
    pub reason: String,
    /// As in PGN, or [`FORFEIT`].
    pub termination: String,
    /// `None` if it does not count in a tournament.
    pub place: Option<Place>,
    pub at: OffsetDateTime,
    /// Note of the organiser.
    pub note: Option<Note>,
    pub corrected: Option<Corrected>,
}

/// Result in place of the one at the board; `None` if the game does not count.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Corrected(pub(crate) Option<GameResult>);

impl GameEnd {
    /// Returns the result that counts.
    pub(crate) fn counted(&self) -> Option<GameResult> {
        self.corrected.map_or(self.result, |Corrected(result)| result)
    }

    /// Result that counts, as in PGN.
    pub fn result_text(&self) -> &'static str {
        self.counted().map_or("*", GameResult::as_str)
    }

    /// Returns whether there was a game at the board.
    pub fn is_played(&self) -> bool {
        self.termination != FORFEIT
    }
}

/// Game as it stands, as its row of the database has it.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRow {
    pub header: Arc<GameHeader>,
    pub moves: MoveList,
    /// `None` while it runs.
    pub end: Option<GameEnd>,
}

/// Time left on the mover's clock after a move, and time that the move took.
pub(crate) type MoveTimes = (Option<Duration>, Option<Duration>);

/// Moves of a game in one text, each with the milliseconds left and spent: `e2e4@2950/50 e7e5@2900/100`. After them
/// `@1200` is the clock of the side that was to move when the game ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveList {
    pub(super) moves: String,
    /// Positions after them, a line each, where chance has a part in the moves.
    pub(super) positions: String,
}

impl MoveList {
    /// Prints the moves of a game; in TUC-Chess, the positions after them, too.
    pub(crate) fn of(kind: GameKind, plies: &[Arc<PlayedMove>]) -> MoveList {
        let mut list = MoveList::default();
        for ply in plies {
            let times = (ply.left, ply.spent);
            match kind {
                GameKind::Tuc => list.push_dealt(ply.mv.as_str(), times, &ply.fen),
                _ => list.push(ply.mv.as_str(), times),
            }
        }
        list
    }

    /// Adds a move.
    pub fn push(&mut self, mv: &str, (left, spent): MoveTimes) {
        if !self.moves.is_empty() {
            self.moves.push(' ');
        }
        self.moves.push_str(mv);
        let millis = |time: Duration| time.as_millis().to_string();
        let left = left.map(millis).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = match spent.map(millis) {
            Some(spent) => write!(self.moves, "@{left}/{spent}"),
            None if left.is_empty() => Ok(()),
            None => write!(self.moves, "@{left}"),
        };
    }

    /// Adds the clock of the side that was to move when the game ended.
    pub fn stop(&mut self, left: Option<Duration>) {
        if left.is_some() {
            self.push("", (left, None));
        }
    }

    /// Adds a move in which chance had a part, and the position after it.
    pub(crate) fn push_dealt(&mut self, mv: &str, times: MoveTimes, position: &str) {
        self.push(mv, times);
        self.positions.push_str(position);
        self.positions.push('\n');
    }

    /// Returns the positions after the moves of a game of chance; of others none.
    pub fn positions(&self) -> impl Iterator<Item = &str> {
        self.positions.lines()
    }

    /// Returns the moves with their times. Rows of earlier arenas do not tell the time spent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, MoveTimes)> {
        self.words().filter(|(mv, _)| !mv.is_empty())
    }

    /// Returns the clock of the side that was to move when the game ended.
    pub fn stopped(&self) -> Option<Duration> {
        self.words().last().filter(|(mv, _)| mv.is_empty()).and_then(|(_, (left, _))| left)
    }

    fn words(&self) -> impl Iterator<Item = (&str, MoveTimes)> {
        let is_millis = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let millis = |text: &str| text.parse().ok().map(Duration::from_millis);
        self.moves.split(' ').filter(|word| !word.is_empty()).map(move |word| {
            let Some((mv, times)) = word.rsplit_once('@') else { return (word, (None, None)) };
            let (left, spent) = times.split_once('/').unwrap_or((times, ""));
            // A drop has an @ of its own, with a square behind it.
            match is_millis(left) && is_millis(spent) {
                true => (mv, (millis(left), millis(spent))),
                false => (word, (None, None)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read_back_with_their_times() {
        let mut moves = MoveList::default();
        assert_eq!((moves.iter().count(), moves.stopped()), (0, None));
        let millis = |time| Some(Duration::from_millis(time));
        let played = [
            ("e2e4", (millis(2950), millis(50))),
            ("e7e5", (None, None)),
            ("P@f3", (None, millis(7))),
            ("Q@a1", (millis(0), None)),
        ];
        for (mv, times) in played {
            moves.push(mv, times);
        }
        assert_eq!(moves.moves, "e2e4@2950/50 e7e5 P@f3@/7 Q@a1@0");
        assert_eq!((moves.iter().collect::<Vec<_>>(), moves.stopped()), (played.to_vec(), None));
        moves.stop(millis(1200));
        assert_eq!((moves.iter().count(), moves.stopped()), (4, millis(1200)));
    }
}
