//! One game: its stream becomes events for the player, the player's actions become requests.
//!
//! `begin` finds a player for it, `follow` tells that player what is new, `answer` brings its moves to the
//! server, `calls` does everything that is no move, `talk` brings chat to and from it, `rest` says when a game
//! without a clock may sleep, `misfit` what becomes of one that does not fit our rules, `words` says how it ended.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use zeitnot_seat::{Eval, Event, GameInfo, Lobby, Opponent, Seat, Turn};
use zeitnot_wire::lichess::{GameId, GameMessage, GameState, UserId};

use super::{
    clerk::Clerk,
    config::Rules,
    http::{Http, HttpError},
    limits::Kind,
    moves::Fate,
    records::Record,
    stream::{Heard, Stream},
    track::Track,
    voice::Voice,
};

mod answer;
mod begin;
mod calls;
mod follow;
mod misfit;
mod rest;
mod talk;
mod words;

use answer::{Answer, Request};
use calls::{Away, Called, Wishes};
use misfit::{Looks, Snag};
pub(super) use words::ending;

/// Longer than any clock that counts: no sum of times that a server makes up shall overflow.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// A player that takes no event for this long has hung, and a lobby that finds none in this time has none now.
const PLAYER_HANGS: Duration = Duration::from_secs(5);
/// What a game's stream may take to tell an end that the account's events have told.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// What the player hears of a game that goes on without it.
const ASLEEP: &str = "sleeping until the opponent moves";

/// What all games of an account share.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub http: Http,
    pub lobby: Lobby,
    pub me: UserId,
    pub rules: Rules,
    pub clerk: Clerk,
    pub voice: Voice,
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
    /// It goes on, but there is nothing to do in it for now.
    Asleep,
}

/// What a game's task hears from the account.
#[derive(Debug)]
pub(super) struct News {
    /// The account's events say that it is over, and how.
    pub finished: mpsc::Receiver<String>,
    /// Others wait for its place.
    pub wanted: CancellationToken,
    /// Where it says who the opponent is, when it knows.
    pub met: Option<oneshot::Sender<Opponent>>,
}

/// Plays a game to its end, or until there is nothing to do in it for a while.
pub(super) async fn play(table: Table, id: GameId, mut news: News) -> Left {
    let mut stream = table.follow(id);
    let begun = select! {
        begun = begin::begin(table, &mut stream, &mut news.met) => begun,
        Some(_) = news.finished.recv() => return Left::Unplayed,
        () = rest::in_vain(&news.wanted) => return Left::Asleep,
    };
    match begun {
        Ok(game) => game.run(stream, news).await,
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
    /// Since when there is nothing to do but to wait for the opponent, who has days for a move.
    idle_since: Option<Instant>,
    /// The opponent has left.
    away: Option<Away>,
    wishes: Wishes,
    /// So often the opponent may still take moves back.
    takebacks: u32,
    /// What was done about moves that do not fit.
    looks: Looks,
    /// We play with half the time and no increment.
    is_berserk: bool,
    /// What our last search came to.
    eval: Option<Eval>,
    /// What is written down in the end, if anything is.
    record: Option<Record>,
    /// So many have played it so far.
    players: u32,
}

impl Game {
    async fn run(mut self, mut stream: Stream<GameMessage>, mut news: News) -> Left {
        let (state, read_at) = (self.state.clone(), self.read_at);
        let mut dealt = self.follow(state, read_at).await;
        let mut last_words: Option<(Instant, String)> = None;
        loop {
            match dealt {
                Ok(()) => {}
                Err(Snag::Player(_)) if self.players >= begin::PLAYERS => {
                    return self.give_up("no player stays in it".to_owned()).await;
                }
                Err(Snag::Player(_)) => {
                    dealt = self.another_player().await.map_err(Snag::from);
                    continue;
                }
                Err(Snag::Misfit(lost)) if self.looks_again(&lost) => {
                    stream = self.table.follow(self.id);
                }
                Err(Snag::Misfit(lost)) => {
                    return self.give_up(format!("its moves do not fit our rules: {lost}")).await;
                }
            }
            if self.state.status.is_over() {
                let result = words::result(&self.state);
                return self.end(result, Left::Over).await;
            }
            let rested = self.rested(&news.wanted);
            dealt = select! {
                biased;
                action = self.seat.actions.recv() => self.act(action).map_err(Snag::from),
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
                Some(result) = news.finished.recv(), if last_words.is_none() => {
                    last_words = Some((Instant::now() + LAST_WORDS, result));
                    Ok(())
                }
                () = rested, if last_words.is_none() => {
                    return self.end(ASLEEP.to_owned(), Left::Asleep).await;
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
        if left == Left::Over {
            self.farewell();
        }
        if let Some(record) = self.record.take() {
            match left {
                Left::Over => self.table.clerk.keep(record),
                _ => self.table.clerk.shelve(record),
            }
        }
        let _ = self.tell(Event::Ended { result }).await;
        left
    }

    async fn hear(&mut self, message: GameMessage, read_at: Instant) -> Result<(), Snag> {
        match message {
            GameMessage::GameFull(full) => {
                // Whether the opponent is away, the new stream will tell.
                self.away = None;
                self.look_for_answer(&full.state).await?;
                self.follow(full.state, read_at).await?;
                self.looks.fits();
                self.note();
                Ok(())
            }
            GameMessage::GameState(state) => {
                self.follow(state, read_at).await?;
                self.note();
                Ok(())
            }
            GameMessage::OpponentGone(gone) => {
                self.gone(gone, read_at);
                Ok(())
            }
            GameMessage::ChatLine(line) => {
                self.hear_line(line);
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
