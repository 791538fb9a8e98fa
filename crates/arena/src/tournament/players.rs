//! Players of a tournament: seats, connections, and what each is doing.

use std::{collections::BTreeMap, mem};

use tokio::time::{Duration, Instant};

use zeitnot_net::{LogThrottle, Rate, Ration};
use zeitnot_pairing::{Name, Pairing, SeatNo};
use zeitnot_rules::ByColor;
use zeitnot_wire::printable;

use super::admission::{Admitted, JoinError};
use crate::{client::Client, message::Notice};
use zeitnot_host::{note::Note, origin::Origin, tag::GameTag};

/// Lines of chat that a player may say and get.
const SAYS: Rate = Rate { burst: 10, interval: Duration::from_secs(1) };
const HEARS: Rate = Rate { burst: 20, interval: Duration::from_millis(500) };
/// Characters of a line of chat.
const MAX_CHAT: usize = 300;

#[derive(Debug)]
pub(super) struct Player {
    pub(super) name: Name,
    /// Look of the name, which others may share.
    look: String,
    /// The address that has the name; `None` if a key proves whose it is.
    pub(super) holder: Option<Origin>,
    /// `None` if the player is disconnected.
    pub(super) client: Option<Client>,
    pub(super) doing: Doing,
    /// End of the player's rest.
    pub(super) rests_until: Instant,
    /// When the player disconnected, until the next `ACK`: reconnecting alone is no presence.
    pub(super) absent_since: Option<Instant>,
    /// Did not acknowledge the last game that it was paired for.
    pub(super) is_silent: bool,
    /// Has been told that there is nobody left to play; until the next pairing, or another connection.
    pub(super) was_told_to_wait: bool,
    /// Has forfeited what was left to play.
    pub(super) is_withdrawn: bool,
    /// When the connection was lost.
    left_at: Instant,
    /// Chat that the player may say, and may be told.
    pub(super) says: Ration,
    pub(super) hears: Ration,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Waiting,
    /// Paired; the game begins when both have acknowledged it.
    Invited(GameTag),
    Playing(GameTag),
}

/// Limits of the seats.
#[derive(Copy, Clone, Debug)]
pub(super) struct SeatLimits {
    pub(super) seats: usize,
    /// Names whose holder is one address.
    pub(super) per_address: usize,
    /// Time for which the name of an absent player belongs to their address.
    pub(super) hold: Duration,
}

#[derive(Debug)]
pub(super) struct Players {
    seats: BTreeMap<SeatNo, Player>,
    limits: SeatLimits,
    /// Looks of the names of those whom the organiser has removed.
    removed: BTreeMap<String, Option<Note>>,
    /// For moves in games that are over.
    log: LogThrottle,
}

impl Player {
    fn new(name: Name, holder: Option<Origin>) -> Player {
        let now = Instant::now();
        Player {
            look: name.look(),
            name,
            holder,
            client: None,
            doing: Doing::Waiting,
            rests_until: now,
            absent_since: None,
            is_silent: false,
            was_told_to_wait: false,
            is_withdrawn: false,
            left_at: now,
            says: Ration::new(SAYS),
            hears: Ration::new(HEARS),
        }
    }
}

impl Players {
    pub(super) fn new(limits: SeatLimits) -> Self {
        let log = LogThrottle::for_strangers();
        Players { seats: BTreeMap::new(), limits, removed: BTreeMap::new(), log }
    }

    pub(super) fn get(&self, seat: SeatNo) -> Option<&Player> {
        self.seats.get(&seat)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SeatNo, &Player)> {
        self.seats.iter().map(|(seat, player)| (*seat, player))
    }

    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    pub(super) fn seats(&self) -> Vec<SeatNo> {
        self.seats.keys().copied().collect()
    }

    fn change(&mut self, seat: SeatNo, change: impl FnOnce(&mut Player)) {
        if let Some(player) = self.seats.get_mut(&seat) {
            change(player);
        }
    }

    pub(super) fn client(&self, seat: SeatNo) -> Option<&Client> {
        self.get(seat)?.client.as_ref()
    }

