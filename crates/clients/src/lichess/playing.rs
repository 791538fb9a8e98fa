//! The server's list of our running games.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use zeitnot_wire::lichess::{GameEvent, GameId, Playing};

use super::{
    http::{Http, HttpError},
    rate_limits::RequestKind,
};
/// The server lists no more running games.
pub(crate) const MAX_LISTED: usize = 50;

/// For a look-up while its game waits.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// The list as it was received last. Those who ask at the same time share a request.
#[derive(Debug, Default)]
pub(crate) struct PlayingList(Mutex<Option<(Instant, Arc<Vec<GameEvent>>)>>);

impl PlayingList {
    /// Returns a list that was requested after the call.
    pub(crate) async fn get(&self, http: &Http) -> Result<Arc<Vec<GameEvent>>, HttpError> {
        let called = Instant::now();
        let mut known = self.0.lock().await;
        if let Some((_, list)) = known.as_ref().filter(|(requested, _)| *requested >= called) {
            return Ok(list.clone());
        }
        let requested = Instant::now();
        let path = format!("api/account/playing?nb={MAX_LISTED}");
        let list = Arc::new(http.get::<Playing>(RequestKind::Lookup, &path).await?.now_playing);
        *known = Some((requested, list.clone()));
        Ok(list)
    }
}

/// What the list says of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Running,
    /// It is over, or was never ours.
    Gone,
    /// It is missing from a full list, which has no room for all games.
    Unclear,
}

impl Listing {
    pub(crate) fn of(id: GameId, list: &[GameEvent]) -> Listing {
        match list.iter().any(|game| game.game_id == id) {
            true => Listing::Running,
            false if list.len() < MAX_LISTED => Listing::Gone,
            false => Listing::Unclear,
        }
    }

    /// Looks up a game. Returns `None` if the server does not say in time.
    pub(crate) async fn look_up(http: &Http, id: GameId) -> Option<Listing> {
        let list = timeout(LOOKUP_TIMEOUT, http.playing().get(http)).await;
        Some(Listing::of(id, &list.ok()?.ok()?))
    }
}
