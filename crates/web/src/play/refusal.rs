//! Reasons why a table does not do what a player asks for.

use zeitnot_referee::Refusal;

use super::{action::BadMessage, request::BadTable};

/// Action that was refused; nothing has changed, unless the time ran out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadAction {
    #[error(transparent)]
    Message(#[from] BadMessage),
    #[error("there is no table with this link, or it is closed: make a new one")]
    NoTable,
    #[error("the game is over")]
    Over,
    #[error("your opponent has not opened the link yet: pass the invitation on")]
    NotBegun,
    #[error("it is not your turn")]
    NotYourTurn,
    #[error("the move is for ply {sent}, and {played} are played: send it for the position that you see now")]
    OtherPly { sent: usize, played: usize },
    #[error("'{0}' is not a legal move here")]
    Illegal(String),
    #[error("your time is over")]
    TooLate,
    #[error("a draw cannot be offered now")]
    NoDraw,
    #[error("the bot plays on")]
    BotPlaysOn,
    #[error("nothing is offered to you")]
    NoOffer,
    #[error("there is no move of yours to take back, or you have asked already")]
    NoTakeback,
    #[error("the game goes on: a rematch comes after its end")]
    Running,
    #[error("no rematch: {0}")]
    NoRematch(Box<NoTable>),
}

impl BadAction {
    /// Reason why the referee has not played a move.
    pub(super) fn of_move(refusal: Refusal, text: &str) -> BadAction {
        match refusal {
            Refusal::Over => BadAction::Over,
            Refusal::NotYourTurn => BadAction::NotYourTurn,
            Refusal::TooLate => BadAction::TooLate,
            Refusal::Illegal => BadAction::Illegal(zeitnot_wire::printable(text, MAX_SHOWN)),
        }
    }
}

/// Characters of a move that are shown again.
const MAX_SHOWN: usize = 20;

/// Table that was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTable {
    #[error(transparent)]
    Bad(#[from] BadTable),
    #[error("too many tables at once from your address: try again in a second")]
    TooFast,
    #[error("all tables are taken: try again when a game is over")]
    Full,
    #[error("your address has too many tables: end a game first")]
    FullForAddress,
    #[error("the system has no random numbers")]
    NoRandom,
}
