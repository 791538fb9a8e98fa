//! Views of games and tournaments: the JSON of the web API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeitnot_pairing::{
    format::{PairingKind, TieBreak},
    standings::{Row, Tally},
};
use zeitnot_rules::Color;

use crate::schema;

pub use super::bot_view::{
    BotAnswer, BotChallenge, BotChallengeState, BotError, BotOwnChallenge, BotRecord, BotServer,
    BotServerState, BotView,
};

/// Server that referees a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Source {
    Contest,
    Imcs,
    Tuc,
    Lichess,
    Table,
    Bot,
}

impl Source {
    /// Fronts of the arena whose games belong to no tournament.
    pub const FRONTS: [Source; 4] = [Source::Imcs, Source::Tuc, Source::Lichess, Source::Table];

    /// Returns its word in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Contest => "contest",
            Source::Imcs => "imcs",
            Source::Tuc => "tuc",
            Source::Lichess => "lichess",
            Source::Table => "table",
            Source::Bot => "bot",
        }
    }

    /// Reads what [`Source::as_str`] has written.
    pub fn read(text: &str) -> Option<Source> {
        let mut all = Source::FRONTS.into_iter().chain([Source::Contest, Source::Bot]);
        all.find(|source| source.as_str() == text)
    }
}

/// State of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum GamePhase {
    Running,
    Ended,
}

/// Player of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// Name as the server shows it.
    pub name: String,
    /// Rating on that server.
    pub rating: Option<i32>,
    /// Plays by itself; unknown where the protocol does not tell.
    pub bot: Option<bool>,
}

impl Person {
    /// Returns a player of whom only the name is known.
    pub fn named(name: impl ToString) -> Person {
        Person { name: name.to_string(), rating: None, bot: None }
    }
}

/// Clocks at the moment of sending.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Clocks {
    /// Time left for White.
    pub white_ms: u64,
    /// Time left for Black.
    pub black_ms: u64,
    /// Side whose clock runs.
    #[schema(schema_with = schema::side_or_null)]
    pub running: Option<Color>,
}

/// Game without its moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GameSummary {
    /// Id, unique in this arena.
    pub id: String,
    /// Server that referees it.
    pub source: Source,
    /// Rules, as configurations name them.
    #[schema(example = "chess")]
    pub kind: String,
    /// Game of Chess960, judged by its start.
    #[serde(default)]
    pub chess960: bool,
    /// Tournament that it belongs to.
    pub tournament: Option<String>,
    /// Round of the tournament, if it has rounds.
    pub round: Option<u32>,
    /// Player of the white pieces.
    pub white: Person,
    /// Player of the black pieces.
    pub black: Person,
    /// Seconds, and seconds added after each move.
    #[schema(example = "180+2")]
    pub time_control: Option<String>,
    /// Whether it is over.
    pub state: GamePhase,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for a game without a result.
    #[schema(schema_with = schema::result_or_null)]
    pub result: Option<String>,
    /// Reason of the result.
    pub reason: Option<String>,
    /// Present position.
    pub fen: String,
    /// Last move, as the game writes it.
    #[schema(example = "e2e4")]
    pub last_move: Option<String>,
    /// The same in the notation of game records.
    #[schema(example = "e4")]
    pub last_san: Option<String>,
    /// Clocks; none where there are no clocks.
    pub clocks: Option<Clocks>,
    /// Plies played.
    pub ply: usize,
    /// Start, by RFC 3339.
    pub started: String,
}

/// Game with its moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Game {
    /// All but the moves.
    #[serde(flatten)]
    pub summary: GameSummary,
    /// Position at the start.
    pub start_fen: String,
    /// Moves.
    pub plies: Vec<Ply>,
    /// Round, or number of the game in its tournament, as the tournament's `numbering` says.
    pub number: Option<u32>,
    /// Kind of the end, as in PGN.
    #[schema(example = "normal")]
    pub termination: Option<String>,
    /// Id of a game without a result that this one repeats.
    pub repeats: Option<String>,
    /// Result at the board, if the organiser has given it another one.
    #[schema(schema_with = schema::result_or_null)]
    pub result_at_board: Option<String>,
    /// Note of the organiser.
    pub note: Option<String>,
}

