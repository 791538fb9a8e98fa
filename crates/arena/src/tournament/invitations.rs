//! Games of a tournament that wait for both players' `ACK`.

use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};
use zeitnot_pairing::{Pairing, SeatNo};
use zeitnot_rules::{ByColor, Color};

use zeitnot_host::tag::GameTag;

/// Part of the time for an `ACK` that a player has after not having acknowledged a game, until one is acknowledged.
const SILENT_PART: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Invitations(BTreeMap<GameTag, Invitation>);

#[derive(Debug)]
struct Invitation {
    pairing: Pairing,
    acked: ByColor<bool>,
    /// Deadline of each player's `ACK`.
    until: ByColor<Instant>,
}

impl Invitation {
    /// Deadlines of the players who have not said `ACK`.
    fn awaited(&self) -> impl Iterator<Item = (SeatNo, Instant)> {
        let awaited = Color::BOTH.into_iter().filter(|color| !self.acked[*color]);
        awaited.map(|color| (self.pairing.seats[color], self.until[color]))
    }
}

impl Invitations {
    /// Waits for both players; one who did not acknowledge the last game has less time.
    pub(super) fn add(
        &mut self,
        game: GameTag,
        pairing: Pairing,
        is_silent: ByColor<bool>,
        timeout: Duration,
    ) {
        let now = Instant::now();
        let until =
            is_silent.0.map(|is_silent| now + if is_silent { timeout / SILENT_PART } else { timeout });
        self.0.insert(game, Invitation { pairing, acked: ByColor::both(false), until: ByColor(until) });
    }

    /// Records a player's `ACK` and returns whether both players have acknowledged; `None` for an unknown game.
    pub(super) fn acknowledge(&mut self, game: GameTag, seat: SeatNo) -> Option<bool> {
        let invitation = self.0.get_mut(&game)?;
        invitation.acked[invitation.pairing.color_of(seat)] = true;
        Some(invitation.acked == ByColor::both(true))
    }

    /// Takes out a game, which begins or is called off.
    pub(super) fn take(&mut self, game: GameTag) -> Option<Pairing> {
        self.0.remove(&game).map(|invitation| invitation.pairing)
    }

    pub(super) fn get(&self, game: GameTag) -> Option<Pairing> {
        self.0.get(&game).map(|invitation| invitation.pairing)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (GameTag, Pairing)> {
        self.0.iter().map(|(game, invitation)| (*game, invitation.pairing))
    }

    /// Returns the deadlines of all `ACK`s that have not come.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Instant> {
        self.0.values().flat_map(Invitation::awaited).map(|(_, until)| until)
    }

    /// Returns the games whose `ACK`s are late, each with the players who owe them.
    pub(super) fn late(&self, now: Instant) -> Vec<(GameTag, Vec<SeatNo>)> {
        let silent = |invitation: &Invitation| {
            let late = invitation.awaited().filter(|(_, until)| *until <= now);
            late.map(|(seat, _)| seat).collect::<Vec<_>>()
        };
        let games = self.0.iter().map(|(game, invitation)| (*game, silent(invitation)));
        games.filter(|(_, silent)| !silent.is_empty()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test(start_paused = true)]
    async fn each_player_has_a_deadline_of_their_own_until_both_are_ready() {
        let (game, timeout, now) = (GameTag::random(), Duration::from_secs(20), Instant::now());
        let pairing = Pairing { seats: ByColor([SeatNo(3), SeatNo(5)]), opening: 0 };
        let mut invitations = Invitations::default();
        invitations.add(game, pairing, ByColor([false, true]), timeout);
        assert_eq!(invitations.deadlines().collect::<Vec<_>>(), [now + timeout, now + timeout / SILENT_PART]);
        assert_eq!(invitations.late(now + timeout / SILENT_PART), [(game, vec![SeatNo(5)])]);
        assert_eq!(invitations.late(now + timeout), [(game, vec![SeatNo(3), SeatNo(5)])]);
        assert_eq!(invitations.acknowledge(game, SeatNo(5)), Some(false));
        assert_eq!(invitations.late(now + timeout), [(game, vec![SeatNo(3)])]);
        assert_eq!(invitations.acknowledge(game, SeatNo(3)), Some(true));
        assert_eq!(invitations.take(game), Some(pairing));
        assert_eq!(invitations.acknowledge(game, SeatNo(3)), None);
    }
}
