//! The actor of one game: tells the player what is new, and brings its moves to the server.
//!
//! `position` holds what the server tells, `answers` what the player wants, `ending` how a game ends.

use std::time::{Duration, Instant};

use tokio::select;
use tokio_util::sync::DropGuard;
use tracing::{debug, warn};
use zeitnot_rules::MoveText;
use zeitnot_seat::{Eval, GameInfo, OpenRequest, PlayerGone};
use zeitnot_wire::lichess::{ChatLine, GameId, GameMessage, GameState};

use super::{
    actions::{GameAction, GameActions},
    context::{GameContext, GameEnd, GameSignals},
    desync::Resync,
    idle::never_started,
    move_sender::SendOutcome,
    opponent::Opponent,
    player::GamePlayer,
    start::{StartedGame, start},
    tracker::{MoveTracker, TrackError},
};
use crate::{
    lichess::{
        HttpError, Stream, StreamEvent, Tasks,
        chat::{
            commands::{Command, is_opponent},
            facts::GameFacts,
            sender::GameDetails,
        },
        records::record::GameRecord,
    },
    wait::until,
};

mod answers;
mod ending;
mod position;

use answers::SentMove;
use ending::AwaitedEnd;

/// Players that may leave a game before it is given up.
const MAX_PLAYERS: u32 = 3;

/// Plays a game to its end, or until it is suspended.
pub(crate) async fn play(context: GameContext, id: GameId, signals: GameSignals) -> GameEnd {
    let GameSignals { mut finished, slot_wanted, mut opponent } = signals;
    let mut stream = context.stream(id);
    let started = async {
        let started = start(&context, &mut stream, &mut opponent).await?;
        let seat = context.open_seat(&started.info).await;
        Ok((started, seat))
    };
    let started = select! {
        started = started => started,
        Some(_) = finished.recv() => return GameEnd::Unplayed,
        () = never_started(&slot_wanted) => return GameEnd::Suspended,
    };
    match started {
        Ok((started, seat)) => {
            let signals = GameSignals { finished, slot_wanted, opponent };
            GameSession::new(context, id, started, GamePlayer::new(seat)).run(stream, signals).await
        }
        Err(end) => end,
    }
}

