//! Search for a game on one connection: takes up the one whose connection was lost, accepts an offer or makes one, and
//! plays the game.

use std::{collections::VecDeque, future::pending};

use tokio::{
    select,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};
use zeitnot_seat::Lobby;
use zeitnot_wire::imcs::{ColorChoice, Command, Entry, FromServer};

use super::{
    blocked::BlockedPlayers,
    config::{Accept, Config, Offer},
    connection::{Connection, ConnectionError, opponent_in, unexpected},
    game::Game,
    start::{LostGame, Start},
    wire::GameWire,
};
use crate::{
    drive::{KeptSeat, drive},
    session::{ConnectionEnd, ConnectionLog},
    wait::{now, or_never},
};

/// Dead offers that are remembered.
const MAX_DEAD_OFFERS: usize = 64;

/// Offers that led to no game, because their owner is gone. They are not tried again.
#[derive(Debug, Default)]
struct DeadOffers(VecDeque<u64>);

impl DeadOffers {
    fn add(&mut self, game: u64) {
        if self.0.len() == MAX_DEAD_OFFERS {
            self.0.pop_front();
        }
        self.0.push_back(game);
    }
}

/// State that outlasts a connection.
#[derive(Debug, Default)]
pub(super) struct Progress {
    dead_offers: DeadOffers,
    /// The game whose connection was lost.
    pub(super) lost_game: Option<LostGame>,
    /// Seat of the game that runs or was lost.
    seat: KeptSeat,
    /// The log says that we wait for an opponent. It says so once, however often the offer is repeated.
    is_waiting: bool,
}

impl Progress {
    /// Keeps the seat of the lost game, or frees it if there is none.
    fn keep_seat(&mut self) {
        self.seat.keep_for(self.lost_game.as_ref().map(|lost| lost.clock), now());
    }
}

/// Logs in, finds a game and plays it. After a game the server closes the connection.
pub(super) async fn connect_once(
    config: &Config,
    lobby: &Lobby,
    stop: &CancellationToken,
    log: &mut ConnectionLog,
    blocked: &BlockedPlayers,
    progress: &mut Progress,
) -> Result<ConnectionEnd, ConnectionError> {
    progress.keep_seat();
    let opening = Connection::open(config);
    let connection = match progress.lost_game.as_ref().and_then(|lost| lost.clock.time_left(now())) {
        Some(_) => opening.await?,
        None => match stop.run_until_cancelled(opening).await {
            Some(connection) => connection?,
            None => return Ok(ConnectionEnd::Stopped),
        },
    };
    log.connected();
    let mut seeker = Seeker { config, stop, blocked, progress, connection };
    let Some(start) = seeker.seek().await? else {
        seeker.connection.quit().await;
        return Ok(ConnectionEnd::Stopped);
    };
    let Seeker { mut connection, progress, .. } = seeker;
    progress.is_waiting = false;
    let number = start.game;
    let mut wire = GameWire::new(config, &mut connection, &start);
    let mut game = Game::new(config, start, now());
    // A game that runs is finished, whatever stops.
    let played = drive(&mut game, &mut wire, lobby, &mut progress.seat, pending()).await;
    let is_lost = played.as_ref().is_err_and(ConnectionError::is_lost);
    progress.lost_game = game.lost_game().filter(|_| is_lost);
    progress.keep_seat();
    if let Err(ConnectionError::NoGame(_)) = &played {
        progress.dead_offers.add(number);
    }
    if let Some(why) = played?.flatten() {
        // Without a player there must be a delay before the next game.
        return Err(ConnectionError::NoPlayer(why));
    }
    drop(wire);
    connection.wait_for_close().await;
    Ok(ConnectionEnd::Completed)
}

struct Seeker<'a> {
    config: &'a Config,
    stop: &'a CancellationToken,
    blocked: &'a BlockedPlayers,
    progress: &'a mut Progress,
    connection: Connection<'a>,
}

struct Acceptable {
    game: u64,
    name: String,
    color: ColorChoice,
}

