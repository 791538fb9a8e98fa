//! Client of any server: with a bot of ours behind it, or with the test in the place of its players.

use std::time::Duration;

use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::task::TaskTracker;
use zeitnot_bot as bot;
use zeitnot_clients::{OrderQueue, Protocol, ProtocolError, Shutdown};
use zeitnot_engine::Kind;
use zeitnot_rules::{Color, Game, GameHistory, MoveText, chess::Chess};
use zeitnot_seat::{
    Action, Clocks, Declined, Eval, Event, GameInfo, Lobby, OpenSeat, Reservation, Seat, Seats, Turn,
};
use zeitnot_testing::soon;

use crate::support::bot::lobby;

pub struct Client {
    pub shutdown: Shutdown,
    games: mpsc::Receiver<OpenSeat>,
    task: JoinHandle<Result<(), ProtocolError>>,
}

impl Client {
    /// Starts a client whose games the test plays.
    pub fn of<P: Protocol + 'static>(config: P::Config) -> Client {
        Client::with_seats::<P>(config, &Seats::new(usize::MAX))
    }

    /// The same, with these seats.
    pub fn with_seats<P: Protocol + 'static>(config: P::Config, seats: &Seats) -> Client {
        let (lobby, games) = Lobby::channel(64);
        let lobby = lobby.with_seats(seats.clone());
        let shutdown = Shutdown::default();
        let task =
            tokio::spawn(P::run(watch::channel(config).1, lobby, OrderQueue::default(), shutdown.clone()));
        Client { shutdown, games, task }
    }

    /// Starts a client whose games a bot of ours plays.
    pub fn with_bot<P: Protocol + 'static>(config: P::Config, kind: Kind, settings: bot::Config) -> Client {
        let shutdown = Shutdown::default();
        let lobby = lobby(kind, settings, &shutdown.now, &TaskTracker::new());
        let task =
            tokio::spawn(P::run(watch::channel(config).1, lobby, OrderQueue::default(), shutdown.clone()));
        Client { shutdown, games: mpsc::channel(1).1, task }
    }

    /// Returns the next game that comes to the lobby.
    pub async fn game(&mut self) -> Player {
        let OpenSeat { info, reply, reservation } = soon("a game", self.games.recv()).await.unwrap();
        let (events, from_protocol) = mpsc::channel(64);
        let (to_protocol, actions) = mpsc::channel(4);
        reply.send(Ok(Seat { engine: "test".into(), events, actions })).unwrap();
        Player { info, events: from_protocol, actions: to_protocol, _seat: reservation }
    }

    pub async fn decline(&mut self) {
        let open = soon("a game", self.games.recv()).await.unwrap();
        open.reply.send(Err(Declined("no room".into()))).unwrap();
    }

    /// Returns the result once the client has ended.
    pub async fn result(self) -> Result<(), ProtocolError> {
        soon("the client's end", self.task).await.unwrap()
    }

    /// Waits for a successful end.
    pub async fn ends(self) {
        assert_eq!(self.result().await, Ok(()));
    }

    /// Tells the client to stop after its games, and waits for its end.
    pub async fn ends_soon(self) {
        self.shutdown.soon.cancel();
        self.ends().await;
    }

    /// Tells the client to stop at once, and waits for its end.
    pub async fn ends_now(self) {
        self.shutdown.now.cancel();
        self.ends().await;
    }
}

/// Player's end of a seat.
pub struct Player {
    pub info: GameInfo,
    events: mpsc::Receiver<Event>,
    pub actions: mpsc::Sender<Action>,
    _seat: Reservation,
}

impl Player {
    /// Returns the next event, or `None` after the end of the seat. `Sent` may come before or after the answer
    /// to its line, so only [`Player::sent`] returns it.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            match soon("an event", self.events.recv()).await {
                Some(Event::Sent { .. }) => {}
                event => return event,
            }
        }
    }

    /// Returns the next event that is neither `Sent` nor a clock.
    pub async fn next(&mut self) -> Event {
        loop {
            match self.event().await.expect("the seat is open") {
                Event::ClocksRead(_) => {}
                event => return event,
            }
        }
    }

    /// Expects that the next events are these moves.
    pub async fn sees(&mut self, moves: &str) {
        for mv in moves.split(' ') {
            match self.next().await {
                Event::Moved(told) => assert_eq!(told.as_str(), mv),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Expects that the next event is a request for a move.
    pub async fn asked(&mut self) -> (Turn, Option<Clocks>) {
        match self.next().await {
            Event::YourTurn { turn, clocks } => (turn, clocks),
            other => panic!("{other:?}"),
        }
    }

    /// Skips events until one gives a value.
    async fn find<T>(&mut self, what: &str, wanted: impl Fn(Event) -> Option<T>) -> T {
        loop {
            let event = soon(what, self.events.recv()).await;
            if let Some(found) = wanted(event.unwrap_or_else(|| panic!("the seat closed without {what}"))) {
                return found;
            }
        }
    }

    /// Skips events up to the next request.
    pub async fn turn(&mut self) -> Turn {
        self.find("a request", |event| match event {
            Event::YourTurn { turn, .. } => Some(turn),
            _ => None,
        })
        .await
    }

    pub async fn sent(&mut self) -> Turn {
        self.find("Sent", |event| match event {
            Event::Sent { turn, .. } => Some(turn),
            _ => None,
        })
        .await
    }

    /// Skips events up to the end.
    pub async fn ended(&mut self) -> String {
        self.find("the end", |event| match event {
            Event::Ended { result, .. } => Some(result),
            _ => None,
        })
        .await
    }

    /// Answers the next request with a move.
    pub async fn answer(&mut self, mv: &str) {
        let turn = self.turn().await;
        self.play(turn, mv).await;
    }

    pub async fn play(&self, turn: Turn, mv: &str) {
        self.act(turn, mv, false, None).await;
    }

    pub async fn act(&self, turn: Turn, mv: &str, offers_draw: bool, eval: Option<Eval>) {
        // If the protocol has left already, nothing receives it.
        let mv = MoveText::new(mv).unwrap();
        let _ = self.actions.send(Action::Play { turn, mv, offers_draw, eval }).await;
    }

    /// Plays on its own board, as the real player does, until the game is over.
    pub async fn play_first_legal_moves(mut self) -> String {
        let mut line = GameHistory::new(Chess::parse(self.info.start.as_deref().unwrap()).unwrap());
        loop {
            match self.event().await.expect("the seat is open") {
                Event::Moved(mv) => line.play(line.now().read(mv.as_str()).unwrap()),
                Event::Board(fen) => assert_eq!(line.now().print(), fen, "the lines part"),
                Event::YourTurn { turn, clocks } => {
                    assert!(clocks.unwrap().left[Color::White] <= Duration::from_secs(10));
                    let mv = line.now().moves()[0];
                    self.play(turn, line.now().write(mv).as_str()).await;
                }
                Event::Ended { result, .. } => return result,
                Event::ClocksRead(_)
                | Event::Sent { .. }
                | Event::DrawOffered
                | Event::MovedUnseen
                | Event::OpponentNamed(_) => {}
                odd @ (Event::Refused { .. } | Event::TakenBack { .. }) => panic!("{odd:?}"),
            }
        }
    }
}
