//! The server's list of our running games.

use std::sync::Arc;

use tokio::{sync::Mutex, time::Instant};
use zeitnot_wire::lichess::{GameEvent, GameId};

/// The server lists no more running games.
pub(crate) const MAX_LISTED: usize = 50;

/// The list as it was received last. Those who ask at the same time share a request.
#[derive(Debug, Default)]
pub(crate) struct PlayingList(Mutex<Option<(Instant, Arc<Vec<GameEvent>>)>>);

impl PlayingList {
    /// Returns a list that was requested after the call.
    pub(crate) async fn get<E>(
        &self,
        request: impl Future<Output = Result<Vec<GameEvent>, E>>,
    ) -> Result<Arc<Vec<GameEvent>>, E> {
        let called = Instant::now();
        let mut known = self.0.lock().await;
        if let Some((_, list)) = known.as_ref().filter(|(requested, _)| *requested > called) {
            return Ok(list.clone());
        }
        let requested = Instant::now();
        let list = Arc::new(request.await?);
        *known = Some((requested, list.clone()));
        Ok(list)
    }
}

/// Entry of a game in the list.
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
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        time::Duration,
    };

    use tokio::{join, time::sleep};

    use super::*;

    #[test(start_paused = true)]
    async fn those_who_ask_during_a_request_share_the_next() {
        let list = PlayingList::default();
        let asked = AtomicU32::new(0);
        let ask = async |delay: u64| {
            sleep(Duration::from_millis(delay)).await;
            let request = async {
                asked.fetch_add(1, Ordering::Relaxed);
                sleep(Duration::from_secs(1)).await;
                Ok::<_, ()>(Vec::new())
            };
            list.get(request).await.unwrap();
        };
        join!(ask(0), ask(10), ask(20), ask(30));
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        ask(0).await;
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }
}
