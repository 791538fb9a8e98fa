//! Orders of the bot's owner to a client that plays: challenge somebody, join a tournament, block a player, play by
//! another configuration.

use std::{future::pending, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use zeitnot_rules::{Color, TimeControl};

use crate::lichess::{Config, Password};

/// Orders that may wait for a client.
const MAX_WAITING: usize = 8;
/// Time within which a client answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Order to a client.
#[derive(Clone, Debug)]
pub enum Order {
    /// Challenges a player.
    Challenge(ChallengeOrder),
    /// Joins a tournament.
    Join {
        /// Id or address of the tournament.
        tournament: String,
        /// Its password, if it has one.
        password: Option<Password>,
    },
    /// Plays no more games with a player in this run, or does again.
    Block {
        /// Name of the player.
        player: String,
        /// Whether the player is blocked from now on.
        is_blocked: bool,
    },
    /// Plays by another configuration of the account, as far as that can change while games run.
    Reconfigure(Box<Config>),
}

/// Game to propose to a player.
#[derive(Clone, Debug)]
pub struct ChallengeOrder {
    /// Name of the player.
    pub opponent: String,
    /// Clock of each side.
    pub clock: TimeControl,
    /// Whether the game is rated.
    pub rated: bool,
    /// Name of the variant on the server.
    pub variant: String,
    /// Side that we want; `None`: either.
    pub color: Option<Color>,
}

/// Kind of an [`Order`] that makes sense on some servers only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OrderKind {
    Challenge,
    Join,
    Block,
}

impl OrderKind {
    /// All kinds.
    pub const ALL: [OrderKind; 3] = [OrderKind::Challenge, OrderKind::Join, OrderKind::Block];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            OrderKind::Challenge => "challenge",
            OrderKind::Join => "join",
            OrderKind::Block => "block",
        }
    }
}

/// Order that is not carried out; one line that says why.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OrderError {
    /// It makes no sense on this server.
    #[error("{0}")]
    Invalid(String),
    /// It is not possible now, or not there.
    #[error("{0}")]
    Conflict(String),
}

/// The owner's end: gives orders to one client. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Orders(mpsc::Sender<OrderRequest>);

/// The client's end. By default no orders come.
#[derive(Debug, Default)]
pub struct OrderQueue(Option<mpsc::Receiver<OrderRequest>>);

/// Order that waits for its answer.
#[derive(Debug)]
pub(crate) struct OrderRequest {
    pub(crate) order: Order,
    answer: oneshot::Sender<Result<String, OrderError>>,
}

impl OrderRequest {
    pub(crate) fn answer(self, done: Result<String, OrderError>) {
        // The owner may have gone.
        let _ = self.answer.send(done);
    }
}

impl Orders {
    /// Creates both ends.
    pub fn channel() -> (Orders, OrderQueue) {
        let (tx, rx) = mpsc::channel(MAX_WAITING);
        (Orders(tx), OrderQueue(Some(rx)))
    }

    /// Gives an order. Returns what will happen.
    ///
    /// # Errors
    /// [`OrderError`]; the order will not be carried out later either.
    pub async fn give(&self, order: Order) -> Result<String, OrderError> {
        let conflict = |why: &str| OrderError::Conflict(why.to_owned());
        let (answer, answered) = oneshot::channel();
        self.0.try_send(OrderRequest { order, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => conflict("the bot has too many orders: try again later"),
            mpsc::error::TrySendError::Closed(_) => conflict("the bot has left this server"),
        })?;
        match timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(conflict("the bot has left this server")),
            Err(_) => Err(conflict("the bot is not connected to this server yet: try again later")),
        }
    }
}

impl OrderQueue {
    /// Returns the next order that somebody waits for, and waits forever without an owner. Cancel safe.
    pub(crate) async fn next(&mut self) -> OrderRequest {
        while let Some(orders) = &mut self.0 {
            match orders.recv().await {
                Some(request) if request.answer.is_closed() => {}
                Some(request) => return request,
                None => self.0 = None,
            }
        }
        pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Order {
        Order::Block { player: "eve".into(), is_blocked: true }
    }

    #[test(start_paused = true)]
    async fn an_order_that_nobody_waits_for_is_not_carried_out() {
        let (orders, mut queue) = Orders::channel();
        let not_connected = orders.give(block()).await.unwrap_err();
        assert!(not_connected.to_string().contains("not connected"), "{not_connected}");
        let client = tokio::spawn(async move {
            queue.next().await.answer(Ok("done".into()));
            queue
        });
        assert_eq!(orders.give(block()).await, Ok("done".to_owned()));
        drop(client.await.unwrap());
        assert_eq!(
            orders.give(block()).await,
            Err(OrderError::Conflict("the bot has left this server".into()))
        );
        let never = timeout(Duration::from_secs(60), OrderQueue::default().next()).await;
        assert!(never.is_err());
    }

    #[test]
    async fn orders_are_bounded() {
        let (orders, _queue) = Orders::channel();
        let waiting: Vec<_> = (0..MAX_WAITING).map(|_| tokio::spawn(give(orders.clone()))).collect();
        tokio::task::yield_now().await;
        let error = give(orders).await.unwrap_err();
        assert!(error.to_string().contains("too many orders"), "{error}");
        waiting.into_iter().for_each(|task| task.abort());
    }

    async fn give(orders: Orders) -> Result<String, OrderError> {
        orders.give(block()).await
    }
}
