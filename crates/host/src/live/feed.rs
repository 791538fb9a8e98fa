//! Sending side of the live view: owners of games and tournaments report what happens, and never wait.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};
use zeitnot_referee::{Board, PlayedMove, Referee};
use zeitnot_rules::{ByColor, Color, GameResult};

use super::{
    tournament::TournamentReport,
    view::{BotView, RefusalRow, Thought},
};
use crate::game_info::GameInfo;

/// Events that may wait for the hub.
const QUEUE: usize = 4096;

/// Event for the hub.
#[allow(missing_docs)]
#[derive(Debug)]
pub enum Event {
    /// A game that begins, or whose earlier events did not fit into the queue.
    Whole {
        game: Arc<Shared>,
        plies: Vec<Arc<PlayedMove>>,
        clocks: Option<ClocksAt>,
    },
    /// The move that makes it `ply` plies.
    Moved {
        game: Arc<Shared>,
        ply: usize,
        made: Arc<PlayedMove>,
        clocks: Option<ClocksAt>,
    },
    /// The game has an end now.
    Ended(Arc<Shared>),
    Thought {
        game: String,
        ply: usize,
        side: Color,
        thought: Thought,
    },
    Tournament(Box<TournamentReport>),
    /// The tournament of that name is deleted.
    Deleted(String),
    Bot(Box<BotView>),
    /// All refusals that are shown of a tournament.
    Refusals {
        tournament: String,
        rows: Vec<RefusalRow>,
    },
    /// The hub panics.
    #[cfg(test)]
    Bug(Arc<Shared>),
}

impl Event {
    /// Returns the game that it changes.
    pub(super) fn game(&self) -> Option<&Arc<Shared>> {
        match self {
            Event::Whole { game, .. } | Event::Moved { game, .. } | Event::Ended(game) => Some(game),
            #[cfg(test)]
            Event::Bug(game) => Some(game),
            _ => None,
        }
    }

    /// Returns what it tells otherwise.
    pub(super) fn subject(&self) -> &'static str {
        match self {
            Event::Thought { .. } => "a thought of a player",
            Event::Tournament(_) | Event::Deleted(_) | Event::Refusals { .. } => "news of a tournament",
            _ => "news",
        }
    }
}

/// Part of a game that its owner shares with the hub.
#[derive(Debug)]
pub struct Shared {
    pub(super) info: Arc<GameInfo>,
    /// The hub finds the end here, even if there was no room for the event.
    pub(super) end: OnceLock<End>,
}

#[derive(Debug)]
pub(super) struct End {
    pub(super) result: Option<GameResult>,
    pub(super) reason: String,
    /// As in PGN.
    pub(super) termination: String,
    pub(super) clocks: Option<ClocksAt>,
    pub(super) plies: Vec<Arc<PlayedMove>>,
}

/// Clocks at an instant.
#[derive(Copy, Clone, Debug)]
pub struct ClocksAt {
    pub(super) left: ByColor<Duration>,
    pub(super) running: Option<Color>,
    pub(super) at: Instant,
}

impl ClocksAt {
    /// Reads the clocks of a game; `None` if it has none.
    pub(crate) fn of<B: Board>(referee: &Referee<B>, now: Instant) -> Option<ClocksAt> {
        let left = |color| referee.clock.left(color, now);
        let left = ByColor([left(Color::White)?, left(Color::Black)?]);
        Some(ClocksAt { left, running: referee.clock.running(), at: now })
    }
}

/// Sender of events. Where there is no web server it does nothing.
#[derive(Clone, Debug, Default)]
pub struct Feed(Option<mpsc::Sender<Event>>);

impl Feed {
    /// Creates the feed of a hub.
    pub fn channel() -> (Feed, mpsc::Receiver<Event>) {
        let (sender, events) = mpsc::channel(QUEUE);
        (Feed(Some(sender)), events)
    }

    /// Returns whether anybody may watch, so that views are worth their making.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Reports a game that begins, or goes on after a restart.
    pub fn begin<B: Board>(&self, info: Arc<GameInfo>, referee: &Referee<B>, now: Instant) -> LiveGame {
        let Some(feed) = self.0.clone() else { return LiveGame(None) };
        let game = Arc::new(Shared { info, end: OnceLock::new() });
        let mut live = Live { feed, game, is_behind: true };
        live.send(|_| None, referee, now);
        LiveGame(Some(live))
    }

