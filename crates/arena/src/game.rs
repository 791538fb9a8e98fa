//! One game: its board, its clocks, its end. The only place that says who won.
//!
//! The actor never waits for anybody: what it says goes into bounded queues, and its end is its return.

use std::{fmt, time::Duration};

use time::OffsetDateTime;
use tokio::{
    select,
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval_at, sleep_until},
};
use tokio_util::sync::CancellationToken;

use zeitnot_rules::{ByColor, Color, Game, GameHistory, GameResult, Outcome, Reason};
use zeitnot_wire::{
    contest::{FromServer, State, long_algebraic, result_text},
    uci::UciScore,
};

use super::{
    GameTag, Name,
    client::Client,
    clock::{Allowance, Clock},
    name::printable,
};
use adjudication::Judge;

mod adjudication;

pub use adjudication::{Adjudication, Drawn, Resigned};

/// How often both players hear of the clocks.
const CLOCK_UPDATE: Duration = Duration::from_secs(5);

/// How long a move that was read before the flag fell may take through our queues.
const IN_FLIGHT: Duration = Duration::from_millis(100);

/// Orders that may wait for one game; the senders wait when there are more.
const QUEUE: usize = 64;

/// What a game needs to begin.
#[derive(Debug)]
pub(super) struct Setup<G> {
    pub tag: GameTag,
    pub names: ByColor<Name>,
    pub clients: ByColor<Client>,
    pub allowances: ByColor<Allowance>,
    pub start: G,
    pub house: House,
}

/// How the referee is where it is asked for; by itself it is as people's programs need it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct House {
    /// A move that is none loses. Otherwise another one is asked for, while the clock runs on.
    pub is_strict: bool,
    /// So late a move still counts.
    pub margin: Duration,
    /// When a game ends by what the players think of it.
    pub adjudication: Adjudication,
}

/// A move as it was played.
#[derive(Clone, Debug)]
pub struct Ply {
    /// The move as game records write it.
    pub text: String,
    /// What the mover's clock showed behind it, increment added.
    pub left: Duration,
    /// What the mover thought of it, where that was told.
    pub opinion: Option<Opinion>,
}

/// What a player thinks of its move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// For the one who moves.
    pub score: UciScore,
    /// Plies that were looked ahead.
    pub depth: u16,
}

/// Reaches a game that runs.
#[derive(Clone, Debug)]
pub(super) struct GameStub {
    orders: mpsc::Sender<Order>,
}

/// What a game can be told.
#[derive(Debug)]
pub(super) enum Order {
    /// A player wants this move; its bytes were read then.
    Move { side: Color, text: String, read_at: Instant, opinion: Option<Opinion> },
    /// A player gives up.
    Resign(Color),
    /// A player's connection is gone.
    Gone(Color),
    /// Somebody wants to see the game.
    Watch(Client),
    /// Somebody has seen enough.
    Unwatch(Client),
}

impl GameStub {
    /// Tells the game; one that is over does not hear it any more.
    pub async fn tell(&self, order: Order) {
        let _ = self.orders.send(order).await;
    }
}

/// How a game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// `None`: it was broken off.
    pub result: Option<GameResult>,
    /// Why.
    pub cause: Cause,
}

impl Ending {
    /// The result as PGN writes it.
    pub fn result_text(self) -> &'static str {
        self.result.map_or("*", GameResult::as_str)
    }
}

/// Why a game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// As the rules have it.
    Rules(Reason),
    /// A flag fell.
    OutOfTime,
    /// A player gave up.
    Resignation,
    /// A player is gone.
    Disconnect,
    /// A player's move is none, in a [strict](House::is_strict) house.
    IllegalMove,
    /// Both players have said for long enough how it would end.
    Adjudicated,
    /// It lasted longer than games may.
    TooLong,
    /// Nobody plays on.
    Shutdown,
}

impl Cause {
    /// What PGN calls it.
    pub fn termination(self) -> &'static str {
        match self {
            Cause::Rules(_) | Cause::Resignation => "normal",
            Cause::OutOfTime => "time forfeit",
            Cause::IllegalMove => "rules infraction",
            Cause::Adjudicated | Cause::TooLong => "adjudication",
            Cause::Disconnect | Cause::Shutdown => "abandoned",
        }
    }
}

impl fmt::Display for Cause {
    /// In the protocol's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Rules(reason) => return reason.fmt(f),
            Cause::OutOfTime => "Out of time",
            Cause::Resignation => "Resignation",
            Cause::Disconnect => "Resignation by disconnect",
            Cause::IllegalMove => "Illegal move",
            Cause::Adjudicated => "Adjudication",
            Cause::TooLong => "Too many moves",
            Cause::Shutdown => "The arena is shutting down",
        })
    }
}

/// A game that is over.
#[derive(Debug)]
pub struct Finished {
    /// Its name.
    pub tag: GameTag,
    /// When.
    pub began: OffsetDateTime,
    /// The position it began from, unless that was the usual one.
    pub fen: Option<String>,
    /// Its moves.
    pub plies: Vec<Ply>,
    /// And its end.
    pub ending: Ending,
}

/// Owns one game.
#[derive(Debug)]
pub(super) struct GameActor<G: Game> {
    orders: mpsc::Receiver<Order>,
    tag: GameTag,
    names: ByColor<Name>,
    clients: ByColor<Client>,
    watchers: Vec<Client>,
    line: GameHistory<G>,
    clock: Clock,
    plies: Vec<Ply>,
    is_strict: bool,
    judge: Judge,
}