/// Move of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ply {
    /// Move, as the game writes it.
    #[schema(example = "e2e4")]
    pub uci: String,
    /// Notation of game records.
    #[schema(example = "e4")]
    pub san: String,
    /// Position after it.
    pub fen: String,
    /// Time that it took.
    pub spent_ms: Option<u64>,
    /// Time left on the mover's clock, increment included.
    pub left_ms: Option<u64>,
    /// Thought of the mover, where it is known.
    pub thought: Option<Thought>,
}

/// Evaluation of a position by an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Thought {
    /// Score from White's point of view.
    pub score: Score,
    /// Search depth in plies.
    pub depth: u16,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// Principal variation, as the game writes moves.
    pub pv: Vec<String>,
    /// Origin of the move.
    #[schema(example = "search")]
    pub origin: String,
}

/// Score for White.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate; negative if Black mates.
    Mate(i32),
}

/// State of a tournament.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TournamentState {
    Waiting,
    Running,
    Paused,
    Complete,
}

/// Tournament without its pairings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TournamentSummary {
    /// Name that players write after `JOIN`.
    pub name: String,
    /// Number among the tournaments of that name, from 1. One is asked for by its name, and an earlier one as `NAME EDITION`.
    pub edition: u32,
    /// Rules, as configurations name them.
    #[schema(example = "chess")]
    pub kind: String,
    /// Games begin from random positions of Chess960.
    #[serde(default)]
    pub chess960: bool,
    /// Games begin from positions that the organiser has chosen.
    #[serde(default)]
    pub openings: bool,
    /// Seconds, and seconds added after each move.
    #[schema(example = "3+0.05")]
    pub time_control: String,
    /// Pairing system.
    #[schema(example = "round-robin")]
    pub pairing: String,
    /// Number of rounds, if it is fixed.
    pub rounds: Option<u32>,
    /// Meaning of the numbers of pairings.
    pub numbering: Numbering,
    /// State.
    pub state: TournamentState,
    /// Standings, best first.
    pub players: Vec<PlayerStanding>,
    /// Ways to join.
    pub joins: Vec<JoinLine>,
    /// Beginning of play: `full`, `organiser` or `at-once`.
    #[schema(example = "full")]
    pub start: String,
    /// Number of players who may join before the beginning, if there is a limit.
    pub seats: Option<usize>,
    /// Players may join after the beginning.
    pub late_entries: bool,
    /// It takes orders of the organiser.
    pub editable: bool,
    /// Its results can be corrected, also when it is complete. One of an earlier run takes no corrections.
    #[serde(default)]
    pub correctable: bool,
}

/// Tournament with its pairings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tournament {
    /// All but the pairings.
    #[serde(flatten)]
    pub summary: TournamentSummary,
    /// Pairings so far.
    pub pairings: Vec<PairingRow>,
    /// Refused requests to join, the latest last.
    pub refusals: Vec<RefusalRow>,
}

/// Row of the standings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Standing {
    /// Place, from 1; players whom no tie-break parts share one.
    pub rank: u32,
    /// Player.
    pub name: String,
    /// Points.
    pub score: f64,
    /// Tie-breaks in the order in which they decide.
    pub tie_breaks: Vec<TieBreakValue>,
    /// Games won, including forfeits of opponents.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost, including forfeits.
    pub losses: u32,
    /// Games lost by absence.
    pub forfeits: u32,
    /// Points without a game.
    pub byes: u32,
}

impl From<Row> for Standing {
    fn from(row: Row) -> Standing {
        let Tally { wins, draws, losses, forfeits, byes } = row.tally;
        let value =
            |(tie_break, value): (TieBreak, f64)| TieBreakValue { name: tie_break.name().to_owned(), value };
        Standing {
            rank: row.rank,
            name: row.name.to_string(),
            score: row.score.points(),
            tie_breaks: row.tie_breaks.into_iter().map(value).collect(),
            wins,
            draws,
            losses,
            forfeits,
            byes,
        }
    }
}

