//! One game as its players see it: its streams, chat, and its end. Its referee is this server, or a class tournament.
//! Synchronous: every instant is passed in.

use std::{mem::take, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::{sync::oneshot, time::Instant};
use zeitnot_host::{database::MAX_WAIT, panic_guard};
use zeitnot_referee::{Cause, Ending};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult, Reason};
use zeitnot_wire::lichess::{Chat, GameId, GameMessage, Status, Title, UserId};

use super::{answer::Refusal, terms::Terms};

mod class;
mod hosted;
mod presence;
mod state;
mod watching;

pub(super) use class::{ClassGame, Order};
pub(super) use hosted::Hosted;
use presence::Presence;
pub(super) use state::Facts;

/// Once both have moved, clocks run and nothing can be aborted.
const BEGUN: usize = 2;
const MAX_CHAT_TEXT: usize = 140;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Player {
    pub(super) id: UserId,
    pub(super) name: String,
    pub(super) title: Option<Title>,
    pub(super) rating: Option<i32>,
    pub(super) provisional: bool,
    /// Plays by another protocol: not the account of that name, if there is one.
    pub(super) is_guest: bool,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct GameTimeouts {
    pub(super) first_move: Duration,
    pub(super) gone_after: Duration,
    pub(super) claim_after: Duration,
}

#[derive(Debug)]
pub(super) enum GameAction {
    Move { text: String, offers_draw: bool },
    Draw(bool),
    Takeback(bool),
    Resign,
    Abort,
    Chat(Chat),
    ClaimVictory,
    ClaimDraw,
}

/// Game that is to be played, or was played before a restart.
#[derive(Debug)]
pub(super) struct GameSetup {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) players: ByColor<Player>,
    /// Time since 1970.
    pub(super) created: Duration,
}

/// Referee of a game.
#[derive(Debug)]
pub(super) enum Owner {
    Hosted(Box<Hosted>),
    Class(Box<ClassGame>),
}

#[derive(Debug)]
pub(super) struct Game {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) players: ByColor<Player>,
    /// Time since 1970.
    pub(super) created: Duration,
    pub(super) owner: Owner,
    /// While the end is on its way to the disk: when it is told without waiting for the disk any longer.
    tell_by: Option<Instant>,
    /// Requests that are answered when the end is told.
    waiting: Vec<oneshot::Sender<()>>,
    pub(super) rating_diffs: Option<ByColor<i32>>,
    presence: Presence,
}

/// Refuses an action in the server's words.
fn refuse<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal::bad(why))
}

impl Game {
    pub(super) fn new(setup: GameSetup, owner: Owner, now: Instant) -> Game {
        let GameSetup { id, terms, players, created } = setup;
        Game {
            id,
            terms,
            players,
            created,
            owner,
            tell_by: None,
            waiting: Vec::new(),
            rating_diffs: None,
            presence: Presence::new(now),
        }
    }

    /// Returns the game if its referee is this server.
    pub(super) fn hosted(&self) -> Option<&Hosted> {
        match &self.owner {
            Owner::Hosted(hosted) => Some(hosted),
            Owner::Class(_) => None,
        }
    }

    pub(super) fn hosted_mut(&mut self) -> Option<&mut Hosted> {
        match &mut self.owner {
            Owner::Hosted(hosted) => Some(hosted),
            Owner::Class(_) => None,
        }
    }

    pub(super) fn color_of(&self, who: &UserId) -> Option<Color> {
        Color::BOTH.into_iter().find(|color| {
            let player = &self.players[*color];
            !player.is_guest && player.id == *who
        })
    }

    pub(super) fn has_moved(&self, color: Color) -> bool {
        self.facts().plies.len() > color as usize
    }

    pub(super) fn is_over(&self) -> bool {
        self.facts().ending.is_some()
    }

    /// Returns whether the end has been told: it is on the disk.
    pub(super) fn is_told(&self) -> bool {
        self.is_over() && !self.is_untold()
    }

    /// Returns whether the end is on its way to the disk.
    pub(super) fn is_untold(&self) -> bool {
        self.tell_by.is_some()
    }

