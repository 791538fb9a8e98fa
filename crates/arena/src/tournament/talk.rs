//! What players say, and what it means in the state they are in.

use tokio::time::Instant;

use zeitnot_rules::{Color, Game};
use zeitnot_wire::contest::{FromClient, FromServer};

use super::{
    TournamentActor,
    players::{Doing, Player},
};
use crate::{GameTag, client::Client, game::Order, name::printable, pairing::SeatNo};

impl<G: Game> TournamentActor<G> {
    /// A player said something. Whoever does not sit there any more is not heard.
    pub(super) async fn hear(
        &mut self,
        seat: SeatNo,
        client: &Client,
        message: FromClient,
        read_at: Instant,
    ) {
        let Some(player) = self.players.seated(seat, client) else { return };
        let doing = player.doing;
        match message {
            FromClient::Ack { game } => self.ack(seat, client, doing, &game),
            FromClient::Move { game, mv } => {
                let order = |color| Order::Move { color, text: mv, read_at };
                self.order(seat, client, doing, &game, order).await;
            }
            FromClient::Resign { game } => self.order(seat, client, doing, &game, Order::Resign).await,
            FromClient::Say { player: to, text } => self.chat(player, client, &to, &text),
            FromClient::Join { .. } => client.info("You have joined already"),
            // The front answers these itself.
            FromClient::Watch { .. } | FromClient::Unwatch { .. } | FromClient::Disconnect => {}
        }
    }

    fn ack(&mut self, seat: SeatNo, client: &Client, doing: Doing, game: &str) {
        match doing {
            Doing::Invited(tag) if GameTag::read(game) == Some(tag) => self.accept(tag, seat),
            Doing::Playing(tag) if GameTag::read(game) == Some(tag) => {
                client.info("The game has started already");
            }
            _ => wrong_game(client, doing, game),
        }
    }

    /// Passes an order on to the game that is played.
    async fn order(
        &self,
        seat: SeatNo,
        client: &Client,
        doing: Doing,
        game: &str,
        order: impl FnOnce(Color) -> Order,
    ) {
        match doing {
            Doing::Playing(tag) if GameTag::read(game) == Some(tag) => {
                if let Some((stub, side)) = self.running_game(tag, seat) {
                    stub.tell(order(side)).await;
                }
            }
            Doing::Invited(tag) if GameTag::read(game) == Some(tag) => {
                client.info("The game has not started, both players have to ACK it first");
            }
            _ => wrong_game(client, doing, game),
        }
    }

    fn chat(&self, sender: &Player, client: &Client, to: &str, text: &str) {
        let Some(receiver) = self.players.client_of(to) else {
            return client.info(format!("No player {} is here", printable(to, 50)));
        };
        let said = FromServer::Said {
            sender: sender.name.to_string(),
            text: printable(text, zeitnot_net::MAX_LINE),
        };
        receiver.gossip(said.clone());
        if !receiver.is(client) {
            client.gossip(said);
        }
    }
}

/// A player who plays has one game to speak of; another one is worth a line only to who waits.
fn wrong_game(client: &Client, doing: Doing, game: &str) {
    let game = printable(game, 50);
    match doing {
        Doing::Playing(tag) => client.hang_up(format!("You are playing game {tag}, not {game}")),
        Doing::Waiting | Doing::Invited(_) => client.info(format!("You are not in game {game}")),
    }
}
