//! Ends of a connection that we did not end.

use std::time::Duration;

use zeitnot_net::NetError;

use crate::link::LinkError;

/// End of a connection that we did not end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error(
        "the server closed the connection without a word (programs connect to its TCP port, usually 3000; its ports for \
         browsers and WebSocket are others)"
    )]
    Unanswered,
    #[error("nothing from the server for {0:?}")]
    Silent(Duration),
    /// Its last message.
    #[error("the server says: {0:?}")]
    Fatal(String),
    /// Tried again, as the other player may leave.
    #[error("the server says: {0:?} (another player has that `color`)")]
    ColorTaken(String),
    #[error("left the game, which loses it: {0}")]
    NoPlayer(String),
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The next attempt would fail as well.
    #[error("{what}")]
    Refused { what: String, advice: &'static str },
}

/// Returns what the user can do about a refusal, unless the next attempt may succeed. There is only text for this.
pub(super) fn advice(message: &str) -> Option<&'static str> {
    let refusals = [
        ("Authentication Error", "set the right `password` in its [[server]] table"),
        ("Incorrect password", "set the right `password` in its [[server]] table"),
        ("not a known game", "choose a server that has chess"),
        ("Available game settings", "correct `game_settings` in its [[server]] table"),
    ];
    refusals.into_iter().find(|(said, _)| message.contains(said)).map(|(_, advice)| advice)
}
