//! Parts of the account that a simulation drives without a server.

pub use zeitnot_seat::{
    ChallengeOrder, News, Opponent, Order, OrderAnswer, OrderError, OwnChallenge, Reservation, Seats,
};

pub use super::{
    account::{
        interface::{Effect, Input, Reply, Request},
        state::{AccountSetup, AccountState},
    },
    challenges::players::PlayerLists,
    game::{context::GameEnd, result::GameFinish},
    http_error::HttpError,
    matchmaking::decline_history::DeclineHistory,
    teams::tournament::JoinRequest,
};
