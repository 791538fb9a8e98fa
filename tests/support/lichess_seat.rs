//! A Lichess client whose players are the test.

use tokio::{sync::mpsc, task::JoinHandle};
use zeitnot_clients::{
    Protocol, ProtocolError, Shutdown,
    lichess::{Config, Lichess},
};
use zeitnot_rules::MoveText;
use zeitnot_seat::{Action, Clocks, Eval, Event, Lobby, OpenSeat, Seat, Turn};

use crate::support::{
    lichess_client::game_event,
    lichess_server::{Feed, Server},
    wait::soon,
};

/// A client, and the players that it asks for.
pub struct Table {
    pub run: JoinHandle<Result<(), ProtocolError>>,
    pub seats: mpsc::Receiver<OpenSeat>,
    pub events: Feed,
}

/// The player's end of a seat.
pub struct Player {
    events: mpsc::Receiver<Event>,
    pub actions: mpsc::Sender<Action>,
}

impl Table {
    pub async fn start(server: &mut Server, settings: &str) -> Table {
        let text = format!(
            "url = '{}'\ntoken = 'lip_hush'\n{settings}\n[timeouts]\nsilence = '1s'\nreply = '2s'\n\
             reconnect = {{ min_delay = '20ms', max_delay = '100ms', stable_after = '10s' }}\nrate_limited = '300ms'",
            server.url
        );
        let config: Config = toml::from_str(&text).unwrap();
        let (lobby, seats) = Lobby::channel(64);
        let run = tokio::spawn(Lichess::run(config, lobby, Shutdown::default()));
        Table { run, seats, events: server.events().await }
    }

    /// A game that begins so, with the test as its player.
    pub async fn game(&mut self, server: &mut Server, full: &str) -> (Feed, Player) {
        self.events.line(&game_event("gameStart"));
        let game = server.game().await;
        game.line(full);
        (game, self.player().await)
    }

    /// The next player that is asked for.
    pub async fn player(&mut self) -> Player {
        let asked = soon("a player is asked for", self.seats.recv()).await.unwrap();
        let ((to_player, events), (actions, from_player)) = (mpsc::channel(64), mpsc::channel(4));
        asked
            .reply
            .send(Ok(Seat { engine: "test".to_owned(), events: to_player, actions: from_player }))
            .unwrap();
        Player { events, actions }
    }

    pub async fn ends(self) {
        soon("the client ends", self.run).await.unwrap().unwrap();
    }
}

impl Player {
    /// The next event but for clocks and sent moves.
    pub async fn next(&mut self) -> Event {
        loop {
            match soon("something is told", self.events.recv()).await.expect("a seat") {
                Event::ClocksRead(_) | Event::Sent { .. } => {}
                event => return event,
            }
        }
    }

    /// The next event is a request for a move.
    pub async fn asked(&mut self) -> (Turn, Option<Clocks>) {
        match self.next().await {
            Event::YourTurn { turn, clocks } => (turn, clocks),
            other => panic!("{other:?}"),
        }
    }

    /// The next event is this move.
    pub async fn sees(&mut self, mv: &str) {
        match self.next().await {
            Event::Moved(told) => assert_eq!(told.as_str(), mv),
            other => panic!("{other:?}"),
        }
    }

    pub async fn plays(&self, turn: Turn, mv: &str, offers_draw: bool) {
        self.thinks(turn, mv, offers_draw, None).await;
    }

    pub async fn thinks(&self, turn: Turn, mv: &str, offers_draw: bool, eval: Option<Eval>) {
        let mv = MoveText::new(mv).unwrap();
        self.actions.send(Action::Play { turn, mv, offers_draw, eval }).await.unwrap();
    }

    /// The result of the game; earlier events are skipped.
    pub async fn ended(&mut self) -> String {
        loop {
            if let Event::Ended { result } = self.next().await {
                return result;
            }
        }
    }
}