impl Seeker<'_> {
    /// Returns `None` after a stop.
    async fn seek(&mut self) -> Result<Option<Start>, ConnectionError> {
        if let Some(start) = self.take_up().await? {
            return Ok(Some(start));
        }
        self.clean().await?;
        while !self.stop.is_cancelled() {
            let began = Instant::now();
            if let Some(accept) = &self.config.accept
                && let Some(start) = self.accept(accept).await?
            {
                return Ok(Some(start));
            }
            if let Some(offer) = &self.config.offer {
                if let Some(start) = self.offer(offer).await? {
                    return Ok(Some(start));
                }
                // The server may have withdrawn it at once.
                let pause = sleep_until(began + self.config.timeouts.reconnect.min_delay);
                self.stop.run_until_cancelled(pause).await;
            } else if let Some(accept) = &self.config.accept {
                self.stop.run_until_cancelled(sleep(accept.poll_interval)).await;
            }
        }
        Ok(None)
    }

    /// Takes up the game whose connection was lost, if the server lists it as running and lets us. The servers of the
    /// course do not.
    async fn take_up(&mut self) -> Result<Option<Start>, ConnectionError> {
        let runs = |lost: &&LostGame| lost.clock.time_left(now()).is_some();
        if let Some(&LostGame { game, color, .. }) = self.progress.lost_game.as_ref().filter(runs) {
            let entries = self.connection.list().await?;
            if let Some(opponent) = opponent_in(entries, self.config, game, color) {
                self.connection.send(&Command::Accept { game: game.to_string(), color: ColorChoice::Any })?;
                if let Some(start) = self.accepted(game, opponent).await? {
                    return Ok(Some(Start { is_resumed: true, ..start }));
                }
            }
            info!("game {game} cannot be taken up again");
        }
        self.progress.lost_game = None;
        self.progress.keep_seat();
        Ok(None)
    }

    /// Withdraws the offers that an earlier run may have left.
    async fn clean(&mut self) -> Result<(), ConnectionError> {
        match self.connection.ask(&Command::Clean).await? {
            (204, text) => debug!("{text}"),
            other => return Err(unexpected("games to be cleaned", other)),
        }
        Ok(())
    }

    /// Accepts the first offer that is still open.
    async fn accept(&mut self, accept: &Accept) -> Result<Option<Start>, ConnectionError> {
        let entries = self.connection.list().await?;
        let offers: Vec<_> = entries.iter().filter_map(|entry| self.acceptable(accept, entry)).collect();
        for Acceptable { game, name, color } in offers {
            self.connection.send(&Command::Accept { game: game.to_string(), color })?;
            if let Some(start) = self.accepted(game, name).await? {
                return Ok(Some(start));
            }
            self.progress.dead_offers.add(game);
        }
        Ok(None)
    }

    fn acceptable(&self, accept: &Accept, entry: &Entry) -> Option<Acceptable> {
        let Entry::Offer { game, name, color, yours, rating, .. } = entry else { return None };
        let color = match (*color, accept.color) {
            (ColorChoice::Any, ours) => ours,
            (ColorChoice::Of(theirs), ColorChoice::Any) => ColorChoice::Of(!theirs),
            (ColorChoice::Of(theirs), ColorChoice::Of(ours)) if theirs != ours => ColorChoice::Of(ours),
            _ => return None,
        };
        let ours = *name == self.config.user.to_string();
        let is_open = !self.progress.dead_offers.0.contains(game) && !self.blocked.contains(name);
        let fits = !ours && is_open && accept.allows(name, *rating, *yours);
        fits.then(|| Acceptable { game: *game, name: name.clone(), color })
    }

    /// Waits for the result of an acceptance: a game, or `None` if it was refused.
    async fn accepted(&mut self, game: u64, opponent: String) -> Result<Option<Start>, ConnectionError> {
        let deadline = self.connection.answer_deadline();
        loop {
            match self.connection.message_before(deadline).await? {
                FromServer::Starts { color, yours, theirs } => {
                    let opponent = Some(opponent);
                    return Ok(Some(Start { game, color, yours, theirs, opponent, is_resumed: false }));
                }
                FromServer::Reply { code, text } if code >= 400 => {
                    debug!("game {game} of {opponent:?} is not available: {code} {text:?}");
                    return Ok(None);
                }
                FromServer::Fatal(text) => {
                    self.progress.dead_offers.add(game);
                    return Err(ConnectionError::NoGame(text));
                }
                other => debug!("ignored: {other:?}"),
            }
        }
    }

    /// Offers a game and waits for an opponent. Returns `None` if the offer was withdrawn.
    async fn offer(&mut self, offer: &Offer) -> Result<Option<Start>, ConnectionError> {
        self.connection.send(&Command::Offer { color: offer.color, times: Some(offer.times()) })?;
        let game = self.offered().await?;
        match std::mem::replace(&mut self.progress.is_waiting, true) {
            false => info!("game {game} is offered; waiting for an opponent"),
            true => debug!("game {game} is offered"),
        }
        // Without offers to accept there is no reason to withdraw ours.
        let withdraw_after = self.config.accept.as_ref().map(|_| offer.withdraw_after);
        let stop = self.stop;
        select! {
            start = self.offer_accepted(game) => return start,
            () = or_never(withdraw_after.map(sleep)) => debug!("nobody accepts game {game}"),
            () = stop.cancelled() => {}
        }
        self.withdraw(game).await
    }

    async fn offered(&mut self) -> Result<u64, ConnectionError> {
        let deadline = self.connection.answer_deadline();
        loop {
            match self.connection.message_before(deadline).await? {
                FromServer::Waiting { game } => return Ok(game),
                FromServer::Reply { code, text } => return Err(unexpected("an offer", (code, text))),
                other => debug!("ignored: {other:?}"),
            }
        }
    }

    /// Waits until the offer is accepted or countermanded. Cancel safe.
    async fn offer_accepted(&mut self, game: u64) -> Result<Option<Start>, ConnectionError> {
        loop {
            match self.connection.message().await? {
                FromServer::Starts { color, yours, theirs } => {
                    return Ok(Some(Start { game, color, yours, theirs, opponent: None, is_resumed: false }));
                }
                FromServer::Reply { code: 421, .. } => return Ok(None),
                FromServer::Reply { code, text } => return Err(unexpected("a game", (code, text))),
                FromServer::Fatal(text) => return Err(ConnectionError::NoGame(text)),
                other => debug!("ignored: {other:?}"),
            }
        }
    }

    /// Withdraws the offer on a second connection, because the server reads nothing on this one meanwhile. If
    /// somebody accepts first, the game is played.
    async fn withdraw(&mut self, game: u64) -> Result<Option<Start>, ConnectionError> {
        debug!("withdrawing game {game}");
        let mut second = Connection::open(self.config).await?;
        let cleaned = second.ask(&Command::Clean).await;
        second.quit().await;
        cleaned?;
        let limit = self.config.timeouts.answer;
        let accepted = timeout(limit, self.offer_accepted(game)).await;
        accepted.unwrap_or(Err(ConnectionError::Silent(limit)))
    }
}
