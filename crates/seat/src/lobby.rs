//! The lobby, where protocols find players for their games.

use std::time::Duration;

use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{Declined, GameInfo, News, Reservation, Seat, Seats};

/// Time within which a lobby finds a player.
const LOBBY_TIMEOUT: Duration = Duration::from_secs(5);

/// Handle of the actor that finds players for games. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lobby {
    tx: mpsc::Sender<OpenSeat>,
    news: Option<mpsc::Sender<News>>,
    seats: Seats,
}

/// A protocol's request for a player.
#[derive(Debug)]
pub struct OpenSeat {
    /// Game to be played.
    pub info: GameInfo,
    /// Receives the seat, or the refusal.
    pub reply: oneshot::Sender<Result<Seat, Declined>>,
    /// Reservation that the player holds until it has ended.
    pub reservation: Reservation,
}

impl Lobby {
    /// Creates a lobby, and the receiver of its actor.
    pub fn channel(capacity: usize) -> (Lobby, mpsc::Receiver<OpenSeat>) {
        let (tx, rx) = mpsc::channel(capacity);
        (Lobby { tx, news: None, seats: Seats::new(usize::MAX) }, rx)
    }

    /// Counts the games by these seats.
    #[must_use]
    pub fn with_seats(self, seats: Seats) -> Lobby {
        Lobby { seats, ..self }
    }

    /// Returns the seats, to reserve one before a game is agreed on.
    pub fn seats(&self) -> &Seats {
        &self.seats
    }

    /// Reports challenges to this receiver. A slow one misses some.
    #[must_use]
    pub fn with_news(self, news: mpsc::Sender<News>) -> Lobby {
        Lobby { news: Some(news), ..self }
    }

    /// Reports news to viewers, if there are any.
    pub fn report(&self, news: News) {
        if let Some(viewers) = &self.news {
            let _ = viewers.try_send(news);
        }
    }

    /// Requests a player for a game.
    ///
    /// # Errors
    /// [`Declined`] if there are too many games, the position is invalid, the bot shuts down, or does not answer in
    /// time.
    pub async fn open(&self, info: GameInfo) -> Result<Seat, Declined> {
        self.open_reserved(info, self.reserve()?).await
    }

    /// Reserves a seat.
    ///
    /// # Errors
    /// [`Declined`] if all are taken.
    pub fn reserve(&self) -> Result<Reservation, Declined> {
        self.seats.reserve().ok_or_else(|| self.seats.full())
    }

    /// Requests a player for a game whose seat is reserved.
    ///
    /// # Errors
    /// [`Declined`], as for [`Lobby::open`].
    pub async fn open_reserved(&self, info: GameInfo, reservation: Reservation) -> Result<Seat, Declined> {
        let (reply, answer) = oneshot::channel();
        let closed = || Declined("shutting down".into());
        let opened = async {
            self.tx.send(OpenSeat { info, reply, reservation }).await.map_err(|_| closed())?;
            answer.await.map_err(|_| closed())?
        };
        timeout(LOBBY_TIMEOUT, opened)
            .await
            .unwrap_or_else(|_| Err(Declined("no player answered in time".into())))
    }
}
