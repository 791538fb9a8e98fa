//! Events on their way from the server to the program, with the faults of the stream.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::Input;
use zeitnot_wire::lichess::{Event, GameId};

use super::{
    super::history::Broken,
    plan::{millis, seconds},
    stream::State,
    world::{Happening, World},
};

/// Longest delay between two attempts to open it, by default.
const MAX_DELAY: Duration = Duration::from_secs(30);

impl World<'_> {
    /// Sends an event over the stream: it may be lost, late, or told twice.
    pub(super) fn tell_event(&mut self, event: Option<Event>) {
        let Some(event) = event.filter(|_| self.stream.is_seen() && self.program.is_some()) else { return };
        let mut delay = millis(&mut self.rng, 10..800);
        if self.has_fault(self.plan.event_faults) {
            match self.rng.u8(..3) {
                0 => return self.history.note(self.now, format_args!("an event is lost")),
                1 => delay += seconds(&mut self.rng, 1..20),
                _ => {
                    let again = delay + millis(&mut self.rng, 0..5000);
                    self.after(again, Happening::Event(self.stream.number, Box::new(event.clone())));
                }
            }
        }
        self.after(delay, Happening::Event(self.stream.number, Box::new(event)));
    }

    pub(super) fn event_arrives(&mut self, stream: u32, event: Event) -> Result<(), Broken> {
        if stream != self.stream.number || !self.stream.is_seen() || self.program.is_none() {
            return Ok(());
        }
        self.tell(Input::Event(event))
    }

    /// The connection breaks, or the server forgets it.
    pub(super) fn stream_breaks(&mut self) {
        if !self.stream.is_seen() {
            return;
        }
        self.stream.disturbed = self.now;
        let is_ghost = self.plan.outage(self.now).is_none() && self.rng.u8(..3) == 0;
        self.history.note(self.now, format_args!("the event stream breaks, unnoticed: {is_ghost}"));
        if is_ghost {
            self.stream.state = State::Ghost;
        } else {
            // At once, or after the time for silence.
            let noticed = if self.rng.bool() { Duration::from_secs(17) } else { Duration::ZERO };
            self.reopen_stream(noticed);
        }
    }

    /// Closes the stream, and opens another one after a delay.
    pub(super) fn reopen_stream(&mut self, delay: Duration) {
        self.stream.state = State::Closed;
        self.stream.disturbed = self.now;
        self.stream.number += 1;
        self.after(delay + Duration::from_millis(100), Happening::StreamOpens(self.stream.number));
    }

    pub(super) fn stream_opens(&mut self, number: u32) -> Result<(), Broken> {
        if number != self.stream.number || self.program.is_none() {
            return Ok(());
        }
        let is_refused = self.plan.outage(self.now).is_some() || self.is_revoked();
        if is_refused || self.has_fault(self.plan.request_faults) {
            self.stream.failures += 1;
            let delay = Duration::from_millis(100 << self.stream.failures.min(9)).min(MAX_DELAY);
            let jitter = millis(&mut self.rng, 0..1000);
            self.after(delay + jitter, Happening::StreamOpens(number));
            return Ok(());
        }
        self.stream.failures = 0;
        self.stream.state = State::Open;
        self.stream.disturbed = self.now;
        self.tell(Input::StreamOpened)?;
        let games: Vec<_> = self.server.running().map(|(id, _)| id).collect();
        for id in games {
            let event = self.server.game_event(id);
            self.tell_event(event);
        }
        let open = self.server.challenges.iter().filter(|(_, challenge)| !challenge.is_ours);
        let open: Vec<_> = open.map(|(id, _)| *id).collect();
        for id in open {
            let event = self.server.challenge_event(id);
            self.tell_event(event);
        }
        Ok(())
    }

    /// Notes what the account knows after an event.
    pub(super) fn note_known(&mut self, event: &Event) {
        match event {
            Event::GameStart { game } => self.know_game(game.game_id),
            Event::Challenge { challenge, .. } => {
                if let Some(open) = self.server.challenges.get_mut(&challenge.id) {
                    open.known.get_or_insert(self.now);
                }
            }
            _ => {}
        }
    }

    /// Notes that the account knows of a game.
    pub(super) fn know_game(&mut self, id: GameId) {
        if let Some(game) = self.server.games.get_mut(&id) {
            game.known.get_or_insert(self.now);
        }
    }
}