    /// Returns whether the disk has kept back the end for too long.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.tell_by.is_some_and(|latest| now >= latest)
    }

    pub(super) fn status(&self) -> Status {
        self.facts().ending.map_or(Status::Started, status)
    }

    pub(super) fn winner(&self) -> Option<Color> {
        match self.facts().ending?.result? {
            GameResult::Won(winner) => Some(winner),
            GameResult::Draw => None,
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.facts().plies.len() >= BEGUN
    }

    /// Runs a step of the game. If it panics, this game is aborted; the others go on.
    pub(super) fn contain<T>(&mut self, now: Instant, step: impl FnOnce(&mut Game) -> T) -> Option<T> {
        let was_over = self.is_over();
        let done = panic_guard::contain(|| step(self));
        if let Err(panic) = &done {
            tracing::error!("Lichess: game {} broke down and is aborted: {panic}; please report it", self.id);
            self.finish(None, Cause::InternalError, now);
            // The step may have ended the game before it panicked.
            if !was_over {
                self.tell_by = Some(now + MAX_WAIT);
            }
            self.close_streams();
        }
        done.ok()
    }

    /// Applies a player's action.
    pub(super) fn act(&mut self, color: Color, action: GameAction, now: Instant) -> Result<(), Refusal> {
        let was_over = self.is_over();
        let done = match (&mut self.owner, action) {
            (_, GameAction::Chat(chat)) => {
                self.say(color, chat);
                return Ok(());
            }
            (Owner::Class(class), action) => return class.act(color, action, now),
            (Owner::Hosted(hosted), action) => hosted.act(color, action, &self.presence, now),
        };
        match self.is_over() {
            true if !was_over => self.tell_by = Some(now + MAX_WAIT),
            false if matches!(done, Ok(true)) => self.tell_state(now),
            _ => {}
        }
        done.map(drop)
    }

    pub(super) fn can_abort(&self) -> bool {
        self.hosted().is_some_and(|hosted| hosted.game.referee.can_abort())
    }

    fn say(&self, color: Color, Chat { room, text }: Chat) {
        let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_CHAT_TEXT).collect();
        if !text.trim().is_empty() {
            self.presence.tell_chat(room, self.players[color].name.clone(), text);
        }
    }

    /// Applies the passing of time: flags, missing first moves, players who are gone.
    pub(super) fn tick(&mut self, now: Instant) {
        if let Owner::Hosted(hosted) = &mut self.owner
            && hosted.tick(now)
        {
            self.tell_by = Some(now + MAX_WAIT);
        }
        Color::BOTH.into_iter().for_each(|color| self.update_presence(color, now));
    }

    /// Ends the game, unless it is over, without telling anybody yet.
    pub(super) fn finish(&mut self, result: Option<GameResult>, cause: Cause, now: Instant) {
        if self.is_over() {
            return;
        }
        match &mut self.owner {
            Owner::Hosted(hosted) => hosted.game.referee.end(result, cause, now),
            Owner::Class(class) => class.end(Ending { result, cause }, now),
        }
        self.tell_by = Some(now + MAX_WAIT);
    }

    /// Tells the end: the streams get the last state, and close.
    pub(super) fn tell_end(&mut self, now: Instant) {
        if self.tell_by.take().is_none() {
            return;
        }
        let waiting = take(&mut self.waiting);
        if let Some(hosted) = self.hosted_mut() {
            hosted.game.tell_end(now);
        }
        self.tell_state(now);
        self.close_streams();
        for request in waiting {
            // An error means that its connection is closed.
            let _ = request.send(());
        }
    }

    /// Returns a receiver of the moment when the end is told, if it is on its way to the disk.
    pub(super) fn wait_for_end(&mut self) -> Option<oneshot::Receiver<()>> {
        self.tell_by.map(|_| {
            let (request, told) = oneshot::channel();
            self.waiting.push(request);
            told
        })
    }

    pub(super) fn tell_state(&self, now: Instant) {
        self.presence.tell(&GameMessage::GameState(self.state(now)));
    }
}

/// Returns the status of a game that has ended so.
fn status(Ending { result, cause }: Ending) -> Status {
    match (cause, result) {
        (Cause::Shutdown, None) => Status::UnknownFinish,
        (_, None) => Status::Aborted,
        (Cause::OutOfTime, _) => Status::OutOfTime,
        (Cause::Disconnect, _) => Status::Timeout,
        (Cause::Resignation, _) => Status::Resign,
        (Cause::Rules(Reason::VariantEnd(_)), Some(GameResult::Won(_))) => Status::VariantEnd,
        (_, Some(GameResult::Won(_))) => Status::Mate,
        (Cause::Rules(Reason::Stalemate), _) => Status::Stalemate,
        (_, Some(GameResult::Draw)) => Status::Draw,
    }
}

/// Returns the end of a stored game of this kind with that status.
pub(super) fn ending(kind: GameKind, status: &Status, winner: Option<Color>) -> Ending {
    let cause = match status {
        Status::Aborted | Status::NoStart => Cause::Aborted,
        Status::UnknownFinish => Cause::Shutdown,
        Status::OutOfTime => Cause::OutOfTime,
        Status::Timeout => Cause::Disconnect,
        Status::Resign => Cause::Resignation,
        Status::VariantEnd => Cause::Rules(Reason::VariantEnd(kind)),
        Status::Stalemate => Cause::Rules(Reason::Stalemate),
        Status::Mate => Cause::Rules(Reason::Checkmate),
        _ => Cause::Agreement,
    };
    let result = match cause {
        Cause::Aborted | Cause::Shutdown => None,
        _ => Some(winner.map_or(GameResult::Draw, GameResult::Won)),
    };
    Ending { result, cause }
}