#[derive(Debug, thiserror::Error)]
enum Interruption {
    #[error(transparent)]
    Player(#[from] PlayerGone),
    #[error(transparent)]
    Desync(#[from] TrackError),
}

/// Consequence of an event of the game.
enum Next {
    /// Waiting for the next event.
    Wait,
    /// Opening the game's stream again.
    Reopen,
    /// Leaving the game, with the result in words.
    End(String, GameEnd),
}

struct GameSession {
    context: GameContext,
    id: GameId,
    info: GameInfo,
    player: GamePlayer,
    tracker: MoveTracker,
    /// The latest state, and when it was read.
    state: GameState,
    read_at: Instant,
    /// When the present stream was asked for: what it tells first is no older.
    opened: Instant,
    /// The last request for a move. Dropping the guard of an answer stops sending it.
    request: OpenRequest<DropGuard>,
    /// Moves that are being sent; everything else of the game waits behind them.
    sending: Tasks<(SentMove, Option<SendOutcome>)>,
    /// The last move that was sent.
    last_sent: Option<MoveText>,
    actions: GameActions,
    opponent: Opponent,
    resync: Resync,
    /// Time since which a correspondence game waits for the opponent.
    idle_since: Option<Instant>,
    /// We play with half the time and no increment.
    is_berserk: bool,
    /// The player has left the game for good.
    is_leaving: bool,
    eval: Option<Eval>,
    record: Option<GameRecord>,
    awaited_end: Option<AwaitedEnd>,
    players: u32,
}

impl GameSession {
    fn new(context: GameContext, id: GameId, started: StartedGame, player: GamePlayer) -> GameSession {
        let StartedGame { full, read_at, info, tracker } = started;
        let color = info.side;
        let mut session = GameSession {
            id,
            player,
            read_at,
            opened: Instant::now(),
            request: OpenRequest::default(),
            sending: Tasks::default(),
            last_sent: None,
            actions: GameActions::new(context.http.clone(), id),
            opponent: Opponent::new(!color, context.rules.max_takebacks),
            resync: Resync::default(),
            idle_since: None,
            is_berserk: context.rules.berserk.applies(&full, color),
            is_leaving: false,
            eval: None,
            record: context.pgn.begin(&full, color),
            awaited_end: None,
            players: 1,
            state: full.state,
            info,
            tracker,
            context,
        };
        let plies = session.state.played().count();
        if plies <= 1 {
            session.chat(GameDetails::Begun);
        }
        let has_moved = plies > usize::from(session.tracker.first_color() != color);
        if session.is_berserk && !has_moved {
            session.actions.spawn(GameAction::Berserk);
        }
        session
    }

    async fn run(mut self, mut stream: Stream<GameMessage>, mut signals: GameSignals) -> GameEnd {
        let followed = self.follow(self.state.clone(), self.read_at).await;
        let mut step = followed.map(|()| Next::Wait);
        loop {
            match self.recover(step).await {
                Next::Wait => {}
                Next::Reopen => stream = self.context.stream(self.id),
                Next::End(result, end) => return self.end(result, end).await,
            }
            let suspended = self.suspended(&signals.slot_wanted);
            step = select! {
                biased;
                input = self.player.next() => self.played(input).await,
                (sent, outcome) = self.sending.next() => Ok(self.settle(sent, outcome).await),
                event = stream.next() => self.streamed(event).await,
                () = until(self.opponent.abort_at) => Ok(self.abort()),
                () = until(self.opponent.claim_at()) => Ok(self.claim()),
                (action, result) = self.actions.tasks.next() => Ok(self.performed(action, result)),
                Some(finish) = signals.finished.recv(), if self.awaited_end.is_none() => Ok(self.await_end(finish)),
                () = until(self.opponent.given_up_at) => Ok(Next::suspend()),
                () = suspended, if self.awaited_end.is_none() => Ok(Next::suspend()),
                () = until(self.awaited_end.as_ref().map(|end| end.until)) => Ok(self.known_end()),
            };
        }
    }

    /// Ends a game that is over. Replaces a player who has left, and opens the stream again if its moves do not fit, each
    /// a limited number of times.
    async fn recover(&mut self, mut step: Result<Next, Interruption>) -> Next {
        loop {
            match step {
                Ok(next) => return self.told_end().unwrap_or(next),
                Err(Interruption::Player(_)) if self.players >= MAX_PLAYERS => {
                    return self.give_up("no player stays in the game".to_owned()).await;
                }
                Err(Interruption::Player(_)) => {
                    self.replace_player();
                    step = Ok(Next::Wait);
                }
                Err(Interruption::Desync(error)) if self.should_resync(&error) => return Next::Reopen,
                Err(Interruption::Desync(error)) => {
                    return self.give_up(format!("its moves do not fit our rules: {error}")).await;
                }
            }
        }
    }

    async fn streamed(&mut self, event: StreamEvent<GameMessage>) -> Result<Next, Interruption> {
        match event {
            StreamEvent::Opened(asked) => self.opened = asked,
            StreamEvent::Message(message, read_at) => self.handle(message, read_at).await?,
            StreamEvent::Closed(error) => return Ok(self.closed(&error)),
        }
        Ok(Next::Wait)
    }

    fn abort(&mut self) -> Next {
        let abort = self.opponent.abort();
        self.actions.spawn(abort);
        Next::Wait
    }

    fn claim(&mut self) -> Next {
        if let Some(claim) = self.opponent.claim(self.context.rules.claim) {
            self.actions.spawn(claim);
        }
        Next::Wait
    }

    fn performed(&mut self, action: GameAction, result: Result<(), HttpError>) -> Next {
        let words = action.words();
        let Err(error) = result else {
            debug!("the server accepted the request to {words}");
            if !self.context.http.site().tells_our_end() {
                self.left_by(action);
            }
            return Next::Wait;
        };
        warn!("cannot {words}: {error}");
        if action == GameAction::Berserk {
            self.is_berserk = false;
        }
        if action == GameAction::Abort && self.is_leaving {
            self.actions.spawn(GameAction::Resign);
        }
        self.opponent.failed(action);
        Next::Wait
    }

    /// Returns whether to open the stream again, as moves do not fit. An open request may be about another board, and
    /// is made again.
    fn should_resync(&mut self, error: &TrackError) -> bool {
        if self.request.is_open() {
            self.request.clear();
        }
        let should = self.resync.start();
        if should {
            debug!("{error}; opening the stream again");
        }
        should
    }

    /// Passes on chat that may be a command.
    fn read_chat(&mut self, line: ChatLine) {
        debug!("{} in chat: {:?}", line.username, line.text);
        if line.text.trim_start().starts_with('!') {
            let granted = self.grant_wait(&line);
            let facts = GameFacts { granted, ..self.facts() };
            self.context.chat.send(self.id, facts, GameDetails::Line(line));
        }
    }

    /// Gives the opponent more time for the first move, if the line asks for it. Returns the time.
    fn grant_wait(&mut self, line: &ChatLine) -> Option<Duration> {
        let color = !self.info.side;
        let has_moved = self.tracker.plies() > usize::from(self.tracker.first_color() != color);
        let is_due = Command::parse(&line.text) == Some(Command::Wait)
            && is_opponent(line, &self.info.names[color])
            && !has_moved
            && !self.is_correspondence();
        self.context.rules.wait_time.filter(|time| is_due && self.opponent.grant(*time))
    }

    fn chat(&self, details: GameDetails) {
        self.context.chat.send(self.id, self.facts(), details);
    }

    fn facts(&self) -> GameFacts {
        let color = self.info.side;
        GameFacts {
            opponent: self.info.names[!color].clone(),
            me: self.info.names[color].clone(),
            engine: self.player.engine().to_owned(),
            eval: self.eval,
            granted: None,
        }
    }
}
