//! Context that all games of an account share, and messages between a game's task and the account.

use std::{mem, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use zeitnot_seat::{GameInfo, Lobby, Opponent, Seat};
use zeitnot_wire::lichess::{GameId, GameMessage, UserId};

use super::{result::GameFinish, rules::GameRules};
use crate::lichess::{Http, Stream, chat::sender::ChatSender, records::pgn_writer::PgnWriter};

/// Longer than any time that counts, so that sums of times from outside do not overflow.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(30 * 86_400);
/// Before a lobby without a free player is asked again.
const SEAT_DELAY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct GameContext {
    pub(crate) http: Http,
    pub(crate) lobby: Lobby,
    pub(crate) me: UserId,
    pub(crate) rules: GameRules,
    pub(crate) pgn: PgnWriter,
    pub(crate) chat: ChatSender,
}

impl GameContext {
    pub(crate) fn stream(&self, id: GameId) -> Stream<GameMessage> {
        Stream::of_game(self.http.clone(), id)
    }

    pub(crate) async fn open_seat(&self, info: &GameInfo) -> Seat {
        let mut is_reported = false;
        loop {
            match self.lobby.open(info.clone()).await {
                Ok(seat) => return seat,
                Err(declined) if !mem::replace(&mut is_reported, true) => {
                    let message = format_args!("{declined}; trying again until a player is free");
                    self.http.log().warn("games that wait for a player", message);
                }
                Err(_) => {}
            }
            sleep(SEAT_DELAY).await;
        }
    }
}

/// From the account to a game's task.
#[derive(Debug)]
pub(crate) struct GameSignals {
    pub(crate) finished: mpsc::Receiver<GameFinish>,
    /// Other games wait for the slot of this correspondence game.
    pub(crate) slot_wanted: CancellationToken,
    /// Takes the kind of opponent, once that is known.
    pub(crate) opponent: Option<oneshot::Sender<Opponent>>,
}

/// End of a game's task.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// It is over.
    Over,
    /// It is not ours to play, or was over before.
    Unplayed,
    /// It goes on later.
    Suspended,
}
