//! Orders of the owner to a bot, from the page to whoever carries them out.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use zeitnot_rules::{Color, TimeControl};

/// Orders that may wait.
const MAX_WAITING: usize = 16;
/// Time within which an order is answered: more than a client takes, and less than a request may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);
/// Longest text of a field in bytes.
const MAX_TEXT: usize = 200;

/// Challenge to a player.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BotChallengeOrder {
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
    /// Side of the bot.
    #[serde(default)]
    pub color: BotColor,
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

/// Tournament to join. Not for a log: the password is a secret.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BotJoinOrder {
    /// Name of the server; the first that has tournaments to join without it.
    #[serde(default)]
    pub server: Option<String>,
    /// Last part of its address.
    #[schema(example = "abcd1234")]
    pub tournament: String,
    /// Its password, if it has one.
    #[serde(default)]
    pub password: Option<String>,
}

/// Player to block, or to play again.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BotBlockOrder {
    /// Name of the player, on all servers where players can be blocked.
    pub player: String,
}

/// Order of the owner.
pub enum BotOrder {
    /// Challenges a player.
    Challenge(BotChallengeOrder),
    /// Joins a tournament.
    Join(BotJoinOrder),
    /// Plays a player no more until the program ends.
    Block(BotBlockOrder),
    /// Plays a player again.
    Unblock(BotBlockOrder),
}

impl BotOrder {
    fn texts(&self) -> Vec<&str> {
        let texts = match self {
            BotOrder::Challenge(order) => {
                vec![Some(&order.opponent), Some(&order.variant), order.server.as_ref()]
            }
            BotOrder::Join(order) => {
                vec![Some(&order.tournament), order.password.as_ref(), order.server.as_ref()]
            }
            BotOrder::Block(order) | BotOrder::Unblock(order) => vec![Some(&order.player)],
        };
        texts.into_iter().flatten().map(String::as_str).collect()
    }

    /// Checks what no server takes.
    fn check(&self) -> Result<(), BotOrderError> {
        let is_fine = |text: &str| {
            !text.trim().is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
        };
        match self.texts().into_iter().all(is_fine) {
            true => Ok(()),
            false => Err(BotOrderError::Invalid(format!(
                "every text has 1 to {MAX_TEXT} bytes without control characters"
            ))),
        }
    }
}

/// Order that is not carried out; one line that says why.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BotOrderError {
    /// It makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// It is not possible now, or not there.
    #[error("{0}")]
    Conflict(String),
}

/// Answer to an order: what will happen.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct OrderTaken {
    /// One line.
    #[schema(example = "challenging maia1 to a game, standard 3+2, casual; the answer follows")]
    pub(crate) message: String,
}

/// Order that waits for its answer.
pub struct BotRequest {
    /// Action asked for.
    pub order: BotOrder,
    /// Receives what will happen.
    pub answer: oneshot::Sender<Result<String, BotOrderError>>,
}

/// Means by which the page controls a bot. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BotControl {
    /// Cancelled when the bot is to take no new games.
    pub(crate) soon: CancellationToken,
    requests: mpsc::Sender<BotRequest>,
}

impl BotControl {
    /// Creates the control and the receiver of the orders. `soon` is what makes the bot take no new games.
    pub fn channel(soon: CancellationToken) -> (BotControl, mpsc::Receiver<BotRequest>) {
        let (requests, orders) = mpsc::channel(MAX_WAITING);
        (BotControl { soon, requests }, orders)
    }

    /// Gives an order, and returns what will happen.
    pub(crate) async fn give(&self, order: BotOrder) -> Result<OrderTaken, BotOrderError> {
        order.check()?;
        let busy = || BotOrderError::Conflict("the bot is busy: try again in a moment".to_owned());
        let (answer, answered) = oneshot::channel();
        self.requests.try_send(BotRequest { order, answer }).map_err(|_| busy())?;
        match timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(done)) => done.map(|message| OrderTaken { message }),
            _ => Err(busy()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test(start_paused = true)]
    async fn odd_texts_and_a_bot_that_does_not_answer_are_errors() {
        let (control, mut orders) = BotControl::channel(CancellationToken::new());
        let block = |player: &str| BotOrder::Block(BotBlockOrder { player: player.to_owned() });
        let long = "x".repeat(MAX_TEXT + 1);
        for odd in ["", "  ", "a\nb", &long] {
            let refused = control.give(block(odd)).await;
            assert!(matches!(refused, Err(BotOrderError::Invalid(_))), "{odd:?}");
        }
        assert!(orders.try_recv().is_err());
        let refused = control.give(block("eve")).await;
        assert!(matches!(refused, Err(BotOrderError::Conflict(_))));
        assert!(orders.recv().await.is_some_and(|request| request.answer.is_closed()));
    }
}
