//! One connection to an IMCS: finds a game, in somebody's offer or by one of ours, and plays it.

use std::{collections::VecDeque, future::pending, time::Duration};

use tokio::{
    select,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use zeitnot_seat::Lobby;
use zeitnot_wire::imcs::{Colour, Command, Entry, FromServer};

use super::{
    Config, Lost, Offer,
    config::Accept,
    game::{Game, Start},
    talk::{Talk, unexpected},
};

/// So many offers that led to no game are remembered.
const DUDS: usize = 64;

/// Offers that led to no game: dead ones, whose owner is gone. They are not tried again.
#[derive(Debug, Default)]
pub(super) struct Duds(VecDeque<u64>);

impl Duds {
    fn note(&mut self, game: u64) {
        if self.0.len() == DUDS {
            self.0.pop_front();
        }
        self.0.push_back(game);
    }
}

/// How a visit ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// With a game.
    Played,
    /// We were told to leave.
    Left,
}

/// Logs in, finds a game, plays it. After a game the server closes the connection.
pub(super) async fn visit(
    config: &Config,
    lobby: &Lobby,
    soon: &CancellationToken,
    duds: &mut Duds,
) -> Result<Visit, Lost> {
    let Some(talk) = soon.run_until_cancelled(Talk::open(config)).await else { return Ok(Visit::Left) };
    let mut seeker = Seeker { config, soon, duds, talk: talk? };
    let Some(start) = seeker.seek().await? else {
        seeker.talk.quit().await;
        return Ok(Visit::Left);
    };
    let Seeker { mut talk, duds, .. } = seeker;
    let number = start.game;
    let played = Game::new(config, &mut talk, start).play(lobby).await;
    if let Err(Lost::NoGame(_)) = &played {
        duds.note(number);
    }
    played?;
    talk.closed().await;
    Ok(Visit::Played)
}

/// Looks for a game.
struct Seeker<'a> {
    config: &'a Config,
    soon: &'a CancellationToken,
    duds: &'a mut Duds,
    talk: Talk<'a>,
}

/// An offer that we like.
struct Liked {
    game: u64,
    name: String,
    colour: Colour,
}

impl Seeker<'_> {
    /// `None`: we are to leave.
    async fn seek(&mut self) -> Result<Option<Start>, Lost> {
        self.clean().await?;
        while !self.soon.is_cancelled() {
            if let Some(accept) = &self.config.accept
                && let Some(start) = self.accept(accept).await?
            {
                return Ok(Some(start));
            }
            if let Some(offer) = &self.config.offer {
                if let Some(start) = self.offer(offer).await? {
                    return Ok(Some(start));
                }
            } else if let Some(accept) = &self.config.accept {
                self.soon.run_until_cancelled(sleep(accept.look_every)).await;
            }
        }
        Ok(None)
    }

    /// Takes back what an earlier run of ours may have left.
    async fn clean(&mut self) -> Result<(), Lost> {
        match self.talk.ask(&Command::Clean).await? {
            (204, text) => debug!("{text}"),
            other => return Err(unexpected("games to be cleaned", other)),
        }
        Ok(())
    }

    /// Accepts the first offer that can be had.
    async fn accept(&mut self, accept: &Accept) -> Result<Option<Start>, Lost> {
        let entries = self.talk.list().await?;
        let liked: Vec<Liked> = entries.iter().filter_map(|entry| self.like(accept, entry)).collect();
        for Liked { game, name, colour } in liked {
            self.talk.say(&Command::Accept { game: game.to_string(), colour })?;
            if let Some(start) = self.started(game, name).await? {
                return Ok(Some(start));
            }
            self.duds.note(game);
        }
        Ok(None)
    }

    fn like(&self, accept: &Accept, entry: &Entry) -> Option<Liked> {
        let Entry::Offer { game, name, colour, yours, rating, .. } = entry else { return None };
        let colour = match (*colour, accept.colour) {
            (Colour::Any, wanted) => wanted,
            (Colour::Of(theirs), Colour::Any) => Colour::Of(!theirs),
            (Colour::Of(theirs), Colour::Of(ours)) if theirs != ours => Colour::Of(ours),
            _ => return None,
        };
        let ours = *name == self.config.user.to_string();
        let liked = !ours && !self.duds.0.contains(game) && accept.likes(name, *rating, *yours);
        liked.then(|| Liked { game: *game, name: name.clone(), colour })
    }

    /// What came of an acceptance: a game, or a refusal.
    async fn started(&mut self, game: u64, opponent: String) -> Result<Option<Start>, Lost> {
        let until = self.talk.answer_by();
        loop {
            match self.talk.hear_before(until).await? {
                FromServer::Starts { side, yours, theirs } => {
                    return Ok(Some(Start { game, side, yours, theirs, opponent: Some(opponent) }));
                }
                FromServer::Reply { code, text } if code >= 400 => {
                    info!("game {game} of {opponent:?} cannot be had: {code} {text:?}");
                    return Ok(None);
                }
                FromServer::Fatal(text) => {
                    self.duds.note(game);
                    return Err(Lost::NoGame(text));
                }
                other => debug!("passed over: {other:?}"),
            }
        }
    }

    /// Offers a game and waits for somebody; `None`: the offer was withdrawn.
    async fn offer(&mut self, offer: &Offer) -> Result<Option<Start>, Lost> {
        self.talk.say(&Command::Offer { colour: offer.colour, times: Some(offer.times()) })?;
        let game = self.waiting().await?;
        info!("game {game} is offered; waiting for somebody to accept it");
        // Who accepts nothing need not look again.
        let patience = self.config.accept.as_ref().map(|_| offer.patience);
        let soon = self.soon;
        select! {
            start = self.taken(game) => return start,
            () = maybe_sleep(patience) => debug!("nobody takes game {game}"),
            () = soon.cancelled() => {}
        }
        self.withdraw(game).await
    }

    /// The number of the game that we offer.
    async fn waiting(&mut self) -> Result<u64, Lost> {
        let until = self.talk.answer_by();
        loop {
            match self.talk.hear_before(until).await? {
                FromServer::Waiting { game } => return Ok(game),
                FromServer::Reply { code, text } => return Err(unexpected("an offer", (code, text))),
                other => debug!("passed over: {other:?}"),
            }
        }
    }

    /// Waits until the offer is taken, or countermanded. Cancel safe.
    async fn taken(&mut self, game: u64) -> Result<Option<Start>, Lost> {
        loop {
            match self.talk.hear().await? {
                FromServer::Starts { side, yours, theirs } => {
                    return Ok(Some(Start { game, side, yours, theirs, opponent: None }));
                }
                FromServer::Reply { code: 421, .. } => return Ok(None),
                FromServer::Reply { code, text } => return Err(unexpected("a game", (code, text))),
                FromServer::Fatal(text) => return Err(Lost::NoGame(text)),
                other => debug!("passed over: {other:?}"),
            }
        }
    }

    /// Takes the offer back. While it stands the server reads nothing from this connection, so a second
    /// one says so. Who accepts in the meantime gets the game.
    async fn withdraw(&mut self, game: u64) -> Result<Option<Start>, Lost> {
        debug!("withdrawing game {game}");
        let mut second = Talk::open(self.config).await?;
        let cleaned = second.ask(&Command::Clean).await;
        second.quit().await;
        cleaned?;
        let limit = self.config.patience.answer;
        let taken = timeout(limit, self.taken(game)).await;
        taken.unwrap_or(Err(Lost::Silent(limit)))
    }
}

/// Sleeps, or waits for ever.
async fn maybe_sleep(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
}
