//! Facts about a game that its moves do not change: for its record, its view and its PGN.

use std::sync::Arc;

use time::OffsetDateTime;
use zeitnot_referee::Board;
use zeitnot_rules::{ByColor, DynGame, Game, GameError, GameKind, TimeControl, chess::Chess};

use crate::{
    database::{GameHeader, TournamentId},
    live::view::{Numbering, Person, Source},
    tag::GameTag,
};

/// Facts about a game.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct GameInfo {
    pub id: Arc<str>,
    pub source: Source,
    /// Address of the game or of its server, where that is not this arena.
    pub site: Option<String>,
    pub kind: GameKind,
    pub tournament: Option<TournamentGameInfo>,
    pub players: ByColor<Person>,
    pub time_control: Option<TimeControl>,
    pub start_fen: String,
    /// The start is not the usual one.
    pub is_own_start: bool,
    pub began: OffsetDateTime,
}

/// Place of a game in its tournament.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct TournamentGameInfo {
    pub name: String,
    /// The tournament in the database.
    pub stored: Option<TournamentId>,
    pub numbering: Numbering,
    /// Round, or number of the game in its tournament.
    pub number: u32,
    /// Number of the opening.
    pub opening: u64,
    /// Game that was broken off, and that this one repeats.
    pub repeats: Option<String>,
}

impl GameInfo {
    /// Returns the facts about a game that begins now on this board, under a new id.
    pub fn new<B: Board>(source: Source, board: &B, names: ByColor<impl ToString>) -> GameInfo {
        GameInfo {
            id: GameTag::random().to_string().into(),
            source,
            site: None,
            kind: board.kind(),
            tournament: None,
            players: ByColor(names.0.map(Person::named)),
            time_control: None,
            start_fen: board.start(),
            is_own_start: board.is_own_start(),
            began: OffsetDateTime::now_utc(),
        }
    }

    /// Returns the facts about a game of the database that began in this position, of a tournament of that name with that
    /// numbering.
    pub(crate) fn stored(
        header: &GameHeader,
        start_fen: String,
        tournament: Option<(String, Numbering)>,
    ) -> GameInfo {
        GameInfo {
            id: header.id.clone(),
            source: header.source,
            site: None,
            kind: header.kind,
            tournament: tournament.map(|(name, numbering)| TournamentGameInfo {
                name,
                stored: header.tournament,
                numbering,
                number: header.round.unwrap_or_default(),
                opening: header.opening.unwrap_or_default(),
                repeats: header.repeats.clone(),
            }),
            players: header.players.clone(),
            time_control: header.time_control.as_deref().and_then(|text| text.parse().ok()),
            start_fen,
            is_own_start: header.start.is_some(),
            began: header.began,
        }
    }

    /// Returns the players' names.
    pub fn names(&self) -> ByColor<String> {
        ByColor(self.players.0.each_ref().map(|player| player.name.clone()))
    }

    /// Returns whether it is a game of Chess960, judged by its start.
    pub fn is_chess960(&self) -> bool {
        is_chess960(self.kind, &self.start_fen)
    }

    /// Reads a position of this game: of Chess960 also where standard chess could hold it.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn position(&self, fen: &str) -> Result<DynGame, GameError> {
        match self.is_chess960() {
            true => Ok(Chess::parse_chess960(fen)?.into()),
            false => DynGame::begin(self.kind, Some(fen)),
        }
    }

    /// Converts it to the header of a row of the database.
    pub fn header(&self) -> GameHeader {
        let tournament = self.tournament.as_ref();
        GameHeader {
            id: self.id.clone(),
            source: self.source,
            kind: self.kind,
            tournament: tournament.and_then(|it| it.stored),
            round: tournament.map(|it| it.number),
            opening: tournament.map(|it| it.opening),
            players: self.players.clone(),
            time_control: self.time_control.map(|it| it.to_string()),
            // The prizes of TUC-Chess are dealt before the first move.
            start: (self.is_own_start || self.kind == GameKind::Tuc).then(|| self.start_fen.clone()),
            repeats: tournament.and_then(|it| it.repeats.clone()),
            began: self.began,
        }
    }
}

impl GameHeader {
    /// Returns whether it is a game of Chess960, judged by its start.
    pub fn is_chess960(&self) -> bool {
        self.start.as_deref().is_some_and(|start| is_chess960(self.kind, start))
    }
}

/// Returns whether a game of those rules that begins in this position is one of Chess960: standard chess cannot hold it.
fn is_chess960(kind: GameKind, start_fen: &str) -> bool {
    kind == GameKind::Chess && Chess::parse(start_fen).is_ok_and(|start| start.is_chess960())
}