impl<G: Game> GameActor<G> {
    /// A game that has not begun, and its stub.
    pub fn channel(setup: Setup<G>) -> (GameStub, GameActor<G>) {
        let (tx, rx) = mpsc::channel(QUEUE);
        let Setup { tag, names, clients, allowances, start, house } = setup;
        let actor = GameActor {
            orders: rx,
            tag,
            names,
            clients,
            watchers: Vec::new(),
            line: GameHistory::new(start),
            clock: Clock::fair(allowances, house.margin),
            plies: Vec::new(),
            is_strict: house.is_strict,
            judge: Judge::new(house.adjudication),
        };
        (GameStub { orders: tx }, actor)
    }

    /// Referees the game to its end, or breaks it off at `stop`.
    pub async fn run(mut self, stop: CancellationToken) -> Finished {
        let began = OffsetDateTime::now_utc();
        let started = FromServer::GameStarted(self.state());
        self.tell_players(&started);
        self.ask_for_move();
        let mut updates = interval_at(Instant::now() + CLOCK_UPDATE, CLOCK_UPDATE);
        updates.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let ending = loop {
            let flag = self.clock.flag().unwrap_or_else(Instant::now) + IN_FLIGHT;
            select! {
                biased;
                () = stop.cancelled() => break Ending { result: None, cause: Cause::Shutdown },
                order = self.orders.recv() => match order.map(|order| self.obey(order)) {
                    Some(None) => {}
                    Some(Some(ending)) => break ending,
                    None => break Ending { result: None, cause: Cause::Shutdown },
                },
                () = sleep_until(flag) => break self.lost(self.line.now().side(), Cause::OutOfTime),
                _ = updates.tick() => {
                    let update = FromServer::ClockUpdate(self.state());
                    self.tell_all(&update);
                }
            }
        };
        self.end(began, ending)
    }

    fn obey(&mut self, order: Order) -> Option<Ending> {
        match order {
            Order::Move { side, text, read_at, opinion } => self.judge(side, &text, read_at, opinion),
            Order::Resign(side) => Some(self.lost(side, Cause::Resignation)),
            Order::Gone(side) => Some(self.lost(side, Cause::Disconnect)),
            Order::Watch(client) => {
                client.tell(FromServer::GameState(self.state()));
                if !self.watchers.iter().any(|watcher| watcher.is(&client)) {
                    self.watchers.push(client);
                }
                None
            }
            Order::Unwatch(client) => {
                self.watchers.retain(|watcher| !watcher.is(&client));
                None
            }
        }
    }

    /// Time first, then the rules.
    fn judge(
        &mut self,
        side: Color,
        text: &str,
        read_at: Instant,
        opinion: Option<Opinion>,
    ) -> Option<Ending> {
        if side != self.line.now().side() {
            self.clients[side].info("It is not your turn");
            return None;
        }
        if self.clock.is_late(read_at) {
            return Some(self.lost(side, Cause::OutOfTime));
        }
        match self.line.now().read(text) {
            Ok(mv) => self.play(side, mv, read_at, opinion),
            Err(_) if self.is_strict => Some(self.lost(side, Cause::IllegalMove)),
            Err(_) => {
                self.clients[side].info(format!("Move {} is not legal", printable(text, 20)));
                let again = FromServer::YourMove(self.state());
                self.clients[side].tell(again);
                None
            }
        }
    }

    fn play(
        &mut self,
        side: Color,
        mv: G::Move,
        read_at: Instant,
        opinion: Option<Opinion>,
    ) -> Option<Ending> {
        let now = self.line.now();
        let (sent, text) = (long_algebraic(&now.write(mv)), now.record(mv));
        self.clock.press(read_at);
        self.line.play(mv);
        self.plies.push(Ply { text, left: self.clock.left(side, read_at), opinion });
        let mover = self.names[side].to_string();
        let moved = FromServer::PlayerMoved { mover, mv: sent, state: self.state() };
        self.tell_all(&moved);
        match self.line.outcome() {
            Outcome::Ongoing => {
                let ending = self.judge.hear(side, opinion);
                if ending.is_none() {
                    self.ask_for_move();
                }
                ending
            }
            Outcome::Draw(reason) => {
                Some(Ending { result: Some(GameResult::Draw), cause: Cause::Rules(reason) })
            }
            Outcome::Win(side, reason) => Some(self.lost(!side, Cause::Rules(reason))),
        }
    }

    /// Starts the clock of the side to move.
    fn ask_for_move(&mut self) {
        let (side, now) = (self.line.now().side(), Instant::now());
        self.clock.start(side, now);
        self.clients[side].tell(FromServer::YourMove(self.state_at(now)));
    }

    fn lost(&self, side: Color, cause: Cause) -> Ending {
        Ending { result: Some(GameResult::Won(!side)), cause }
    }

    fn end(mut self, began: OffsetDateTime, ending: Ending) -> Finished {
        self.clock.stop(Instant::now());
        let Ending { result, cause } = ending;
        let reason = cause.to_string();
        match result {
            Some(result) => {
                let info = FromServer::Info { text: format!("Game over: {} {cause}", result_text(result)) };
                self.tell_players(&info);
                let over = FromServer::GameOver { game: self.tag.to_string(), result, reason };
                self.tell_all(&over);
            }
            // The protocol has no result for a game that nobody finished.
            None => self.tell_all(&FromServer::GameAborted { reason }),
        }
        let fen = Some(self.line.root().print()).filter(|fen| *fen != G::start().print());
        Finished { tag: self.tag, began, fen, plies: self.plies, ending }
    }

    fn state(&self) -> State {
        self.state_at(Instant::now())
    }

    fn state_at(&self, now: Instant) -> State {
        State {
            game: self.tag.to_string(),
            names: ByColor(Color::BOTH.map(|side| self.names[side].to_string())),
            left: ByColor(Color::BOTH.map(|side| self.clock.left(side, now))),
            fen: self.line.now().print(),
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
