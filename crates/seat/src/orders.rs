//! Orders of the bot's owner to a client that plays: challenge somebody, join a tournament, block a player.

use std::{future::pending, num::NonZeroU32, time::Duration};

use serde::Deserialize;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use utoipa::ToSchema;
use zeitnot_rules::{Color, TimeControl};
use zeitnot_wire::Secret;

/// Orders that may wait for a receiver.
const MAX_WAITING: usize = 8;
/// Time within which a client answers an order.
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time within which the page has the answers of all clients: more than each may take, and less than a request to the page.
pub const PAGE_TIMEOUT: Duration = Duration::from_secs(8);
/// Longest text of a field in bytes.
const MAX_TEXT: usize = 200;

/// Order of the owner.
#[derive(Debug)]
pub enum Order {
    /// Challenges a player.
    Challenge(ChallengeOrder),
    /// Joins a tournament.
    Join(JoinOrder),
    /// Plays a player no more until the program ends.
    Block(BlockOrder),
    /// Plays a player again.
    Unblock(BlockOrder),
}

/// Challenge to a player.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[schema(as = BotChallengeOrder)]
#[serde(deny_unknown_fields)]
pub struct ChallengeOrder {
    /// Name of the server, as the bot's state tells it; the first that has challenges without it.
    #[serde(default)]
    pub server: Option<String>,
    /// Player to challenge.
    #[schema(example = "maia1")]
    pub opponent: String,
    /// Seconds and increment of each side.
    #[schema(value_type = String, pattern = "^[0-9.]+(\\+[0-9.]+)?$", example = "180+2")]
    pub time_control: TimeControl,
    /// Whether the game is rated.
    #[serde(default)]
    pub rated: bool,
    /// Variant, as the server names it.
    #[serde(default = "standard")]
    #[schema(example = "standard")]
    pub variant: String,
    /// Side of the bot; in a series, that of its first game.
    #[serde(default)]
    pub color: BotColor,
    /// Games, one after another: the next challenge is sent when a game is over, with the other color.
    #[serde(default = "one")]
    #[schema(value_type = u32, minimum = 1)]
    pub games: NonZeroU32,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn standard() -> String {
    "standard".to_owned()
}

/// Side that the bot asks for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum BotColor {
    White,
    Black,
    #[default]
    Random,
}

impl From<BotColor> for Option<Color> {
    fn from(color: BotColor) -> Option<Color> {
        match color {
            BotColor::White => Some(Color::White),
            BotColor::Black => Some(Color::Black),
            BotColor::Random => None,
        }
    }
}

/// Tournament to join.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[schema(as = BotJoinOrder)]
#[serde(deny_unknown_fields)]
pub struct JoinOrder {
    /// Name of the server; the first that has tournaments to join without it.
    #[serde(default)]
    pub server: Option<String>,
    /// Last part of its address.
    #[schema(example = "abcd1234")]
    pub tournament: String,
    /// Its password, if it has one.
    #[serde(default, deserialize_with = "Secret::any")]
    #[schema(value_type = Option<String>)]
    pub password: Option<Secret>,
}

/// Player to block, or to play again.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[schema(as = BotBlockOrder)]
#[serde(deny_unknown_fields)]
pub struct BlockOrder {
    /// Name of the player, on all servers where players can be blocked.
    pub player: String,
}

impl Order {
    fn texts(&self) -> Vec<&str> {
        let texts = match self {
            Order::Challenge(order) => {
                vec![Some(&*order.opponent), Some(&*order.variant), order.server.as_deref()]
            }
            Order::Join(order) => {
                let password = order.password.as_ref().map(Secret::expose);
                vec![Some(&*order.tournament), password, order.server.as_deref()]
            }
            Order::Block(order) | Order::Unblock(order) => vec![Some(&*order.player)],
        };
        texts.into_iter().flatten().collect()
    }

    /// Checks what no server takes.
    fn check(&self) -> Result<(), OrderError> {
        let is_fine = |text: &str| {
            !text.trim().is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
        };
        match self.texts().into_iter().all(is_fine) {
            true => Ok(()),
            false => Err(OrderError::Invalid(format!(
                "every text has 1 to {MAX_TEXT} bytes without control characters"
            ))),
        }
    }
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

/// Answer to an order: what will happen, in one line.
pub type OrderAnswer = Result<String, OrderError>;

/// The owner's end: gives orders to one receiver. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Orders {
    requests: mpsc::Sender<OrderRequest>,
    timeout: Duration,
}

