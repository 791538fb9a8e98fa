//! Inputs of a running game: the connection, and the search for the opponent's name.

use std::pin::Pin;

use tokio::select;
use zeitnot_seat::Turn;
use zeitnot_wire::imcs::Answer;

use super::{
    config::Config,
    connection::{Connection, ConnectionError, ConnectionEvent, find_opponent},
    game::{Game, News},
    start::Start,
};
use crate::{
    drive::{Input, Wire},
    wait::{now, or_never},
};

type Finding<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

pub(super) struct GameWire<'g, 'c> {
    connection: &'g mut Connection<'c>,
    /// Search for the name of the opponent who accepted our offer.
    opponent: Option<Finding<'g>>,
}

impl<'g, 'c> GameWire<'g, 'c> {
    pub(super) fn new(
        config: &'g Config,
        connection: &'g mut Connection<'c>,
        start: &Start,
    ) -> GameWire<'g, 'c> {
        let Start { game, color, .. } = *start;
        let is_unknown = start.opponent.is_none();
        let finding = || -> Finding<'g> { Box::pin(find_opponent(config, game, color)) };
        GameWire { connection, opponent: is_unknown.then(finding) }
    }
}

impl Wire<Game<'_>> for GameWire<'_, '_> {
    async fn send(&mut self, answer: Answer, turn: Option<Turn>) -> Result<(), ConnectionError> {
        self.connection.send_answer(&answer, turn)
    }

    async fn next(&mut self) -> Result<Input<News>, ConnectionError> {
        select! {
            biased;
            event = self.connection.next() => Ok(match event? {
                ConnectionEvent::Message { message, read_at } => Input::Message(News::Server(message), read_at),
                ConnectionEvent::Sent { turn, at } => Input::Sent(turn, at),
            }),
            name = or_never(self.opponent.as_mut()) => {
                self.opponent = None;
                Ok(Input::Message(News::Opponent(name), now()))
            }
        }
    }
}
