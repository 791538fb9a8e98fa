//! Players of a tournament: seats, connections, and what each is doing.

use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};

use zeitnot_rules::ByColor;

use super::pairing::{Pairing, SeatNo};
use crate::{client::Client, message::Notice, name::Name, tag::GameTag};

#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error("Unknown tournament {0}")]
    Unknown(String),
    #[error("Name {0} is already taken")]
    Taken(Name),
    #[error("Tournament {0} is full")]
    Full(Name),
    #[error("Tournament {0} is over")]
    Over(Name),
}

#[derive(Debug)]
pub(super) struct Player {
    pub(super) name: Name,
    /// `None` if the player is disconnected.
    pub(super) client: Option<Client>,
    pub(super) doing: Doing,
    /// End of the player's rest.
    pub(super) rests_until: Instant,
    /// When the player disconnected, until the next `ACK`: reconnecting alone is no presence.
    pub(super) absent_since: Option<Instant>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Waiting,
    /// Paired; the game begins when both have acknowledged it.
    Invited(GameTag),
    Playing(GameTag),
}

#[derive(Debug)]
pub(super) struct Players {
    pub(super) seats: BTreeMap<SeatNo, Player>,
    limit: usize,
}

impl Players {
    /// Creates an empty set for at most `limit` players.
    pub(super) fn new(limit: usize) -> Self {
        Players { seats: BTreeMap::new(), limit }
    }

    /// Takes the seat of that name again, or the first free one.
    pub(super) fn join(
        &mut self,
        tournament: &Name,
        name: Name,
        client: Client,
    ) -> Result<SeatNo, JoinError> {
        if let Some((&seat, player)) = self.seats.iter_mut().find(|(_, player)| player.name == name) {
            if player.client.is_some() {
                return Err(JoinError::Taken(name));
            }
            player.client = Some(client);
            return Ok(seat);
        }
        let free = (0..self.limit).map(SeatNo).find(|seat| !self.seats.contains_key(seat));
        let seat = free.ok_or_else(|| JoinError::Full(tournament.clone()))?;
        let player = Player {
            name,
            client: Some(client),
            doing: Doing::Waiting,
            rests_until: Instant::now(),
            absent_since: None,
        };
        self.seats.insert(seat, player);
        Ok(seat)
    }

    /// Records that a player has disconnected; the seat stays.
    pub(super) fn leave(&mut self, seat: SeatNo) {
        if let Some(player) = self.seats.get_mut(&seat) {
            player.client = None;
            player.absent_since.get_or_insert_with(Instant::now);
        }
    }

    /// Returns the player in a seat, if it is still this connection's.
    pub(super) fn seated(&self, seat: SeatNo, client: &Client) -> Option<&Player> {
        self.seats.get(&seat).filter(|player| player.client.as_ref().is_some_and(|c| c.is(client)))
    }

    pub(super) fn client_of(&self, name: &str) -> Option<&Client> {
        self.seats.values().find(|player| player.name.as_str() == name)?.client.as_ref()
    }

    /// Returns the seats that can be paired now.
    pub(super) fn free(&self) -> Vec<SeatNo> {
        let now = Instant::now();
        let free = |p: &Player| p.client.is_some() && p.doing == Doing::Waiting && p.rests_until <= now;
        self.seats.iter().filter(|(_, player)| free(player)).map(|(&seat, _)| seat).collect()
    }

    /// Returns the seats of absent, idle players, each with the instant at which the absence reaches `limit`.
    pub(super) fn absent(&self, limit: Duration) -> impl Iterator<Item = (SeatNo, Instant)> {
        let away = |p: &Player| p.client.is_none() && p.doing == Doing::Waiting;
        let since = move |(&seat, player): (&SeatNo, &Player)| Some((seat, player.absent_since? + limit));
        self.seats.iter().filter(move |(_, player)| away(player)).filter_map(since)
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = &Client> {
        self.seats.values().filter_map(|player| player.client.as_ref())
    }

    pub(super) fn set_doing(&mut self, seat: SeatNo, doing: Doing) {
        if let Some(player) = self.seats.get_mut(&seat) {
            player.doing = doing;
        }
    }

    /// Lets a player rest before the next game.
    pub(super) fn rest(&mut self, seat: SeatNo, pause: Duration) {
        if let Some(player) = self.seats.get_mut(&seat) {
            (player.doing, player.rests_until) = (Doing::Waiting, Instant::now() + pause);
        }
    }

    pub(super) fn names(
        &self,
        Pairing { seats: ByColor([white, black]), .. }: Pairing,
    ) -> Option<ByColor<Name>> {
        let name = |seat| self.seats.get(&seat).map(|player| player.name.clone());
        Some(ByColor([name(white)?, name(black)?]))
    }

    /// Returns both players' connections; `None` unless both are connected.
    pub(super) fn clients_of(
        &self,
        Pairing { seats: ByColor([white, black]), .. }: Pairing,
    ) -> Option<ByColor<Client>> {
        let client = |seat| self.seats.get(&seat)?.client.clone();
        Some(ByColor([client(white)?, client(black)?]))
    }

    /// Tells everybody but the player concerned.
    pub(super) fn tell_others(&self, about: SeatNo, text: &str) {
        let others = self.seats.iter().filter(|(seat, _)| **seat != about);
        for client in others.filter_map(|(_, player)| player.client.as_ref()) {
            client.tell_optional(Notice::Info(text.to_owned()));
        }
    }
}