    /// Takes the seat of that name again, or the first free one: of those behind all others once play has begun.
    pub(super) fn join(
        &mut self,
        tournament: &Name,
        admitted: Admitted,
        is_late: bool,
    ) -> Result<SeatNo, JoinError> {
        let Admitted { name, holder, client } = admitted;
        let now = Instant::now();
        if let Some((&seat, player)) = self.seats.iter_mut().find(|(_, player)| player.name == name) {
            let held = player.left_at + self.limits.hold;
            // Whoever shows the key of a name need not wait, and nobody else gets it.
            let is_theirs = holder.is_none() || player.holder == holder;
            if player.client.is_some() {
                return Err(JoinError::Taken(name));
            } else if !is_theirs && held > now {
                return Err(JoinError::Held { name, wait: (held - now).as_secs() + 1 });
            }
            (player.client, player.holder) = (Some(client), holder);
            return Ok(seat);
        }
        let look = name.look();
        if let Some(other) = self.seats.values().find(|player| player.look == look) {
            return Err(JoinError::LooksLike { name, other: other.name.clone() });
        }
        let of_holder = self.seats.values().filter(|player| holder.is_some() && player.holder == holder);
        if of_holder.count() >= self.limits.per_address {
            return Err(JoinError::TooManyNames(tournament.clone()));
        }
        let first = self.seats.last_key_value().filter(|_| is_late).map_or(0, |(last, _)| last.0 + 1);
        let free = (first..self.limits.seats).map(SeatNo).find(|seat| !self.seats.contains_key(seat));
        let seat = free.ok_or_else(|| JoinError::Full(tournament.clone()))?;
        self.seats.insert(seat, Player { client: Some(client), ..Player::new(name, holder) });
        Ok(seat)
    }

    /// Gives a seat back after a restart. Its player is away from now on, and the name is kept as for one who has left.
    pub(super) fn restore(&mut self, seat: SeatNo, name: Name, holder: Option<Origin>) {
        // A seat that is there already has another holder from here on.
        match self.seats.get_mut(&seat).filter(|player| player.name == name) {
            Some(player) => player.holder = holder,
            None => {
                let player = Player { absent_since: Some(Instant::now()), ..Player::new(name, holder) };
                self.seats.insert(seat, player);
            }
        }
    }

    /// Takes a player in again who was out.
    pub(super) fn readmit(&mut self, seat: SeatNo) {
        self.change(seat, |player| {
            player.is_withdrawn = false;
            player.absent_since = player.client.is_none().then(Instant::now);
        });
    }

    /// Makes a seat free for somebody else.
    pub(super) fn vacate(&mut self, seat: SeatNo) {
        self.seats.remove(&seat);
    }

    /// Notes that a player forfeits what is left to play.
    pub(super) fn withdraw(&mut self, seat: SeatNo) {
        self.change(seat, |player| (player.absent_since, player.is_withdrawn) = (None, true));
    }

    /// Stops waiting for an absent player.
    pub(super) fn give_up(&mut self, seat: SeatNo) {
        self.change(seat, |player| player.absent_since = None);
    }

    /// Notes that a player has acknowledged a game.
    pub(super) fn acknowledged(&mut self, seat: SeatNo) {
        self.change(seat, |player| (player.absent_since, player.is_silent) = (None, false));
    }

    /// Notes that a player has not acknowledged a game; returns whether it had not the last time either.
    pub(super) fn note_silence(&mut self, seat: SeatNo) -> bool {
        self.seats.get_mut(&seat).is_some_and(|player| mem::replace(&mut player.is_silent, true))
    }

    pub(super) fn seat_of(&self, name: &str) -> Option<SeatNo> {
        self.seats.iter().find(|(_, player)| player.name.as_str() == name).map(|(seat, _)| *seat)
    }

    /// Returns the seat that a newcomer can have in place of a player who has left: if the newcomer's address has its
    /// share of names already, one of those, else any if all are taken. `games` returns the number of games that a player
    /// has played, or `None` if the player keeps the seat.
    pub(super) fn to_vacate(
        &self,
        holder: Option<Origin>,
        games: impl Fn(&Name) -> Option<u32>,
    ) -> Option<SeatNo> {
        let theirs = |player: &Player| holder.is_some() && player.holder == holder;
        let has_share =
            self.seats.values().filter(|player| theirs(player)).count() >= self.limits.per_address;
        if !has_share && self.seats.len() < self.limits.seats {
            return None;
        }
        let now = Instant::now();
        let is_gone = |player: &Player| {
            let for_long = has_share || player.left_at + self.limits.hold <= now;
            player.client.is_none() && player.doing == Doing::Waiting && for_long
        };
        let gone = self.seats.iter().filter(|(_, player)| is_gone(player) && (!has_share || theirs(player)));
        // Of those who have played least, who has been away longest.
        let ranked = gone.filter_map(|(seat, player)| Some((games(&player.name)?, player.left_at, *seat)));
        ranked.min().map(|(.., seat)| seat)
    }