/// Player of a tournament that the page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlayerStanding {
    /// Row of the standings.
    #[serde(flatten)]
    pub standing: Standing,
    /// Connected now.
    pub present: bool,
    /// Plays no more.
    pub withdrawn: bool,
    /// The arena provides this player.
    #[serde(default)]
    pub engine: bool,
    /// Measured rating of a built-in player, in chess.
    #[serde(default)]
    pub rating: Option<i32>,
}

/// Value of a tie-break.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TieBreakValue {
    /// Name of the tie-break.
    #[schema(example = "Sonneborn-Berger")]
    pub name: String,
    /// Value.
    pub value: f64,
}

/// Game of a tournament, played or to be played, or a bye.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingRow {
    /// Round or number of the game, as the tournament's `numbering` says.
    pub round: u32,
    /// White's name.
    pub white: String,
    /// Black's name; none: White has a point without a game.
    pub black: Option<String>,
    /// Id of the game, once it has begun or was decided without being played: by it, its result is corrected.
    pub game: Option<String>,
    /// Result, once there is one.
    #[schema(schema_with = schema::result_or_null)]
    pub result: Option<String>,
    /// It was not played, because one was absent.
    pub forfeit: bool,
    /// Note of the organiser, or the reason why there is no result.
    pub note: Option<String>,
}

/// Meaning of the numbers of pairings.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Numbering {
    /// Rounds.
    Rounds,
    /// Games in the order in which they began: there are no rounds.
    Games,
}

impl From<PairingKind> for Numbering {
    fn from(pairing: PairingKind) -> Numbering {
        if pairing.has_rounds() { Numbering::Rounds } else { Numbering::Games }
    }
}

impl Numbering {
    /// Returns the round, if such a number is one.
    pub fn round(self, number: Option<u32>) -> Option<u32> {
        number.filter(|_| self == Numbering::Rounds)
    }
}

/// Way to join a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JoinLine {
    /// Protocol and address.
    #[schema(example = "tcp://127.0.0.1:8000")]
    pub protocol: String,
    /// Line to send there.
    #[schema(example = "JOIN class NAME")]
    pub line: String,
}

/// Player or program that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusalRow {
    /// Moment, by RFC 3339.
    pub at: String,
    /// Name that was given.
    pub name: String,
    /// Reason, as it was answered.
    pub reason: String,
}

/// Message of the live WebSocket to a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum LiveMessage {
    /// All games, on watching them.
    Games { games: Vec<GameSummary> },
    /// Whole game, on watching it and after messages were left out.
    Game { game: Game },
    /// A game has begun.
    Begin { game: GameSummary },
    /// A move was played; `ply` counts it.
    Move {
        id: String,
        ply: usize,
        #[serde(rename = "move")]
        made: Ply,
        clocks: Option<Clocks>,
    },
    /// A player thinks about the move after `ply` plies, or has played it.
    Thought {
        id: String,
        ply: usize,
        #[schema(schema_with = schema::side)]
        side: Color,
        thought: Thought,
    },
    /// A game is over.
    End {
        id: String,
        #[schema(schema_with = schema::result)]
        result: String,
        reason: String,
        clocks: Option<Clocks>,
    },
    /// Whole tournament, on watching it and after each change.
    Tournament { tournament: Tournament },
    /// The tournament of that name is deleted.
    Deleted { tournament: String },
    /// State of the bot, on watching it and after each change, without what is for its owner only.
    Bot { bot: BotView },
    /// Answer to `ping`.
    Pong { ping: u64 },
    /// A message was not understood or not possible.
    Error { error: String },
}

/// Message of a client of the live WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LiveRequest {
    /// Asks for messages about something.
    Watch(Topic),
    /// Ends them.
    Unwatch(Topic),
    /// Asks for `pong`.
    Ping(u64),
}

/// Subject that can be watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// All games.
    Games,
    /// The game of this id.
    Game(String),
    /// The tournament of this name.
    Tournament(String),
    /// The bot whose page this is.
    Bot,
}
