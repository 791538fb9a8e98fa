//! Seats of a lobby: how many games are played at once, whoever brings them.

use std::sync::Arc;

use tokio::sync::watch;

/// Reason why a game gets no player.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("declined: {0}")]
pub struct Declined(pub String);

/// Number of seats, and of those that are taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Count {
    max: usize,
    taken: usize,
}

/// Counter of seats, which all clients of a lobby share. A seat is reserved before its game is agreed on, so that no
/// more games are accepted than can be played. No I/O and no clock.
#[derive(Clone, Debug)]
pub struct Seats(watch::Sender<Count>);

impl Seats {
    /// Creates a counter of so many free seats.
    pub fn new(max: usize) -> Seats {
        Seats(watch::Sender::new(Count { max, taken: 0 }))
    }

    /// Changes the number of seats. Reservations beyond it stand.
    pub fn set_max(&self, max: usize) {
        self.0.send_modify(|count| count.max = max);
    }

    /// Returns why a game gets no player while all seats are taken.
    pub fn full(&self) -> Declined {
        Declined(format!("{} games are running already", self.0.borrow().max))
    }

    /// Returns whether a seat is free.
    pub fn has_free(&self) -> bool {
        let count = *self.0.borrow();
        count.taken < count.max
    }

    /// Reserves a seat, if one is free.
    pub fn reserve(&self) -> Option<Reservation> {
        let take = |count: &mut Count| {
            let is_free = count.taken < count.max;
            count.taken += usize::from(is_free);
            is_free
        };
        self.0.send_if_modified(take).then(|| Reservation { _taken: Arc::new(Taken(self.0.clone())) })
    }

    /// Returns a receiver that is notified whenever a seat is taken or freed.
    pub fn changes(&self) -> SeatChanges {
        SeatChanges(self.0.subscribe())
    }
}

/// Waits for changes of [`Seats`].
#[derive(Debug)]
pub struct SeatChanges(watch::Receiver<Count>);

impl SeatChanges {
    /// Waits for the next change. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Reserved seat, free again when the last copy is dropped: those who agree on the game, and its player, have one each.
#[derive(Clone, Debug)]
pub struct Reservation {
    _taken: Arc<Taken>,
}

#[derive(Debug)]
struct Taken(watch::Sender<Count>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.send_modify(|count| count.taken = count.taken.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_free_again_when_the_last_copy_of_its_reservation_is_dropped() {
        let seats = Seats::new(1);
        let mut changes = seats.changes();
        let agreed = seats.reserve().unwrap();
        let played = agreed.clone();
        assert!(!seats.has_free() && seats.reserve().is_none());
        drop(agreed);
        assert!(!seats.clone().has_free());
        drop(played);
        assert!(seats.has_free() && changes.0.has_changed().unwrap());
        changes.0.mark_unchanged();
        // Fewer seats than are taken.
        let _kept = [seats.reserve(), {
            seats.set_max(2);
            seats.reserve()
        }];
        seats.set_max(1);
        assert!(seats.reserve().is_none());
    }
}
