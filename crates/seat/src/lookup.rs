//! Servers that know moves, as a player sees them: a tablebase, ChessDB, cloud evaluations, an opening explorer.

use std::{fmt, pin::Pin, time::Duration};

use zeitnot_rules::{Color, GameKind};

use crate::Eval;

/// Kind of server that knows moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LookupSource {
    /// Outcomes of endgames.
    Tablebase,
    /// Analyses of ChessDB.
    ChessDb,
    /// Evaluations by the engines of other people.
    Cloud,
    /// Moves that people have played.
    Explorer,
}

impl LookupSource {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            LookupSource::Tablebase => "tablebase",
            LookupSource::ChessDb => "chessdb",
            LookupSource::Cloud => "cloud",
            LookupSource::Explorer => "explorer",
        }
    }
}

impl fmt::Display for LookupSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Position to look up, and the time there is for it.
#[derive(Clone, Debug)]
pub struct PositionQuery {
    /// Rules of the game.
    pub game: GameKind,
    /// The position.
    pub fen: String,
    /// Side to move.
    pub side: Color,
    /// Pieces on the board.
    pub piece_count: usize,
    /// Plies played before.
    pub plies: usize,
    /// Time left on the clock of the side to move; `None`: there is no clock.
    pub left: Option<Duration>,
    /// Time that the move may take.
    pub time: Duration,
}

/// Move that a server suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// In coordinates. It may be illegal.
    pub mv: String,
    /// Evaluation for the side that plays it, if the server has one.
    pub eval: Option<Eval>,
}

/// Answer of a source; by default it knows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggested {
    /// The best first.
    pub moves: Vec<Suggestion>,
    /// Whether the search is to choose among the moves; otherwise the first is played.
    pub is_choice: bool,
}

/// Which move of a tablebase is played.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MoveQuality {
    /// The best one.
    #[default]
    Best,
    /// One that the search chooses among those that keep the result.
    Suggest,
}

/// Answer to a query, once it is there. Dropping the future withdraws the query.
pub type Suggestions = Pin<Box<dyn Future<Output = Suggested> + Send>>;

/// Servers that can be asked for moves. Shared by all players.
pub trait PositionLookup: fmt::Debug + Send + Sync {
    /// Returns the enabled servers.
    fn sources(&self) -> Vec<LookupSource>;

    /// Queries a server; `None` if it is not enabled, does not know such positions, or there is too little time.
    fn look_up(&self, source: LookupSource, query: &PositionQuery) -> Option<Suggestions>;
}
