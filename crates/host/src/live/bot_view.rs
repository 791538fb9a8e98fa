//! State of a bot as its page shows it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a bot, for its page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BotView {
    /// Servers that it plays on.
    pub servers: Vec<BotServer>,
    /// Games that run.
    pub games: usize,
    /// It takes no new games, and leaves when those that run are over.
    pub stopping: bool,
    /// Challenges that it has answered, the latest last.
    pub challenges: Vec<BotChallenge>,
    /// Challenges of its own, the latest last.
    pub own_challenges: Vec<BotOwnChallenge>,
    /// Players whom it does not play in this run, beside those of the configuration; for its owner only.
    pub blocked: Option<Vec<String>>,
    /// Warnings and errors of this run, the latest last; for its owner only.
    pub errors: Option<Vec<BotError>>,
    /// Moves that it has sent, the latest last.
    pub answers: Vec<BotAnswer>,
    /// Record against each opponent.
    pub record: Vec<BotRecord>,
}

impl BotView {
    /// Leaves out what is for the bot's owner only.
    pub fn for_visitors(mut self) -> BotView {
        self.servers.iter_mut().for_each(|server| server.error = None);
        BotView { blocked: None, errors: None, ..self }
    }
}

/// Server that a bot plays on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotServer {
    /// Protocol and address.
    pub name: String,
    /// Whether it still plays there.
    pub state: BotServerState,
    /// Reason why it had to leave; for its owner only.
    pub error: Option<String>,
    /// Orders that are possible there: `challenge`, `join`, `block`.
    pub orders: Vec<String>,
}

/// Whether a bot plays on a server.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum BotServerState {
    Playing,
    Left,
    Refused,
}

/// Challenge that a bot has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotChallenge {
    /// Moment, by RFC 3339.
    pub at: String,
    /// Server.
    pub server: String,
    /// Challenger.
    pub by: String,
    /// Game and time.
    #[schema(example = "standard 3+2")]
    pub terms: String,
    /// Whether it was accepted.
    pub accepted: bool,
    /// Reason why it was declined.
    pub reason: Option<String>,
}

/// Challenge of a bot to somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotOwnChallenge {
    /// Moment at which it was sent, by RFC 3339.
    pub at: String,
    /// Server.
    pub server: String,
    /// Id on the server, once it has one.
    pub id: Option<String>,
    /// Challenged player.
    pub to: String,
    /// Game and time.
    #[schema(example = "standard 3+2, rated")]
    pub terms: String,
    /// Whether it is open.
    pub state: BotChallengeState,
    /// Reason why it became no game.
    pub reason: Option<String>,
}

/// State of a bot's challenge.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum BotChallengeState {
    Open,
    Accepted,
    Ended,
}

/// Warning or error of a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotError {
    /// Moment, by RFC 3339.
    pub at: String,
    /// Server that it concerns, if it concerns one.
    pub server: Option<String>,
    /// One line.
    pub text: String,
}

/// Move that a bot has sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BotAnswer {
    /// Moment, by RFC 3339.
    pub at: String,
    /// Id of the game on its server.
    pub game: String,
    /// Plies before the move.
    pub ply: usize,
    /// Time from the request to the write on the socket.
    pub spent_ms: f64,
    /// Time at which the move had to leave, counted from the request.
    pub limit_ms: f64,
    /// Limit less time spent; below zero: the move left late.
    pub slack_ms: f64,
    /// Time reserved for the network, as measured.
    pub lag_ms: f64,
    /// Time left on the clock at the request.
    pub left_ms: Option<u64>,
    /// Origin of the move.
    #[schema(example = "search")]
    pub origin: String,
}

/// Record against one opponent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BotRecord {
    /// Opponent.
    pub opponent: String,
    /// Games won by the bot.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost by the bot.
    pub losses: u32,
    /// Games without a result.
    pub aborted: u32,
}
