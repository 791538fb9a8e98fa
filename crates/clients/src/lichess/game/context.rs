//! Context that all games of an account share, and messages between a game's task and the account.

use std::{future::pending, mem, time::Duration};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use zeitnot_seat::{Declined, GameInfo, Lobby, Opponent, Reservation, Seat};
use zeitnot_wire::lichess::{GameId, GameMessage, UserId};

use super::{result::GameFinish, rules::GameRules};
use crate::lichess::{Http, Stream, chat::sender::ChatSender, records::pgn_writer::PgnWriter};

/// Longer than any time that counts, so that sums of times from outside do not overflow.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(30 * 86_400);
/// Delay before a lobby without a free player is asked again.
const SEAT_DELAY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct GameContext {
    pub(crate) http: Http,
    pub(crate) lobby: Lobby,
    pub(crate) me: UserId,
    pub(crate) rules: GameRules,
    pub(crate) pgn: PgnWriter,
    pub(crate) chat: ChatSender,
    /// Seat of the game, once it has one.
    pub(crate) seat: watch::Receiver<Option<Reservation>>,
}

impl GameContext {
    pub(crate) fn stream(&self, id: GameId) -> Stream<GameMessage> {
        Stream::of_game(self.http.clone(), id)
    }

    pub(crate) async fn open_seat(&self, info: &GameInfo) -> Seat {
        let mut is_reported = false;
        let mut report = |declined: Declined| {
            if !mem::replace(&mut is_reported, true) {
                let message = format_args!("{declined}; trying again until a player is free");
                self.http.log().warn("games that wait for a player", message);
            }
        };
        let mut seat = self.seat.clone();
        if seat.borrow().is_none() {
            report(self.lobby.seats().full());
        }
        let reserved = seat.wait_for(Option::is_some).await.ok().and_then(|seat| seat.clone());
        // Without the account the game's task ends as well.
        let Some(reservation) = reserved else { return pending().await };
        loop {
            match self.lobby.open_reserved(info.clone(), reservation.clone()).await {
                Ok(seat) => return seat,
                Err(declined) => report(declined),
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
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub enum GameEnd {
    /// It is over.
    Over,
    /// It is not ours to play, or was over before.
    Unplayed,
    /// It goes on later.
    Suspended,
}
