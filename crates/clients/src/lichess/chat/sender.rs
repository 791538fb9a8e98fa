//! Chat sender: sends messages one after the other, so that no game waits for chat.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;
use zeitnot_wire::lichess::{Chat, ChatLine, Form, GameId};

use super::{
    facts::{AccountFacts, GameFacts},
    messages::{Config, Messages},
};
use crate::lichess::{Http, RequestKind, challenges::config as challenge};

/// Occasions that may wait to be handled; that takes no time, so more is a flood.
const INBOX: usize = 64;
/// Messages that may wait to be sent.
const MAX_PENDING: usize = 64;
/// A message that takes longer is dropped.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Games that are remembered as greeted: one that is suspended and resumed is not greeted again.
const MAX_GREETED: usize = 256;

/// Occasion for chat in a game.
#[derive(Debug)]
pub(crate) enum GameDetails {
    Begun,
    Ended,
    Line(ChatLine),
}

/// Handle of the games to the sender's task. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ChatSender {
    occasions: mpsc::Sender<(GameId, GameFacts, GameDetails)>,
    /// Written by the account alone.
    account: watch::Sender<AccountFacts>,
}

impl ChatSender {
    /// Starts the sender's task. It ends when everything is sent and no [`ChatSender`] is left.
    pub(crate) fn start(
        config: Config,
        accepted: &challenge::Config,
        http: Http,
    ) -> (ChatSender, AbortOnDropHandle<()>) {
        let (occasions, inbox) = mpsc::channel(INBOX);
        let (account, facts) = watch::channel(AccountFacts::new(accepted));
        let messages = Messages::new(config);
        let pending = VecDeque::new();
        let greeted = VecDeque::new();
        let worker = Worker { messages, http, account: facts, pending, greeted };
        (ChatSender { occasions, account }, AbortOnDropHandle::new(tokio::spawn(worker.run(inbox))))
    }

    /// Queues a message without waiting.
    pub(crate) fn send(&self, id: GameId, facts: GameFacts, details: GameDetails) {
        if self.occasions.try_send((id, facts, details)).is_err() {
            debug!("too much chat at once; ignored a line");
        }
    }

    /// Sets the names of the waiting challengers, the next one first.
    pub(crate) fn set_queue(&self, names: Vec<String>) {
        self.account.send_modify(|facts| facts.queue = names);
    }

    /// Sets which challenges are accepted.
    pub(crate) fn set_accepted(&self, config: &challenge::Config) {
        self.account.send_modify(|facts| facts.set_accepted(config));
    }
}

struct Worker {
    messages: Messages,
    http: Http,
    account: watch::Receiver<AccountFacts>,
    pending: VecDeque<(GameId, Chat)>,
    greeted: VecDeque<GameId>,
}

impl Worker {
    async fn run(mut self, mut inbox: mpsc::Receiver<(GameId, GameFacts, GameDetails)>) {
        let mut sending = JoinSet::new();
        loop {
            if sending.is_empty()
                && let Some((id, chat)) = self.pending.pop_front()
            {
                sending.spawn(send(self.http.clone(), id, chat));
            }
            select! {
                Some((id, facts, details)) = inbox.recv() => self.handle(id, facts, details),
                Some(_) = sending.join_next() => {}
                else => return,
            }
        }
    }

    fn handle(&mut self, id: GameId, facts: GameFacts, details: GameDetails) {
        let chats = match details {
            GameDetails::Begun if self.greeted.contains(&id) => Vec::new(),
            GameDetails::Begun => {
                self.greeted.truncate(MAX_GREETED - 1);
                self.greeted.push_front(id);
                self.messages.hello(&facts)
            }
            GameDetails::Ended => self.messages.goodbye(&facts),
            GameDetails::Line(line) => {
                let account = self.account.borrow();
                self.messages.answer(&line, &facts, &account, Instant::now()).into_iter().collect()
            }
        };
        for chat in chats {
            if self.pending.len() < MAX_PENDING {
                self.pending.push_back((id, chat));
            } else {
                debug!("too many chat messages are waiting; dropped: {:?}", chat.text);
            }
        }
    }
}

/// Sends one message. A failure does not matter: some opponents and some servers take no chat.
async fn send(http: Http, id: GameId, chat: Chat) {
    let path = format!("api/bot/game/{id}/chat");
    match timeout(SEND_TIMEOUT, http.post(RequestKind::Chat, &path, Some(chat.to_form()))).await {
        Ok(Ok(())) => debug!("said in the chat of {id}: {:?}", chat.text),
        Ok(Err(error)) => debug!("cannot send a chat message in {id}: {error}"),
        Err(_) => debug!("cannot send a chat message in {id}: no reply within 5 s"),
    }
}
