//! What a game has to say in chat. It is brought to the account's voice and forgotten here.

use tracing::debug;

use zeitnot_wire::lichess::ChatLine;

use super::Game;
use crate::lichess::chat::Facts;

impl Game {
    /// As the game begins; not in one that we come back to.
    pub(super) fn greet(&self) {
        if self.state.played().count() <= 1 {
            self.table.voice.greet(self.id, self.facts());
        }
    }

    /// As it ends.
    pub(super) fn farewell(&self) {
        self.table.voice.farewell(self.id, self.facts());
    }

    /// Somebody says something; only what may be a question is passed on.
    pub(super) fn hear_line(&self, line: ChatLine) {
        debug!("{} says: {:?}", line.username, line.text);
        if line.text.trim_start().starts_with('!') {
            self.table.voice.hear(self.id, self.facts(), line);
        }
    }

    fn facts(&self) -> Facts {
        let side = self.info.side;
        Facts {
            opponent: self.info.names[!side].clone(),
            me: self.info.names[side].clone(),
            engine: self.seat.engine.clone(),
            eval: self.eval,
            queue: Vec::new(),
        }
    }
}