    /// Records that a player has disconnected; the seat stays.
    pub(super) fn leave(&mut self, seat: SeatNo) {
        self.change(seat, |player| {
            (player.client, player.left_at) = (None, Instant::now());
            player.was_told_to_wait = false;
            player.absent_since.get_or_insert_with(Instant::now);
        });
    }

    /// Returns the player in a seat, if it is still this connection's.
    pub(super) fn seated(&self, seat: SeatNo, client: &Client) -> Option<&Player> {
        self.seats.get(&seat).filter(|player| player.client.as_ref().is_some_and(|c| c.is(client)))
    }

    pub(super) fn named(&mut self, name: &str) -> Option<&mut Player> {
        self.seats.values_mut().find(|player| player.name.as_str() == name)
    }

    /// Keeps a name out from now on, and the one who has it.
    pub(super) fn remove(&mut self, name: &Name, note: Option<Note>) {
        if let Some(player) = self.named(name.as_str()) {
            (player.is_withdrawn, player.absent_since) = (true, None);
        }
        self.removed.insert(name.look(), note);
    }

    /// Returns whether the organiser has removed whoever has that name, or one that looks like it; the note says why.
    pub(super) fn is_removed(&self, name: &Name) -> Option<Option<Note>> {
        self.removed.get(&name.look()).cloned()
    }

    /// Returns the seats that can be paired now.
    pub(super) fn free(&self) -> Vec<SeatNo> {
        let now = Instant::now();
        let is_here = |p: &Player| p.client.is_some() && !p.is_withdrawn;
        let free = |p: &Player| is_here(p) && p.doing == Doing::Waiting && p.rests_until <= now;
        self.seats.iter().filter(|(_, player)| free(player)).map(|(&seat, _)| seat).collect()
    }

    /// Returns the seats of absent, idle players, each with the instant at which the absence reaches `limit`.
    pub(super) fn absent(&self, limit: Duration) -> impl Iterator<Item = (SeatNo, Instant)> {
        let away = |p: &Player| p.client.is_none() && p.doing == Doing::Waiting;
        let since = move |(&seat, player): (&SeatNo, &Player)| Some((seat, player.absent_since? + limit));
        self.seats.iter().filter(move |(_, player)| away(player)).filter_map(since)
    }

    /// Waits again for those who are away and had played all: there is somebody new to meet.
    pub(super) fn expect_back(&mut self) {
        let away = self.seats.values_mut().filter(|player| player.client.is_none() && !player.is_withdrawn);
        away.for_each(|player| player.absent_since = player.absent_since.or_else(|| Some(Instant::now())));
    }

