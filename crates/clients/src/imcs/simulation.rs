//! The machine of a game against a server, a network and a player at their worst.

use std::time::Duration;

use fastrand::Rng;
use zeitnot_rules::Color;
use zeitnot_wire::imcs::{Answer, FromServer, Verdict};

use super::{
    config::Config,
    connection::ConnectionError,
    game::{Game, News},
    start::Start,
};
use crate::{
    drive::simulation::{Server, check},
    link::LinkError,
    wait::now,
};

/// Plays one game as Black.
#[derive(Default)]
struct ImcsServer {
    number: u32,
    is_over: bool,
}

impl ImcsServer {
    fn ask(&self) -> Vec<FromServer> {
        let board = FromServer::Board { number: self.number, color: Color::White };
        let ranks = ["kqbnr", "ppppp", ".....", ".....", "PPPPP", "RNBQK"];
        let ranks = ranks.map(|rank| FromServer::Rank(rank.to_owned()));
        let (yours, theirs) = (Duration::from_secs(60), Duration::from_secs(60));
        [board].into_iter().chain(ranks).chain([FromServer::Prompt { yours, theirs }]).collect()
    }

    fn over(&mut self) -> Vec<FromServer> {
        self.is_over = true;
        vec![FromServer::Over(Verdict { winner: Some(Color::Black), how: String::new() })]
    }

    fn answered(&mut self, answer: &Answer, random: &mut Rng) -> Vec<FromServer> {
        match answer {
            Answer::Resign => self.over(),
            Answer::Move(_) if random.u32(0..20) == 0 => self.over(),
            Answer::Move(_) if random.u32(0..10) == 0 => {
                let complaint = FromServer::Complaint("illegal move".into());
                [complaint].into_iter().chain(self.ask()).collect()
            }
            Answer::Move(_) => {
                self.number += 1;
                [FromServer::Moved("b5-b4".into())].into_iter().chain(self.ask()).collect()
            }
        }
    }
}

impl Server<Game<'_>> for ImcsServer {
    fn hear(&mut self, answer: Option<&Answer>, random: &mut Rng) -> Vec<News> {
        let said = match answer {
            Some(answer) if !self.is_over => self.answered(answer, random),
            None if self.number == 0 => {
                self.number = 1;
                self.ask()
            }
            Some(_) | None => Vec::new(),
        };
        said.into_iter().map(News::Server).collect()
    }

    fn closed() -> ConnectionError {
        LinkError::Closed.into()
    }
}

#[test(limit = zeitnot_testing::LONG, start_paused = true)]
async fn no_fault_breaks_the_laws_of_a_game() {
    let config = "address = 'tcp://127.0.0.1:1'\nuser = 'us'\npassword = 'hush'";
    let config: Config = toml::from_str(config).unwrap();
    check("a2a3", |seed| {
        let time = Duration::from_secs(60);
        let opponent = (seed % 2 == 0).then(|| "them".to_owned());
        let start = Start {
            game: 1,
            color: Color::White,
            yours: time,
            theirs: time,
            opponent,
            is_resumed: seed % 5 == 0,
        };
        (Game::new(&config, start, now()), ImcsServer::default())
    })
    .await;
}
