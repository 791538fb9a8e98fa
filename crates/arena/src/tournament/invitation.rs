//! From a pairing to a game: both are invited, both have to say `ACK`, then the game begins.

use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, Game};
use zeitnot_wire::contest::FromServer;

use super::{Running, TournamentActor, players::Doing, side_of};
use crate::{
    GameTag,
    game::{GameActor, Setup},
    news::Event,
    pairing::{Pairing, SeatNo},
};

/// A game that waits for both players' `ACK`.
#[derive(Debug)]
pub(super) struct Invitation {
    pairing: Pairing,
    acked: ByColor<bool>,
    pub until: Instant,
}

impl<G: Game> TournamentActor<G> {
    /// Tells both players of their game.
    pub(super) fn invite(&mut self, pairing: Pairing) {
        let Some(names) = self.names(pairing) else { return };
        let tag = GameTag::random();
        for side in Color::BOTH {
            let Some(player) = self.players.get_mut(pairing.seats[side]) else { continue };
            player.doing = Doing::Invited(tag);
            let Some(client) = &player.client else { continue };
            client.info(format!("Paired with {} for game", names[!side]));
            client.tell(FromServer::GamePaired {
                game: tag.to_string(),
                names: ByColor(Color::BOTH.map(|side| names[side].to_string())),
                time_control: self.config.time,
            });
        }
        let until = Instant::now() + self.config.ack_timeout;
        self.invitations.insert(tag, Invitation { pairing, acked: ByColor::both(false), until });
    }

    /// A player is ready; when both are, the game begins.
    pub(super) fn accept(&mut self, tag: GameTag, seat: SeatNo) {
        let Some(invitation) = self.invitations.get_mut(&tag) else { return };
        let Some(player) = self.players.get_mut(seat) else { return };
        player.absent_since = None;
        invitation.acked[side_of(invitation.pairing, seat)] = true;
        if invitation.acked == ByColor::both(true) {
            self.begin(tag);
        } else if let Some(client) = &player.client {
            client.info("Waiting for opponent to acknowledged game");
        }
    }

    fn begin(&mut self, tag: GameTag) {
        let Some(Invitation { pairing, .. }) = self.invitations.remove(&tag) else { return };
        let (Some(names), Some(clients)) = (self.names(pairing), self.clients(pairing)) else { return };
        for side in Color::BOTH {
            clients[side].info("Both players have acknowledged game. Starting...");
            self.set_doing(pairing.seats[side], Doing::Playing(tag));
        }
        let opening = pairing.opening(self.config.games_per_pair, self.openings.len());
        let start = self.openings.get(opening).cloned().unwrap_or_else(G::start);
        let setup = Setup { tag, names: names.clone(), clients, time_control: self.config.time, start };
        let (stub, actor) = GameActor::channel(setup);
        let task = self.games.spawn(actor.run(self.games_stop.clone())).id();
        self.rounds = self.rounds.saturating_add(1);
        self.report(Event::GameStarted { game: tag, names: names.clone() });
        self.running.insert(tag, Running { pairing, names, round: self.rounds, stub, task });
    }

    /// A game that was paired does not take place.
    pub(super) fn call_off(&mut self, tag: GameTag, reason: &str) {
        let Some(Invitation { pairing, .. }) = self.invitations.remove(&tag) else { return };
        for seat in pairing.seats.0 {
            self.set_doing(seat, Doing::Waiting);
            if let Some(client) = self.players.get(seat).and_then(|player| player.client.as_ref()) {
                client.tell(FromServer::GameAborted { reason: reason.to_owned() });
            }
        }
    }

    /// Disconnects whoever did not say `ACK`; the other one is paired again.
    pub(super) fn dismiss_silent(&mut self, tag: GameTag) {
        let Some(Invitation { pairing, acked, .. }) = self.invitations.get(&tag) else { return };
        let silent = Color::BOTH.into_iter().filter(|side| !acked[*side]).map(|side| pairing.seats[side]);
        let mut reason = String::new();
        for seat in silent.collect::<Vec<_>>() {
            let Some(player) = self.players.get(seat) else { continue };
            let name = player.name.clone();
            if let Some(client) = &player.client {
                client.hang_up("You did not acknowledge the game in time");
            }
            reason = format!("Player {name} did not acknowledge the game");
            self.part(seat, name);
        }
        self.call_off(tag, &reason);
    }
}
