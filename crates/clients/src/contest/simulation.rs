//! The machine of a connection against a server, a network and a player at their worst.

use std::time::Duration;

use fastrand::Rng;
use zeitnot_net::Address;
use zeitnot_rules::{ByColor, GameResult, TimeControl};
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer, State},
};

use super::{
    config::Config,
    connection::{Connection, Progress},
    error::ConnectionError,
};
use crate::{
    drive::simulation::{Server, check},
    link::LinkError,
    wait::now,
};

/// Pairs the client for game after game, and asks for a move until it likes one.
#[derive(Default)]
struct ContestServer {
    games: u32,
    plies: u32,
    is_running: bool,
}

impl ContestServer {
    fn game(&self) -> String {
        format!("g{}", self.games)
    }

    fn state(&self) -> State {
        let left = ByColor::both(Duration::from_secs(60));
        let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 {}", self.plies + 1);
        State { game: self.game(), names: names(), left, fen }
    }

    fn paired(&mut self) -> Vec<FromServer> {
        self.games += 1;
        (self.plies, self.is_running) = (0, false);
        let time_control = TimeControl { initial: Duration::from_secs(60), increment: Duration::ZERO };
        vec![FromServer::GamePaired { game: self.game(), names: names(), time_control }]
    }

    fn over(&mut self) -> Vec<FromServer> {
        self.is_running = false;
        let game = self.game();
        vec![FromServer::GameOver { game, result: GameResult::Draw, reason: "agreed".into() }]
    }

    fn moved(&mut self, random: &mut Rng) -> Vec<FromServer> {
        let mover = |name: &str| (name.to_owned(), "e2-e4".to_owned());
        match random.u32(0..20) {
            0 => self.over(),
            1 => vec![FromServer::Info { text: "not legal".into() }, FromServer::YourMove(self.state())],
            _ => {
                let mut said = Vec::new();
                for (mover, mv) in ["us", "them"].map(mover) {
                    self.plies += 1;
                    said.push(FromServer::PlayerMoved { mover, mv, state: self.state() });
                }
                said.push(FromServer::YourMove(self.state()));
                said
            }
        }
    }
}

fn names() -> ByColor<String> {
    ByColor(["us".to_owned(), "them".to_owned()])
}

impl Server<Connection<'_>> for ContestServer {
    fn hear(&mut self, command: Option<&String>, random: &mut Rng) -> Vec<FromServer> {
        let command = command.map(|line| FromClient::parse(line));
        match command {
            None if self.is_running => vec![FromServer::ClockUpdate(self.state())],
            // The last pairing was lost, or the game is over.
            None => self.paired(),
            Some(Ok(FromClient::Ack { game })) if game == self.game() => {
                self.is_running = true;
                vec![FromServer::GameStarted(self.state()), FromServer::YourMove(self.state())]
            }
            Some(Ok(FromClient::Move { game, .. })) if game == self.game() => self.moved(random),
            Some(Ok(FromClient::Resign { game })) if game == self.game() => self.over(),
            Some(_) => Vec::new(),
        }
    }

    fn closed() -> ConnectionError {
        LinkError::Closed.into()
    }
}

#[test(limit = zeitnot_testing::LONG, start_paused = true)]
async fn no_fault_breaks_the_laws_of_a_connection() {
    let name = |text: &str| text.to_owned();
    let address: Address = "tcp://127.0.0.1:1".parse().unwrap();
    let config = Config::new(address, name("cup").try_into().unwrap(), name("us").try_into().unwrap());
    check("e2e4", |seed| {
        let games_left = (seed % 5 > 0).then_some(seed % 5);
        let progress = Box::leak(Box::new(Progress { games_left, ..Progress::default() }));
        (Connection::new(&config, progress, now()), ContestServer::default())
    })
    .await;
}