    /// Counts the absence of whoever is away from now on.
    pub(super) fn excuse_absence(&mut self) {
        for player in self.seats.values_mut() {
            player.absent_since = player.absent_since.map(|_| Instant::now());
        }
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = &Client> {
        self.seats.values().filter_map(|player| player.client.as_ref())
    }

    pub(super) fn set_doing(&mut self, seat: SeatNo, doing: Doing) {
        self.change(seat, |player| (player.doing, player.was_told_to_wait) = (doing, false));
    }

    /// Notes that a player has been told that there is nobody left to play.
    pub(super) fn note_told_to_wait(&mut self, seat: SeatNo) {
        self.change(seat, |player| player.was_told_to_wait = true);
    }

    /// Lets a player rest before the next game.
    pub(super) fn rest(&mut self, seat: SeatNo, pause: Duration) {
        self.change(seat, |player| {
            (player.doing, player.rests_until) = (Doing::Waiting, Instant::now() + pause)
        });
    }

    pub(super) fn names(&self, pairing: Pairing) -> Option<ByColor<Name>> {
        let [white, black] = pairing.seats.0.map(|seat| self.get(seat).map(|player| player.name.clone()));
        Some(ByColor([white?, black?]))
    }

    /// Returns both players' connections; `None` unless both are connected.
    pub(super) fn clients_of(&self, pairing: Pairing) -> Option<ByColor<Client>> {
        let [white, black] = pairing.seats.0.map(|seat| self.client(seat).cloned());
        Some(ByColor([white?, black?]))
    }

    /// Logs a move in a game that is over, whose player may ask why it was lost.
    pub(super) fn note_late(&self, seat: SeatNo, game: &str, mv: &str) {
        let Some(Player { name, .. }) = self.seats.get(&seat) else { return };
        if self.log.admits("late", std::time::Instant::now()) {
            tracing::info!("the move {} of {name} came when game {game} was over", printable(mv, 20));
        }
    }

    /// Passes on a line of chat. It is rationed for the sender, and for the receiver of many senders' lines.
    pub(super) fn chat(&mut self, seat: SeatNo, client: &Client, to: &str, text: &str) {
        let Some(sender) = self.seats.get_mut(&seat) else { return };
        if !sender.says.take() {
            return client
                .tell_optional(Notice::Info("You say too much: one line a second is passed on".into()));
        }
        let sender = sender.name.clone();
        let Some(receiver) = self.named(to) else {
            return client.info(format!("No player {} is here", printable(to, 50)));
        };
        let said = Notice::Said { sender, text: printable(text, MAX_CHAT) };
        match &receiver.client {
            Some(_) if !receiver.hears.take() => tracing::debug!("chat is dropped"),
            Some(to) if to.is(client) => return client.tell_optional(said),
            Some(to) => to.tell_optional(said.clone()),
            None => return client.info(format!("No player {} is here", printable(to, 50))),
        }
        client.tell_optional(said);
    }

    /// Tells everybody but the player concerned.
    pub(super) fn tell_others(&self, about: SeatNo, text: &str) {
        let others = self.seats.iter().filter(|(seat, _)| **seat != about);
        let clients = others.filter_map(|(_, player)| player.client.as_ref());
        clients.for_each(|client| client.tell_optional(Notice::Info(text.to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio::time::advance;
    use tokio_util::sync::CancellationToken;

    use super::*;

    const HOLD: Duration = Duration::from_secs(60);

    fn players(seats: usize, per_address: usize) -> Players {
        Players::new(SeatLimits { seats, per_address, hold: HOLD })
    }

    fn from(number: u8) -> Option<Origin> {
        Some(IpAddr::from([10, 0, 0, number]).into())
    }

    fn join(players: &mut Players, name: &str, holder: Option<Origin>) -> Result<SeatNo, JoinError> {
        let client = Client::channel(CancellationToken::new()).0;
        let name = Name::try_from(name).unwrap();
        players.join(&Name::try_from("class").unwrap(), Admitted { name, holder, client }, false)
    }

    #[test(start_paused = true)]
    async fn a_name_belongs_to_its_address_until_its_holder_has_been_away() {
        let mut players = players(9, 9);
        let seat = join(&mut players, "alice", from(1)).unwrap();
        players.leave(seat);
        advance(HOLD / 2).await;
        let held = JoinError::Held { name: Name::try_from("alice").unwrap(), wait: 31 };
        assert_eq!(join(&mut players, "alice", from(2)), Err(held));
        assert_eq!(join(&mut players, "alice", from(1)), Ok(seat));
        players.leave(seat);
        advance(HOLD).await;
        assert_eq!(join(&mut players, "alice", from(2)), Ok(seat));
        players.leave(seat);
        // A key proves more than an address.
        assert_eq!(join(&mut players, "alice", None), Ok(seat));
    }

    #[test(start_paused = true)]
    async fn names_that_others_have_used_up_are_given_to_newcomers() {
        let mut players = players(3, 2);
        let games = |name: &Name| Some(u32::from(name.as_str() == "regular") * 7);
        for name in ["regular", "throwaway"] {
            let seat = join(&mut players, name, from(1)).unwrap();
            players.leave(seat);
            advance(HOLD / 10).await;
        }
        // The address has its share: one of its own makes room, at once.
        assert!(matches!(join(&mut players, "another", from(1)), Err(JoinError::TooManyNames(_))));
        assert_eq!(players.to_vacate(from(1), games), Some(SeatNo(1)), "who has played least");
        assert_eq!(players.to_vacate(from(2), games), None, "there is a seat for others");
        join(&mut players, "carol", from(2)).unwrap();
        assert_eq!(players.to_vacate(from(3), games), None, "nobody has been away for long");
        advance(HOLD).await;
        assert_eq!(players.to_vacate(from(3), games), Some(SeatNo(1)));
        let games = |name: &Name| (name.as_str() != "throwaway").then_some(7);
        assert_eq!(players.to_vacate(from(3), games), Some(SeatNo(0)), "the other one keeps the seat");
    }
}
