//! Players whose offers are not accepted in this run, by order of the bot's owner.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use zeitnot_seat::OrderError;

/// Most players.
const MAX_BLOCKED: usize = 1000;

/// Blocked players, in lower case as the page compares them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockedPlayers(Arc<Mutex<BTreeSet<String>>>);

impl BlockedPlayers {
    pub(super) fn block(&self, player: &str) -> Result<(), OrderError> {
        let mut players = self.players();
        if players.len() >= MAX_BLOCKED {
            let why = format!("{MAX_BLOCKED} players are blocked already: use `block_list`");
            return Err(OrderError::Conflict(why));
        }
        players.insert(player.to_ascii_lowercase());
        Ok(())
    }

    pub(super) fn unblock(&self, player: &str) {
        self.players().remove(&player.to_ascii_lowercase());
    }

    pub(super) fn contains(&self, player: &str) -> bool {
        self.players().contains(&player.to_ascii_lowercase())
    }

    fn players(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_players_are_bounded() {
        let blocked = BlockedPlayers::default();
        (0..MAX_BLOCKED).for_each(|number| blocked.block(&number.to_string()).unwrap());
        assert!(blocked.contains("7") && blocked.block("eve").is_err());
        blocked.unblock("7");
        assert!(!blocked.contains("7") && blocked.block("eve").is_ok() && blocked.contains("Eve"));
    }
}
