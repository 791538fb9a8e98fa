//! A tournament without sockets and without a task, for simulations: its players are queues of messages, and whoever
//! drives it decides which of the turns that are possible is next.

use std::{
    collections::BTreeMap,
    mem,
    pin::pin,
    task::{Context, Poll, Waker},
};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    database::simulation::SimulatedDatabase, live::Feed, note::Note, store::Store, tag::GameTag,
};
use zeitnot_pairing::{Name, SeatNo, standings::Row};
use zeitnot_rules::{ByColor, GameResult};

use super::{
    super::{
        admission::{Admission, Applicant, Proof},
        command::{Command, CommandError},
        config::TournamentConfig,
        refusals::Refusals,
        reports::Reports,
        starts::Starts,
    },
    TournamentActor, Turn,
};
use crate::{
    client::{Client, Outbox},
    message::{Notice, Request},
    news,
};

/// Names of one address in the tournament.
const PER_ADDRESS: usize = 99;

/// Message to a player.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Paired {
        game: GameTag,
    },
    Started {
        game: GameTag,
    },
    /// The player is to move, in this position.
    YourMove {
        game: GameTag,
        fen: String,
    },
    Over {
        game: GameTag,
        result: GameResult,
    },
    Aborted,
}

/// Message from a player.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub enum Saying {
    Ack,
    Move(String),
    Resign,
}

/// Order of the organiser.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub enum Order {
    Start,
    Pause,
    Resume,
    LateEntries(bool),
    Remove(Name),
    Forfeit(Name),
    Pair { white: Name, black: Name },
    Correct { game: String, result: Option<GameResult>, note: Note },
}

impl From<Order> for Command {
    fn from(order: Order) -> Command {
        match order {
            Order::Start => Command::Start,
            Order::Pause => Command::Pause,
            Order::Resume => Command::Resume,
            Order::LateEntries(allowed) => Command::LateEntries(allowed),
            Order::Remove(player) => Command::Remove { player, note: None },
            Order::Forfeit(player) => Command::Forfeit { player, note: None },
            Order::Pair { white, black } => Command::Pair { white, black },
            Order::Correct { game, result, note } => Command::Correct { game, result, note },
        }
    }
}

/// Game at a board.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardGame {
    pub game: GameTag,
    pub names: ByColor<String>,
    /// It is over, and perhaps not told yet.
    pub is_over: bool,
    pub result: Option<GameResult>,
}

/// Turn of a tournament besides requests.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TurnKind {
    Expiry,
    Pairing,
    Settled,
}

impl TurnKind {
    /// All kinds.
    pub const ALL: [TurnKind; 3] = [TurnKind::Expiry, TurnKind::Pairing, TurnKind::Settled];
}

/// Answer to an order: what was refused, and why.
type Answer = oneshot::Receiver<Result<(), CommandError>>;

/// A tournament that is driven turn by turn. Dropping it is a kill.
#[derive(Debug)]
pub struct SimulatedTournament {
    actor: TournamentActor,
    next_pairing: Instant,
    clients: BTreeMap<Name, (SeatNo, Client, Outbox)>,
    orders: Vec<(Order, Answer)>,
}

impl SimulatedTournament {
    /// Starts an arena with the tournament, which goes on where the database has it.
    ///
    /// # Errors
    /// Why there can be no such tournament.
    pub fn start(
        config: TournamentConfig,
        database: &mut SimulatedDatabase,
        live: Feed,
    ) -> Result<SimulatedTournament, String> {
        config.check()?;
        let started = database.start();
        let opened = database.open_tournament(&config.opening(None)).map_err(|error| error.to_string())?;
        let refusals = Refusals::of_tournament(config.name.to_string(), live.clone(), None, Vec::new());
        let reports = Reports::new(news::channel(), live, refusals, 1, Vec::new());
        let (store, opened) = (Store::Queue(mpsc::channel(1).0), Some((started, opened)));
        let admission = Admission::default();
        let starts = Starts::open(&config).map_err(|error| error.to_string())?;
        let (_, actor) =
            TournamentActor::channel(config, admission, PER_ADDRESS, starts, store, reports, opened);
        Ok(SimulatedTournament {
            actor,
            next_pairing: Instant::now(),
            clients: BTreeMap::new(),
            orders: Vec::new(),
        })
    }

    fn act(&mut self, job: impl FnOnce(&mut TournamentActor) + Send + 'static) {
        self.actor.take(Turn::Job(Box::new(job)));
    }

    /// A player joins over a new connection.
    ///
    /// # Errors
    /// The refusal.
    pub fn join(&mut self, name: &Name) -> Result<(), String> {
        let (client, outbox) = Client::channel(CancellationToken::new());
        let applicant = Applicant { name: name.clone(), proof: Proof::Account, client: client.clone() };
        let (reply, mut answer) = oneshot::channel();
        self.act(move |actor| drop(reply.send(actor.join(applicant))));
        let seat =
            answer.try_recv().map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        self.clients.insert(name.clone(), (seat, client, outbox));
        Ok(())
    }

    /// A player's connection is gone.
    pub fn leave(&mut self, name: &Name) {
        if let Some((seat, client, _)) = self.clients.remove(name) {
            self.act(move |actor| actor.leave(seat, &client));
        }
    }

    /// Returns whether a player is connected.
    pub fn is_here(&self, name: &Name) -> bool {
        self.clients.contains_key(name)
    }

