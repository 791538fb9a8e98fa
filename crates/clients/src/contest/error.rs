//! Ends of a connection that we did not end.

use std::time::Duration;

use zeitnot_net::NetError;

use crate::link::LinkError;

/// End of a connection that we did not end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error("{error}; its last message: {message:?}")]
    Dismissed { error: LinkError, message: String },
    /// Its only message, before it closed.
    #[error("the server refused our JOIN: {0:?}")]
    JoinRefused(String),
    /// Its last message, before it closed.
    #[error("{0:?}")]
    TournamentOver(String),
    /// The first line, which is HTTP.
    #[error("the port does not speak plain TCP, but HTTP: {0:?}")]
    NotTcp(String),
    #[error(
        "the server closed the connection without a word (if this port speaks WebSocket, `address` must begin with ws://)"
    )]
    Unanswered,
    #[error("the server pairs us for one game after the other, faster than they can be played")]
    Flood,
    #[error("nothing from the server for {0:?}")]
    Silent(Duration),
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Returns whether a server that says this, and closes, has no more games for us. There is no message for it, only
/// text.
pub(super) fn ends_tournament(info: &str) -> bool {
    let info = info.to_ascii_lowercase();
    info.contains("tournament")
        && [" is over", " is finished", " has finished", " has ended"].iter().any(|end| info.contains(end))
}

/// Returns whether a server that says only this, and closes, may have refused our `JOIN`. There is only text for this, too:
/// neither a greeting nor "try again later" is a refusal.
pub(super) fn may_refuse(info: &str) -> bool {
    let info = info.to_ascii_lowercase();
    !["joined tournament", "try again"].iter().any(|other| info.contains(other))
}
