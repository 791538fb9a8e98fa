//! The machine of a game against a server, a network and a player at their worst.

use std::io;

use fastrand::Rng;
use zeitnot_rules::{ByColor, Color, tuc::Move};
use zeitnot_wire::tuc::{FromClient, FromServer, Points};

use super::{config::Config, game::Game};
use crate::{
    drive::simulation::{Server, check},
    wait::now,
};

/// Plays game after game as Black; it does not look at the moves.
#[derive(Default)]
struct TucServer {
    is_seated: bool,
    has_begun: bool,
    moves: u16,
}

impl TucServer {
    fn moved(&mut self, to_move: Color, mv: Move) -> FromServer {
        self.moves += 1;
        FromServer::Moved { to_move, mv, prize: None, points: Points::new(ByColor::both(self.moves / 4)) }
    }
}

impl Server<Game<'_>> for TucServer {
    fn hear(&mut self, message: Option<&FromClient>, random: &mut Rng) -> Vec<FromServer> {
        match message {
            Some(FromClient::Name(_)) => {
                self.is_seated = true;
                vec![FromServer::Seat(Color::White)]
            }
            // A server that is new takes a move for a name.
            Some(FromClient::Move(_)) if random.u32(0..30) == 0 => {
                self.has_begun = false;
                vec![FromServer::Seat(Color::White)]
            }
            Some(FromClient::Move(_)) if random.u32(0..20) == 0 => {
                vec![FromServer::Over { points: Points::new(ByColor::both(self.moves / 4)) }]
            }
            Some(FromClient::Move(mv)) => {
                // Each differs from the last, as those of a game do.
                let reply = Move::parse(&format!("{}0{}1", self.moves % 7, self.moves / 7 % 7));
                [self.moved(Color::Black, *mv)]
                    .into_iter()
                    .chain(reply.map(|reply| self.moved(Color::White, reply)))
                    .collect()
            }
            None if self.is_seated && !self.has_begun => {
                self.has_begun = true;
                vec![FromServer::Begins]
            }
            None => Vec::new(),
        }
    }

    fn closed() -> io::Error {
        io::ErrorKind::ConnectionRefused.into()
    }
}

#[test(limit = zeitnot_testing::LONG, start_paused = true)]
async fn no_fault_breaks_the_laws_of_a_game() {
    let config = Config::new("127.0.0.1:1", "us".to_owned().try_into().unwrap());
    let resending = Config { resend: true, ..config.clone() };
    check("5040", |seed| {
        let config = if seed % 2 == 0 { &config } else { &resending };
        (Game::new(config, now()), TucServer::default())
    })
    .await;
}
