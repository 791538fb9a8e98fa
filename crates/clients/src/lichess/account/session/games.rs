//! Games of an account: they begin, are suspended and resumed, and end.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tracing::{Instrument, debug, error, info, info_span};
use zeitnot_wire::lichess::{GameEvent, GameId, Speed};

use super::{
    Account,
    lookups::{LOOKUP_DELAY, Lookup},
};
use crate::{
    lichess::{
        RequestKind,
        challenges::capacity::SlotKind,
        game::{
            context::{GameEnd, GameSignals},
            result::GameFinish,
            session as game,
        },
        playing::{Listing, MAX_LISTED},
    },
    wait::now,
};

/// Aborts that wait for each other.
const MAX_ABORTS: usize = 64;

impl Account<'_> {
    /// A game runs, by an event or by the list of running games, and perhaps by both.
    pub(super) fn game_started(&mut self, event: &GameEvent) {
        let id = event.game_id;
        self.starts.told(id);
        let is_playable = event.compat.is_none_or(|compat| compat.bot);
        if self.games.contains_key(&id) || event.status.is_over() || !is_playable {
            debug!("nothing to do for game {id}");
            return self.slots.release(id.into());
        }
        if event.speed == Some(Speed::Correspondence) || self.suspended.contains(id) {
            // Suspended until it is our turn.
            self.slots.release(id.into());
            if !self.suspended.contains(id) {
                self.is_our_challenge(event);
            }
            return self.suspended.update(event, now());
        }
        if !self.starts.admit(self.games.len(), now()) {
            self.slots.release(id.into());
            return debug!("too many games begin; {id} has to wait");
        }
        let is_ours = self.is_our_challenge(event);
        if self.is_leaving && !self.slots.is_accepted(id) && !event.has_moved {
            return self.abort(id);
        }
        let signals = self.slots.begin(event, is_ours);
        self.play_game(id, signals);
    }

    /// Aborts a game that begins while we leave.
    fn abort(&mut self, id: GameId) {
        if self.background.len() >= MAX_ABORTS {
            self.starts.postpone(now());
            return debug!("leaving: game {id} is not aborted: too many are being aborted");
        }
        info!("leaving: game {id} is aborted");
        self.background.post(RequestKind::Abort, format!("api/bot/game/{id}/abort"), None);
    }

    fn is_our_challenge(&mut self, event: &GameEvent) -> bool {
        self.outgoing.game_started(event)
    }

    fn play_game(&mut self, id: GameId, signals: GameSignals) {
        let (sender, opponent) = oneshot::channel();
        let signals = GameSignals { opponent: Some(sender), ..signals };
        if self.slots.kind(id) != Some(SlotKind::Correspondence) {
            self.context.http.clocks().begin(id, now());
        }
        self.lookups.spawn(async move { Lookup::Opponent(id, opponent.await.ok()) });
        let span = info_span!("game", id = %id);
        self.games.spawn(id, game::play(self.context.clone(), id, signals).instrument(span));
    }

    /// Resumes suspended games in which there is something to do, as far as there is room.
    pub(super) fn resume_games(&mut self, now: Instant) {
        if self.suspended.due().is_some_and(|due| due <= now) {
            self.list_games(Vec::new(), Duration::ZERO);
        }
        let max_active = self.config.correspondence.max_active.get();
        while let Some((id, slot, opponent)) =
            self.suspended.resume(self.slots.active_correspondence() < max_active)
        {
            let signals = self.slots.resume(id, slot, opponent);
            self.play_game(id, signals);
        }
        if self.suspended.has_due() {
            self.slots.request_slots();
        }
    }

    pub(super) fn game_ended(&mut self, id: GameId, end: Option<GameEnd>) {
        self.context.http.clocks().end(id);
        let slot = self.slots.kind(id).unwrap_or(SlotKind::Correspondence);
        let opponent = self.slots.opponent(id);
        if let Some(tournament) = self.slots.end(id) {
            self.teams.game_ended(tournament);
        }
        match end {
            Some(GameEnd::Over) => self.count_game(),
            Some(GameEnd::Unplayed) => {}
            Some(GameEnd::Suspended) => self.suspended.suspend(id, slot, opponent, now()),
            None => {
                error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games has it.
                self.list_games(Vec::new(), LOOKUP_DELAY);
            }
        }
    }

    fn count_game(&mut self) {
        let Some(remaining) = &mut self.remaining else { return };
        *remaining = remaining.saturating_sub(1);
        self.incoming.queue.capacity.set_remaining(*remaining);
        if *remaining == 0 && !self.is_leaving {
            info!("all games are played");
            self.leave();
        }
    }

    /// Ends the games that the server does not list any more.
    pub(super) fn games_listed(&mut self, overdue: &[GameId], list: &[GameEvent]) {
        for &id in overdue.iter().filter(|id| Listing::of(**id, list) == Listing::Gone) {
            info!("game {id} is over, as the server lists it no more");
            self.slots.finish(id, GameFinish::Unlisted);
        }
        list.iter().for_each(|game| self.game_started(game));
        self.suspended.listed(list, MAX_LISTED, now());
    }
}