    /// Returns the players whose connections the tournament has closed, and which are yet to leave.
    pub fn closed(&self) -> Vec<Name> {
        let closed = self.clients.iter().filter(|(_, (_, client, _))| !client.is_open());
        closed.map(|(name, _)| name.clone()).collect()
    }

    /// A player speaks of a game.
    pub fn say(&mut self, name: &Name, game: GameTag, saying: Saying) {
        let Some((seat, client, _)) = self.clients.get(name) else { return };
        let (seat, client, game, read_at) = (*seat, client.clone(), game.to_string(), Instant::now());
        let request = match saying {
            Saying::Ack => Request::Ack { game },
            Saying::Move(mv) => Request::Move { game, mv, read_at },
            Saying::Resign => Request::Resign { game, read_at },
        };
        self.act(move |actor| actor.answer(seat, &client, request));
    }

    /// The organiser gives an order. [`SimulatedTournament::answers`] has the answer later.
    pub fn order(&mut self, order: Order) {
        let (answer, answered) = oneshot::channel();
        let command = order.clone().into();
        self.act(move |actor| actor.command(command, answer));
        self.orders.push((order, answered));
    }

    /// Returns the orders that have been answered since the last call, each with the refusal, if any.
    pub fn answers(&mut self) -> Vec<(Order, Result<(), String>)> {
        let mut answered = Vec::new();
        self.orders = mem::take(&mut self.orders)
            .into_iter()
            .filter_map(|(order, mut answer)| {
                match answer.try_recv() {
                    Ok(result) => answered.push((order, result.map_err(|refusal| refusal.to_string()))),
                    Err(oneshot::error::TryRecvError::Empty) => return Some((order, answer)),
                    Err(oneshot::error::TryRecvError::Closed) => {}
                }
                None
            })
            .collect();
        answered
    }

    /// Returns what each player has heard since the last call.
    pub fn heard(&mut self) -> Vec<(Name, Heard)> {
        let mut all = Vec::new();
        for (name, (.., outbox)) in &mut self.clients {
            all.extend(outbox.drain().into_iter().filter_map(read).map(|heard| (name.clone(), heard)));
        }
        all
    }

    /// Takes the first of these turns that is possible now; returns it.
    pub fn turn(&mut self, kinds: [TurnKind; 3]) -> Option<TurnKind> {
        let now = Instant::now();
        for kind in kinds {
            let turn = match kind {
                TurnKind::Expiry => self.actor.deadline().filter(|due| *due <= now).map(|_| Turn::Expiry),
                TurnKind::Pairing => (self.next_pairing <= now).then_some(Turn::Pairing),
                TurnKind::Settled => poll(pin!(self.actor.journal.settled())).flatten().map(Turn::Settled),
            };
            let Some(turn) = turn else { continue };
            self.actor.take(turn);
            if kind == TurnKind::Pairing {
                self.next_pairing = now + self.actor.config.pairing_interval;
            }
            return Some(kind);
        }
        None
    }

    /// Returns when the next turn is possible, besides those that wait for the disk.
    pub fn due(&self) -> Instant {
        self.actor.deadline().map_or(self.next_pairing, |deadline| deadline.min(self.next_pairing))
    }

    /// Returns the games at the boards, those among them whose ends are not told yet.
    pub fn games(&self) -> Vec<BoardGame> {
        let games = self.actor.boards.iter().map(|(game, _, at_board)| BoardGame {
            game,
            names: at_board.names(),
            is_over: at_board.is_over(),
            result: at_board.ending().and_then(|ending| ending.result),
        });
        games.collect()
    }

    /// Returns the standings as the tournament has them.
    pub fn standings(&self) -> Vec<Row> {
        self.actor.record.standings().rows()
    }

    /// Returns whether nothing is on its way to the disk.
    pub fn is_settled(&self) -> bool {
        self.actor.journal.is_settled()
    }

    /// Returns whether it waits for its beginning.
    pub fn is_waiting(&self) -> bool {
        self.actor.progress.is_waiting()
    }

    #[allow(missing_docs)]
    pub fn is_paused(&self) -> bool {
        self.actor.progress.is_paused()
    }

    /// Returns whether all is played.
    pub fn is_complete(&self) -> bool {
        self.actor.is_complete()
    }

    /// Ends the tournament, as its arena does when all is played or when it stops. `meanwhile` lets the disk work and time
    /// pass.
    pub fn close(&mut self, mut meanwhile: impl FnMut()) {
        let complete = self.actor.is_complete();
        let mut closing = pin!(self.actor.close(complete));
        while poll(closing.as_mut()).is_none() {
            meanwhile();
        }
    }
}

/// Returns what a future yields if it is ready.
fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn read(notice: Notice) -> Option<Heard> {
    match notice {
        Notice::GamePaired { game, .. } => Some(Heard::Paired { game }),
        Notice::GameStarted(view) => Some(Heard::Started { game: view.game }),
        Notice::YourMove(view) => Some(Heard::YourMove { game: view.game, fen: view.fen }),
        Notice::GameOver { game, result, .. } => Some(Heard::Over { game, result }),
        Notice::GameAborted { .. } => Some(Heard::Aborted),
        Notice::Info(_)
        | Notice::ClockUpdate(_)
        | Notice::GameState(_)
        | Notice::PlayerMoved { .. }
        | Notice::Said { .. } => None,
    }
}