/// The receiver's end. By default no orders come.
#[derive(Debug, Default)]
pub struct OrderQueue(Option<mpsc::Receiver<OrderRequest>>);

/// Order that waits for its answer.
pub struct OrderRequest {
    /// The order.
    pub order: Order,
    /// Receives the answer. The owner may have gone.
    pub answer: oneshot::Sender<OrderAnswer>,
}

impl Orders {
    /// Creates both ends; an order is answered within this time.
    pub fn channel(timeout: Duration) -> (Orders, OrderQueue) {
        let (requests, queue) = mpsc::channel(MAX_WAITING);
        (Orders { requests, timeout }, OrderQueue(Some(queue)))
    }

    /// Gives an order. Returns what will happen.
    ///
    /// # Errors
    /// [`OrderError`]; the order will not be carried out later either.
    pub async fn give(&self, order: Order) -> OrderAnswer {
        order.check()?;
        let (answer, answered) = oneshot::channel();
        self.pass_on(OrderRequest { order, answer });
        let conflict = |why: &str| Err(OrderError::Conflict(why.to_owned()));
        match timeout(self.timeout, answered).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => conflict("the bot has left this server"),
            Err(_) => conflict("the bot is not connected to this server: try again later"),
        }
    }

    /// Passes on an order for whose answer somebody else waits.
    pub fn pass_on(&self, request: OrderRequest) {
        if let Err(mpsc::error::TrySendError::Full(request)) = self.requests.try_send(request) {
            let why = "the bot has too many orders: try again later".to_owned();
            let _ = request.answer.send(Err(OrderError::Conflict(why)));
        }
    }
}

impl OrderQueue {
    /// Returns the next order that somebody waits for, and waits forever without an owner. Cancel safe.
    pub async fn next(&mut self) -> OrderRequest {
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

    fn block(player: &str) -> Order {
        Order::Block(BlockOrder { player: player.to_owned() })
    }

    #[test(start_paused = true)]
    async fn an_order_that_nobody_waits_for_is_not_carried_out() {
        let (orders, mut queue) = Orders::channel(CLIENT_TIMEOUT);
        let not_connected = orders.give(block("eve")).await.unwrap_err();
        assert!(not_connected.to_string().contains("not connected"), "{not_connected}");
        let client = tokio::spawn(async move {
            queue.next().await.answer.send(Ok("done".into())).unwrap();
            queue
        });
        assert_eq!(orders.give(block("eve")).await, Ok("done".to_owned()));
        drop(client.await.unwrap());
        assert_eq!(
            orders.give(block("eve")).await,
            Err(OrderError::Conflict("the bot has left this server".into()))
        );
        let never = timeout(Duration::from_secs(60), OrderQueue::default().next()).await;
        assert!(never.is_err());
    }

    #[test]
    async fn orders_are_bounded() {
        let (orders, _queue) = Orders::channel(CLIENT_TIMEOUT);
        let give = |orders: Orders| async move { orders.give(block("eve")).await };
        let waiting: Vec<_> = (0..MAX_WAITING).map(|_| tokio::spawn(give(orders.clone()))).collect();
        tokio::task::yield_now().await;
        let error = give(orders).await.unwrap_err();
        assert!(error.to_string().contains("too many orders"), "{error}");
        waiting.into_iter().for_each(|task| task.abort());
    }

    #[test]
    fn orders_do_not_show_their_password() {
        let order: JoinOrder =
            serde_json::from_str(r#"{"tournament": "abcd1234", "password": "hush"}"#).unwrap();
        assert_eq!(order.password.as_ref().map(Secret::expose), Some("hush"));
        let shown = format!("{:?}", Order::Join(order));
        assert!(shown.contains("abcd1234") && !shown.contains("hush"), "{shown}");
    }

    #[test]
    async fn odd_texts_are_refused() {
        let (orders, mut queue) = Orders::channel(CLIENT_TIMEOUT);
        let long = "x".repeat(MAX_TEXT + 1);
        for odd in ["", "  ", "a\nb", &long] {
            let refused = orders.give(block(odd)).await;
            assert!(matches!(refused, Err(OrderError::Invalid(_))), "{odd:?}");
        }
        let none = timeout(Duration::ZERO, queue.next()).await;
        assert!(none.is_err());
    }
}
