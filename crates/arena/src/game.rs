//! Task of one game of the contest: drives its referee, and tells players and watchers.
//!
//! The task never waits for a client: messages go into bounded queues, and the record of the game is its return value.

use std::time::Duration;

use time::OffsetDateTime;
use tokio::{
    select,
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval_at},
};
use tokio_util::sync::CancellationToken;
use zeitnot_rules::{ByColor, Color, Game, GameHistory, TimeControl};
use zeitnot_wire::contest::{FromServer, State, long_algebraic, result_text};

use crate::{
    GameTag, Name,
    client::Client,
    name::printable,
    referee::{Allowance, Cause, Ending, GameRecord, Referee, RefereeRules, Refusal},
    timer::until,
};

/// How often both players hear of the clocks.
const CLOCK_UPDATE: Duration = Duration::from_secs(5);

/// How long a move that was read before the flag fell may take through our queues.
const TRANSIT: Duration = Duration::from_millis(100);

/// Orders that may wait for one game; the senders wait when there are more.
const QUEUE: usize = 64;

/// What a game needs to begin.
#[derive(Debug)]
pub(super) struct Setup<G> {
    pub tag: GameTag,
    pub names: ByColor<Name>,
    pub clients: ByColor<Client>,
    pub time_control: TimeControl,
    pub start: G,
}

/// Handle of a running game.
#[derive(Clone, Debug)]
pub(super) struct GameStub {
    orders: mpsc::Sender<Order>,
}

/// Message to a running game.
#[derive(Debug)]
pub(super) enum Order {
    /// A player moves; the bytes of the move were read at this instant.
    Move { color: Color, text: String, read_at: Instant },
    /// A player resigns.
    Resign(Color),
    /// A player has disconnected.
    Gone(Color),
    /// A client watches the game.
    Watch(Client),
    /// A client no longer watches the game.
    Unwatch(Client),
}

impl GameStub {
    /// Sends an order; a game that is over drops it.
    pub async fn tell(&self, order: Order) {
        let _ = self.orders.send(order).await;
    }
}

/// Game that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub tag: GameTag,
    pub record: GameRecord,
}

/// Owner of one game.
#[derive(Debug)]
pub(super) struct GameActor<G: Game> {
    orders: mpsc::Receiver<Order>,
    tag: GameTag,
    names: ByColor<Name>,
    clients: ByColor<Client>,
    watchers: Vec<Client>,
    referee: Referee<GameHistory<G>>,
}

impl<G: Game> GameActor<G> {
    /// Creates a game that has not begun, and its handle.
    pub fn channel(setup: Setup<G>) -> (GameStub, GameActor<G>) {
        let (tx, rx) = mpsc::channel(QUEUE);
        let Setup { tag, names, clients, time_control, start } = setup;
        let allowances = ByColor::both(Allowance::Game(time_control));
        let rules = RefereeRules { transit: TRANSIT, ..RefereeRules::default() };
        let referee = Referee::new(GameHistory::new(start), allowances, rules, Instant::now());
        (
            GameStub { orders: tx },
            GameActor { orders: rx, tag, names, clients, watchers: Vec::new(), referee },
        )
    }

    /// Runs the game to its end, or aborts it at `stop`.
    pub async fn run(mut self, stop: CancellationToken) -> Finished {
        let began = OffsetDateTime::now_utc();
        self.tell_players(&FromServer::GameStarted(self.state()));
        self.ask_for_move();
        let mut updates = interval_at(Instant::now() + CLOCK_UPDATE, CLOCK_UPDATE);
        updates.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.referee.ending().is_none() {
            select! {
                biased;
                () = stop.cancelled() => self.referee.end(None, Cause::Shutdown, Instant::now()),
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => self.referee.end(None, Cause::Shutdown, Instant::now()),
                },
                () = until(self.referee.timeout()) => self.referee.time_out(Instant::now()),
                _ = updates.tick() => self.tell_all(&FromServer::ClockUpdate(self.state())),
            }
        }
        self.finish(began)
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Move { color, text, read_at } => self.play(color, &text, read_at),
            Order::Resign(color) => self.referee.lose(color, Cause::Resignation, Instant::now()),
            Order::Gone(color) => self.referee.lose(color, Cause::Disconnect, Instant::now()),
            Order::Watch(client) => {
                client.tell(FromServer::GameState(self.state()));
                if !self.watchers.iter().any(|watcher| watcher.is(&client)) {
                    self.watchers.push(client);
                }
            }
            Order::Unwatch(client) => self.watchers.retain(|watcher| !watcher.is(&client)),
        }
    }

    fn play(&mut self, color: Color, text: &str, read_at: Instant) {
        match self.referee.play(color, text, read_at, None) {
            Ok(mv) => {
                let (mover, mv) = (self.names[color].to_string(), long_algebraic(&mv));
                self.tell_all(&FromServer::PlayerMoved { mover, mv, state: self.state() });
                if self.referee.ending().is_none() {
                    self.ask_for_move();
                }
            }
            Err(Refusal::NotYourTurn) => self.clients[color].info("It is not your turn"),
            Err(Refusal::Illegal) => {
                self.clients[color].info(format!("Move {} is not legal", printable(text, 20)));
                self.clients[color].tell(FromServer::YourMove(self.state()));
            }
            Err(Refusal::TooLate | Refusal::Over) => {}
        }
    }

    fn ask_for_move(&mut self) {
        let now = Instant::now();
        self.referee.await_move(now);
        self.clients[self.referee.turn()].tell(FromServer::YourMove(self.state_at(now)));
    }

    fn finish(mut self, began: OffsetDateTime) -> Finished {
        if let Some(Ending { result, cause }) = self.referee.ending() {
            let reason = cause.to_string();
            match result {
                Some(result) => {
                    let text = format!("Game over: {} {cause}", result_text(result));
                    self.tell_players(&FromServer::Info { text });
                    self.tell_all(&FromServer::GameOver { game: self.tag.to_string(), result, reason });
                }
                // The protocol has no result for a game that nobody finished.
                None => self.tell_all(&FromServer::GameAborted { reason }),
            }
        }
        Finished { tag: self.tag, record: GameRecord::new(self.referee, began) }
    }

    fn state(&self) -> State {
        self.state_at(Instant::now())
    }

    fn state_at(&self, now: Instant) -> State {
        let left = |color| self.referee.clock().left(color, now).unwrap_or_default();
        State {
            game: self.tag.to_string(),
            names: ByColor(Color::BOTH.map(|color| self.names[color].to_string())),
            left: ByColor(Color::BOTH.map(left)),
            fen: self.referee.board().now().print(),
        }
    }

    fn tell_players(&self, message: &FromServer) {
        self.clients.0.iter().for_each(|client| client.tell(message.clone()));
    }

    fn tell_all(&mut self, message: &FromServer) {
        self.tell_players(message);
        self.watchers.retain(|watcher| watcher.is_open());
        self.watchers.iter().for_each(|watcher| watcher.tell(message.clone()));
    }
}

#[cfg(test)]
mod tests;
