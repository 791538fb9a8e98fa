//! Inputs and effects of the account's state machine.

use std::{io, sync::Arc};

use zeitnot_seat::{News, Opponent, Order, OrderAnswer, Reservation};
use zeitnot_wire::lichess::{
    ChallengeEnd, ChallengeId, DeclineReason, Event, GameEvent, GameId, NewChallenge, TeamId, TournamentId,
    TournamentState, User, UserId,
};

use crate::lichess::{
    Config, HttpError,
    game::{context::GameEnd, result::GameFinish},
    matchmaking::decline_history::DeclineHistory,
    teams::tournament::JoinRequest,
};

/// Something that happens to an account.
pub enum Input {
    /// The event stream is open, for the first time or again. Events may have been missed.
    StreamOpened,
    /// The server refuses the event stream for good.
    StreamClosed(HttpError),
    /// An event of that stream.
    Event(Event),
    /// The reply to a request, or its failure.
    Reply(Reply),
    /// A request was refused as unauthorised, whichever it was.
    Unauthorized,
    /// Games have been without news for longer than their clocks allow.
    Overdue(Vec<GameId>),
    /// The opponent of a running game is known now.
    OpponentKnown(GameId, Opponent),
    /// The task of a game has ended; `None`: it crashed.
    GameEnded(GameId, Option<GameEnd>),
    /// An order of the owner. One [`Effect::Answer`] follows at once.
    Order(Order),
    /// Play by another configuration, as far as it can change while games run.
    Reconfigured(Box<Config>),
    /// Take no new games, finish the running ones, then leave.
    Stop,
    /// A moment that [`AccountState::due`](super::state::AccountState::due) named has come, or a seat of the lobby was
    /// taken or freed.
    Wake,
}

/// Something that the account wants done. Effects are performed in their order.
#[derive(Debug)]
pub enum Effect {
    /// Send a request; a [`Reply`] follows.
    Send(Request),
    /// Follow a game, and play it once it has a seat.
    Begin {
        /// The game.
        game: GameId,
        /// It is not a correspondence game.
        has_clock: bool,
    },
    /// Give a game a seat, which is reserved: at its beginning, or later if none was free.
    Seat(GameId, Reservation),
    /// Tell a game's task how the game has ended, as the account hears of it.
    Finish(GameId, GameFinish),
    /// Ask a correspondence game to give up its slot and seat as soon as there is nothing to do in it.
    RequestSlot(GameId),
    /// Open the event stream anew.
    ReopenStream,
    /// Answer the order that was just given.
    Answer(OrderAnswer),
    /// Tell viewers.
    News(News),
    /// Names of those whose challenges wait, the next one first.
    Waiting(Vec<String>),
    /// Leave, with this result. Afterwards only [owed](Request::is_owed) requests follow.
    Leave(Result<(), HttpError>),
}

/// Request to the server, or to the disk.
#[derive(Debug)]
pub enum Request {
    /// The list of running games. [`Reply::RunningGames`]
    RunningGames,
    /// Our account: whether the token is good. [`Reply::Token`]
    Token,
    /// Our online status, as the server sees it. [`Reply::Online`]
    Online,
    /// Our account with its ratings, and the bots online. [`Reply::Opponents`]
    Opponents,
    /// Accept a challenge, after cancelling one of ours that must not be accepted any more. [`Reply::Accepted`]
    Accept {
        /// Theirs.
        challenge: ChallengeId,
        /// Ours.
        instead_of: Option<ChallengeId>,
    },
    /// Decline a challenge. [`Reply::Declined`]
    Decline {
        /// The challenge.
        challenge: ChallengeId,
        /// Reason that the challenger reads.
        reason: DeclineReason,
    },
    /// Challenge a player. [`Reply::Created`], and if it was created [`Reply::ChallengeEnded`]
    Challenge(UserId, Box<NewChallenge>),
    /// Cancel a challenge of ours, or the game that it may just have become. [`Reply::Done`]
    Cancel(ChallengeId),
    /// Abort a game. [`Reply::Aborted`]
    Abort(GameId),
    /// Join a team or a tournament, or look up a tournament. [`Reply::Team`], [`Reply::Tournament`], [`Reply::Joined`]
    Join(JoinRequest),
    /// Withdraw from a tournament. [`Reply::Done`]
    Withdraw(TournamentId),
    /// Write the history of challenges to its file. [`Reply::Saved`]
    Save(DeclineHistory),
}

impl Request {
    /// Returns whether the request is still sent, and its end awaited, when the account leaves.
    pub fn is_owed(&self) -> bool {
        use Request::{Abort, Cancel, Decline, Save, Withdraw};
        matches!(self, Decline { .. } | Cancel(_) | Abort(_) | Withdraw(_) | Save(_))
    }

    /// Returns the reply to this request if it fails with this error.
    pub fn failed(&self, error: HttpError) -> Reply {
        match self {
            Request::RunningGames => Reply::RunningGames(Err(error)),
            Request::Token => Reply::Token(Err(error)),
            Request::Online => Reply::Online(Err(error)),
            Request::Opponents => Reply::Opponents(Err(error)),
            Request::Accept { challenge, .. } => Reply::Accepted(*challenge, Err(error)),
            Request::Decline { .. } => Reply::Declined,
            Request::Challenge(..) => Reply::Created(Err(error)),
            Request::Cancel(_) | Request::Withdraw(_) => Reply::Done,
            Request::Abort(_) => Reply::Aborted,
            Request::Join(JoinRequest::Team(team)) => Reply::Team(team.id.clone(), Err(error)),
            Request::Join(JoinRequest::LookUp(id)) => Reply::Tournament(*id, Err(error)),
            Request::Join(JoinRequest::Tournament(tournament, _)) => Reply::Joined(tournament.id, Err(error)),
            Request::Save(_) => Reply::Saved(Err(io::Error::other(error))),
        }
    }
}

/// Reply to a [`Request`]. It may come late, and in another order than the requests.
#[derive(Debug)]
pub enum Reply {
    /// The running games, as far as the server lists them.
    RunningGames(Result<Arc<Vec<GameEvent>>, HttpError>),
    /// The token is good if the account could be looked up.
    Token(Result<(), HttpError>),
    /// The server sees us online, or not.
    Online(Result<bool, HttpError>),
    /// Our account, and the bots online.
    Opponents(Result<(Box<User>, Vec<User>), HttpError>),
    /// The challenge was accepted, or not. Without a conclusive answer it may have become a game.
    Accepted(ChallengeId, Result<(), HttpError>),
    /// A challenge of ours was created, or not.
    Created(Result<ChallengeId, HttpError>),
    /// The end of a challenge of ours, if the server told it.
    ChallengeEnded(ChallengeId, Option<ChallengeEnd>),
    /// A team was joined, or not.
    Team(TeamId, Result<(), HttpError>),
    /// The state of a tournament.
    Tournament(TournamentId, Result<TournamentState, HttpError>),
    /// A tournament was joined, or not.
    Joined(TournamentId, Result<(), HttpError>),
    /// The history was written, or not.
    Saved(io::Result<()>),
    /// A decline has ended.
    Declined,
    /// An abort has ended.
    Aborted,
    /// A request whose reply changes nothing has ended.
    Done,
}
