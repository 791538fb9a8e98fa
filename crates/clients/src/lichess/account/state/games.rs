//! Games of an account: they begin, get a seat, are suspended and resumed, and end.

use std::time::Duration;

use tracing::{debug, error, info};
use zeitnot_wire::lichess::{GameEvent, GameId, Speed};

use super::{AccountState, Stage};
use crate::lichess::{
    account::interface::{Effect, Request},
    challenges::capacity::SlotKind,
    game::context::GameEnd,
};

/// Aborts that wait for each other.
const MAX_ABORTS: usize = 64;
/// Delay before running games are looked up after the task of one has crashed.
const CRASH_DELAY: Duration = Duration::from_secs(2);

impl AccountState {
    /// A game runs, by an event or by the list of running games, and perhaps by both.
    pub(super) fn game_started(&mut self, event: &GameEvent) {
        let id = event.game_id;
        self.starts.told(id);
        let is_playable = event.compat.is_none_or(|compat| compat.bot);
        if self.slots.is_running(id) || event.status.is_over() || !is_playable {
            debug!("nothing to do for game {id}");
            return self.slots.release(id.into());
        }
        if event.speed == Some(Speed::Correspondence) || self.suspended.contains(id) {
            // Suspended until it is our turn.
            self.slots.release(id.into());
            if !self.suspended.contains(id) {
                self.is_our_challenge(event);
            }
            return self.suspended.update(event, self.now);
        }
        if !self.starts.admit(self.slots.running_tasks(), self.now) {
            self.slots.release(id.into());
            return debug!("too many games begin; {id} has to wait");
        }
        let is_ours = self.is_our_challenge(event);
        if self.stage != Stage::Playing && !self.slots.is_accepted(id) && !event.has_moved {
            return self.abort(id);
        }
        self.slots.begin(event, is_ours, self.now);
        self.play_game(id, true);
    }

    /// Aborts a game that begins while we leave.
    fn abort(&mut self, id: GameId) {
        if self.aborting >= MAX_ABORTS {
            self.starts.postpone(self.now);
            return debug!("leaving: game {id} is not aborted: too many are being aborted");
        }
        info!("leaving: game {id} is aborted");
        self.aborting += 1;
        self.send(Request::Abort(id));
    }

    fn is_our_challenge(&mut self, event: &GameEvent) -> bool {
        self.outgoing.game_started(event, self.now, &mut self.effects)
    }

    fn play_game(&mut self, id: GameId, has_clock: bool) {
        self.effects.push(Effect::Begin { game: id, has_clock });
        if let Some(seat) = self.slots.game(id).and_then(|game| game.seat.clone()) {
            self.effects.push(Effect::Seat(id, seat));
        }
        self.give_seats();
    }

    /// Gives seats to the games that wait for one, the first first. They began unasked, in a tournament or by another
    /// client, and go before all that is not agreed on yet.
    pub(super) fn give_seats(&mut self) {
        while let Some(id) = self.slots.next_without_seat() {
            let Some(seat) = self.incoming.queue.capacity.reserve() else { return };
            self.slots.give_seat(id, seat.clone());
            self.effects.push(Effect::Seat(id, seat));
        }
    }

    /// Resumes suspended games in which there is something to do, as far as there is room.
    pub(super) fn resume_games(&mut self) {
        let now = self.now;
        if self.suspended.due().is_some_and(|due| due <= now) {
            self.list_games(now);
        }
        let max_active = self.config.correspondence.max_active.get();
        while let Some((id, slot, opponent)) = {
            let has_room = self.slots.active_correspondence() < max_active;
            self.suspended.resume(has_room && self.incoming.queue.capacity.has_seat())
        } {
            self.slots.resume(id, slot, opponent, now);
            self.play_game(id, slot != SlotKind::Correspondence);
        }
        if self.suspended.has_due() {
            self.request_slots();
        }
    }

    /// Asks correspondence games to be suspended as soon as there is nothing to do in them.
    pub(super) fn request_slots(&mut self) {
        let games = self.slots.request_slots();
        self.effects.extend(games.into_iter().map(Effect::RequestSlot));
    }

    pub(super) fn game_ended(&mut self, id: GameId, end: Option<GameEnd>) {
        self.overdue.remove(&id);
        let Some(game) = self.slots.end(id) else { return };
        if let Some(tournament) = game.tournament {
            self.teams.game_ended(tournament, self.now);
        }
        match end {
            Some(GameEnd::Over) => {
                self.outgoing.series_game_over(id, self.now);
                self.count_game();
            }
            Some(GameEnd::Unplayed) => {}
            Some(GameEnd::Suspended) => self.suspended.suspend(id, game.slot, game.opponent, self.now),
            None => {
                error!("game {id}: its task crashed, please report it");
                // The game itself goes on: the list of running games has it.
                self.list_games(self.now + CRASH_DELAY);
            }
        }
    }

    fn count_game(&mut self) {
        if self.incoming.queue.capacity.count_game() && self.stage == Stage::Playing {
            info!("all games are played");
            self.begin_leaving();
        }
    }
}
