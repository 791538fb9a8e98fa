//! One game: its stream becomes events for the player, the player's actions become requests.
//!
//! `begin` finds a player for it, `follow` tells that player what is new, `answer` brings its moves to the
//! server, `calls` does everything that is no move, `words` says how it ended.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use tokio::{select, sync::mpsc, task::JoinSet, time::sleep_until};
use tracing::debug;

use super::{
    clerk::Clerk,
    config::Rules,
    http::{Http, HttpError},
    limits::Kind,
    moves::Fate,
    records::Record,
    stream::{Heard, Stream},
    track::Track,
};
use crate::{
    seat::{Event, GameInfo, Lobby, Seat, Turn},
    wire::lichess::{GameId, GameMessage, GameState, UserId},
};

mod answer;
mod begin;
mod calls;
mod follow;
mod words;

use answer::{Answer, Request};
use calls::{Away, Called, Wishes};
pub(super) use words::ending;

/// Longer than any clock that counts: no sum of times that a server makes up shall overflow.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// A player that takes no event for this long has hung, and a lobby that finds none in this time has none now.
const PLAYER_HANGS: Duration = Duration::from_secs(5);
/// What a game's stream may take to tell an end that the account's events have told.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What all games of an account share.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub http: Http,
    pub lobby: Lobby,
    pub me: UserId,
    pub rules: Rules,
    pub clerk: Clerk,
}

impl Table {
    fn follow(&self, id: GameId) -> Stream<GameMessage> {
        Stream::follow(self.http.clone(), Kind::Stream, format!("api/bot/game/stream/{id}"))
    }
}

/// How we left a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It is over.
    Over,
    /// It was over, or is not ours, or cannot be played.
    Unplayed,
    /// The token is worth nothing any more.
    Unauthorized,
}

/// Plays a game to its end; `finished` brings the account's word that it is over.
pub(super) async fn play(table: Table, id: GameId, mut finished: mpsc::Receiver<String>) -> Left {
    let mut stream = table.follow(id);
    let begun = select! {
        begun = begin::begin(table, &mut stream) => begun,
        Some(_) = finished.recv() => return Left::Unplayed,
    };
    match begun {
        Ok(game) => game.run(stream, finished).await,
        Err(left) => left,
    }
}

/// The player left its seat, or hangs.
#[derive(Debug, thiserror::Error)]
#[error("the player left the game")]
struct PlayerGone;

/// A game that runs.
struct Game {
    table: Table,
    id: GameId,
    info: GameInfo,
    seat: Seat,
    track: Track,
    /// As the server told it last, and when that was read.
    state: GameState,
    read_at: Instant,
    /// Counts the requests; the last one's answer is awaited.
    turn: Turn,
    request: Request,
    sending: JoinSet<(Answer, Option<Fate>)>,
    /// Everything but moves.
    calls: JoinSet<Called>,
    /// When the stream was opened that we read.
    opened: Instant,
    abort_at: Option<Instant>,
    /// The opponent has left.
    away: Option<Away>,
    wishes: Wishes,
    /// So often the opponent may still take moves back.
    takebacks: u32,
    /// We play with half the time and no increment.
    is_berserk: bool,
    /// What is written down in the end, if anything is.
    record: Option<Record>,
    /// So many have played it so far.
    players: u32,
}

impl Game {
    async fn run(mut self, mut stream: Stream<GameMessage>, mut finished: mpsc::Receiver<String>) -> Left {
        let (state, read_at) = (self.state.clone(), self.read_at);
        let mut dealt = self.follow(state, read_at).await;
        let mut last_words: Option<(Instant, String)> = None;
        loop {
            if dealt.is_err() {
                dealt = self.another_player().await;
                continue;
            }
            if self.state.status.is_over() {
                let result = words::result(&self.state);
                return self.end(result, Left::Over).await;
            }
            dealt = select! {
                biased;
                action = self.seat.actions.recv() => self.act(action),
                Some(Ok((answer, fate))) = self.sending.join_next() => match fate {
                    Some(Fate::Unauthorized) => {
                        return self.end("the token is not accepted any more".into(), Left::Unauthorized).await;
                    }
                    Some(fate) => {
                        if self.fate(answer, fate).await {
                            stream = self.table.follow(self.id);
                        }
                        Ok(())
                    }
                    None => Ok(()),
                },
                heard = stream.next() => match heard {
                    Heard::Opened => {
                        self.opened = Instant::now();
                        Ok(())
                    }
                    Heard::Message(message, read_at) => self.hear(message, read_at).await,
                    Heard::Over(error) => {
                        let unauthorized = matches!(error, HttpError::Unauthorized);
                        let left = if unauthorized { Left::Unauthorized } else { Left::Over };
                        let known = last_words.map(|(_, result)| result);
                        return self.end(known.unwrap_or_else(|| format!("unknown: {error}")), left).await;
                    }
                },
                () = at(self.abort_at) => {
                    self.abort();
                    Ok(())
                }
                () = at(self.away.and_then(|away| away.claim_at)) => {
                    self.claim();
                    Ok(())
                }
                Some(called) = self.calls.join_next() => {
                    if let Ok(called) = called {
                        self.called(called);
                    }
                    Ok(())
                }
                Some(result) = finished.recv(), if last_words.is_none() => {
                    last_words = Some((Instant::now() + LAST_WORDS, result));
                    Ok(())
                }
                () = at(last_words.as_ref().map(|(until, _)| *until)) => {
                    let result = last_words.map(|(_, result)| result);
                    return self.end(result.unwrap_or_default(), Left::Over).await;
                }
            };
        }
    }

    async fn end(mut self, result: String, left: Left) -> Left {
        self.note();
        if let Some(record) = self.record.take().filter(|_| left == Left::Over) {
            self.table.clerk.keep(record);
        }
        let _ = self.tell(Event::Ended { result }).await;
        left
    }

    async fn hear(&mut self, message: GameMessage, read_at: Instant) -> Result<(), PlayerGone> {
        match message {
            GameMessage::GameFull(full) => {
                // Whether the opponent is away, the new stream will tell.
                self.away = None;
                self.look_for_answer(&full.state).await?;
                let dealt = self.follow(full.state, read_at).await;
                self.note();
                dealt
            }
            GameMessage::GameState(state) => {
                let dealt = self.follow(state, read_at).await;
                self.note();
                dealt
            }
            GameMessage::OpponentGone(gone) => {
                self.gone(gone, read_at);
                Ok(())
            }
            GameMessage::ChatLine(line) => {
                debug!("{} says: {:?}", line.username, line.text);
                Ok(())
            }
            GameMessage::Other(unknown) => {
                debug!("passed over: {:?}", unknown.kind);
                Ok(())
            }
        }
    }

    /// For the record, when the player has heard it.
    fn note(&mut self) {
        if let Some(record) = &mut self.record {
            record.state(self.state.clone());
        }
    }

    async fn tell(&self, event: Event) -> Result<(), PlayerGone> {
        self.seat.events.send_timeout(event, PLAYER_HANGS).await.map_err(|_| PlayerGone)
    }
}

/// Sleeps until then, if there is such a moment.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => pending().await,
    }
}