    /// Reports a tournament's state if there is room for it, and returns whether there was.
    pub fn tournament(&self, report: impl FnOnce() -> TournamentReport) -> bool {
        let Some(feed) = &self.0 else { return true };
        feed.try_reserve().map(|room| room.send(Event::Tournament(Box::new(report())))).is_ok()
    }

    /// Reports that a tournament is deleted; waits for room.
    pub async fn delete_tournament(&self, name: String) {
        if let Some(feed) = &self.0 {
            let _ = feed.send(Event::Deleted(name)).await;
        }
    }

    /// Reports the state of the bot whose page this is. Returns whether there was room for it.
    pub fn bot(&self, view: BotView) -> bool {
        self.try_send(Event::Bot(Box::new(view)))
    }

    /// Reports whom a tournament has refused; dropped if too much waits.
    pub fn refusals(&self, tournament: String, rows: Vec<RefusalRow>) {
        self.try_send(Event::Refusals { tournament, rows });
    }

    /// Returns the way to report thoughts of players that the arena knows from elsewhere.
    pub fn thoughts(&self) -> Thoughts {
        Thoughts(self.clone())
    }

    fn try_send(&self, event: Event) -> bool {
        self.0.as_ref().is_none_or(|feed| feed.try_send(event).is_ok())
    }
}

/// Reports what players think, for the page. Where there is no page it does nothing.
#[derive(Clone, Debug)]
pub struct Thoughts(Feed);

impl Thoughts {
    /// Reports what a player thinks about the move after `ply` plies of the game of that id; dropped if too much waits.
    pub fn report(&self, game: String, ply: usize, side: Color, thought: Thought) {
        self.0.try_send(Event::Thought { game, ply, side, thought });
    }
}

/// Reports one game. Without a hub it does nothing, and keeps nothing.
#[derive(Debug, Default)]
pub struct LiveGame(Option<Live>);

#[derive(Debug)]
struct Live {
    feed: mpsc::Sender<Event>,
    game: Arc<Shared>,
    /// An event did not fit: the next one is the whole game.
    is_behind: bool,
}

impl LiveGame {
    /// Reports the last move, which the referee has played; the next clock runs already.
    pub fn moved<B: Board>(&mut self, referee: &Referee<B>, now: Instant) {
        let Some(live) = &mut self.0 else { return };
        let Some(made) = referee.plies.last().cloned() else { return };
        let (ply, clocks) = (referee.plies.len(), ClocksAt::of(referee, now));
        live.send(|game| Some(Event::Moved { game: game.clone(), ply, made, clocks }), referee, now);
    }

    /// Reports a change that is no move: moves were taken back, or clocks were set.
    pub fn changed<B: Board>(&mut self, referee: &Referee<B>, now: Instant) {
        let Some(live) = &mut self.0 else { return };
        live.is_behind = true;
        live.send(|_| None, referee, now);
    }

    /// Reports the end of the game, whose clocks stand; `None`: there is no result.
    pub fn ended<B: Board>(
        &mut self,
        result: Option<GameResult>,
        reason: String,
        termination: &str,
        referee: &Referee<B>,
        now: Instant,
    ) {
        let Some(Live { feed, game, .. }) = self.0.take() else { return };
        let (termination, clocks) = (termination.to_owned(), ClocksAt::of(referee, now));
        let end = End { result, reason, termination, clocks, plies: referee.plies.clone() };
        if game.end.set(end).is_ok() {
            // If there is no room, the hub finds the end by itself.
            let _ = feed.try_send(Event::Ended(game));
        }
    }
}

impl Live {
    /// Sends an event, or the whole game if an earlier one did not fit.
    fn send<B: Board>(
        &mut self,
        event: impl FnOnce(&Arc<Shared>) -> Option<Event>,
        referee: &Referee<B>,
        now: Instant,
    ) {
        let event = (!self.is_behind).then(|| event(&self.game)).flatten();
        let whole = || Event::Whole {
            game: self.game.clone(),
            plies: referee.plies.clone(),
            clocks: ClocksAt::of(referee, now),
        };
        self.is_behind = match self.feed.try_reserve() {
            Ok(room) => {
                room.send(event.unwrap_or_else(whole));
                false
            }
            Err(_) => true,
        };
    }
}
