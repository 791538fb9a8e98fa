//! The machine of a game against a server, a network and a player at their worst.

use fastrand::Rng;
use zeitnot_wire::{
    Message,
    cerveau::{FromClient, FromServer, MAKE_MOVE},
};

use super::{config::Config, error::ConnectionError, game::Game};
use crate::{
    drive::simulation::{Server, check},
    link::LinkError,
    wait::now,
};

/// Plays one game as Black.
#[derive(Default)]
struct CerveauServer {
    is_lobbied: bool,
    has_begun: bool,
    is_over: bool,
    order: u64,
    moves: usize,
}

fn delta(data: &str) -> FromServer {
    FromServer::parse(&format!(r#"{{"event":"delta","data":{data}}}"#)).unwrap()
}

impl CerveauServer {
    fn begin(&mut self) -> Vec<FromServer> {
        self.has_begun = true;
        let player = |color| format!(r#"{{"color":"{color}","name":"n","timeRemaining":60000000000}}"#);
        let data = format!(
            r#"{{"fen":"f","history":{{"&LEN":0}},"gameObjects":{{"0":{},"1":{}}}}}"#,
            player("white"),
            player("black")
        );
        let start = FromServer::Start { player: Some("0".to_owned()) };
        vec![delta(&data), start, self.ask()]
    }

    fn ask(&mut self) -> FromServer {
        self.order += 1;
        FromServer::Order { name: MAKE_MOVE.to_owned(), index: self.order }
    }

    fn moved(&mut self, mv: &str) -> FromServer {
        self.moves += 1;
        let number = self.moves - 1;
        delta(&format!(r#"{{"fen":"f{number}","history":{{"&LEN":{},"{number}":"{mv}"}}}}"#, self.moves))
    }

    fn over(&mut self) -> Vec<FromServer> {
        self.is_over = true;
        let lost = delta(r#"{"gameObjects":{"0":{"lost":true},"1":{"won":true}}}"#);
        vec![lost, FromServer::Over { gamelog: None }]
    }
}

impl Server<Game<'_>> for CerveauServer {
    fn hear(&mut self, message: Option<&FromClient>, random: &mut Rng) -> Vec<FromServer> {
        match message {
            Some(FromClient::Alias(_)) => vec![FromServer::Named("Chess".to_owned())],
            Some(FromClient::Play(_)) => {
                self.is_lobbied = true;
                vec![FromServer::Lobbied { session: "1".to_owned() }]
            }
            None if self.is_lobbied && !self.has_begun => self.begin(),
            Some(FromClient::Finished { order, .. }) if *order == self.order && !self.is_over => {
                match random.u32(0..20) {
                    0 => self.over(),
                    1 => vec![FromServer::Fatal { message: "out of time".to_owned(), timed_out: true }],
                    2 => vec![FromServer::Invalid("not text".to_owned()), self.ask()],
                    _ => vec![self.moved("e2e4"), self.moved("e7e5"), self.ask()],
                }
            }
            Some(FromClient::Finished { .. }) | None => Vec::new(),
        }
    }

    fn closed() -> ConnectionError {
        LinkError::Closed.into()
    }
}

#[test(limit = zeitnot_testing::LONG, start_paused = true)]
async fn no_fault_breaks_the_laws_of_a_game() {
    let config: Config = toml::from_str("address = 'tcp://127.0.0.1:1'\nplayer = 'us'").unwrap();
    check("e2e4", |_| (Game::new(&config, now()), CerveauServer::default())).await;
}
