//! Who sits where, who is there, and what each is doing.

use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};

use super::{pairing::SeatNo, registry::JoinError};
use crate::{client::Client, message::Notice, name::Name, tag::GameTag};

/// One player.
#[derive(Debug)]
pub(super) struct Player {
    pub name: Name,
    /// `None`: away.
    pub client: Option<Client>,
    pub doing: Doing,
    /// Until then the player rests.
    pub rests_until: Instant,
    /// When the player went away, until the next `ACK`: to come back and do nothing is no presence.
    pub absent_since: Option<Instant>,
}

/// What a player is doing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Waiting,
    /// Paired; the game begins when both have said so.
    Invited(GameTag),
    Playing(GameTag),
}

/// All players of a tournament.
#[derive(Debug)]
pub(super) struct Players {
    seats: BTreeMap<SeatNo, Player>,
    limit: usize,
}

impl Players {
    /// Nobody yet, and never more than `limit`.
    pub fn new(limit: usize) -> Self {
        Players { seats: BTreeMap::new(), limit }
    }

    /// Takes the seat of that name again, or the first that is free.
    pub fn join(&mut self, tournament: &Name, name: Name, client: Client) -> Result<SeatNo, JoinError> {
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

    /// The connection is gone; the seat stays.
    pub fn leave(&mut self, seat: SeatNo) {
        if let Some(player) = self.seats.get_mut(&seat) {
            player.client = None;
            player.absent_since.get_or_insert_with(Instant::now);
        }
    }

    /// Gives the seat away.
    pub fn remove(&mut self, seat: SeatNo) {
        self.seats.remove(&seat);
    }

    /// The player in a seat.
    pub fn get(&self, seat: SeatNo) -> Option<&Player> {
        self.seats.get(&seat)
    }

    /// The player in a seat, to be changed.
    pub fn get_mut(&mut self, seat: SeatNo) -> Option<&mut Player> {
        self.seats.get_mut(&seat)
    }

    /// The player in a seat, if it is still this connection's.
    pub fn seated(&self, seat: SeatNo, client: &Client) -> Option<&Player> {
        self.get(seat).filter(|player| player.client.as_ref().is_some_and(|c| c.is(client)))
    }

    /// The connection of the player of that name.
    pub fn client_of(&self, name: &str) -> Option<&Client> {
        self.seats.values().find(|player| player.name.as_str() == name)?.client.as_ref()
    }

    /// Who can be paired now.
    pub fn free(&self) -> Vec<SeatNo> {
        let now = Instant::now();
        let free = |p: &Player| p.client.is_some() && p.doing == Doing::Waiting && p.rests_until <= now;
        self.seats.iter().filter(|(_, player)| free(player)).map(|(&seat, _)| seat).collect()
    }

    /// Who is away with nothing to do, and will have been for `limit` at that instant.
    pub fn absent(&self, limit: Duration) -> impl Iterator<Item = (SeatNo, Instant)> {
        let away = |p: &Player| p.client.is_none() && p.doing == Doing::Waiting;
        let since = move |(&seat, player): (&SeatNo, &Player)| Some((seat, player.absent_since? + limit));
        self.seats.iter().filter(move |(_, player)| away(player)).filter_map(since)
    }

    /// All seats that are taken.
    pub fn seats(&self) -> impl Iterator<Item = SeatNo> {
        self.seats.keys().copied()
    }

    /// How many seats are taken.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Everybody who is there.
    pub fn clients(&self) -> impl Iterator<Item = &Client> {
        self.seats.values().filter_map(|player| player.client.as_ref())
    }

    /// Tells everybody but the one it is about.
    pub fn gossip(&self, about: SeatNo, text: &str) {
        let others = self.seats.iter().filter(|(seat, _)| **seat != about);
        for client in others.filter_map(|(_, player)| player.client.as_ref()) {
            client.gossip(Notice::Info(text.to_owned()));
        }
    }
}
