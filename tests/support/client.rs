//! Client of any server with a fake lobby, and the player's end of its seats.

use std::time::Duration;

use tokio::{sync::mpsc, task::JoinHandle};
use zeitnot_clients::{Protocol, ProtocolError, Shutdown};
use zeitnot_rules::{Color, Game, GameHistory, MoveText, chess::Chess};
use zeitnot_seat::{Action, Declined, Event, GameInfo, Lobby, OpenSeat, Seat, Turn};

use crate::support::wait::soon;

pub struct Client {
    pub shutdown: Shutdown,
    games: mpsc::Receiver<OpenSeat>,
    task: JoinHandle<Result<(), ProtocolError>>,
}

impl Client {
    pub fn of<P: Protocol + 'static>(config: P::Config) -> Client {
        let (lobby, games) = Lobby::channel(4);
        let shutdown = Shutdown::default();
        let task = tokio::spawn(P::run(config, lobby, shutdown.clone()));
        Client { shutdown, games, task }
    }

    /// Returns the next game that comes to the lobby.
    pub async fn game(&mut self) -> Player {
        let OpenSeat { info, reply } = soon("a game", self.games.recv()).await.unwrap();
        let (events, from_protocol) = mpsc::channel(64);
        let (to_protocol, actions) = mpsc::channel(4);
        reply.send(Ok(Seat { engine: "mock".into(), events, actions })).unwrap();
        Player { info, events: from_protocol, actions: to_protocol }
    }

    pub async fn decline(&mut self) {
        let open = soon("a game", self.games.recv()).await.unwrap();
        open.reply.send(Err(Declined("no room".into()))).unwrap();
    }

    /// Returns the result once the client has ended.
    pub async fn stopped(self) -> Result<(), ProtocolError> {
        soon("the client's end", self.task).await.unwrap()
    }

    /// Tells the client to stop, and waits for its end.
    pub async fn stop(self) {
        self.shutdown.soon.cancel();
        assert_eq!(self.stopped().await, Ok(()));
    }
}

/// Player's end of a seat.
pub struct Player {
    pub info: GameInfo,
    events: mpsc::Receiver<Event>,
    pub actions: mpsc::Sender<Action>,
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

    pub async fn sent(&mut self) -> Turn {
        loop {
            match soon("Sent", self.events.recv()).await {
                Some(Event::Sent { turn, .. }) => return turn,
                Some(_) => {}
                None => panic!("the seat is gone"),
            }
        }
    }

    /// Skips events up to the next request.
    pub async fn turn(&mut self) -> Turn {
        loop {
            match self.event().await {
                Some(Event::YourTurn { turn, .. }) => return turn,
                Some(_) => {}
                None => panic!("the seat is gone"),
            }
        }
    }

    /// Skips events up to the end.
    pub async fn ended(&mut self) -> String {
        loop {
            match self.event().await {
                Some(Event::Ended { result }) => return result,
                Some(_) => {}
                None => panic!("the seat is gone without a word"),
            }
        }
    }

    pub async fn play(&self, turn: Turn, mv: &str) {
        // The protocol may have left already; then nobody hears.
        let _ = self
            .actions
            .send(Action::Play { turn, mv: MoveText::new(mv).unwrap(), offers_draw: false, eval: None })
            .await;
    }

    /// Plays on its own board, as the real player does, until the game is over.
    pub async fn play_first_legal_moves(mut self) -> String {
        let mut line = GameHistory::new(Chess::parse(self.info.start.as_deref().unwrap()).unwrap());
        loop {
            match self.event().await.expect("the seat is gone without a word") {
                Event::Moved(mv) => line.play(line.now().read(mv.as_str()).unwrap()),
                Event::Board(fen) => assert_eq!(line.now().print(), fen, "the lines part"),
                Event::YourTurn { turn, clocks } => {
                    assert!(clocks.unwrap().left[Color::White] <= Duration::from_secs(10));
                    let mv = line.now().moves()[0];
                    self.play(turn, line.now().write(mv).as_str()).await;
                }
                Event::Ended { result } => return result,
                Event::ClocksRead(_) | Event::Sent { .. } | Event::DrawOffered => {}
                odd @ (Event::Refused { .. } | Event::TakenBack { .. }) => panic!("{odd:?}"),
            }
        }
    }
}
