//! State that all handlers share, and facts about the client of a request.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{jobs::Handle, live::Hub, origin::Origin};
use zeitnot_seat::Orders;

use super::{answer::ApiError, archive::Archive, organiser::Organiser, socket::SocketTasks};
use crate::{
    places::Place,
    play::{Analyst, Tables},
};

/// Means by which the page controls a bot. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BotControl {
    /// Cancelled when the bot is to take no new games.
    pub soon: CancellationToken,
    /// Takes the orders of the owner.
    pub orders: Orders,
}

/// Shared state of all handlers.
#[derive(Clone, Debug)]
pub struct WebState {
    /// Views of games and tournaments.
    pub hub: Handle<Hub>,
    pub(crate) tables: Handle<Tables>,
    pub(crate) analyst: Arc<Analyst>,
    /// On a bot's page, what controls the bot.
    pub(super) bot: Option<BotControl>,
    pub(super) archive: Archive,
    pub(super) organiser: Organiser,
    /// Spectators' sockets.
    pub(super) sockets: SocketTasks,
    /// Players' sockets, on the thread of the tables.
    pub(super) seats: SocketTasks,
    pub(crate) stop: CancellationToken,
}

impl WebState {
    /// Refuses searches for visitors on a bot's page, where they would take time from its games.
    pub(super) fn check_tables(&self) -> Result<(), ApiError> {
        let error = "this page is a bot's, which plays elsewhere: the page of `zeitnot arena` has tables";
        match self.bot {
            Some(_) => Err(ApiError::new(StatusCode::FORBIDDEN, error)),
            None => Ok(()),
        }
    }
}

/// Client of a request.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) from: Origin,
    /// Place of its connection, which a WebSocket keeps.
    pub(crate) place: Arc<Place>,
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Peer, ApiError> {
        // The server adds it to every request.
        parts.extensions.get::<Peer>().cloned().ok_or_else(ApiError::stopping)
    }
}

/// Proof that a request is the organiser's.
pub struct ByOrganiser;

impl FromRequestParts<WebState> for ByOrganiser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<ByOrganiser, ApiError> {
        let peer = Peer::from_request_parts(parts, state).await?;
        state.organiser.check(&parts.headers, peer.from).map(|()| ByOrganiser)
    }
}
